#!/usr/bin/env python3
"""Run the gallery notebook, convert it to HTML and open that in Chromium: test_notebook.py PROGRAM
[FOLDER], where its pictures are kept."""

import base64
import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SOURCE = Path(__file__).resolve().parents[2]
os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
os.environ["PYTHONPATH"] = str(SOURCE / "models/python")
for name in ("DISPLAY", "WAYLAND_DISPLAY"):
    os.environ.pop(name, None)
FIGURES = ("headlight.figure(", "headlight.show(", "changed.figure(")
PAGES = ("shown", "attention_heads(")
# Each page tells its frame's parent, once it is drawn.
LISTEN = """window.told = new Set();
addEventListener('message', ({ source, data }) => data && data.headlight && told.add(source));"""
RESULTS = ("table", "changed", "patched")


def executed():
    gallery = nbformat.read(SOURCE / "models/python/gallery.ipynb", as_version=4)
    nbformat.validate(gallery)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(gallery, timeout=120, resources={"metadata": {"path": folder}}).execute()
        assert (Path(folder) / "looking-back.safetensors").exists()
    return gallery


def check(cell, kept, count):
    """Whether a cell shows a page: one in a frame, and of figures a picture beside it."""
    shown = {}
    for output in cell.outputs:
        data = output.get("data", {})
        if "it/s]" not in data.get("text/plain", ""):  # the bar of tqdm, which goes
            shown |= data
    last = cell.source.strip().splitlines()[-1]
    is_figure = last.startswith(FIGURES) or last == "drawn" and "image/png" in shown
    assert ("image/png" in shown) == is_figure or last in PAGES, cell.source
    framed = "<iframe" in shown.get("text/html", "")
    is_widget = "application/vnd.jupyter.widget-view+json" in shown
    assert (framed or is_widget) == (is_figure or last.startswith(PAGES)), cell.source
    assert ("<table" in shown.get("text/html", "")) == (last in RESULTS), cell.source
    assert ("image/svg+xml" in shown) == last.startswith("headlight.panel("), cell.source
    if is_figure:
        png = base64.b64decode(shown["image/png"])
        assert png.startswith(b"\x89PNG") and len(png) > 5000
        if kept:
            (kept / f"gallery-{count}.png").write_bytes(png)
    said = "".join(o.get("text", "") for o in cell.outputs)
    assert ("after the softmax" in said) == ("back * 9" in cell.source), said
    return framed


def opened(gallery, frames, kept):
    """Convert to HTML, and have every page in it drawn by Chromium, as a colleague's would."""
    from nbconvert import HTMLExporter

    sys.path.insert(0, str(SOURCE / "tests/page"))
    import browser

    text, _ = HTMLExporter(embed_images=True).from_notebook_node(gallery)
    assert text.count("<iframe") >= frames
    if browser.PROGRAM is None:
        return "Chromium is not installed here"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gallery.html"
        path.write_text(text, encoding="utf-8")
        chromium = browser.Browser(1000, 900)
        try:
            chromium.ask("Page.addScriptToEvaluateOnNewDocument", source=LISTEN)
            chromium.open(path, wait=False)
            until = time.monotonic() + 60
            # Bring each frame into view: out of it, a frame may have no size to draw in.
            while chromium.run("told.size") < frames and time.monotonic() < until:
                chromium.run(
                    "[...document.querySelectorAll('iframe')].find((frame) => frame.srcdoc && "
                    "!told.has(frame.contentWindow))?.scrollIntoView()"
                )
                time.sleep(0.2)
            told = chromium.run("told.size")
            assert told == frames, f"{told} of {frames} pages say the head that they show"
            picture = (kept or Path(folder)) / "gallery.png"
            chromium.picture(picture, full=True)
            faults = [fault for fault in chromium.faults if "ERR_" not in fault]
            assert not faults, faults
        finally:
            chromium.close()
    return f"{frames} pages drawn by Chromium"


def main():
    kept = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    gallery = executed()
    code = [cell for cell in gallery.cells if cell.cell_type == "code"]
    frames = sum(check(cell, kept, count) for count, cell in enumerate(code))
    if importlib.util.find_spec("nbconvert") is None:
        said = "nbconvert is not installed here"
    else:
        said = opened(gallery, frames, kept)
    print(f"ok   the gallery of {len(gallery.cells)} cells shows {frames} pages; {said}")


if __name__ == "__main__":
    main()
