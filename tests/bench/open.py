#!/usr/bin/env python3
"""How long a mapped 500 MB model takes to open, and what the process grows by.

    open.py build/headlight_bench

Writes a GPT-2 of 124 M parameters in float32 to a temporary folder, reads it once so that the
system has it in its cache, and opens it five times.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bars import row
from large_model import write_large_model


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_large_model(temporary)
        size = len((folder / "model.safetensors").read_bytes())
        run = subprocess.run(
            [sys.argv[1], "--benchmark_filter=open_model", "--benchmark_format=json"],
            env=dict(os.environ, HEADLIGHT_BENCH_MODEL=str(folder)),
            capture_output=True,
            text=True,
            check=True,
        )
        b = json.loads(run.stdout)["benchmarks"][0]
        row(
            f"{size / 1e6:.0f} MB of float32",
            {
                "opens in": f"{b['real_time']:.1f} ms",
                "the process grows by": f"{b['grown_MB']:.1f} MB",
            },
        )
        print(
            f"{size / 1e6:.0f} MB open in {b['real_time']:.2f} ms; the process grows by "
            f"{b['grown_MB']:.2f} MB"
        )


if __name__ == "__main__":
    main()
