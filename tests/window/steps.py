"""Arithmetic: a score step by step, by mouse, keys and weight, and the whole block."""

import tempfile
from pathlib import Path

from drive import Window
from each_view import LONG
from places import LILY, PROGRAM, SENTENCE


def steps_by_mouse_and_keys(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        w.show("Arithmetic")
        w.wait(lambda r: "steps/table" in r["widgets"])
        w.point("steps/table", 0.97, 0.1)
        w.wait(lambda r: r["step_column"] == 8)
        w.click("steps/numbers")
        w.wait(lambda r: r["strips_open"])
        w.key("Escape", "Escape", "1")
        w.wait(lambda r: r["view"] == "Heat map")
        w.key("2")
        w.wait(lambda r: r["view"] == "Arithmetic")


def the_whole_block_in_steps(display):
    with Window(
        PROGRAM, display, "--view", "steps", "--head", "1.2", "--lock", "16,4", "--text", LILY
    ) as w:
        w.wait(lambda r: "steps/table" in r["widgets"] and not r["busy"], 30)
        w.click("steps/show")
        w.click("steps/show/whole block")
        r = w.wait(
            lambda r: (
                r["steps_show"] == 1
                and "steps/stage/2" in r["widgets"]
                and "steps/lit" in r["widgets"]
            )
        )
        assert {f"steps/stage/{i}" for i in (0, 1, 2, 5, 6, 7, 11, 12, 13, 16, 18, 19)} <= set(
            r["widgets"]
        ), "every vector of a pre-norm block"
        assert not {f"steps/stage/{i}" for i in (3, 4, 8, 9, 10, 14, 15, 17)} & set(r["widgets"]), (
            "no norms of q, k and v, no rotation, no norm of the output"
        )
        w.click("steps/stage/2", 0.02)
        first = w.wait(
            lambda r: (
                r["chain_step"] == 2
                and r["chain_entry"] == 0
                and not r["busy"]
                and "steps/lit" in r["widgets"]
            )
        )["widgets"]["steps/lit"]
        w.click("steps/stage/2", 0.98)
        w.wait(
            lambda r: (
                r["chain_entry"] == 31 and r["widgets"].get("steps/lit", first)[1] > first[1] + 10
            ),
            30,
        )
        w.click("steps/stage/16", 0.5)
        w.wait(lambda r: r["chain_step"] == 16 and "steps/lit" in r["widgets"])
        w.click("steps/numbers")
        w.wait(lambda r: r["strips_open"] and "steps/lit" not in r["widgets"])
        w.click("steps/show")
        w.click("steps/show/all heads")
        w.wait(lambda r: r["steps_show"] == 2 and "steps/heads/5" in r["widgets"])
        w.click("steps/heads/0", 0.06)
        w.wait(lambda r: r["head"] == 0 and "steps/heads/0" in r["widgets"])
        w.click("steps/show")
        w.click("steps/show/attention")
        w.wait(lambda r: r["steps_show"] == 0 and "steps/table" in r["widgets"])


def steps_by_weight(display):
    """The heaviest key first, as is remembered."""
    home = Path(tempfile.mkdtemp())
    with Window(
        PROGRAM,
        display,
        "--view",
        "steps",
        "--head",
        "1.2",
        "--lock",
        "16,3",
        "--text",
        LONG,
        home=home,
    ) as w:
        w.settled()
        w.click("steps/order")
        w.click("steps/order/by weight")
        w.wait(lambda r: r["steps_order"] == 1 and "steps/order/by weight" not in r["widgets"])
        w.point("steps/table", 0.5, 0.03)
        r = w.wait(lambda r: r["hovered"] is not None and not r["busy"])
        heaviest = r["hovered"][1]
        w.point("steps/table", 0.5, 0.13)
        w.wait(lambda r: r["hovered"] is not None and r["hovered"][1] != heaviest)
        w.close()
    with Window(
        PROGRAM,
        display,
        "--view",
        "steps",
        "--head",
        "1.2",
        "--lock",
        "16,3",
        "--text",
        LONG,
        home=home,
    ) as w:
        w.wait(lambda r: r["steps_order"] == 1)
