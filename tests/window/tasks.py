"""What a person reaches for, in how few actions: each press of a button, a key or a word that is typed counts."""
import shutil
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

    def right_click(self, path):
        self.actions += 1
        self.window.point(path)
        self.window.tool("click", "3")

    def key(self, *names):
        self.actions += 1
        self.window.key(*names)


def a_token_is_masked_in_two_actions(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.right_click("chip/4")
        person.click("token/mask")
        w.wait(lambda r: r["change_list"] == ["mask:*>4"] and not r["busy"])
        assert person.actions <= 2


def a_difference_at_any_token_is_read_in_three_actions(display):
    """ΔE of a token in a layer: its tab, then the token's cell in the map."""
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        person = _Counted(w)
        person.click("tab/ΔE")
        r = w.wait(lambda r: "delta/map" in r["widgets"] and not r["busy"])
        n = len(r["tokens"])
        person.click("delta/map", 0.95, 9.5 / n)  # its last column
        w.wait(lambda r: r["locked"] and r["locked"][0] == 9 and r["layer"] == 3 and r["title"] == "Layer 3" and not r["busy"])
        assert person.actions <= 3


def a_figure_of_a_column_with_all_labels_is_saved_in_three_actions(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-column-"))
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2", environment={"XDG_PICTURES_DIR": str(folder), "HOME": str(folder)}) as w:
        w.settled()
        person = _Counted(w)
        person.click("save")
        w.wait(lambda r: "figure/preset/column" in r["widgets"] and "figure/preview" in r["widgets"])
        person.click("figure/preset/column")
        w.wait(lambda r: r["figure"]["width-mm"] == "85" and r["figure"]["labels"] == "true")
        person.key("Return")
        r = w.wait(lambda r: r["save_result"].startswith("Saved "))
        saved = Path(r["save_result"].removeprefix("Saved "))
        assert person.actions <= 3 and saved.is_file(), r["save_result"]
        wide = int.from_bytes(saved.read_bytes()[16:20], "big")
        assert abs(wide - 85 / 25.4 * 300) < 2, f"{wide} pixels are not 85 mm at 300 dpi"
    shutil.rmtree(folder)
