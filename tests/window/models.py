"""Kinds of models and traces, and what they write."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from drive import Window
from places import GPT2, LILY, MALFORMED, PROGRAM, REFERENCE


def a_trace_in_place_of_a_model(display):
    """Opened by path and by drop; shown without weights; compared with a live run; a model opens
    again after it."""
    folder = Path(tempfile.mkdtemp(prefix="headlight-trace-"))
    both, patterns = folder / "both.safetensors", folder / "patterns.safetensors"
    for path, more in (
        (both, ("--capture", "*hook_q", "--capture", "*hook_k")),
        (patterns, ("--capture", "*hook_pattern", "--capture", "input_ids")),
    ):
        subprocess.run([PROGRAM, "trace", "--text", LILY, *more, "-o", path], check=True)
    with Window(PROGRAM, display, "--trace", both, "--head", "1.2", "--lock", "16,4") as w:
        w.tool("mousemove", "700", "8")
        r = w.wait(
            lambda r: (
                r.get("model", "").endswith("(trace)")
                and "recorded" in r["widgets"]
                and not r["busy"]
                and abs(r["weight"] - 0.752) < 0.001
            )
        )
        assert r["tokens"][16] == "red", r["weight"]
        assert "change/ablate" not in r["widgets"], r["weight"]
        assert "mask" not in r["widgets"], r["weight"]
        w.key("Escape")
        for name in ("Lines", "Flow", "All heads", "Heads", "Heat map"):
            w.show(name)
            w.wait(lambda r: not r["busy"])
        w.key("ctrl+2")  # of Explain, only Flow needs no weights
        w.wait(lambda r: r["view"] == "Flow" and not r["busy"])
        w.drop(patterns)
        w.wait(lambda r: not r["busy"] and "recorded" in r["widgets"] and r["tokens"][16] == "red")
        w.show("Models")
        w.wait(lambda r: "compare/model" in r["widgets"])
        w.click("compare/model")
        w.wait(lambda r: r["model_menu"] and r["typing"])
        time.sleep(0.1)
        w.type("stories")
        w.key("Return")
        w.wait(lambda r: "compare/head/3.2" in r["widgets"] and not r["busy"])
        w.drop(GPT2)
        w.wait(lambda r: r["model"] == "gpt2" and "sentence" in r["widgets"] and not r["busy"])
    shutil.rmtree(folder)


def the_translator_writes_while_one_types(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--text",
        "The cat sat on the",
        "--view",
        "alignment",
    ) as w:
        w.settled()
        w.type(" mat.")
        r = w.wait(lambda r: r["second"] == "Die Katze saß auf der Matte." and not r["busy"])
        words = r["written"]["labels"]
        assert r["view"] == "Alignment"
        assert words[:2] == ["Die", "Katze"]
        assert words[-1] == "</s>"
        assert r["written"]["step"] == len(words) - 1
        assert r["alignment"]["rows"] == words
        assert r["alignment"]["columns"][:2] == ["The", "cat"], "rows are what is chosen"
        assert r["alignment"]["strongest"][1] == 1, "Katze from cat"
        w.key("Escape")
        w.key("Left", "Left")
        r = w.wait(
            lambda r: (
                r["written"]["step"] == len(words) - 3 and len(r["target_tokens"]) == len(words) - 2
            )
        )
        assert r["second"] == "Die Katze saß auf der Matte.", "the field shows all of it"
        w.click("written/1")
        r = w.wait(lambda r: r["written"]["step"] == 1 and len(r["alignment"]["rows"]) == 2)
        w.click("generation/slider", 0.999)
        w.wait(lambda r: r["written"]["step"] == len(words) - 1)
        w.click("generation/slider", 0.001)
        w.wait(lambda r: r["written"]["step"] == 0)
        w.click("generation/play")
        w.wait(lambda r: r["written"]["playing"] and r["written"]["step"] >= 2)
        w.wait(lambda r: not r["written"]["playing"] and r["written"]["step"] == len(words) - 1)


def another_word_is_forced_and_the_model_goes_on(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--text",
        "The cat sat on the mat.",
        "--view",
        "alignment",
    ) as w:
        first = w.wait(lambda r: r.get("written", {}).get("ended") and not r["busy"])["second"]
        w.click("written/0")
        w.wait(lambda r: r["written"]["step"] == 0 and "align/choice/1" in r["widgets"])
        w.click("align/choice/1")
        # It goes on from there.
        w.wait(
            lambda r: (
                r["written"]["forced"] == 1
                and not r["busy"]
                and r["second"] != first
                and r["written"]["step"] >= 1
            )
        )
        w.click("generation/release")
        w.wait(lambda r: r["second"] == first and r["written"]["forced"] == 0)
        w.click("second")
        w.key("ctrl+a")
        w.type("Die Katze schlief")
        r = w.wait(
            lambda r: (
                r["second"] == "Die Katze schlief"
                and r["shown_second"] == "Die Katze schlief"
                and not r["busy"]
            )
        )
        labels = r["written"]["labels"]
        assert r["alignment"]["rows"][0] == "Die"
        assert r["alignment"]["rows"][:-1] == labels
        assert not r["written"]["ended"], "a typed target is aligned and stepped through too"
        w.click("written/1")
        w.wait(lambda r: r["written"]["step"] == 1 and not r["busy"])
        w.click("align/choice/1")
        r = w.wait(
            lambda r: r["written"]["ended"] and r["written"]["forced"] == 2 and not r["busy"]
        )
        assert r["second"].startswith("Die ")
        assert r["second"] != "Die Katze schlief", "the model goes on from what was typed"
        w.click("generation/release")
        w.wait(lambda r: r["second"] == first)
        w.click("second")
        w.key("ctrl+a")
        w.type("Die Katze")
        w.wait(lambda r: r["shown_second"] == "Die Katze" and not r["busy"])
        w.click("write")
        w.wait(lambda r: r["second"] == first and "written" in r)
        w.click("generation/method")
        w.click("generation/method/beam search")
        w.wait(lambda r: "generation/beams" in r["widgets"] and not r["busy"])


def a_decoder_writes_on(display):
    with Window(PROGRAM, display, "--text", "Once upon a time, Lily") as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        w.show("Generate")
        r = w.wait(
            lambda r: (
                len(r.get("written", {}).get("labels", [])) == 24 and len(r["tokens"]) == n + 24
            )
        )
        w.click("generation/choice/1")
        r = w.wait(lambda r: r["written"]["forced"] == 25 and not r["busy"])
        w.click("generation/slider", 0.5)
        r = w.wait(
            lambda r: 8 < r["written"]["step"] < 16 and len(r["tokens"]) == n + r["written"]["step"]
        )
        step = r["written"]["step"]
        w.click("generation/keep")
        r = w.wait(
            lambda r: (
                r["text"].startswith("Once upon a time, Lily ")
                and r["text"] == r["shown_text"]
                and not r["busy"]
            )
        )
        assert len(r["tokens"]) == n + step + 24, (
            "what was kept is part of the sentence, and it writes on"
        )
        w.click("generation/close")
        w.wait(lambda r: "written" not in r and len(r["tokens"]) == n + step)


def the_diagram_shows_three_kinds_of_attention(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--text",
        "The cat sat on the mat.",
        "--view",
        "model",
        "--do",
        "model beside attention",
    ) as w:
        w.wait(lambda r: "model/map/3" in r["widgets"] and not r["busy"])
        places = [w.report()["widgets"][f"model/map/{i}"] for i in (1, 2, 3)]
        assert places[0][0] + places[0][2] <= places[1][0]
        assert places[1][0] + places[1][2] <= places[2][0], "side by side"
        w.click("model/map/3")
        r = w.wait(lambda r: r["view"] == "Heat map")
        assert r["layer"] == 6 + r["layer"] % 3, "the cross-attention of the layer"
        w.key("ctrl+p")
        w.wait(
            lambda r: (
                r["view"] == "Positions" and "positions/table" in r["widgets"] and not r["busy"]
            )
        )
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")


def masked_models_and_a_second_sentence(display):
    with Window(PROGRAM, display, "--model", REFERENCE / "bert", "--text", "the cat") as w:
        r = w.settled()
        assert r["tokens"][0] == "[CLS]" and "next" not in r and "second" in r["widgets"]
        w.type(" [MASK]")
        r = w.wait(lambda r: r.get("next") and not r["busy"])
        assert r["tokens"][-2] == "[MASK]"
        w.key("Tab")
        w.type("the mat")
        r = w.wait(lambda r: r["second"] == "the mat" and r["tokens"].count("[SEP]") == 2)
        assert r["text"] == "the cat [MASK]" and not r["field_focused"]
        w.key("Tab")
        w.key("Down")
        w.wait(lambda r: r["layer"] != 0 or r["head"] >= 0)


def source_target_and_three_kinds_of_attention(display):
    with Window(
        PROGRAM,
        display,
        "--model",
        REFERENCE / "marian",
        "--text",
        "The cat sat",
        "--target",
        "Die Katze",
    ) as w:
        r = w.settled()
        assert r["target_tokens"][0] == "<pad>" and len(r["target_tokens"]) > 2
        assert "grid/enc 0.0" in r["widgets"]
        assert "grid/dec 1.3" in r["widgets"]
        assert "grid/cross 1.3" in r["widgets"]
        w.click("grid/cross 1.2")
        r = w.wait(lambda r: r["shown_head"] == [5, 2] and not r["busy"])
        w.point("target/1")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 1)
        w.click("grid/enc 0.0")
        w.wait(lambda r: r["shown_head"] == [0, 0] and not r["busy"])
        w.point("chip/2")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 2)
        w.click("write")
        w.wait(lambda r: r["second"] != "Die Katze" and not r["busy"], 30)


def a_picture_and_its_patches(display):
    with Window(PROGRAM, display, "--model", REFERENCE / "vit", "--text", "") as w:
        assert w.report()["view"] == "Image"
        w.drop(REFERENCE / "vit/gradient_rgb.png")
        r = w.wait(
            lambda r: len(r.get("tokens", [])) == 17 and "overlay" in r["widgets"] and not r["busy"]
        )
        assert r["next"].startswith("LABEL_")
        w.point("overlay", 0.9, 0.9)
        w.wait(lambda r: r["hovered"] == [0, 16])
        w.click("patches", 0.1, 0.1)
        w.wait(lambda r: r["locked"] == [1, 1])
        w.key("Escape")
        w.wait(lambda r: r["locked"] is None)
        w.show("Heat map")
        w.wait(lambda r: r["view"] == "Heat map" and "map" in r["widgets"])
        w.drop(MALFORMED / "png_truncated.png")
        w.wait(lambda r: r["text"].endswith("truncated.png") and r.get("shown_text") == r["text"])


def a_gguf_file_shows_its_shared_heads(display):
    with Window(PROGRAM, display, "--text", "The cat sat") as w:
        w.settled()
        w.drop(REFERENCE / "llama_gguf/llama-q8_0.gguf")
        r = w.wait(lambda r: r.get("model") == "llama-q8_0" and not r["busy"])
        assert r["tokens"][0] == "<s>"
        assert "group/1" in r["widgets"]
        assert "group/2" not in r["widgets"]


def keys_of_a_trace_reach_no_hidden_field(display):
    """A trace shows no field to type in: the first Esc unlocks the cell, digits open questions."""
    folder = Path(tempfile.mkdtemp(prefix="headlight-trace-"))
    path = folder / "lily.safetensors"
    subprocess.run([PROGRAM, "trace", "--text", LILY, "-o", path], check=True)
    with Window(PROGRAM, display, "--trace", path, "--lock", "16,4") as w:
        text = w.wait(lambda r: "recorded" in r["widgets"] and not r["busy"])["text"]
        w.wait(lambda r: not r["field_focused"] and r["locked"] == [16, 4])
        w.key("2")
        w.wait(lambda r: r["door"] not in ("Heat map", ""))
        w.key("1")
        w.wait(lambda r: r["door"] == "Heat map" and r["locked"] == [16, 4])
        w.key("Escape")
        w.wait(lambda r: r["locked"] is None)
        w.type("xyz")
        assert w.wait(lambda r: not r["busy"])["text"] == text
    shutil.rmtree(folder)
