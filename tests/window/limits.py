"""Slow, too long, old or wrong input: the window says so and goes on."""

import json
import shutil
import struct
import tempfile
import time
from pathlib import Path

from drawn import drawn
from drive import Window
from places import GPT2, PROGRAM
from zero_model import zero_gpt2


def the_old_model_works_while_another_opens(display):
    """A FIFO in place of the tokenizer would hang an opening for ever; a large tokenizer only takes
    its time."""
    folder = Path(tempfile.mkdtemp())
    slow = folder / "slow"
    shutil.copytree(GPT2, slow)
    vocabulary = {f"token {i}": i for i in range(900_000)}
    (slow / "tokenizer.json").write_text(
        json.dumps(
            {
                "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
                "pre_tokenizer": {"type": "ByteLevel"},
            }
        )
    )
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.drop(slow)
        w.wait(lambda r: r["opening"] == str(slow) and "opening/cancel" in r["widgets"])
        w.type(" and")
        r = w.wait(lambda r: r.get("shown_text") == "Lily had a red ball and")
        assert r["model"] == "stories"
        if r["opening"]:
            w.click("opening/cancel")
            r = w.wait(lambda r: not r["opening"] and not r["busy"])
            assert r["model"] == "stories" and not r["model_error"]
        w.drop(slow)
        w.wait(lambda r: r.get("model") == "slow" and not r["busy"], 30)
    shutil.rmtree(folder)


def a_wrong_path_at_the_start(display):
    with Window(PROGRAM, display, "--model", "/nowhere at all") as w:
        r = w.wait(lambda r: r.get("model_error") and r.get("model") == "stories")
        assert "/nowhere at all" in r["model_error"]


def a_text_beyond_the_context_stays_whole_and_is_dimmed(display):
    text = "word " * 20_000
    with Window(PROGRAM, display, "--text", text) as w:
        r = w.wait(
            lambda r: (
                "Only the first 256 of" in r["notice"]
                and not r["busy"]
                and r.get("shown_text") == r["text"]
            ),
            30,
        )
        assert len(r["tokens"]) == 256 and "notice" in r["widgets"] and r["text"] == text
        picture = w.picture()
        w.key("Home")
        w.type("One ")
        w.wait(lambda r: r["text"] == "One " + text and r.get("shown_text") == r["text"], 20)
        time.sleep(0.3)
        assert w.picture() != picture, "the caret is in sight at the beginning"
        w.key("End")
        w.type("end")
        w.wait(lambda r: r["text"] == "One " + text + "end", 20)
        time.sleep(0.5)
        before = w.picture()
        w.type("s")
        w.wait(lambda r: r["text"].endswith("ends"), 20)
        time.sleep(0.5)
        assert w.picture() != before, "what is typed at the end of 100,000 bytes is seen"


def what_a_paste_loses_is_said(display):
    with Window(PROGRAM, display, "--text", "word " * 20_000) as w:
        w.wait(lambda r: not r["busy"] and r.get("shown_text") == r["text"], 30)
        w.key("ctrl+a", "ctrl+c", "End")
        for size in (200_000, 300_000, 400_000):
            w.key("ctrl+v")
            r = w.wait(lambda r: len(r["text"]) == size, 30)
            assert "dropped" not in r["notice"], r["notice"]
        w.key("ctrl+v")
        r = w.wait(lambda r: "400,000 bytes" in r["notice"], 30)
        assert len(r["text"]) == 400_000 and "dropped" in r["notice"], r["notice"]


def what_is_old_is_dimmed_in_every_panel(display):
    """A pass that takes longer than 100 ms: list, view and inspector stand back until its numbers
    are there."""
    folder = Path(tempfile.mkdtemp())
    tokenizer = (GPT2 / "tokenizer.json").read_text(encoding="utf-8")
    model = zero_gpt2(
        folder / "slow",
        12,
        768,
        12,
        1024,
        tokenizer,
        json.loads((GPT2 / "config.json").read_text())["vocab_size"],
    )
    with Window(PROGRAM, display, "--model", model, "--text", "The cat sat on the mat. " * 60) as w:
        w.settled()
        dimmed = lambda r: {path for path in r["widgets"] if path.startswith("dimmed/")}
        views = ("Heat map", "Lines", "Arithmetic", "Update (ΔE)", "Prediction", "Flow", "Heads")
        for view in drawn((*views, "All heads"), 0.25):
            panels = lambda r: (
                {"dimmed/center"}
                | ({"dimmed/heads"} if view != "All heads" else set())
                | ({"dimmed/inspector"} if "inspector/title" in r["widgets"] else set())
            )
            w.show(view)
            w.wait(lambda r: r["door"] == view and not r["busy"] and not dimmed(r), 30)
            w.key("Home")
            w.type("x")  # at the beginning: no row can be taken over
            w.wait(lambda r: r["busy"] and panels(r) <= dimmed(r), 30)
            w.wait(lambda r: not r["busy"] and not dimmed(r), 30)
    shutil.rmtree(folder)


def no_frame_is_slow_where_thousands_of_pieces_are_text(display):
    """3,000 different Chinese characters, each a token: chips, labels and the sentence are all
    pictures."""
    characters = "".join(chr(0x4E00 + i) for i in range(3000))
    tokenizer = json.dumps(
        {
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": False,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece",
                "unk_token": "?",
                "vocab": {c: i for i, c in enumerate("?" + characters)},
            },
        }
    )
    folder = Path(tempfile.mkdtemp())
    model = zero_gpt2(folder / "characters", 1, 16, 2, 4096, tokenizer, 3001)
    with Window(PROGRAM, display, "--model", model, "--text", "丁" * 8) as w:
        w.settled()

        def frames():
            """Frame times of the views, each with pointing and scrolling."""
            before = len(w.report()["frame_times"])
            for view in ("Lines", "Arithmetic", "Heat map", "All heads"):
                w.show(view)
                w.wait(lambda r: r["door"] == view and not r["busy"], 60)
                w.tool("mousemove", "800", "500")
                w.tool("click", "--repeat", "5", "--delay", "60", "5")
                w.wait(lambda r: not r["busy"], 60)
            return sorted(w.report()["frame_times"][before:])

        plain = frames()
        w.close()
    with Window(PROGRAM, display, "--model", model, "--text", characters) as w:
        w.wait(lambda r: not r["busy"] and len(r.get("tokens", [])) == 3000, 60)
        long = frames()
        w.key("End")
        w.type("a")
        w.wait(lambda r: len(r["text"]) == 3001 and r.get("shown_text") == r["text"], 60)
        status, error = w.close()
        assert status == 0 and not error, error
    print(
        f"     plain {plain[len(plain) // 2] * 1e3:.1f} ms, {plain[-1] * 1e3:.1f} at most; 3,000 "
        f"characters {long[len(long) // 2] * 1e3:.1f} ms, {long[-1] * 1e3:.1f} at most"
    )
    assert long[-1] < 12 * plain[-1] + 0.1, (plain[-5:], long[-5:])
    shutil.rmtree(folder)


def opening_a_model_with_a_shorter_context_keeps_the_text(display):
    text = "The cat sat on the mat. " * 24
    with Window(PROGRAM, display, "--text", text) as w:
        w.settled()
        w.key("ctrl+o")
        w.wait(lambda r: "model path" in r["widgets"])
        w.fill("model path", str(GPT2), lambda r: r["typing"])
        w.key("Return")
        r = w.wait(
            lambda r: (
                r.get("model") == "gpt2" and not r["busy"] and r.get("shown_text") == r["text"]
            ),
            30,
        )
        assert r["text"] == text and "Only the first 48 of" in r["notice"], r["notice"]


def weights_that_are_not_numbers_are_said_and_the_window_goes_on(display):
    folder = Path(tempfile.mkdtemp()) / "with NaN"
    shutil.copytree(GPT2, folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    begin = json.loads(data[8 : 8 + size])["transformer.h.1.attn.c_attn.weight"]["data_offsets"][0]
    data[8 + size + begin : 12 + size + begin] = struct.pack("<f", float("nan"))
    (folder / "model.safetensors").write_bytes(data)
    with Window(PROGRAM, display, "--model", GPT2, "--text", "The cat sat") as w:
        w.settled()
        w.drop(folder)
        r = w.wait(lambda r: r.get("model") == "with NaN" and not r["busy"])
        assert "layer 1's queries are not finite" in r["failure"], r["failure"]
        assert "not finite" in r["notice"], r["failure"]
        w.drop(GPT2)
        r = w.wait(lambda r: r.get("model") == "gpt2" and not r["busy"] and r.get("tokens"))
        assert r["failure"] == "", r["failure"]
        status, error = w.close()
        assert status == 0 and not error, error
    shutil.rmtree(folder.parent)


def notes_under_the_pictures_are_whole_in_small_windows(display):
    """A token of enormous length is left out of ΔE's plane, and the note names it; where origins
    come from takes two lines."""
    folder = Path(tempfile.mkdtemp()) / "gpt2"
    shutil.copytree(GPT2, folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    table = next(
        t for name, t in json.loads(data[8 : 8 + size]).items() if name.endswith("wte.weight")
    )
    width, t = table["shape"][1], 84
    row = slice(
        8 + size + table["data_offsets"][0] + 4 * width * t,
        8 + size + table["data_offsets"][0] + 4 * width * (t + 1),
    )
    data[row] = struct.pack(
        f"<{width}f", *(1000 * x for x in struct.unpack(f"<{width}f", data[row]))
    )
    (folder / "model.safetensors").write_bytes(data)
    with Window(
        PROGRAM,
        display,
        "--model",
        folder,
        "--view",
        "delta",
        "--text",
        "the cat sat",
        "--report-texts",
        size="1024x700",
    ) as w:
        r = w.wait(
            lambda r: not r["busy"] and any("Left out" in text for text in r.get("texts", []))
        )
        note = next(text for text in r["texts"] if "Left out" in text)
        assert "t 0. " in note and not note.endswith("…"), note
    with Window(
        PROGRAM,
        display,
        "--view",
        "graph",
        "--do",
        "graph by contribution",
        "--text",
        "the cat sat",
        "--report-texts",
        size="1024x700",
    ) as w:
        w.wait(lambda r: any(text.endswith("2020, 2021).") for text in r.get("texts", [])))
    shutil.rmtree(folder.parent)


def positions_beside_long_tokens_are_whole_in_lines(display):
    with Window(
        PROGRAM,
        display,
        "--view",
        "lines",
        "--text",
        "She wore her favorite" + " favorite" * 110,
        "--report-texts",
        size="1024x700",
    ) as w:
        texts = w.wait(
            lambda r: not r["busy"] and any(text.startswith("11") for text in r.get("texts", []))
        )["texts"]
        cut = [text for text in texts if text.endswith("…") and text[:-1].isdigit()]
        assert not cut, cut


def nine_heads_of_the_graph_stand_in_one_row_in_small_windows(display):
    model = zero_gpt2(
        Path(tempfile.mkdtemp()) / "nine",
        2,
        72,
        9,
        64,
        (GPT2 / "tokenizer.json").read_text(),
        json.loads((GPT2 / "config.json").read_text())["vocab_size"],
    )
    with Window(
        PROGRAM,
        display,
        "--model",
        model,
        "--view",
        "graph",
        "--text",
        "the cat sat",
        size="1024x700",
    ) as w:
        chips = w.wait(lambda r: "graph/head/1.8" in r["widgets"] and not r["busy"])["widgets"]
        assert chips["graph/head/0.0"][1] == chips["graph/head/0.8"][1], (
            chips["graph/head/0.0"],
            chips["graph/head/0.8"],
        )
    shutil.rmtree(model.parent)


def thirty_layers_are_seen(display):
    """All heads take the room, the logit lens and the attribution open at the last layer and scroll
    to the first."""
    model = zero_gpt2(
        Path(tempfile.mkdtemp()) / "deep",
        30,
        72,
        9,
        64,
        (GPT2 / "tokenizer.json").read_text(),
        json.loads((GPT2 / "config.json").read_text())["vocab_size"],
    )
    with Window(
        PROGRAM, display, "--model", model, "--view", "heads", "--text", "the cat sat"
    ) as w:
        w.settled()
        r = w.wait(lambda r: "heads/29.8" in r["widgets"] and "heads/0.0" in r["widgets"])
        first, last = r["widgets"]["heads/0.0"], r["widgets"]["heads/29.8"]
        assert first[2] > 40
        assert last[0] > first[0] + 800
        assert last[1] + last[3] < 1000, (first, last)
        w.click("heads/29.8")
        w.wait(lambda r: r["shown_head"] == [29, 8])
    with Window(PROGRAM, display, "--model", model, "--view", "lens", "--text", "the cat sat") as w:
        w.settled()
        r = w.wait(lambda r: "lens/part/29.8" in r["widgets"])
        assert "lens/part/0.0" not in r["widgets"]
        assert r["widgets"]["lens/part/29.8"][3] >= 18, r["widgets"]["lens/part/29.8"]
        assert r["seen"][2] > 0, "the lens begins at its last layers"
        w.point("lens/part/29.8")
        w.tool(*["click", "4"] * 12)
        w.wait(lambda r: "lens/part/0.0" in r["widgets"])
        w.point("lens/grid")
        w.tool(*["click", "4"] * 30)
        w.wait(lambda r: r["seen"][2] == 0)
