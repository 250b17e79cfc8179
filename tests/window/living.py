"""The window over another process: connecting, typing, interventions, and a process that dies."""

import tempfile
from pathlib import Path

from drive import Window
from lively import Process
from places import PROGRAM


def _command(w, words):
    w.key("ctrl+k")
    w.type(words)
    w.key("Return")


def a_model_of_another_process_answers_while_one_types(display):
    """Tokens, maps and thumbnails come; a typed letter is asked for alone; a mask acts there."""
    with tempfile.TemporaryDirectory() as folder:
        process = Process(folder)
        options = ("--engine", process.address, "--text", "a lively text")
        with Window(PROGRAM, display, *options) as w:
            r = w.wait(lambda r: r["model"] == "lively" and not r["busy"] and "map" in r["widgets"])
            assert r["failure"] == "" and len(r["tokens"]) == 13, r["tokens"]
            w.click("sentence", 0.9, 0.5)
            w.key("End")
            w.type("s")
            w.wait(lambda r: len(r["tokens"]) == 14 and not r["busy"])
            assert process.runs()[-1]["from"] == 13, process.runs()[-1]
            w.key("Escape")
            _command(w, "mask window:3")
            w.wait(lambda r: r["mask"] == "window:3" and not r["busy"])
            assert process.runs()[-1]["mask"] == "window:3"
            for view in (
                "All heads",
                "Lines",
                "Text",
                "Flow",
                "Update (ΔE)",
                "Prediction",
                "Heat map",
            ):
                w.show(view)
                r = w.wait(lambda r: not r["busy"])
                assert r["failure"] == "", (view, r["failure"])
            assert r["next"], "the prediction"


def a_process_that_dies_leaves_what_is_shown(display):
    """A sentence says so; the list of models opens it again, with the text that was typed."""
    with tempfile.TemporaryDirectory() as folder:
        process = Process(folder)
        options = ("--engine", process.address, "--text", "a lively text")
        with Window(PROGRAM, display, *options, environment={"XDG_RUNTIME_DIR": folder}) as w:
            w.wait(lambda r: r["model"] == "lively" and not r["busy"])
            process.die()
            w.click("sentence", 0.9, 0.5)
            w.key("End")
            w.type("s")
            r = w.wait(lambda r: "connect again" in r["notice"])
            assert len(r["tokens"]) == 13 and r["shown_text"] == "a lively text", r["shown_text"]
            process.listen()
            w.key("Escape")
            w.key("ctrl+o")
            w.wait(lambda r: "models/lively" in r["widgets"])
            w.click("models/lively")
            r = w.wait(lambda r: len(r["tokens"]) == 14 and not r["busy"])
            assert r["notice"] == "" and r["model"] == "lively", r["notice"]


def a_server_that_refuses_a_pass_is_heard(display):
    with tempfile.TemporaryDirectory() as folder:
        process = Process(folder)
        options = ("--engine", process.address, "--text", "a lively text")
        with Window(PROGRAM, display, *options) as w:
            w.wait(lambda r: r["model"] == "lively" and not r["busy"])
            process.refusal = "The model ran out of memory; give a shorter text, or ask for less."
            w.click("sentence", 0.9, 0.5)
            w.key("End")
            w.type("s")
            w.wait(lambda r: r["notice"] == process.refusal)
            process.refusal = ""
            w.type("t")
            r = w.wait(lambda r: len(r["tokens"]) == 15 and not r["busy"])
            assert r["notice"] == "", r["notice"]


def an_image_is_read_beside_the_text(display):
    """Dropped, it crosses once; the view Image shows where a word looks; it can be closed."""
    with tempfile.TemporaryDirectory() as folder:
        process = Process(folder, "beside")
        options = ("--engine", process.address, "--text", "a ball")
        image = Path(__file__).parents[2] / "assets/samples/ball.png"
        with Window(PROGRAM, display, *options) as w:
            w.wait(lambda r: len(r["tokens"]) == 6 and not r["busy"])
            w.show("Image")
            w.wait(lambda r: "no image" in r["widgets"])
            w.drop(image)
            r = w.wait(lambda r: len(r["tokens"]) == 10 and not r["busy"])
            assert r["tokens"][:4] == ["0,0", "0,1", "1,0", "1,1"], r["tokens"]
            w.wait(lambda r: "overlay" in r["widgets"] and "word/4" in r["widgets"])
            w.click("word/5")
            w.wait(lambda r: r["locked"] and r["locked"][0] == 5)
            w.click("sentence", 0.9, 0.5)
            w.key("End")
            w.type("s")
            w.wait(lambda r: len(r["tokens"]) == 11 and not r["busy"])
            sent = [r for r in process.asked if r["verb"] == "encode" and r["body"]]
            assert len(sent) == 1 and process.runs()[-1]["picture"] == "p", len(sent)
            w.click("image/close")
            r = w.wait(lambda r: len(r["tokens"]) == 7 and not r["busy"])
            assert "image" in r["widgets"] and "picture" not in process.runs()[-1]
            w.key("Escape")
            w.key("ctrl+z")
            w.wait(lambda r: len(r["tokens"]) == 11 and not r["busy"])
