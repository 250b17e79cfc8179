"""Interventions, and comparisons of sentences, models and heads."""

import signal
import time

from drive import Window
from places import GPT2, LILY, PROGRAM, REFERENCE


def changes_are_made_seen_and_taken_back(display):
    """The issue's own sentence: mask ball for the last word, and the model is no longer sure of
    it."""
    with Window(
        PROGRAM,
        display,
        "--head",
        "1.2",
        "--text",
        "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
    ) as w:
        w.settled()
        w.key("Escape")
        n = len(w.report()["tokens"])
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1 and "effect" in r)
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 0 and "effect" not in r)
        w.show("Mask and ablate")
        w.click("brush/mask")
        w.wait(lambda r: r["brush"] == 1)
        for count, key in enumerate((4, 10, 3), 1):
            w.click("map", (key + 0.5) / n, (16 + 0.5) / n)
            w.wait(lambda r: r["changes"] == count)
        r = w.wait(lambda r: "effect" in r and r["effect"][2] < 0.6)
        assert r["effect"][0] == "ball" and r["effect"][1] > 0.9, r["effect"]
        w.click("change/1")
        w.wait(lambda r: r["changes"] == 2)
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 3)
        w.key("ctrl+y")
        w.wait(lambda r: r["changes"] == 2)
        if "mask/window" not in w.report()["widgets"]:  # a list where the row is narrow
            w.click("mask")
        w.click("mask/window")
        w.wait(lambda r: r["mask"] == "window:4")
        w.show("Arithmetic")
        w.wait(lambda r: "change/mask" in r["widgets"])
        w.click("change/all")
        r = w.wait(lambda r: r["changes"] == 0 and r["mask"] == "own" and "effect" not in r)
        assert r["next"] == "ball"


def a_stroke_and_a_rectangle_are_one_step_each(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        at = lambda query, key: ((key + 0.5) / n, (query + 0.5) / n)
        w.show("Mask and ablate")
        w.click("brush/mask")
        w.wait(lambda r: r["brush"] == 1)
        w.drag("map", at(16, 2), at(16, 6), steps=16)
        w.wait(lambda r: r["change_list"] == [f"mask:16>{key}" for key in range(2, 7)])
        w.click("brush/rectangle")
        w.wait(lambda r: r["brush"] == 3)
        w.drag("map", at(10, 1), at(8, 3))
        w.wait(lambda r: r["change_list"][-1] == "mask:8-10>1-3")
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 5)
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)


def a_fast_stroke_skips_no_cell(display):
    """The pointer is seen at the ends of a stroke alone; the cells between are painted too, as one
    step."""
    with Window(
        PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "intervene on; brush mask"
    ) as w:
        n = len(w.settled()["tokens"])
        at = lambda query, key: ((key + 0.5) / n, (query + 0.5) / n)
        w.drag("map", at(16, 2), at(12, 6), steps=1)
        w.wait(lambda r: r["change_list"] == [f"mask:{16 - i}>{2 + i}" for i in range(5)])
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)


def a_stroke_begins_where_the_button_went_down(display):
    """Press and move reach the window in one frame, because it slept; the cells between are painted
    even so."""
    with Window(
        PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "intervene on; brush mask"
    ) as w:
        n = len(w.settled()["tokens"])
        w.wait(lambda r: r["brush"] == 1)
        time.sleep(0.3)  # the map stands still
        begin, end = (
            w.place("map", (key + 0.5) / n, (query + 0.5) / n) for query, key in ((16, 2), (12, 6))
        )
        w.process.send_signal(signal.SIGSTOP)
        w.tool("mousemove", *begin, "mousedown", "1", "mousemove", *end)
        w.process.send_signal(signal.SIGCONT)
        try:
            w.wait(lambda r: r["change_list"] == [f"mask:{16 - i}>{2 + i}" for i in range(5)])
        finally:
            w.tool("mouseup", "1")
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)


def an_ablated_head_says_so_on_its_map(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "ablate 1.2") as w:
        w.settled()
        w.wait(lambda r: r["changes"] == 1 and "map/ablated" in r["widgets"])
        w.click("grid/1.3")
        w.wait(lambda r: r["shown_head"] == [1, 3] and "map/ablated" not in r["widgets"])


def a_stroke_is_one_chip(display):
    """The cells of a stroke stand in one chip, whose cross takes them all away as one step."""
    with Window(
        PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "intervene on; brush mask"
    ) as w:
        n = len(w.settled()["tokens"])
        at = lambda query, key: ((key + 0.5) / n, (query + 0.5) / n)
        chips = lambda r: [
            path for path in r["widgets"] if path.startswith("change/") and path[7:].isdigit()
        ]
        w.drag("map", at(16, 2), at(12, 6), steps=1)
        w.wait(lambda r: r["changes"] == 5 and len(chips(r)) == 1)
        w.drag("map", at(8, 1), at(8, 4), steps=1)
        w.wait(lambda r: r["changes"] == 9 and len(chips(r)) == 2)
        x, y, wide, high = w.report()["widgets"]["change/0"]
        w.tool("mousemove", str(int(x + wide - 14)), str(int(y + high / 2)), "click", "1")
        w.wait(lambda r: r["change_list"] == [f"mask:8>{key}" for key in range(1, 5)])
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 9 and len(chips(r)) == 2)


def a_stroke_over_masked_cells_is_one_chip(display):
    """Cells that are masked already do not part a stroke; two strokes beside each other stay
    two."""
    with Window(
        PROGRAM,
        display,
        "--head",
        "1.2",
        "--text",
        LILY,
        "--do",
        "intervene on; mask 14>4; mask 14>5; brush mask; brush on this head",
        size="1780x1000",  # room for three chips
    ) as w:
        n = len(w.settled()["tokens"])
        at = lambda query, key: ((key + 0.5) / n, (query + 0.5) / n)
        chips = lambda r: [
            path for path in r["widgets"] if path.startswith("change/") and path[7:].isdigit()
        ]
        w.wait(lambda r: r["changes"] == 2 and len(chips(r)) == 1)
        w.drag("map", at(14, 2), at(14, 7), steps=1)
        w.wait(lambda r: r["changes"] == 6 and len(chips(r)) == 2)
        w.drag("map", at(15, 7), at(15, 9), steps=1)
        w.wait(lambda r: r["changes"] == 9 and len(chips(r)) == 3)


def everything_that_can_be_changed(display):
    """The bar of changes: scope, temperature, ablation, skips; a score by dragging and by key; the
    sink left out."""
    with Window(PROGRAM, display, "--head", "1.2", "--lock", "16,3", "--text", LILY) as w:
        w.settled()
        w.show("Mask and ablate")
        w.click("change/more")
        w.wait(lambda r: "temperature" in r["widgets"])
        w.click("temperature")
        w.click("temperature/0.5")
        w.wait(lambda r: r["change_list"] == ["temperature:0.5"])
        w.key("Escape")
        w.wait(lambda r: "temperature" not in r["widgets"])
        w.click("scope")
        w.click("scope/this head")
        w.wait(lambda r: r["list"] == "" and "scope/this head" not in r["widgets"])
        w.click("change/more")
        w.click("temperature")
        w.click("temperature/0, hard")
        w.wait(lambda r: r["change_list"] == ["temperature:0.5", "temperature:0@1.2"])
        w.click("ablation")
        w.click("ablation/keep only this head")
        w.wait(lambda r: r["change_list"][-1] == "ablate:1.2:keep")
        w.click("ablation")
        w.click("ablation/mean")
        w.wait(lambda r: r["change_list"][-1] == "ablate:1.2:mean" and r["changes"] == 3)
        w.click("skip")
        w.click("skip/skip both")
        w.wait(lambda r: r["change_list"][-2:] == ["skip-attention:1", "skip-mlp:1"])
        w.click("positions")
        w.click("positions/off")
        w.wait(lambda r: r["change_list"][-1] == "positions:off")
        w.click("positions")
        w.click("positions/shuffled")
        w.wait(
            lambda r: (
                r["change_list"][-1] == "positions:shuffle:1"
                and "positions:off" not in r["change_list"]
            )
        )
        w.click("positions")
        w.click("positions/own")
        w.wait(lambda r: r["change_list"][-1] == "skip-mlp:1")
        w.key("Escape")
        w.wait(lambda r: "temperature" not in r["widgets"])
        w.click("change/all")
        w.wait(lambda r: r["changes"] == 0 and "change/score" in r["widgets"] and not r["busy"])
        w.drag("change/score", (0.3, 0.5), (0.7, 0.5))
        w.wait(lambda r: r["changes"] == 1 and r["change_list"][0].startswith("score:16>3@1.2="))
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)
        w.click("map/more")
        w.click("sink")
        w.key("Escape")
        w.wait(lambda r: r["drop_sink"] and not r["busy"])
        w.point("map", 0.02, 0.98)
        w.wait(lambda r: r["hovered"] == [16, 0])


def two_sentences_tied_and_patched(display):
    with Window(PROGRAM, display, "--head", "2.0", "--text", LILY, "--view", "compare") as w:
        w.settled()
        w.key("Escape")
        w.show("Sentences")
        w.wait(lambda r: r["shown_text_b"] == LILY and "compare/map/2" in r["widgets"])
        w.key("ctrl+a")
        w.type("Lily had a red hat. Tom had a big blue hat. Lily gave Tom the red")
        r = w.wait(
            lambda r: (
                r["shown_text_b"].endswith("Tom the red")
                and "hat" in r["shown_text_b"]
                and "compare/b/17" in r["widgets"]
            )
        )
        assert r["text"] == LILY, "the first sentence stays"
        w.point("compare/map/1", 0.01, 0.99)
        w.wait(lambda r: r["hovered"] == [16, 0])
        w.click("compare/a/9")
        w.click("compare/b/9")
        w.wait(lambda r: len(r["tied"]) == 1)
        w.click("compare/untie")
        w.wait(lambda r: len(r["tied"]) == 0)
        w.click("compare/patch")
        w.wait(
            lambda r: (
                r["change_list"]
                == ["freeze:2.0=Lily had a red hat. Tom had a big blue hat. Lily gave Tom the red"]
                and "effect" in r
            )
        )
        w.click("compare/patch")
        w.wait(lambda r: r["changes"] == 0)


def two_models_compared(display):
    with Window(PROGRAM, display, "--text", "The cat sat on the mat", "--view", "compare") as w:
        w.settled()
        w.key("Escape")
        w.show("Models")
        w.wait(lambda r: "compare/model" in r["widgets"])
        for path, widget in ((GPT2, "compare/row/0.0"), (REFERENCE / "bert", "compare/row/0.0")):
            w.click("compare/model")
            w.wait(lambda r: r["model_menu"] and r["typing"])
            w.key("ctrl+a")
            w.type(str(path))
            w.key("Return")
            w.wait(
                lambda r: (
                    not r["model_menu"]
                    and r["shown_text_b"]
                    and widget in r["widgets"]
                    and not r["busy"]
                )
            )
        w.click("compare/model")
        w.wait(lambda r: r["model_menu"] and r["typing"])
        w.key("ctrl+a")
        w.type("/nowhere/at all")
        w.key("Return")
        w.wait(
            lambda r: not r["model_menu"] and not r["busy"] and "compare/map/0" not in r["widgets"]
        )
        assert w.report()["model"] == "stories", "A stays open"


def each_head_ablated_in_turn(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.key("Escape")
        w.click("rank")
        w.click("rank/effect on log p ball")
        w.wait(
            lambda r: r["swept"] == "ended" and any(p.startswith("ranked/") for p in r["widgets"])
        )
        w.show("All heads")
        w.click("heads/sort")
        w.click("heads/sort/effect on log p ball")
        # The list has closed.
        w.wait(
            lambda r: (
                r["heads_sort"] == 10 and "heads/sort/effect on log p ball" not in r["widgets"]
            )
        )
        w.click("heads/layout")
        w.click("heads/layout/values")
        w.wait(lambda r: "values/3.7" in r["widgets"])
        w.click("metric/heads")
        w.click("metric/kind/p")
        w.wait(lambda r: r["metric"] == "p")
        w.key("Escape")
        w.wait(
            lambda r: (
                "metric menu" not in r["widgets"]
                and r["swept"] == "ended"
                and "values/3.7" in r["widgets"]
                and not r["busy"]
            )
        )
        w.click("values/2.3")
        w.wait(lambda r: r["shown_head"] == [2, 3] and r["view"] == "Heat map")
