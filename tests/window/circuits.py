"""Circuits of heads by their weights alone and of a prediction, and the origins of a score."""

from drive import Window
from places import LILY, PROGRAM


def a_score_is_split_by_what_wrote_it(display):
    with Window(
        PROGRAM, display, "--text", LILY, "--view", "head", "--do", "head 1.2; lock 16,4"
    ) as w:
        w.wait(lambda r: "inspector/origins" in r["widgets"] and not r["busy"])
        w.click("inspector/origins")
        w.wait(
            lambda r: (
                r["view"] == "Score breakdown" and "origins/map" in r["widgets"] and not r["busy"]
            )
        )
        w.click("origins/count")
        w.click("origins/count/8 strongest")
        w.wait(lambda r: not r["busy"] and "origins/map" in r["widgets"])
        w.key("shift+Left")
        w.wait(lambda r: r["locked"] == [16, 3] and not r["busy"])
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")


def heads_are_looked_at_without_a_text(display):
    with Window(PROGRAM, display, "--text", "", "--view", "circuits") as w:
        r = w.wait(
            lambda r: (
                r["view"] == "Circuits"
                and "circuits/map" in r["widgets"]
                and "circuits/pair/0" in r["widgets"]
                and not r["busy"]
            )
        )
        before = [r["layer"], r["head"]]
        w.click("circuits/map", (3 + 0.5) / 32, (17 + 0.5) / 32)  # head 2.1 reads 0.3
        r = w.wait(lambda r: [r["layer"], r["head"]] == [2, 1] != before and not r["busy"])
        assert not r["field_focused"]
        w.click("circuits/composition")
        w.click("circuits/composition/into values")
        w.wait(lambda r: "circuits/pair/0" in r["widgets"] and not r["busy"])
        w.click("circuits/pair/0")
        w.wait(lambda r: [r["layer"], r["head"]] != [2, 1] and not r["busy"])
        w.key("Escape")
        w.wait(lambda r: r["view"] != "Circuits")


def each_block_of_a_translator_is_named_above_its_heads(display):
    """The columns of cross-attention are narrower than "cross 0"."""
    for size in ("1024x700", "1600x1000"):
        options = ["--model", "translator", "--text", "", "--view", "circuits", "--report-texts"]
        with Window(PROGRAM, display, *options, size=size) as w:
            r = w.wait(lambda r: "circuits/map" in r["widgets"] and not r["busy"], 60)
            for kind in ("enc", "dec", "cross"):
                assert kind in r["texts"], r["texts"]
            assert all(r["texts"].count(n) >= 3 for n in "012"), r["texts"]


def the_strongest_compositions_stand_as_a_graph(display):
    with Window(PROGRAM, display, "--text", "", "--view", "circuits", "--head", "0.0") as w:
        w.wait(lambda r: "circuits/map" in r["widgets"] and not r["busy"])
        w.click("circuits/as", 0.75)
        r = w.wait(
            lambda r: (
                r["circuits_graph"]
                and "circuits/graph" in r["widgets"]
                and "circuits/map" not in r["widgets"]
            )
        )
        assert r["circuits_strongest"] == 60
        w.click("circuits/strongest", 0.2)
        fewer = w.wait(lambda r: r["circuits_strongest"] < 30)["circuits_strongest"]
        w.click("circuits/kind/Q")
        w.wait(lambda r: not r["circuits_q"] and r["circuits_strongest"] == fewer)
        w.click("circuits/graph", (2 + 0.5) / 4, (3 + 0.5) / 8)  # the node of head 2.3
        r = w.wait(lambda r: [r["layer"], r["head"]] == [2, 3] and not r["busy"])
        assert not r["field_focused"]
        w.click("circuits/pair/0")
        w.wait(lambda r: [r["layer"], r["head"]] != [2, 3] and not r["busy"])


def heads_of_a_translator_have_whole_names_in_small_windows(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--text",
        "",
        "--view",
        "circuits",
        "--report-texts",
        size="1024x700",
    ) as w:
        texts = w.wait(
            lambda r: "circuits/pair/5" in r["widgets"] and not r["busy"] and r.get("texts")
        )["texts"]
        assert {"enc 0", "dec 2", "cross 2"} <= set(texts), texts
        pairs = [text for text in texts if " ← " in text and text != "reads ← writes"]
        assert len(pairs) == 6 and not any("…" in text for text in pairs), pairs


def the_steps_of_a_circuit_are_walked(display):
    """The arrows, a click on a step and Play; the strip of a window without inspector lists each
    path."""
    with Window(PROGRAM, display, "--view", "explain", "--text", LILY, size="1600x1000") as w:
        w.wait(lambda r: r["explain_steps"] == ["Mark", "Find", "Copy"] and not r["busy"])
        w.wait(lambda r: r["explain_path"].startswith("0.0 hands “ball” the word before it; "))
        assert w.report()["explain_step"] == -1
        w.key("Escape", "Right")
        w.wait(lambda r: r["explain_step"] == 0)
        w.key("Right")
        w.wait(lambda r: r["explain_step"] == 1)
        w.key("Left")
        w.wait(lambda r: r["explain_step"] == 0)
        w.click("explain/step/3")
        w.wait(lambda r: r["explain_step"] == 2)
        w.click("explain/step/3")
        w.wait(lambda r: r["explain_step"] == -1)
        w.click("explain/play")
        w.wait(lambda r: r["explain_step"] == 0)
    with Window(PROGRAM, display, "--view", "explain", "--text", LILY, size="1024x700") as w:
        w.wait(lambda r: r["explain_steps"] and "explain/strip" in r["widgets"] and not r["busy"])
        w.click("explain/path/next")
        w.wait(lambda r: "explain/step/1" in r["widgets"] and "explain/step/2" not in r["widgets"])
