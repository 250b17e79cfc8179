"""Two heads, and before and after interventions: what opens, and what is said of it."""

from pathlib import Path

from drive import Window
from places import LILY, PROGRAM

MODELS = Path(__file__).resolve().parents[1] / "reference/models"


def two_heads_and_a_change_compared(display):
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
        w.tool("keydown", "shift")
        w.click("grid/3.2")
        w.tool("keyup", "shift")
        w.wait(
            lambda r: (
                r["view"] == "Compare"
                and [r["layer_b"], r["head_b"]] == [3, 2]
                and r["shown_head"] == [1, 2]
                and "compare/map/2" in r["widgets"]
            )
        )
        w.point("compare/map/2", 0.1, 0.9)
        w.wait(lambda r: r["hovered"] and r["hovered"][0] > 10)
        w.click("compare/largest/0")
        w.wait(lambda r: r["locked"])
        w.click("compare/row/1.1")
        w.wait(lambda r: [r["layer_b"], r["head_b"]] == [1, 1])
        w.show("Heat map")
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1)
        w.show("Heads")
        w.show("Before/after")
        w.wait(
            lambda r: (
                "compare/row/3.2" in r["widgets"]
                and "compare/key/16" in r["widgets"]
                and not r["busy"]
            )
        )
        for show, widget in (("next tokens", "compare/token/16"), ("ΔE", "compare/largest/0")):
            w.click("compare/show")
            w.click(f"compare/show/{show}")
            w.wait(lambda r: widget in r["widgets"] and not r["busy"])
        w.click("compare/head/3.2")
        w.wait(lambda r: r["shown_head"] == [3, 2])


def before_and_after_opens_on_the_head_that_moved_most(display):
    """Ablating a head leaves its own pattern as it is: that is said, and never as "No difference"
    alone. Without interventions, two buttons make one."""
    with Window(
        PROGRAM, display, "--head", "0.0", "--text", LILY, "--report-texts", "--view", "compare"
    ) as w:
        w.show("Before/after")
        w.wait(
            lambda r: (
                {"compare/ablate", "compare/mask"} <= set(r["widgets"])
                and r["shown_head"] == [0, 0]
                and not r["busy"]
            )
        )
        w.click("compare/ablate")
        r = w.wait(lambda r: r["shown_head"] != [0, 0] and "compare/map/2" in r["widgets"])
        r = w.wait(lambda r: "compare/what changed" in r["widgets"] and not r["busy"])
        moved = r["shown_head"]
        said = " ".join(r["texts"])
        assert moved[0] > 0, moved
        assert f"Without 0.0, head {moved[0]}.{moved[1]} " in said, said
        assert "An ablated head keeps its pattern; its output is zero." in said, said
        assert {"Before", "After", "After − before"} <= set(r["texts"]), r["texts"]
        w.click("grid/0.0")
        r = w.wait(lambda r: r["shown_head"] == [0, 0] and not r["busy"])
        r = w.wait(lambda r: "The pattern of head 0.0" in " ".join(r["texts"]))
        said = " ".join(r["texts"])
        assert f"Moved most: {moved[0]}.{moved[1]} (" in said, said
        w.show("Heat map")
        w.show("Before/after")
        w.wait(lambda r: r["shown_head"] == moved)


def every_view_shows_one_result_of_interventions(display):
    """The metric before and after, in numbers that are the same wherever they stand, with a unit at
    the head of each column; folded where an inspector has numbers of its own."""
    with Window(
        PROGRAM,
        display,
        "--head",
        "1.2",
        "--text",
        LILY,
        "--report-texts",
        "--do",
        "ablate 0.0",
        size="1600x1000",
    ) as w:
        w.settled()
        w.key("Escape")
        heads = {"Top movers", "before %", "after %", "points", "Heads that moved", "JS, bits"}
        r = w.wait(lambda r: heads <= set(r["texts"]) and not r["busy"])
        before, after = (f"{100 * r['effect'][i]:.1f} %" for i in (1, 2))
        assert {before, after, "Δ log p", "Δ logit"} <= set(r["texts"]), r["texts"]
        w.click("map", 0.1, 0.9)
        r = w.wait(lambda r: r["locked"] and "fold/result" in r["widgets"])
        assert "Top movers" not in r["texts"] and {before, after} <= set(r["texts"]), r["texts"]
        for view in ("Arithmetic", "Prediction", "Update (ΔE)"):
            w.show(view)
            w.wait(
                lambda r: (
                    r["door"] == view
                    and "fold/result" in r["widgets"]
                    and {before, after} <= set(r["texts"])
                )
            )
        w.click("fold/result")
        w.wait(lambda r: heads <= set(r["texts"]))


def the_most_similar_head_is_b_until_one_is_chosen(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY, "--view", "compare") as w:
        first = w.wait(lambda r: r["title"].startswith("Head 1.2 − ") and not r["busy"])
        assert [first["layer_b"], first["head_b"]] == [-1, -1]
        w.click("grid/2.0")
        r = w.wait(lambda r: r["title"].startswith("Head 2.0 − ") and not r["busy"])
        rows = [path.split("/")[2] for path in r["widgets"] if path.startswith("compare/row/")]
        other = next(row for row in rows if f"− {row}" not in first["title"] + r["title"])
        w.click(f"compare/row/{other}")
        w.wait(lambda r: r["title"] == f"Head 2.0 − {other}")
        w.click("grid/1.2")
        w.wait(lambda r: r["title"] == f"Head 1.2 − {other}" and not r["busy"])
        w.click("compare/nearest")
        w.wait(lambda r: [r["layer_b"], r["head_b"]] == [-1, -1] and r["title"] == first["title"])


def what_an_encoding_costs_is_measured_in_the_background(display):
    """The same model in 32 and 16 bits: each matrix and each head is restored in turn; a click on a
    head selects it. Beside another model it says why there is nothing."""
    options = (
        "--model",
        MODELS / "gpt2_bf16",
        "--text",
        "The cat sat on the mat.",
        "--report-texts",
    )
    with Window(PROGRAM, display, *options, "--do", f"compare encoding {MODELS / 'gpt2'}") as w:
        r = w.wait(lambda r: r.get("encodings", [0, 0])[0] == r.get("encodings", [0, 0])[1] > 8, 60)
        assert r["encodings"][2] == "", r["encodings"]
        r = w.wait(lambda r: "compare/matrix/blocks.0.attn.W_Q" in r["widgets"] and not r["busy"])
        assert {"Cost of each matrix", "Cost of each head"} <= set(r["texts"]), r["texts"]
        w.key("Escape")
        w.click("compare/cost/all", 0.9, 0.9)
        w.wait(lambda r: r["shown_head"] != [0, 0])
        w.click("compare/show")
        w.click("compare/show/pattern")
        w.wait(lambda r: "compare/map/2" in r["widgets"] and not r["busy"])
    with Window(PROGRAM, display, *options, "--do", f"compare encoding {MODELS / 'llama'}") as w:
        w.wait(lambda r: "compare/encoding/why" in r["widgets"] and not r["busy"])


def heads_of_a_larger_model_are_listed_by_its_own_names(display):
    """B has more heads than A: the list counts B's, and a click shows that one."""
    options = ("--model", MODELS / "gpt2", "--text", "The cat sat on the mat.")
    with Window(PROGRAM, display, *options, "--do", "view compare; compare model stories") as w:
        r = w.wait(lambda r: any(p.startswith("compare/row/3.") for p in r["widgets"]), 30)
        assert r["notice"] == "" and r["failure"] == "", (r["notice"], r["failure"])
        row = next(path for path in r["widgets"] if path.startswith("compare/row/3."))
        w.click(row)
        head = [int(part) for part in row.split("/")[2].split(".")]
        w.wait(
            lambda r: [r["layer_b"], r["head_b"]] == head and r["compare"] == 3 and not r["busy"]
        )
        assert "Models" in w.report()["door"]
