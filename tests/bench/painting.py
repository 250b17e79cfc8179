#!/usr/bin/env python3
"""Painting a mask by hand at 64 tokens: frame times while the mouse is dragged over the heat map,
beside Dear ImGui's demo in the same run, and how late the numbers come. Mesa software
rendering, 1600 x 1000:

    python3 tests/bench/painting.py [build]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/window"))
sys.path.insert(0, str(ROOT / "tests/bench"))
from bars import row
from drive import Display, Window
from large_model import write_large_model
from views import WORDS, cut

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
TOKENS, CELLS = 64, 48


def painting(display, model):
    """Median and 95th percentile of the frames of one stroke along the last row, and the lag after
    its end."""
    text = cut(model, " ".join((WORDS * 10)[: TOKENS + 20]), TOKENS)
    with Window(BUILD / "headlight", display, "--model", model, "--text", text) as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        w.click("change/bar")
        w.click("brush")
        w.click("brush/mask")
        w.wait(lambda r: r["brush"] == 1)
        before = len(w.report()["frame_times"])
        row = (n - 0.5) / n
        w.drag("map", (0.5 / n, row), ((CELLS + 0.5) / n, row), steps=CELLS)
        end = time.time()
        r = w.wait(lambda r: r["changes"] > CELLS * 0.9 and not r["busy"], 60)
        lag = time.time() - end
        times = sorted(1e3 * t for t in r["frame_times"][before:])
    return n, len(times), times[len(times) // 2], times[int(len(times) * 0.95)], lag


def main():
    display = Display()
    environment = dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1")
    demo = json.loads(
        subprocess.run(
            [BUILD / "bare_window"], env=environment, capture_output=True, text=True, check=True
        ).stdout
    )["frame_ms"]
    print(f"Dear ImGui's demo: {demo:.2f} ms a frame")
    with tempfile.TemporaryDirectory() as folder:
        for name, model in (
            ("stories", ROOT / "models/stories"),
            ("GPT-2 small's shape", write_large_model(Path(folder) / "large")),
        ):
            n, frames, median, late, lag = painting(display, model)
            row(
                name,
                {
                    "median ×": f"{median / demo:.1f}",
                    "p95 ×": f"{late / demo:.1f}",
                    "numbers after the stroke": f"{lag:.2f} s",
                },
            )
            print(
                f"{name}: {CELLS} cells painted at {n} tokens in {frames} frames: median "
                f"{median:.2f} ms ({median / demo:.1f} x), 95 % {late:.2f} ms ({late / demo:.1f} "
                f"x); the last numbers {lag * 1e3:.0f} ms after the stroke"
            )
    display.close()


if __name__ == "__main__":
    main()
