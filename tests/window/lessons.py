"""Lessons: opened by argument, solved by clicks, locked controls, results that are kept."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM

COPIES = (
    Path(__file__).parents[2] / "assets/lessons/how-a-model-copies-a-word.headlight-lesson.json"
)
LOCKED = "Locked by the lesson; leave the lesson to use it."


def _in_folder(test):
    folder = Path(tempfile.mkdtemp(prefix="headlight-lessons-"))
    try:
        return test(folder)
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def _copy(folder, **changes):
    """The lesson of the copied word in a folder, with other values."""
    lesson = json.loads(COPIES.read_text(encoding="utf-8"))
    lesson.update(changes)
    file = folder / "copies.headlight-lesson.json"
    file.write_text(json.dumps(lesson), encoding="utf-8")
    return file


def _task(w, number, done):
    return w.wait(
        lambda r: r["lesson"]["task"] == number and r["lesson"]["done"] == done and not r["busy"]
    )


def _press(w, path):
    """Click what stands in the task's panel, scrolled to if it does not fit."""
    w.wait(lambda r: path in r["widgets"])
    w.click(path)


def a_lesson_opens_by_argument_and_its_tasks_are_solved_by_clicks(display):
    def test(folder):
        file = _copy(folder)
        with Window(PROGRAM, display, file) as w:
            r = _task(w, 1, 0)
            assert r["text"] == LILY, r["text"]
            assert "lesson/cover" in r["widgets"], "the picture waits for the guess"
            _press(w, "lesson/word/15")
            r = w.wait(lambda r: r["lesson"]["tries"] == 1)
            assert not r["lesson"]["task_done"] and "lesson/cover" not in r["widgets"]
            w.click("lesson/next")
            _press(w, "lesson/word/4")
            w.wait(lambda r: r["lesson"]["task_done"] and r["lesson"]["tries"] == 2)
            w.click("lesson/next")
            _task(w, 2, 1)
            w.wait(lambda r: r["view"] == "All heads")
            _press(w, "lesson/check")
            w.wait(lambda r: r["lesson"]["tries"] == 1 and not r["lesson"]["task_done"])
            _press(w, "heads/0.0")
            _press(w, "lesson/check")
            w.wait(lambda r: r["lesson"]["task_done"])
        kept = json.loads((folder / "copies.results.json").read_text(encoding="utf-8"))
        assert [t["done"] for t in kept["tasks"]] == [True, True, False, False, False], kept
        assert [t["tries"] for t in kept["tasks"]][:2] == [2, 2], kept
        with Window(PROGRAM, display, file) as w:
            r = _task(w, 2, 2)
            assert r["lesson"]["task_done"]
            w.click("lesson/next")
            _task(w, 3, 2)

    _in_folder(test)


def masking_is_judged_and_can_be_undone(display):
    """The number falls with each cell; Ctrl+Z takes a cell back; a chip's cross too."""
    tasks = [t for t in json.loads(COPIES.read_text())["tasks"] if t["kind"] == "metric"]

    def test(folder):
        file = _copy(folder, tasks=tasks)
        with Window(PROGRAM, display, file, "--do", "leave text; mask 16>4") as w:
            r = w.wait(lambda r: r["lesson"]["tries"] == 1)
            assert r["lesson"]["says"].startswith("Not yet. One cell takes "), r["lesson"]
            assert not r["lesson"]["task_done"]
            w.key("ctrl+z")
            w.wait(lambda r: r["changes"] == 0 and r["lesson"]["count"] == 0)
            w.key("ctrl+y")
            w.wait(lambda r: r["lesson"]["count"] == 1)
            w.click("lesson/used/0")
            w.wait(lambda r: r["changes"] == 0)
        with Window(PROGRAM, display, file, "--do", "mask 16>4; mask 16>10; lesson hint") as w:
            r = w.wait(lambda r: r["lesson"]["task_done"] and r["lesson"]["hints"] == 1)
            assert r["lesson"]["count"] == 2, r["lesson"]
            w.click("lesson/over")
            w.wait(lambda r: r["changes"] == 0 and r["lesson"]["task_done"])

    _in_folder(test)


def what_a_lesson_locks_refuses_by_key_palette_and_word(display):
    def test(folder):
        file = _copy(folder)
        with Window(PROGRAM, display, file) as w:
            r = _task(w, 1, 0)
            assert {"model/locked", "sentence/locked"} <= set(r["widgets"]), r["widgets"].keys()
            assert "sentence" not in r["widgets"] and "model" not in r["widgets"]
            w.type("xyz")
            w.key("ctrl+o")
            r = w.wait(lambda r: r["notice"] == LOCKED)
            assert r["text"] == LILY and not r["model_menu"]
            w.drop(Path(__file__))  # anything but a lesson names a model
            w.wait(lambda r: r["text"] == LILY and r["model"] == "stories")
        for command in ("text Tom", "view delta", "switch translator", "view compare changes"):
            done = subprocess.run(
                [PROGRAM, file, "--screenshot", folder / "x.png", "--do", command],
                env=dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1"),
                capture_output=True,
                text=True,
            )
            assert done.returncode == 2 and LOCKED in done.stderr, (command, done)

    _in_folder(test)


def leaving_a_lesson_returns_to_what_was_open(display):
    def test(folder):
        file = _copy(folder)
        with Window(PROGRAM, display, "--text", "Tom had a car.", "--do", f"open {file}") as w:
            _task(w, 1, 0)
            w.click("lesson/leave")
            r = w.wait(lambda r: r["lesson"] is None and not r["busy"])
            assert r["text"] == "Tom had a car.", r["text"]
            assert "sentence" in w.settled()["widgets"]

    _in_folder(test)


def results_that_cannot_be_written_beside_the_lesson_go_elsewhere_and_say_so(display):
    if os.geteuid() == 0:
        return  # nothing is read-only for root

    def test(folder):
        file = _copy(folder)
        folder.chmod(0o500)
        with Window(PROGRAM, display, file) as w:
            r = _task(w, 1, 0)
            assert "cannot be written" in r["lesson"]["saving"], r["lesson"]

    _in_folder(test)


def results_of_another_kind_are_never_written_over(display):
    def test(folder):
        file = _copy(folder)
        other = folder / "copies.results.json"
        other.write_text('{"mine": 1}')
        with Window(PROGRAM, display, file) as w:
            r = _task(w, 1, 0)
            assert "Not saved" in r["lesson"]["saving"], r["lesson"]
            _press(w, "lesson/word/4")
            w.wait(lambda r: r["lesson"]["task_done"])
            w.close()
        assert other.read_text() == '{"mine": 1}'

    _in_folder(test)


def a_lesson_fits_a_small_window(display):
    with Window(PROGRAM, display, COPIES, size="1024x700") as w:
        r = w.wait(lambda r: r["lesson"] and "lesson/next" in r["widgets"])
        width, height = r["size"]
        for path, (x, _, wide, _) in r["widgets"].items():
            if path.startswith("lesson/"):
                assert x >= 0 and x + wide <= width + 1, (path, x, wide)
        wide = r["widgets"]["center"][2]
        assert wide >= 700, wide
        assert {"lesson/task/1", "lesson/task/5", "lesson/leave"} <= set(r["widgets"])


def learn_offers_the_built_in_lessons(display):
    with Window(PROGRAM, display, "--text", "Tom had a car.", "--do", "view learn") as w:
        w.settled()
        w.wait(lambda r: "learn/lesson/what-a-mask-hides" in r["widgets"])
        for _ in range(20):
            w.point("learn/no-weights")
            w.tool("click", "5")
        w.click("learn/lesson/what-a-mask-hides")
        r = w.wait(lambda r: r["lesson"] and r["lesson"]["name"] == "what-a-mask-hides")
        assert r["lesson"]["task"] == 1
