#!/usr/bin/env python3
"""This program's frames, start and memory beside another build of it, say of the commit before,
alternately in one run.

    python3 tests/bench/against.py OTHER/headlight [build/headlight] [--rounds N]

Built-in model, 24 tokens, Mesa software rendering, 1600 x 1000. Each figure is the median of the
rounds; the ratio is ours / the other's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/window"))
from drive import Display, views

TEXT = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red ball."
FIGURES = {
    "frame_ms": "frame, ms",
    "start_ms": "start to first picture, ms",
    "peak_mb": "peak memory, MB",
}


def measured(program, view, environment):
    command = [
        program,
        "--size",
        "1600x1000",
        "--scale",
        "1",
        "--frames",
        "60",
        "--view",
        view,
        "--text",
        TEXT,
    ]
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def offers(program, view, environment):
    return (
        subprocess.run(
            [program, "--frames", "1", "--view", view, "--text", "a"],
            env=environment,
            capture_output=True,
        ).returncode
        == 0
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path)
    parser.add_argument("ours", type=Path, nargs="?", default=ROOT / "build/headlight")
    parser.add_argument("--rounds", type=int, default=5)
    o = parser.parse_args()
    display = Display()
    environment = dict(
        os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME="/nonexistent"
    )
    for view in [v for v in views(o.ours.resolve()) if offers(o.other, v, environment)]:
        runs = [
            (measured(o.other, view, environment), measured(o.ours, view, environment))
            for _ in range(o.rounds)
        ]
        for key, name in FIGURES.items():
            other, ours = (statistics.median(pair[side][key] for pair in runs) for side in (0, 1))
            print(f"{view:10} {name:27} {other:8.2f} {ours:8.2f}  x {ours / other:.2f}", flush=True)
    display.close()


if __name__ == "__main__":
    main()
