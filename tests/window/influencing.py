"""Words that matter: scores and maps fill in, and a word is locked and masked."""

from drive import Window
from places import PROGRAM

RED = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
BIG = "Lily had a big dog. Tom had a blue ball. Lily gave Tom the red"


def _mapped(r):
    done, rows, refusal = r.get("influence_map", [0, 0, ""])
    return 0 < rows == done and not refusal and not r["busy"]


def _scored(r, which="second_scores"):
    return r.get(which, [0, False, ""])[1] and not r["busy"]


def the_answer_comes_first(display):
    """A sentence, the ranking of leaving out, integrated gradients beside it; a row under the mouse
    lights everywhere, a click locks it, a right click masks it."""
    with Window(PROGRAM, display, "--text", RED, "--view", "influence", "--report-texts") as w:
        r = w.wait(
            lambda r: (
                _scored(r, "first_scores")
                and _scored(r)
                and "influence/word/4" in r["widgets"]
                and any(t.startswith("Then ball 4") for t in r["texts"])
            )
        )
        texts = r["texts"]
        finding = "the 15 matters most: without it, ball falls from 98.9 % to 69.5 %"
        assert finding in " ".join(texts), texts  # a line may break within it
        assert any("Integrated gradients puts ball 4 first." in t for t in texts), texts
        assert any(t.startswith("exact, 17 runs") for t in texts), texts
        assert any(t.startswith("adds up: +26.") for t in texts), texts
        rows = {
            int(path.rpartition("/")[2]): at[1]
            for path, at in r["widgets"].items()
            if path.startswith("influence/word/")
        }
        assert sorted(rows, key=rows.get)[:3] == [15, 4, 3], rows
        assert "influence/map" not in r["widgets"] and "influence_map" not in r, "it is folded"
        w.point("influence/word/15")
        w.wait(lambda r: "the 15" in r["texts"] and "hover" in r["texts"])
        w.click("influence/word/3")
        w.point("influence/answer")
        w.wait(lambda r: "red 3" in r["texts"] and "locked" in r["texts"])
        w.point("influence/part/4")
        w.wait(lambda r: "ball 4" in r["texts"] and "hover" in r["texts"])
        w.tool("click", "3")
        r = w.wait(lambda r: r["changes"] == 1 and _scored(r, "first_scores"))
        assert r["change_list"] == ["mask:5..>4"], r["change_list"]
        w.wait(lambda r: not any("falls from 98.9 %" in t for t in r["texts"]), 30)
        w.click("influence/mask")
        w.wait(lambda r: r["changes"] == 2)  # of red 3, which is locked


def a_method_that_misses_its_sum_is_said_to(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        RED,
        "--do",
        "influence by input-x-gradient; view influence",
        "--report-texts",
    ) as w:
        w.wait(lambda r: _scored(r) and any(t.startswith("does not add up") for t in r["texts"]))
        w.click("influence/method")
        w.click("influence/method/none")
        w.wait(lambda r: not any(t.startswith("does not add up") for t in r["texts"]))


def one_word_leaves_nothing_to_leave_out(display):
    with Window(PROGRAM, display, "--text", "Lily", "--view", "influence") as w:
        w.wait(lambda r: "nothing to leave out" in r.get("first_scores", [0, 0, ""])[2])


def influence_stands_beside_attention(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        "Lily had a red ball.",
        "--do",
        (
            "influence measure on; metric logit ball; influence by integrated-gradients; influence "
            "steps 10"
        ),
    ) as w:
        # The last command acted: each opens its view.
        w.wait(
            lambda r: (
                r["influence_points"] == 10 and r["view"] == "Words that matter" and _scored(r)
            )
        )
        w.show("Heat map")
        w.wait(lambda r: not r["busy"] and "map" in r["widgets"])
        w.key("ctrl+g")
        w.wait(lambda r: r["view"] == "Words that matter" and "influence/maps" in r["widgets"])
        w.click("influence/maps")
        r = w.wait(lambda r: _mapped(r) and _scored(r) and "influence/correlation" in r["widgets"])
        assert "influence/cancel" not in r["widgets"] and "influence/attention" in r["widgets"]
        whole, n = r["second_scores"][0], len(r["tokens"])
        w.click("influence/map", 1.5 / n, (n - 0.5) / n)  # the last row, the second token
        w.wait(lambda r: r["locked"] == [n - 1, 1])
        w.click("influence/beside")
        w.click("influence/beside/rollout")
        w.wait(lambda r: _mapped(r) and "influence/correlation" in r["widgets"])
        w.click("influence/of")
        w.click("influence/of/metric")
        w.wait(lambda r: _mapped(r) and "influence/layer" not in r["widgets"])
        w.click("influence/maps")
        w.wait(lambda r: "influence/map" not in r["widgets"])
        w.click("influence/settings")
        w.click("influence/baseline")
        w.click("influence/baseline/zero")
        w.wait(lambda r: _scored(r) and r["second_scores"][0] != whole)


def measuring_influence_is_cancelled_and_begun_again(display):
    begun = (
        "influence measure off; influence by integrated-gradients; influence "
        "steps 10; influence baseline text; compare sentences; view influence"
    )
    with Window(PROGRAM, display, "--text", RED, "--do", begun, size="1600x1000") as w:
        w.wait(
            lambda r: (
                "influence/measure" in r["widgets"] and "first_scores" not in r and not r["busy"]
            )
        )
        w.click("influence/measure")
        # From itself nothing changes.
        w.wait(
            lambda r: (
                _scored(r, "first_scores")
                and _scored(r)
                and r["second_scores"][0] == 0
                and "other" in r["widgets"]
            )
        )
        w.fill("other", BIG, lambda r: r["shown_text_b"] == BIG)
        w.wait(lambda r: _scored(r) and r["second_scores"][0] != 0)
        w.fill(
            "other", BIG + " hat", lambda r: "equal length" in r.get("second_scores", [0, 0, ""])[2]
        )


def a_part_that_wrote_the_answer_is_masked(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        RED,
        "--do",
        "influence parts sentences; view influence; length 4; generate on",
        size="1600x1000",
    ) as w:
        w.wait(lambda r: _scored(r) and "influence/settings" in r["widgets"])
        w.click("influence/settings")
        w.click("influence/over")
        w.click("influence/over/generated text")
        before = w.wait(
            lambda r: _scored(r) and _scored(r, "first_scores") and r["influence_written"]
        )
        w.point("influence/part/0")
        w.tool("click", "3")
        r = w.wait(
            lambda r: (
                r["changes"] == 1
                and _scored(r)
                and r["second_scores"][0] != before["second_scores"][0]
            )
        )
        assert r["change_list"] == ["mask:6..>0-5"], r["change_list"]
        w.point("influence/part/0")
        w.tool("click", "3")
        w.wait(lambda r: r["changes"] == 0 and _scored(r))


def origins_of_the_graph_are_told_in_each_way(display):
    with Window(
        PROGRAM,
        display,
        "--view",
        "graph",
        "--text",
        RED,
        "--do",
        "metric logit ball; graph sink apart",
    ) as w:
        w.wait(lambda r: "graph/token/3" in r["widgets"] and not r["busy"])
        for way in ("contributions", "relevance", "flow", "rollout"):
            w.click("graph/origins")
            w.click("graph/origins/" + way)
            w.wait(lambda r: not r["busy"] and "graph/token/3" in r["widgets"])
        w.click("graph/sink")
        w.click("graph/sink/among others")
        w.wait(lambda r: "graph/token/3" in r["widgets"] and not r["busy"])


def relevance_and_patching_of_every_token(display):
    """From the graph to the map of all tokens; and scores that another text brings back."""
    with Window(
        PROGRAM, display, "--view", "graph", "--text", RED, "--do", "metric ball - dog"
    ) as w:
        w.wait(lambda r: "graph/map" in r["widgets"] and not r["busy"])
        w.click("graph/origins")
        w.click("graph/origins/relevance")
        w.wait(lambda r: "graph/map" in r["widgets"] and not r["busy"])
        w.click("graph/map")
        r = w.wait(lambda r: r["view"] == "Words that matter" and _mapped(r))
        assert "influence/layer" not in r["widgets"], "the map is of the metric"
        w.wait(lambda r: _scored(r, "first_scores") and _scored(r))  # nothing moves any more
        w.click("influence/method")
        w.click("influence/method/attribution patching")
        w.wait(lambda r: "other" in r["widgets"])
        w.fill("other", BIG, lambda r: r["shown_text_b"] == BIG)
        w.wait(lambda r: _scored(r) and r["second_scores"][0] != 0)
        w.fill(
            "other",
            BIG + " hat",
            lambda r: "same number of tokens" in r.get("second_scores", [0, 0, ""])[2],
        )


def what_stands_under_the_graph_is_said_whole(display):
    """In a wide and in a narrow window, in every way of telling origins, with the first token
    apart."""
    for size in ("1600x1000", "800x600"):
        for by in ("auto", "contribution", "relevance"):
            with Window(
                PROGRAM,
                display,
                "--view",
                "graph",
                "--text",
                RED,
                "--do",
                f"graph by {by}; graph sink apart",
                "--report-texts",
                size=size,
            ) as w:
                r = w.wait(
                    lambda r: (
                        not r["busy"]
                        and any(
                            t.startswith("Origins of red 16") and "apart" in t
                            for t in r.get("texts", [])
                        )
                    )
                )
                note = next(t for t in r["texts"] if t.startswith("Origins of red 16"))
                assert note.endswith("."), (size, by, note)
