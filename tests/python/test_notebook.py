#!/usr/bin/env python3
"""Run the gallery notebook: test_notebook.py PROGRAM [FOLDER], where its pictures are kept."""

import base64
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SOURCE = Path(__file__).resolve().parents[2]
os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
os.environ["PYTHONPATH"] = str(SOURCE / "models/python")
for name in ("DISPLAY", "WAYLAND_DISPLAY"):
    os.environ.pop(name, None)

gallery = nbformat.read(SOURCE / "models/python/gallery.ipynb", as_version=4)
nbformat.validate(gallery)
with tempfile.TemporaryDirectory() as folder:
    NotebookClient(gallery, timeout=120, resources={"metadata": {"path": folder}}).execute()
    assert (Path(folder) / "looking-back.safetensors").exists()
kept = Path(sys.argv[2]) if len(sys.argv) > 2 else None
pictures = 0
for cell in (c for c in gallery.cells if c.cell_type == "code"):
    drawn = [o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})]
    last = cell.source.strip().splitlines()[-1]
    assert bool(drawn) == (
        last.startswith(("headlight.figure(", "headlight.show(")) or last == "shown"
    ), cell.source
    for picture in drawn:
        png = base64.b64decode(picture)
        assert png.startswith(b"\x89PNG") and len(png) > 5000
        pictures += 1
        if kept:
            (kept / f"gallery-{pictures}.png").write_bytes(png)
    said = "".join(o.get("text", "") for o in cell.outputs)
    assert ("after the softmax" in said) == ("back * 9" in cell.source), said
print(f"ok   the gallery of {len(gallery.cells)} cells shows {pictures} figures")
