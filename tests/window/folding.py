"""The inspector's folds, and the list of heads beside it."""

import json
import subprocess

from drive import Window
from places import LILY, PROGRAM

FOLDS = ["fold/Cell", "fold/Row", "fold/Head output"]
LOCKED = ["--text", LILY, "--head", "1.2", "--lock", "16,4", "--report-texts"]


def _ranked(r):
    rows = [(place[1], path) for path, place in r["widgets"].items() if path.startswith("ranked/")]
    return [path for _, path in sorted(rows)]


def the_inspector_folds_and_stays_so(display):
    """A click or Enter on a heading; the next window of the same settings finds it as it was."""
    with Window(PROGRAM, display, *LOCKED) as w:
        r = w.settled()
        tops = [r["widgets"][path][1] for path in FOLDS]
        assert tops == sorted(tops), tops
        assert "attends to" in r["texts"]
        w.click("fold/Row")
        w.wait(lambda r: r["folds"] == ["Row"] and "attends to" not in r["texts"])
        w.key("Escape")
        w.tab_to("fold/Head output")
        w.key("Return")
        w.wait(lambda r: set(r["folds"]) == {"Row", "Head output"})
        home = w.home
        w.key("ctrl+q")
        w.process.wait(10)
        with Window(PROGRAM, display, *LOCKED, home=home) as again:
            r = again.settled()
            assert set(r["folds"]) == {"Row", "Head output"}, r["folds"]
            assert "weight" in r["texts"] and "attends to" not in r["texts"]


def what_ablating_the_head_does_stands_in_the_inspector(display):
    """Alone, and with the heads of its tag: the numbers of the command line."""

    def without(*heads):
        ablated = [word for head in heads for word in ("--ablate", head)]
        told = subprocess.run(
            [PROGRAM, "compare", "--text", LILY, *ablated, "--json"],
            capture_output=True,
            check=True,
        )
        ball = json.loads(told.stdout)["next"][0]
        return f"{100 * ball['a']:.1f} %", f"{100 * ball['b']:.1f} %"

    with Window(PROGRAM, display, *LOCKED) as w:
        wanted = {"if ablated", "with 1.0 and 1.1"}
        wanted |= {*without("1.2"), *without("1.0", "1.1", "1.2")}
        w.wait(lambda r: wanted <= set(r["texts"]))
        w.key("Escape")
        w.click("grid/0.0")
        wanted = {"if ablated", *without("0.0")}
        w.wait(lambda r: wanted <= set(r["texts"]) and "with 1.0 and 1.1" not in r["texts"])


def heads_are_sorted_by_the_locked_cell_and_stay_under_the_pointer(display):
    with Window(PROGRAM, display, *LOCKED) as w:
        r = w.wait(lambda r: "Weight of red 16 → ball 4" in r["texts"] and not r["busy"])
        order = _ranked(r)
        assert order[:3] == ["ranked/1.0", "ranked/1.1", "ranked/1.2"], order
        w.point("map", 0.1, 0.5)
        r = w.wait(lambda r: r["hovered"] and r["hovered"] != [16, 4] and not r["busy"])
        assert _ranked(r) == order
        w.point("ranked/2.7")
        r = w.wait(lambda r: r["preview"] == [2, 7] and not r["busy"])
        assert _ranked(r) == order
        w.key("Escape", "Escape")
        w.wait(lambda r: not r["locked"] and "Weight of red 16 → ball 4" not in r["texts"])


def a_masked_cell_is_said_to_be_masked(display):
    with Window(PROGRAM, display, *LOCKED[:-2], "3,10", "--report-texts") as w:
        r = w.wait(lambda r: "red 3 → ball 10 is masked in every head." in r["texts"])
        assert not _ranked(r)
        assert "masked" in r["texts"]


def a_tag_in_the_list_is_whole(display):
    with Window(PROGRAM, display, *LOCKED) as w:
        r = w.wait(lambda r: {"name mover", "0.76"} <= set(r["texts"]))
        assert not any(text.startswith("name m") and text != "name mover" for text in r["texts"])


def plates_are_painted_by_the_effect_of_each_head(display):
    """Values with a sign from 0.25 up; a tag dims the other heads; the card stands beside its head
    and says its place."""
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--view",
        "heads",
        "--do",
        "heads color effect",
        "--report-texts",
    ) as w:
        r = w.wait(lambda r: r["swept"] == "ended" and "−2.23" in r["texts"])
        assert not any(text.startswith("-") for text in r["texts"])
        assert not {"−0.04", "+0.00"} & set(r["texts"]), "too small to be told from a name"
        before = w.picture()
        w.click("heads/tag/induction")
        w.wait(lambda r: r["heads_tag"] == "induction")
        assert w.picture() != before
        w.click("heads/tag/induction")
        w.wait(lambda r: r["heads_tag"] == "")
        for head in ("0.0", "3.7", "0.7"):
            w.point(f"heads/{head}")
            r = w.wait(lambda r: f"Head {head}" in r["texts"] and "heads/card" in r["widgets"])
            x, y, wide, high = r["widgets"]["heads/card"]
            hx, hy, hw, hh = r["widgets"][f"heads/{head}"]
            assert x >= hx + hw or x + wide <= hx or y >= hy + hh or y + high <= hy
            assert any(text.endswith(" of 32") for text in r["texts"])
        w.point("heads/0.0")
        w.wait(lambda r: "1st of 32" in r["texts"])
        assert "10.6 %" in w.report()["texts"]


def the_strongest_heads_stand_in_a_list_beside_the_plates(display):
    with Window(PROGRAM, display, "--text", LILY, "--report-texts") as w:
        w.settled()
        w.show("Heads that matter")
        r = w.wait(lambda r: "effect/0.0" in r["widgets"] and not r["busy"], 60)
        rows = sorted(
            (place[1], name) for name, place in r["widgets"].items() if name.startswith("effect/")
        )
        assert rows[0][1] == "effect/0.0", rows[:4]
        assert any("changes by" in text for text in r["texts"])
        w.click("effect/1.1")
        w.wait(lambda r: (r["layer"], r["head"]) == (1, 1) and r["view"] == "Heat map")


def a_small_plate_is_named_and_has_no_bare_value(display):
    """A value alone under each head of a wide grid, "1.92", read as the head's name."""
    options = ["--model", "translator", "--text", "I have seen a big house.", "--view", "heads"]
    with Window(PROGRAM, display, *options, "--report-texts", size="1024x700") as w:
        r = w.settled()
        for layer in range(3):
            for head in range(8):
                assert r["texts"].count(f"{layer}.{head}") >= 3, (layer, head, r["texts"])


def one_token_has_no_tags_of_its_text(display):
    """Its only weight is 1 in every head, which tells of none; no number has an ASCII minus."""
    with Window(PROGRAM, display, "--text", "Hi", "--view", "heads", "--report-texts") as w:
        r = w.wait(lambda r: "no tag 28" in r["texts"])
        assert not {"heads/tag/self", "heads/tag/first"} & set(r["widgets"])
        for view in ("Heat map", "Prediction", "Flow"):
            w.show(view)
            r = w.settled()
            wrong = [text for text in r["texts"] if text[:1] == "-" and text[1:2].isdigit()]
            assert not wrong, (view, wrong)
