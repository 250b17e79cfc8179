"""Each view of a trace, and the actions in it."""

import json
import re
import shutil
import tempfile
import time
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM, REFERENCE, SENTENCE


def lines_of_a_layer(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball. Tom had") as w:
        w.settled()
        w.show("Lines")
        w.wait(lambda r: r["view"] == "Lines" and "lines/query/3" in r["widgets"])
        w.point("lines/query/3")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 3)
        w.click("lines/query/2")
        w.wait(lambda r: r["locked"] and r["locked"][0] == 2)
        w.click("lines/head/4")
        w.wait(lambda r: r["hidden_heads"] == [4])
        time.sleep(0.6)  # not a double click
        w.click("lines/head/4")
        w.wait(lambda r: r["hidden_heads"] == [])
        w.key("Down")
        w.wait(lambda r: not r["busy"] and "lines/key/0" in r["widgets"])
        w.type(" a")
        w.wait(
            lambda r: r.get("shown_text", "").endswith("had a") and "lines/query/8" in r["widgets"]
        )
        w.show("Heat map")


def a_cell_chosen_in_lines_tells_its_tokens_in_the_heat_map(display):
    """Lines shows no tokens that a head promotes, and does not ask for them; the heat map does of
    the same cell."""
    with Window(PROGRAM, display, "--text", SENTENCE, "--do", "view lines", "--report-texts") as w:
        w.settled()
        w.click("lines/query/3")
        w.wait(lambda r: r["locked"] and r["locked"][0] == 3 and not r["busy"])
        assert "promotes" not in w.report()["texts"]
        w.show("Heat map")
        w.wait(
            lambda r: r["view"] == "Heat map" and r["locked"][0] == 3 and "promotes" in r["texts"]
        )


def every_view_lights_what_is_hovered(display):
    """A token pointed at in one view is lit in the chips and stays in the inspector of all."""
    places = {
        "Heat map": ("map", 0.05, 0.4),
        "Lines": ("lines/query/3", 0.5, 0.5),
        "Arithmetic": ("steps/table", 0.5, 0.3),
        "Update (ΔE)": ("delta/map", 0.8, 0.4),
        "Prediction": ("lens/grid", 0.4, 0.5),
        "Flow": ("graph/token/3", 0.5, 0.5),
    }
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for view, (path, x, y) in places.items():
            w.show(view)
            w.wait(lambda r: r["view"] == view and path in r["widgets"] and not r["busy"])
            frame = w.report()["frame"]
            w.point(path, x, y)
            r = w.wait(lambda r: r["hovered"] is not None and r["frame"] > frame)
            query = r["hovered"][0]
            w.click(path, x, y)
            w.wait(lambda r: r["locked"] and (view == "Arithmetic" or r["locked"][0] == query))
            w.point("inspector/title")
            w.wait(lambda r: r["hovered"] is None and r["locked"])
            w.key("Escape")
            w.wait(lambda r: r["locked"] is None)


def the_heat_map_enlarges_and_moves(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        cell = w.report()["widgets"]["map"]
        w.point("map", 0.5, 0.5)
        w.tool(
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
            "click",
            "4",
        )
        w.wait(lambda r: r["map_zoom"] > 3)
        assert w.report()["widgets"]["map"][2] > cell[2], "more of the room"
        w.click("map/fit")
        w.wait(lambda r: r["map_zoom"] == 1)


def what_is_seen_moves_by_command(display):
    """The wheel's work by keys, the palette and --do."""
    with Window(
        PROGRAM, display, "--text", LILY, "--do", "zoom in; zoom in; zoom in; zoom in; scroll right"
    ) as w:
        zoom, x, y = w.wait(lambda r: r["map_zoom"] > 2 and r["seen"][1] > 0)["seen"]
        assert y > 0, "about the middle"
        cell = w.report()["widgets"]["map"]
        w.key("ctrl+equal")
        w.wait(lambda r: r["map_zoom"] > zoom)
        w.key("ctrl+minus", "ctrl+minus")
        w.wait(lambda r: r["map_zoom"] < zoom)
        w.key("shift+Next")
        w.wait(lambda r: r["seen"][2] > y)
        w.key("ctrl+k")
        w.type("zoom show")
        w.wait(lambda r: r.get("palette", [""])[0] == "Zoom: show all")
        w.key("Return")
        r = w.wait(lambda r: r["seen"] == [1, 0, 0] and "palette" not in r)
        assert r["widgets"]["map"][2] <= cell[2] and r["text"] == LILY
        w.show("Prediction")
        w.wait(lambda r: r["view"] == "Prediction" and "lens/earlier" in r["widgets"])
        last = w.report()["seen"][1]
        w.click("lens/earlier")
        w.wait(lambda r: 0 <= r["seen"][1] < last)
        w.click("lens/later")
        w.wait(lambda r: r["seen"][1] == last)


LONG = " ".join(["Lily had a red ball. Tom had a blue ball."] * 6)


def long_texts_keep_what_is_typed_in_sight(display):
    """Lines, Steps and the enlarged map show the last token when it is typed, and what an arrow
    locks; Lines say how many they leave out."""
    with Window(
        PROGRAM,
        display,
        "--text",
        LONG,
        "--do",
        "lines share 99",
        "--report-texts",
        size="1024x700",
    ) as w:
        last = len(w.settled()["tokens"]) - 1
        w.key("Escape")
        w.show("Lines")
        w.wait(lambda r: f"lines/query/{last}" in r["widgets"])
        w.click("sentence", 0.5, 0.5)
        w.key("End")
        w.type(" and a")
        w.wait(lambda r: not r["busy"] and f"lines/query/{last + 2}" in r["widgets"])
        w.point(f"lines/query/{last}")
        w.wait(
            lambda r: any(
                re.search(r"its strongest 100 of [12]\d\d lines", text) for text in r["texts"]
            )
        )


def a_predicted_token_is_written(display):
    with Window(
        PROGRAM,
        display,
        "--view",
        "lens",
        "--text",
        "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
    ) as w:
        r = w.settled()
        w.wait(lambda r: "lens/next/0" in r["widgets"])
        w.click("lens/next/0")
        w.wait(lambda r: r["text"].endswith("the red ball") and r.get("shown_text") == r["text"])
    with Window(
        PROGRAM,
        display,
        "--view",
        "lens",
        "--model",
        REFERENCE / "bert",
        "--text",
        "the [MASK] sat",
    ) as w:
        w.settled()
        w.wait(lambda r: "lens/next/1" in r["widgets"])
        w.click("lens/next/1")
        r = w.wait(lambda r: "[MASK]" not in r["text"])
        assert r["text"].startswith("the ") and r["text"].endswith(" sat"), r["text"]


def all_heads_sorted_labeled_and_opened(display):
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", SENTENCE, home=home) as w:
        w.settled()
        w.show("All heads")
        w.wait(lambda r: r["view"] == "All heads" and "heads/2.5" in r["widgets"])
        w.click("heads/layout")
        w.click("heads/layout/table")
        w.wait(lambda r: r["heads_layout"] == 2 and "heads/column/induction" in r["widgets"])
        w.click("heads/column/induction (random text)")
        first_row = lambda r: min(
            (rect[1], path) for path, rect in r["widgets"].items() if path.startswith("heads/row/")
        )[1]
        # Where the story model has its induction heads.
        r = w.wait(lambda r: r["heads_sort"] == 9 and first_row(r).startswith("heads/row/1."))
        w.click(first_row(r))
        w.wait(lambda r: r["view"] == "Heat map" and r["shown_head"][0] == 1)
        w.key("Escape", "F2")
        w.wait(lambda r: "label" in r["widgets"] and r["typing"])
        w.type("copies")
        w.key("Return")
        w.wait(lambda r: list(r["head_labels"].get("stories", {}).values()) == ["copies"])
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")
        w.close()
    assert "copies" in (home / "headlight/labels.json").read_text(), "labels are kept"
    shutil.rmtree(home)


def graph_heads_switch(display):
    with Window(PROGRAM, display, "--view", "graph", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.click("graph/head/0.3")
        w.wait(lambda r: r["left_out"] == [[0, 3]])
        w.click("graph/selected")
        w.wait(lambda r: len(r["left_out"]) == 31)
        w.click("graph/all")
        w.wait(lambda r: r["left_out"] == [])
        w.click("graph/origins")
        w.click("graph/origins/flow")
        w.wait(lambda r: not r["busy"] and "graph/token/3" in r["widgets"])


def a_dropped_config_is_counted(display):
    folder = Path(tempfile.mkdtemp()) / "gpt2-xl"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25})
    )
    with Window(
        PROGRAM, display, "--text", SENTENCE, "--do", "model architecture gpt-3; view model"
    ) as w:
        w.settled()
        w.wait(lambda r: "model/count/5" in r["widgets"] and "model/weights/0" not in r["widgets"])
        w.drop(folder / "config.json")
        r = w.wait(
            lambda r: (
                r.get("model_config") == "gpt2-xl"
                and r["view"] == "Architecture"
                and "model/count/5" in r["widgets"]
            )
        )
        assert r["model"] == "stories" and r["text"] == SENTENCE, "what is open stays open"
        w.drop(REFERENCE / "llama/config.json")
        w.wait(lambda r: r["model_config"] == "llama")
    shutil.rmtree(folder.parent)


def the_model_needs_no_sentence(display):
    with Window(PROGRAM, display, "--text", "", "--view", "model") as w:
        r = w.wait(
            lambda r: (
                r["view"] == "Architecture"
                and "model/weights/3" in r["widgets"]
                and "model/count/5" in r["widgets"]
            )
        )
        assert "sample/0" not in r["widgets"]
        w.click("model/0/5")
        w.wait(lambda r: r["model_block"] == 5 and "model/weights/2" not in r["widgets"])
        w.key("Escape")
        w.wait(lambda r: "sample/0" in r["widgets"])
    with Window(PROGRAM, display, "--text", "", "--model", REFERENCE / "bert") as w:
        w.click("sample/0")
        w.wait(
            lambda r: (
                r["text"] == "The capital of France is [MASK]." and r.get("shown_text") == r["text"]
            )
        )


def blocks_of_the_model_open_their_views(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        w.show("Architecture")
        w.wait(lambda r: r["view"] == "Architecture" and "model/0/3" in r["widgets"])
        # W_Q, W_K, W_V and W_O of the selected head
        w.wait(lambda r: "model/weights/3" in r["widgets"], 30)
        w.click("model/0/5")  # embedding, positions, norm, attention, norm, MLP
        w.wait(
            lambda r: (
                r["model_block"] == 5
                and "model/weights/1" in r["widgets"]
                and "model/weights/2" not in r["widgets"]
            )
        )
        w.click("model/0/5")
        w.wait(lambda r: r["view"] == "Prediction")
        w.key("Escape")
        w.show("Architecture")
        w.wait(lambda r: r["view"] == "Architecture" and "model/0/3" in r["widgets"])
        w.click("model/0/3")
        w.wait(lambda r: r["model_block"] == 3 and "model/weights/3" in r["widgets"])
        w.click("model/open")
        w.wait(lambda r: r["view"] == "Heat map")
        w.key("Escape")
        w.show("Architecture")
        w.wait(lambda r: r["view"] == "Architecture")
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")


def alignment_opens_on_the_last_layers_mean_whatever_was_selected(display):
    for head in ("encoder.1.3", "cross.0.2"):
        with Window(
            PROGRAM,
            display,
            *("--model", "translator", "--head", head, "--text", "I have never seen him."),
        ) as w:
            w.settled()
            w.show("Alignment")
            r = w.wait(lambda r: "alignment" in r and not r["busy"])
            assert r["layer"] == 8 and r["align_of"] == 1, (head, r["layer"], r["align_of"])


def alignment_opens_on_the_mean_and_ranks_cross_attention(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--view",
        "alignment",
        "--text",
        "I have never seen him.",
    ) as w:
        w.wait(lambda r: "alignment" in r and not r["busy"])
        w.key("Escape")
        r = w.wait(lambda r: any(path.startswith("ranked/") for path in r["widgets"]))
        ranked = [path for path in r["widgets"] if path.startswith("ranked/")]
        assert r["align_of"] == 1, ranked
        assert all(path.startswith("ranked/cross") for path in ranked), ranked
        chosen = [r["layer"], r["head"]]
        other = next(path for path in ranked if not path.endswith(f".{chosen[1]}"))
        w.click(other)
        w.wait(lambda r: r["align_of"] == 0 and [r["layer"], r["head"]] != chosen and not r["busy"])
