"""Every head over the texts of a file: read in the background, cancelled, its pairs opened, saved
as the command line writes it."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM

TEXTS = [
    "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
    "Once upon a time there were 3 unbelievable dogs.",
    "The cat sat on the mat. The cat",
]


def _read(r, texts):
    return (
        r.get("corpus_read") == [texts, texts, ""]
        and "corpus/pair/0" in r["widgets"]
        and not r["busy"]
    )


def a_text_file_becomes_a_sheet_of_each_head(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-corpus-"))
    corpus, sheet, page = folder / "texts.txt", folder / "sheet.json", folder / "sheet.html"
    corpus.write_text("\n".join(TEXTS))
    for written in (sheet, page):
        subprocess.run([PROGRAM, "heads", "--quiet", "--corpus", corpus, "-o", written], check=True)
    pairs = json.loads(sheet.read_text())["heads"][10]["strongest"]
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        w.drop(corpus)
        w.click("text file/corpus")
        r = w.wait(lambda r: r["view"] == "Many texts" and _read(r, 3))
        assert r["corpus"] == str(corpus) and r["text"] == LILY
        for key, head in (("Right", [1, 3]), ("Down", [2, 3]), ("Left", [2, 2]), ("Up", [1, 2])):
            w.key(key)
            w.wait(lambda r: [r["layer"], r["head"]] == head)
        w.click("corpus/spread/first", 0.99)  # the head with the largest mean
        w.wait(lambda r: [r["layer"], r["head"]] != [1, 2])
        w.click("corpus/layer")
        w.click("corpus/layer/1")
        w.click("corpus/head")
        w.click("corpus/head/2")
        w.wait(lambda r: [r["layer"], r["head"]] == [1, 2] and not r["busy"])

        w.click("corpus/pair/1")
        r = w.wait(
            lambda r: (
                r["view"] == "Heat map"
                and r["text"] == r["shown_text"] == pairs[1]["text"]
                and r["locked"]
                and not r["busy"]
            )
        )
        assert r["locked"] == [pairs[1]["query_position"], pairs[1]["key_position"]]
        assert [r["layer"], r["head"]] == [1, 2]
        w.point("tab/Heat map")  # off the map, whose cell under the mouse would be told
        w.wait(lambda r: abs(r["weight"] - pairs[1]["weight"]) < 1e-5)

        w.key("ctrl+n")
        w.wait(lambda r: r["view"] == "Many texts" and _read(r, 3))
        for written in (sheet, page):
            saved = folder / f"saved{written.suffix}"
            w.click("save")
            w.fill("save path", str(saved), lambda r: r["save_path"] == str(saved))
            w.key("Return")
            w.wait(lambda r: r["save_result"] == f"Saved {saved}")
            w.key("Escape")
            w.wait(lambda r: "save path" not in r["widgets"])
            assert saved.read_text() == written.read_text(), written.name
        w.drop(folder / "saved.json")  # opened again
        w.wait(lambda r: r["corpus"] == str(folder / "saved.json") and _read(r, 3))
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")
        w.drop(corpus)
        w.click("text file/text")
        w.wait(lambda r: r["text"] == " ".join(TEXTS))  # the field is one line
    shutil.rmtree(folder)


def example_texts_are_read_by_a_click(display):
    with Window(PROGRAM, display, "--text", LILY, "--view", "corpus", "--report-texts") as w:
        w.settled()
        w.click("corpus/example")
        r = w.wait(lambda r: any(text.startswith("60 texts · ") for text in r["texts"]), 60)
        assert any("example texts" in text for text in r["texts"]), r["texts"]


def a_long_corpus_is_cancelled_and_gone_on_with(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-corpus-"))
    long = folder / "long.txt"
    long.write_text("\n".join(f"{i}. " + " ".join(TEXTS) * 3 for i in range(4000)))
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("F2")
        w.click("label/corpus")
        w.wait(lambda r: r["view"] == "Many texts" and "corpus/file" in r["widgets"])
        w.click("corpus/file")
        w.type(str(long))
        w.key("Return")
        w.wait(lambda r: r.get("corpus_read", [0])[0] > 2 and "corpus/pair/0" in r["widgets"])
        w.click("corpus/cancel")
        r = w.wait(lambda r: "corpus/cancelled" in r["widgets"] and not r["busy"])
        done = r["corpus_read"][0]
        assert 2 < done < 4000 and r["corpus_read"][1] == 4000
        w.click("corpus/read")
        w.wait(lambda r: r["corpus_read"][0] > done and "corpus/cancel" in r["widgets"])
        w.key("Escape")  # it goes on while something else is looked at
        now = w.wait(lambda r: r["view"] != "Many texts")["corpus_read"][0]
        w.wait(lambda r: r["corpus_read"][0] > now)
        w.key("ctrl+k")
        w.type("corpus " + str(folder / "none.txt"))
        w.key("Return")
        w.wait(
            lambda r: (
                "none.txt" in r.get("corpus_read", [0, 0, ""])[2] and r["view"] == "Many texts"
            )
        )
    shutil.rmtree(folder)
