"""Influence: map and scores fill in, scores of the generated text lead to masks."""

from drive import Window
from places import PROGRAM

RED = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
BIG = "Lily had a big dog. Tom had a blue ball. Lily gave Tom the red"


def _mapped(r):
    done, rows, refusal = r.get("influence_map", [0, 0, ""])
    return 0 < rows == done and not refusal and not r["busy"]


def _scored(r):
    return r.get("token_scores", [0, False, ""])[1] and not r["busy"]


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
                r["influence_steps"] == 10
                and r["view"] == "Influence"
                and _mapped(r)
                and _scored(r)
            )
        )
        w.key("ctrl+1")
        w.wait(lambda r: not r["busy"] and "map" in r["widgets"])
        w.key("ctrl+g")
        r = w.wait(
            lambda r: (
                r["view"] == "Influence"
                and _mapped(r)
                and _scored(r)
                and "influence/correlation" in r["widgets"]
            )
        )
        assert "influence/cancel" not in r["widgets"] and "influence/attention" in r["widgets"]
        whole, n = r["token_scores"][0], len(r["tokens"])
        w.click("influence/map", 1.5 / n, (n - 0.5) / n)  # the last row, the second token
        w.wait(lambda r: r["locked"] == [n - 1, 1])
        w.click("influence/baseline")
        w.click("influence/baseline/zero")
        w.wait(lambda r: _scored(r) and r["token_scores"][0] != whole)
        w.click("influence/beside")
        w.click("influence/beside/rollout")
        w.wait(lambda r: _mapped(r) and "influence/correlation" in r["widgets"])
        w.click("influence/of")
        w.click("influence/of/metric")
        w.wait(lambda r: _mapped(r) and "influence/layer" not in r["widgets"])


def measuring_influence_is_cancelled_and_begun_again(display):
    begun = (
        "influence measure off; influence probes 8; influence by integrated-gradients; influence "
        "steps 10; influence baseline text; compare sentences; view influence"
    )
    with Window(PROGRAM, display, "--text", RED, "--do", begun) as w:
        w.wait(
            lambda r: (
                "influence/measure" in r["widgets"] and "influence_map" not in r and not r["busy"]
            )
        )
        w.click("influence/measure")
        # From itself nothing changes.
        w.wait(
            lambda r: (
                _mapped(r) and _scored(r) and r["token_scores"][0] == 0 and "other" in r["widgets"]
            )
        )
        w.fill("other", BIG, lambda r: r["shown_text_b"] == BIG)
        w.wait(lambda r: _scored(r) and r["token_scores"][0] != 0)
        w.fill(
            "other", BIG + " hat", lambda r: "equal length" in r.get("token_scores", [0, 0, ""])[2]
        )


def a_part_that_wrote_the_answer_is_masked(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        RED,
        "--do",
        "influence probes 8; influence parts sentences; view influence; length 4; generate on",
    ) as w:
        w.wait(lambda r: _scored(r) and "influence/over" in r["widgets"])
        w.click("influence/over")
        w.click("influence/over/generated text")
        before = w.wait(lambda r: _scored(r) and "influence/part/0" in r["widgets"])
        w.click("influence/part/0")
        r = w.wait(
            lambda r: (
                r["changes"] == 1
                and _scored(r)
                and r["token_scores"][0] != before["token_scores"][0]
            )
        )
        assert r["change_list"] == ["mask:6..>0-5"], r["change_list"]
        w.click("influence/part/0")
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
        r = w.wait(lambda r: r["view"] == "Influence" and _mapped(r))
        assert "influence/layer" not in r["widgets"], "the map is of the metric"
        w.click("influence/method")
        w.click("influence/method/attribution patching")
        w.wait(lambda r: "other" in r["widgets"])
        w.fill("other", BIG, lambda r: r["shown_text_b"] == BIG)
        w.wait(lambda r: _scored(r) and r["token_scores"][0] != 0)
        w.fill(
            "other", BIG + " hat", lambda r: "equally long" in r.get("token_scores", [0, 0, ""])[2]
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
                        and any(t.startswith("Origins of red 16") for t in r.get("texts", []))
                    )
                )
                note = next(t for t in r["texts"] if t.startswith("Origins of red 16"))
                assert note.endswith(".") and "apart" in note, (size, by, note)


def scores_are_listed_with_their_sign(display):
    with Window(PROGRAM, display, "--text", RED, "--view", "influence", "--report-texts") as w:
        texts = w.wait(lambda r: _scored(r) and r.get("texts"))["texts"]
        listed = texts[next(i for i, text in enumerate(texts) if text.startswith("Matters most")) :]
        assert any(text.startswith("+0.") for text in listed), listed
        assert any(text.startswith("−0.") for text in listed), listed
