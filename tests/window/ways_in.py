"""A path opens alike however it comes in, and leaves nothing running."""

import os
import shutil
import tempfile
from pathlib import Path

from drive import Window
from places import GPT2, PROGRAM


def a_file_named_at_the_start_opens_as_a_drop_of_it(display):
    folder = Path(tempfile.mkdtemp())
    (folder / "words.txt").write_text("Lily had a red ball.")
    with Window(PROGRAM, display, folder / "words.txt") as w:
        w.click("text file/text")
        w.wait(lambda r: r["text"] == r.get("shown_text") == "Lily had a red ball.")
    with Window(PROGRAM, display, GPT2 / "config.json") as w:
        w.wait(lambda r: r.get("view") == "Architecture" and r["model"] == "stories")
    shutil.rmtree(folder)


def showing_a_folder_leaves_no_process_behind(display):
    """A program in xdg-open's place; the folder is that of a model that cannot be opened."""
    folder = Path(tempfile.mkdtemp())
    (folder / "xdg-open").write_text(f"#!/bin/sh\nprintf %s \"$1\" > '{folder}/shown'\n")
    (folder / "xdg-open").chmod(0o755)
    (folder / "bad.gguf").write_text("no model")
    with Window(
        PROGRAM,
        display,
        folder / "bad.gguf",
        environment={"PATH": f"{folder}:{os.environ['PATH']}"},
    ) as w:
        w.click("error/folder")
        w.wait(
            lambda r: (folder / "shown").exists() and (folder / "shown").read_text() == str(folder)
        )
        children = Path(f"/proc/{w.process.pid}/task/{w.process.pid}/children").read_text().split()
        assert not children, f"left behind: {children}"
    shutil.rmtree(folder)
