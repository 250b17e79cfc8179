"""Twelve common tasks, in how few actions: each press of a button, a key or a text that is typed
counts, pointing does not.

find the previous-token head 3    find the induction head 3    mask a token 2
ΔE of any token 3                 a column's figure, all labels 3
compare two heads 1               compare two sentences 5      open a model 2
translate, read the alignment 5   what each layer would say 1  ablate a head 1
explain a prediction 2
"""

import csv
import io
import shutil
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM


class _Counted:
    """A window whose actions are counted; pointing is none."""

    def __init__(self, window):
        self.window, self.actions = window, 0

    def click(self, *where):
        self.actions += 1
        self.window.click(*where)

    def show(self, name):
        self.actions += self.window.show(name)

    def right_click(self, path):
        self.actions += 1
        self.window.point(path)
        self.window.tool("click", "3")

    def key(self, *names):
        self.actions += 1
        self.window.key(*names)

    def type(self, text):
        self.actions += 1
        self.window.type(text)


def _first_by(statistic):
    """The head that comes first by a statistic of this text, as the command line lists them."""
    rows = subprocess.run(
        [PROGRAM, "heads", "--text", LILY, "--sort", statistic, "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    first = next(csv.DictReader(io.StringIO(rows)))
    return [int(first["layer"]), int(first["head"])]


def _ranked(r):
    return [
        name
        for _, name in sorted(
            (place[1], name) for name, place in r["widgets"].items() if name.startswith("ranked/")
        )
    ]


def _finds_a_head(display, statistic, label):
    """The list of what heads are ranked by, the statistic, the first head under it."""
    with Window(PROGRAM, display, "--text", LILY, "--head", "0.7") as w:
        w.settled()
        wanted = _first_by(statistic)
        path = f"ranked/{wanted[0]}.{wanted[1]}"
        person = _Counted(w)
        person.click("rank")
        person.click(f"rank/{label}")
        w.wait(lambda r: f"rank/{label}" not in r["widgets"] and _ranked(r)[0] == path)
        person.click(path)
        w.wait(lambda r: r["shown_head"] == wanted and not r["busy"])
        assert person.actions <= 3


def the_previous_token_head_is_found_in_three_actions(display):
    _finds_a_head(display, "previous", "previous token")


def the_induction_head_is_found_in_three_actions(display):
    _finds_a_head(display, "induction", "induction")


def two_heads_are_compared_in_one_action(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        w.tool("keydown", "shift")
        person.click("grid/3.2")
        w.tool("keyup", "shift")
        w.wait(
            lambda r: (
                r["view"] == "Compare"
                and [r["layer_b"], r["head_b"]] == [3, 2]
                and "compare/map/2" in r["widgets"]
                and not r["busy"]
            )
        )
        assert person.actions <= 1


def two_sentences_are_compared_in_five_actions(display):
    """The question, what is compared, the other sentence in the place of the same one."""
    other = "Lily had a red hat. Tom had a blue hat. Lily gave Tom the red"
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.show("Sentences")
        w.wait(lambda r: r["shown_text_b"] == LILY and "compare/map/2" in r["widgets"])
        person.key("ctrl+a")
        person.type(other)
        w.wait(
            lambda r: (
                r["shown_text_b"] == other
                and r["text"] == LILY
                and "compare/map/2" in r["widgets"]
                and not r["busy"]
            )
        )
        assert person.actions <= 5


def a_model_is_opened_in_two_actions(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        person = _Counted(w)
        person.key("ctrl+o")
        person.click("models/translator")
        w.wait(lambda r: r["model"] == "translator" and r["shown_text"] == LILY and not r["busy"])
        assert person.actions <= 2


def a_translation_and_its_alignment_are_read_in_five_actions(display):
    """The model, a sentence in the place of the one that is there, the alignment."""
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        person = _Counted(w)
        person.key("ctrl+o")
        person.click("models/translator")
        w.wait(lambda r: r["model"] == "translator" and not r["busy"] and not r["model_menu"])
        person.key("ctrl+a")
        person.type("The cat sleeps on the sofa.")
        w.wait(
            lambda r: (
                r["shown_text"] == r["text"] == "The cat sleeps on the sofa."
                and r["written"]["ended"]
                and not r["busy"]
            )
        )
        person.show("Alignment")
        r = w.wait(
            lambda r: (
                r["view"] == "Alignment"
                and r.get("alignment", {}).get("strongest")
                and not r["busy"]
            )
        )
        assert "Katze" in r["written"]["text"] and person.actions <= 5, r["written"]


def what_each_layer_would_say_is_read_in_one_action(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        person = _Counted(w)
        person.show("Prediction")
        w.wait(
            lambda r: r["view"] == "Prediction" and "lens/grid" in r["widgets"] and not r["busy"]
        )
        assert person.actions <= 1


def a_head_is_ablated_in_one_action(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.click("change/ablate")
        w.wait(
            lambda r: r["change_list"] == ["ablate:1.2:zero"] and "effect" in r and not r["busy"]
        )
        assert person.actions <= 1


def a_prediction_is_explained_in_two_actions(display):
    """Explain the token at position 4, where the model predicts it."""
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        person = _Counted(w)
        person.right_click("chip/4")
        person.click("token/explain")
        w.wait(
            lambda r: (
                r["view"] == "Prediction"
                and r["metric_label"] == "log p ball at red 3"
                and "explained" in r
                and not r["busy"]
            )
        )
        assert person.actions <= 2


def a_token_is_masked_in_two_actions(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.right_click("chip/4")
        person.click("token/mask")
        w.wait(lambda r: r["change_list"] == ["mask:*>4"] and not r["busy"])
        assert person.actions <= 2


def a_difference_at_any_token_is_read_in_three_actions(display):
    """ΔE of a token in a layer: its question and pill, then the token's cell in the map."""
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.show("Update (ΔE)")
        r = w.wait(lambda r: "delta/map" in r["widgets"] and not r["busy"])
        n = len(r["tokens"])
        person.click("delta/map", 0.95, 9.5 / n)  # its last column
        w.wait(
            lambda r: (
                r["locked"]
                and r["locked"][0] == 9
                and r["layer"] == 3
                and r["title"] == "Layer 3"
                and not r["busy"]
            )
        )
        assert person.actions <= 3


def a_figure_of_a_column_with_all_labels_is_saved_in_three_actions(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-column-"))
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--head",
        "1.2",
        environment={"XDG_PICTURES_DIR": str(folder), "HOME": str(folder)},
    ) as w:
        w.settled()
        person = _Counted(w)
        person.click("save")
        w.wait(
            lambda r: "figure/preset/column" in r["widgets"] and "figure/preview" in r["widgets"]
        )
        person.click("figure/preset/column")
        w.wait(lambda r: r["figure"]["width-mm"] == "85" and r["figure"]["labels"] == "true")
        person.key("Return")
        r = w.wait(lambda r: r["save_result"].startswith("Saved "))
        saved = Path(r["save_result"].removeprefix("Saved "))
        assert person.actions <= 3 and saved.is_file(), r["save_result"]
        wide = int.from_bytes(saved.read_bytes()[16:20], "big")
        assert abs(wide - 85 / 25.4 * 300) < 2, f"{wide} pixels are not 85 mm at 300 dpi"
    shutil.rmtree(folder)
