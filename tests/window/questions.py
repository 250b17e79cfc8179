"""The five questions: their keys, their pills, and the palette's other names for what they open."""

import shutil
import tempfile
from pathlib import Path

from drive import PILLS, Window
from places import LILY, PROGRAM, REFERENCE, SENTENCE


def a_key_opens_a_question_and_again_the_next_view(display):
    with Window(PROGRAM, display, "--text", LILY, "--report-texts") as w:
        r = w.settled()
        assert r["door"] == "Heat map", r["door"]
        said = "You are typing in the sentence. Press Esc first to use keys 1–5."
        w.wait(lambda r: said in r["texts"])
        w.key("ctrl+2")  # a digit alone would be typed
        w.wait(lambda r: r["door"] == "Prediction")
        assert w.report()["text"] == LILY
        w.key("Escape")
        w.wait(lambda r: not r["field_focused"] and said not in r["texts"])
        for name in [*PILLS["explain"][1:], "Prediction"]:
            if name == "Experts":  # not of this model
                continue
            w.key("2")
            w.wait(lambda r: r["door"] == name)
        w.key("1")
        w.wait(lambda r: r["door"] == "Heat map")
        for name in ("Lines", "Text", "All heads", "Heat map"):  # the others are not of this model
            w.key("1")
            w.wait(lambda r: r["door"] == name)
        for digit, group in (("3", "change"), ("4", "compare"), ("5", "model")):
            for name in PILLS[group]:
                w.key(digit)
                w.wait(lambda r: r["door"] == name)
        w.key("6", "7", "8", "9", "0")
        assert w.wait(lambda r: not r["busy"])["door"] == "Many texts"


def a_question_opens_the_view_shown_last(display):
    folder = Path(tempfile.mkdtemp())
    opened = lambda: Window(PROGRAM, display, "--text", SENTENCE, home=folder)
    with opened() as w:
        w.settled()
        w.show("Lines")
        w.show("Flow")
        w.show("Before/after")
        w.click("question/look")
        w.wait(lambda r: r["door"] == "Lines" and r["view"] == "Lines")
        w.click("question/explain")
        w.wait(lambda r: r["door"] == "Flow")
        w.click("question/compare")
        w.wait(lambda r: r["door"] == "Before/after" and r["compare"] == 1)
        w.show("Heat map")
        w.close()
    with opened() as w:  # the next start too
        w.settled()
        w.click("question/explain")
        w.wait(lambda r: r["door"] == "Flow")
    shutil.rmtree(folder)


def what_does_not_apply_is_gray_and_says_why(display):
    with Window(PROGRAM, display, "--text", SENTENCE, "--report-texts") as w:
        r = w.settled()
        x = {name: r["widgets"][f"tab/{name}"][0] for name in PILLS["look"]}
        assert sorted(x, key=x.get) == PILLS["look"], x
        w.point("tab/Image")
        w.wait(lambda r: any(text.startswith("This model reads text;") for text in r["texts"]))
        w.click("tab/Image")
        w.point("tab/Alignment")
        w.wait(lambda r: any(text.startswith("Alignment needs a model") for text in r["texts"]))
        assert w.report()["door"] == "Heat map"
    with Window(PROGRAM, display, "--model", REFERENCE / "bert", "--text", "the cat") as w:
        w.settled()
        w.show("Mask and ablate")
        w.key("Escape")
        w.key("3", "3")  # this model generates nothing
        w.wait(lambda r: r["door"] == "Mask and ablate" and not r["busy"])


def every_view_opens_by_mouse_in_a_small_window(display):
    for model, foreign in (
        (("--text", LILY), {"Image", "Alignment", "Contacts", "Experts"}),
        (("--model", "translator", "--text", "The cat sat."), {"Image", "Contacts", "Experts"}),
    ):
        with Window(PROGRAM, display, *model, size="1024x700") as w:
            w.settled()
            for name in sum(PILLS.values(), []):
                if name in foreign:
                    continue
                w.show(name)
                r = w.wait(lambda r: not r["busy"])
                beyond = [
                    path
                    for path, (x, _, wide, _) in r["widgets"].items()
                    if path.startswith(("tab/", "question/")) and x + wide > 1024
                ]
                assert not beyond, (name, beyond)
            w.click("learn")
            w.wait(lambda r: r["view"] == "Learn")
            w.click("question/look")
            w.wait(lambda r: r["door"] in PILLS["look"])
            w.click("find")
            w.wait(lambda r: "palette" in r)


def the_explanation_is_beside_the_prediction(display):
    for size in ("1600x1000", "1024x700"):
        with Window(PROGRAM, display, "--text", LILY, size=size) as w:
            r = w.settled()
            chip, button = r["widgets"]["next/0"], r["widgets"]["predictions/explain"]
            assert chip[0] + chip[2] <= button[0], (chip, button)
            w.click("predictions/explain")
            w.wait(lambda r: r["door"] == "Explain this")


def the_palette_knows_other_names(display):
    first = {
        "saliency": "Words that matter",
        "logit lens": "Prediction",
        "ablation": "Heads that matter",
        "knockout": "Mask and ablate",
        "attention sink": "Hide the first token",
        "dark mode": "Theme",
        "export": "Save figure…",
        "font": "Text size",
        "powerpoint": "Present",
        "induction circuit": "Circuits",
    }
    with Window(PROGRAM, display, "--text", LILY, "--report-texts") as w:
        w.settled()
        w.key("ctrl+k")
        r = w.wait(lambda r: "palette/row/0" in r.get("widgets", {}))
        names = sum(PILLS.values(), [])
        assert r["palette"][: len(names)] == names, r["palette"]
        assert "What does each head look at?" in r["texts"]
        assert "This model reads text; the view needs one that reads images." in r["texts"]
        for typed, name in first.items():
            w.key("ctrl+a")
            w.type(typed)
            w.wait(lambda r: r["palette"] and r["palette"][0].split(":")[0] == name)
        w.key("ctrl+a")
        w.type("saliency")
        w.wait(lambda r: r["palette"] == ["Words that matter"] and "also" in r["texts"])
        w.key("Return")
        w.wait(lambda r: r["door"] == "Words that matter")


def no_tooltip_of_what_is_below_stands_over_a_sheet(display):
    says = "Arranges slides"
    with Window(PROGRAM, display, "--text", LILY, "--report-texts") as w:
        w.settled()
        w.point("present")
        w.wait(lambda r: any(says in text for text in r["texts"]))
        w.key("ctrl+k")
        w.wait(lambda r: "palette/row/0" in r["widgets"])
        w.wait(lambda r: not any(says in text for text in r["texts"]))


def the_menu_of_a_token_leaves_the_chips_in_sight(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.point("chip/4", 0.5, 0.4)
        w.tool("click", "3")
        r = w.wait(lambda r: "token menu" in r["widgets"])
        chip, menu = r["widgets"]["chip/4"], r["widgets"]["token menu"]
        assert menu[1] >= chip[1] + chip[3], (chip, menu)


def the_brush_stands_where_it_paints(display):
    """Patch and Words that matter paint nothing: their room is their own."""
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        w.show("Mask and ablate")
        w.wait(lambda r: "brush" in r["widgets"])
        for name in ("Patch", "Words that matter"):
            w.show(name)
            w.wait(lambda r: r["door"] == name and not {"brush", "mask"} & set(r["widgets"]))
        w.show("Before/after")
        w.wait(lambda r: "brush" in r["widgets"])


def things_to_try_are_the_experiments(display):
    """The palette's row opened the hints of the first start."""
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("ctrl+k")
        w.type("things to try")
        r = w.wait(lambda r: r.get("palette", [""])[0] == "Things to try")
        assert not [row for row in r["palette"] if "hints" in row], r["palette"]
        w.key("Return")
        r = w.wait(lambda r: r["tries"] and "tries/1" in r["widgets"])
        assert not r["hints"]


def bars_close_where_they_are(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.show("Generate")
        w.wait(lambda r: "generation/step" in r["widgets"] and not r["busy"])
        w.show("Mask and ablate")
        w.wait(lambda r: {"mask", "brush"} <= set(r["widgets"]))
        w.click("change/close")
        w.wait(lambda r: "mask" not in r["widgets"] and r["door"] != "Mask and ablate")
        w.click("generation/close")
        w.wait(lambda r: "generation/step" not in r["widgets"] and r["door"] == "Heat map")
