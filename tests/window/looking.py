"""Other ways to look at what a view shows: several heads as one, the text itself, slides, previews,
narrow windows, spellings."""

import re

from drive import Window
from places import LILY, PROGRAM, REFERENCE, SENTENCE


def several_heads_as_one(display):
    """Mean and max of the layer, of all, of heads that are chosen at their thumbnails; the title
    says which."""
    with Window(PROGRAM, display, "--view", "head", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.click("map/of/mean")
        w.wait(lambda r: r["title"] == "Mean of 8 heads, layer 1" and not r["busy"])
        w.click("map/from")
        w.click("map/from/all layers")
        w.wait(lambda r: r["title"] == "Mean of all 32 heads" and not r["busy"])
        w.click("map/of/max")
        w.wait(lambda r: r["title"] == "Max of all 32 heads" and not r["busy"])
        w.click("map/of/head")
        w.wait(lambda r: r["title"] == "Head 1.2" and not r["busy"])
        w.tool("keydown", "ctrl")
        w.click("grid/0.3")
        w.tool("keyup", "ctrl")
        w.wait(lambda r: r["title"] == "Mean of heads 0.3, 1.2" and not r["busy"])
        w.point("map", 0.05, 0.9)
        w.wait(lambda r: r["hovered"] and r["hovered"][1] == 0)


def the_text_colored_by_a_query(display):
    with Window(PROGRAM, display, "--view", "text", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.click("text/6")
        w.wait(lambda r: r["locked"] and r["locked"][0] == 6)
        w.point("text/3")
        w.wait(lambda r: r["hovered"] == [6, 3])
    with Window(
        PROGRAM,
        display,
        "--view",
        "text",
        "--text",
        LILY + " ball" * 300,
        "--lock",
        "2,1",
        size="1024x450",
    ) as w:
        w.settled()
        w.wait(lambda r: r["text_first"] == 0 and "text/1" in r["widgets"])
        w.point("text/20")
        for _ in range(8):
            w.tool("click", "5")
        w.wait(lambda r: r["text_first"] > 0)


def slides_are_kept_and_presented(display):
    """Views that were kept; presenting shows one alone, the arrows walk, no letter gets into the
    text, Esc leaves."""
    with Window(PROGRAM, display, "--view", "head", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.key("shift+F5")
        w.wait(lambda r: r["slides"] == 1)
        w.show("Arithmetic")
        w.wait(lambda r: r["view"] == "Arithmetic" and not r["busy"])
        w.key("shift+F5")
        w.wait(lambda r: r["slides"] == 2 and r["slide"] == 1)
        w.key("F5")
        r = w.wait(
            lambda r: (
                r["presenting"]
                and "present/leave" in r["widgets"]
                and not any(path.startswith("grid/") for path in r["widgets"])
            )
        )
        w.key("x", "Left")
        r = w.wait(lambda r: r["slide"] == 0 and r["view"] == "Heat map" and not r["busy"])
        assert r["text"] == SENTENCE, "letters do nothing while presenting"
        w.key("Right")
        w.wait(lambda r: r["slide"] == 1 and r["view"] == "Arithmetic" and not r["busy"])
        w.key("Escape")
        w.wait(lambda r: not r["presenting"] and "grid/1.2" in r["widgets"])


def slides_are_arranged_in_a_strip(display):
    """Empty: one button. Thumbnails of what was shown, moved by a drag, named, revealed."""
    with Window(PROGRAM, display, "--view", "head", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.click("present")
        r = w.wait(lambda r: r["arranging"] and "slides/add" in r["widgets"])
        assert "slides/0" not in r["widgets"] and "slides/delete" not in r["widgets"]
        w.click("slides/add")
        w.wait(lambda r: r["slides"] == 1 and r["thumbnails"] == 1 and "slides/0" in r["widgets"])
        w.click("slides/back")
        w.wait(lambda r: not r["arranging"])
        w.show("Arithmetic")
        w.wait(lambda r: r["view"] == "Arithmetic" and not r["busy"])
        w.key("shift+F5")
        w.wait(lambda r: r["slides"] == 2 and r["thumbnails"] == 2)
        w.click("present")
        w.wait(lambda r: r["arranging"] and "slides/1" in r["widgets"])
        w.drag("slides/1", (0.5, 0.5), (0.5, -1.2))
        w.wait(lambda r: r["slide"] == 0)
        w.click("slides/1")
        r = w.wait(lambda r: r["slide"] == 1 and r["view"] == "Heat map" and not r["busy"])
        x, y, wide, high = r["widgets"]["slides/0"]
        assert (round(wide), round(high)) == (208, 130), r["widgets"]["slides/0"]
        w.click("slides/steps/step by step")
        w.key("F5")
        r = w.wait(lambda r: r["presenting"] and r["revealed"] == 0)
        assert "present/value" not in r["widgets"] and "present/next" not in r["widgets"]
        w.key("space")
        w.wait(lambda r: r["revealed"] == 1 and "present/value" in r["widgets"])
        w.key("space")
        w.wait(lambda r: r["revealed"] == 2 and "present/next" in r["widgets"])
        w.key("b")
        w.wait(lambda r: "present/blank" in r["widgets"] and "slide" not in r["widgets"])
        w.key("b", "Escape", "Escape")
        w.wait(lambda r: not r["presenting"] and not r["arranging"] and "grid/1.2" in r["widgets"])


def a_ranked_head_is_previewed(display):
    """While the pointer rests on its row, without being chosen; nothing stays of it."""
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.key("Escape")
        rows = sorted(
            (place[1], path)
            for path, place in w.report()["widgets"].items()
            if path.startswith("ranked/") and not path.endswith("/1.2")
        )
        for _, path in rows[:2]:
            head = [int(i) for i in path.split("/")[1].split(".")]
            w.point(path)
            r = w.wait(lambda r: r["preview"] == head and r["shown_head"] == head and not r["busy"])
            assert (r["layer"], r["head"], r["hovered_head"]) == (1, 2, head)
        w.tool("mousemove", "800", "990")
        w.wait(lambda r: r["preview"] is None and r["shown_head"] == [1, 2] and not r["busy"])


def numbers_are_spelled_with_a_minus(display):
    """In no text of any view a hyphen stands for minus, nor "1e-7" for 1.0e−7; and none says −0."""
    wrong = re.compile(r"(?:^|[^\w])-\d|\de-\d|[−-]0(?:\.0+)?(?:$|[^\w.])")
    models = {
        "stories": [
            "--text",
            LILY,
            "--head",
            "1.2",
            "--lock",
            "16,4",
            "--do",
            "mask 16>3; temperature 0.5; ablate 2.0",
        ],
        "changed": [
            "--text",
            LILY,
            "--head",
            "1.2",
            "--do",
            "ablate 1.1; compare changes; patch put heads; metric ball - car; learn positions",
        ],
        "t5": ["--model", REFERENCE / "t5", "--text", "a b c d"],
    }
    for model, options in models.items():
        with Window(PROGRAM, display, *options, "--report-texts") as w:
            w.settled()
            w.key("Escape")
            seen = set()
            for question in "12345":  # again: the next view of the question
                while True:
                    before = w.report()["door"]
                    w.key(f"ctrl+{question}")
                    r = w.wait(
                        lambda r: (
                            r["door"] != before
                            and not r["busy"]
                            and r.get("texts")
                            and r.get("patched", [1, 1])[0] == r.get("patched", [1, 1])[1]
                        )
                    )
                    if r["door"] in seen:
                        break
                    seen.add(r["door"])
                    found = [text for text in r["texts"] if wrong.search(text)]
                    assert not found, f"{model}, {r['door']}: {found[:5]}"
            assert len(seen) > 9, seen


def a_narrow_window_tells_a_cell_at_the_pointer(display):
    """Where the inspector is shut, what it would say of the cell stands beside the pointer."""
    with Window(
        PROGRAM, display, "--text", LILY, "--head", "1.2", "--report-texts", size="1024x700"
    ) as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        w.point("map", 3.5 / n, 16.5 / n)
        r = w.wait(lambda r: r["hovered"] == [16, 3] and "map/told" in r["widgets"])
        assert any(text.startswith("red 16 → red 3  0.") for text in r["texts"]), r["texts"]
        w.key("ctrl+i")
        w.wait(lambda r: "inspector/panel" in r["widgets"])
        w.point("map", 3.5 / n, 14.5 / n)
        w.wait(lambda r: r["hovered"] == [14, 3] and "map/told" not in r["widgets"])


def distances_of_heads_have_three_decimals(display):
    """In Compare, at 1800 points, each cell of a head has room for its number."""
    with Window(
        PROGRAM,
        display,
        "--view",
        "compare",
        "--text",
        LILY,
        "--head",
        "1.2",
        "--report-texts",
        "--do",
        "ablate 0.2; compare changes; compare show delta",
        size="1800x1000",
    ) as w:
        r = w.wait(
            lambda r: "compare/head/3.7" in r["widgets"] and not r["busy"] and r.get("texts")
        )
        cells = [re.fullmatch(r"0\.\d+|0|\d\.\de−\d", text) for text in r["texts"]]
        assert sum(bool(cell) and len(cell[0]) == 5 for cell in cells) >= 16, r["texts"]
        assert not [cell[0] for cell in cells if cell and len(cell[0]) == 4], r["texts"]


def the_map_has_one_row_of_controls_in_a_narrow_window(display):
    """How the map is drawn stands behind one button, at any width."""
    with Window(
        PROGRAM, display, "--view", "head", "--text", LILY, "--head", "1.2", size="1024x700"
    ) as w:
        w.settled()
        w.click("map/of/mean")
        r = w.wait(
            lambda r: (
                r["title"] == "Mean of 8 heads, layer 1"
                and "map/more" in r["widgets"]
                and not r["busy"]
            )
        )
        middles = {
            path: r["widgets"][path][1] + r["widgets"][path][3] / 2
            for path in ("map/of", "map/from", "map/more")
        }
        assert max(middles.values()) - min(middles.values()) < 2, middles
        assert "colors" not in r["widgets"]
        assert r["widgets"]["map/more"][0] + r["widgets"]["map/more"][2] <= 1024
        w.click("map/more")
        w.wait(lambda r: {"contrast", "colors", "queries", "marks", "sink"} <= set(r["widgets"]))
        w.click("queries")
        w.click("queries/columns")
        w.wait(
            lambda r: (
                "queries/columns" not in r["widgets"] and not r["busy"] and "colors" in r["widgets"]
            )
        )
        w.key("Escape")
        w.wait(lambda r: "colors" not in r["widgets"] and r["text"] == LILY)


def a_small_window_keeps_map_chips_and_numbers(display):
    """At 1,024 × 700 with both bars open: title, color bar, a map of 420 points, all labels of its
    tokens; without them all 17 chips. The button of the inspector is whole."""
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--head",
        "1.2",
        "--lock",
        "16,4",
        "--do",
        "length 4",
        "--report-texts",
        size="1024x700",
    ) as w:
        r = w.settled()
        w.key("Escape")
        r = w.wait(lambda r: {f"chip/{i}" for i in range(17)} <= set(r["widgets"]))
        assert "chips/more" not in r["widgets"] and "chips/back" not in r["widgets"]
        assert "predictions/explain" in r["widgets"]
        for commands in ("Generate", "Mask and ablate", "Heat map"):
            w.show(commands)
        r = w.wait(
            lambda r: (
                "generation/step" in r["widgets"]
                and "brush" in r["widgets"]
                and "map/column" in r["widgets"]
                and not r["busy"]
            )
        )
        _, top, wide, high = r["widgets"]["map"]
        assert wide >= 420 and high >= 420, (wide, high)
        x, _, column, _ = r["widgets"]["map/column"]
        assert column >= 124 and x + column <= 1024, (x, column)
        x, _, handle, _ = r["widgets"]["inspector"]
        assert x + handle <= 1022, (x, handle)
        assert {"Head 1.2", "weight", "key →", "query ↓"} <= set(r["texts"]), r["texts"]
        assert any(text.endswith(" attends to") for text in r["texts"]), r["texts"]
        for token in set(r["tokens"]):
            assert r["texts"].count(token) >= 2 * r["tokens"].count(token), token
        w.click("map", 4.5 / len(r["tokens"]), 16.5 / len(r["tokens"]))
        w.key("ctrl+i")
        w.wait(lambda r: "inspector/panel" in r["widgets"] and "map/column" not in r["widgets"])


def the_column_beside_a_small_map_tells_the_result(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--head",
        "1.2",
        "--do",
        "lock 16,4; mask 16>4",
        "--report-texts",
        size="1024x700",
    ) as w:
        r = w.wait(lambda r: "effects/short" in r["widgets"] and not r["busy"])
        assert {"98.9 %", "→ 92.4 %", "Top movers", "balloon"} <= set(r["texts"]), r["texts"]
        w.click("save")
        w.wait(lambda r: "figure/width" in r["widgets"] or "save path" in r["widgets"])


LONG = "In " + " ".join(f"the boy number {i} saw a dog" for i in range(60))


def what_a_long_text_hides_is_named(display):
    """Text, Lines and the enlarged map: the strongest keys out of sight, with their weights; a
    click scrolls to one."""
    with Window(
        PROGRAM,
        display,
        "--text",
        LONG,
        "--do",
        "head 1.0; view text",
        "--report-texts",
        size="1024x450",
    ) as w:
        r = w.settled()
        last = len(r["tokens"]) - 1
        assert last >= 250, last
        w.key("Escape")
        for view in ("text", "lines"):
            w.show(view.capitalize())
            r = w.wait(
                lambda r: (
                    r["door"] == view.capitalize()
                    and not r["busy"]
                    and any(path.startswith("unseen/") for path in r["widgets"])
                )
            )
            path = next(path for path in r["widgets"] if path.startswith("unseen/"))
            key = path.split("/")[1]
            assert any(re.fullmatch(rf"[↑↓] {key} \S+ 0\.\d+", text) for text in r["texts"]), r[
                "texts"
            ]
            assert f"{'lines/key' if view == 'lines' else 'text'}/{key}" not in r["widgets"]
            w.click(path)
            w.wait(lambda r: f"{'lines/key' if view == 'lines' else 'text'}/{key}" in r["widgets"])


def sub_words_are_set_as_one_word(display):
    """The parts of a word touch, Arabic runs from right to left in one shape, the bytes of a
    character share it."""
    with Window(
        PROGRAM,
        display,
        "--text",
        "Lily saw مرحبا بالعالم and 天地 today Supercalifragilistic",
        "--view",
        "text",
        "--report-texts",
    ) as w:
        r = w.settled()
        tokens = r["tokens"]
        at = [r["widgets"][f"text/{i}"] for i in range(len(tokens))]
        assert {"مرحبا", "بالعالم", "天", "地"} <= set(r["texts"]), r["texts"]
        rows = lambda a, b: abs(at[a][1] - at[b][1]) < 1
        first = max(i for i, t in enumerate(tokens) if "today" in t) + 1
        assert len(tokens) - first > 3, tokens
        for i in range(first, len(tokens) - 1):
            if rows(i, i + 1):
                assert 0 <= at[i + 1][0] - (at[i][0] + at[i][2]) <= 2, (tokens[i], at[i], at[i + 1])
        arabic = [i for i, t in enumerate(tokens) if any("\u0600" <= c <= "\u06ff" for c in t)]
        for a, b in zip(arabic, arabic[1:]):
            if rows(a, b):  # also over a space between; bytes of one letter share its place
                assert at[b][0] <= at[a][0], "right to left"
