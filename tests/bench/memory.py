#!/usr/bin/env python3
"""The peak memory of a pass for the window beside the model and the arrays that its trace keeps (q,
k, v, residuals).

    python3 tests/bench/memory.py [build/memory_bench build/first_picture]

GPT-2 small's shape at 1,024 tokens; a model with rotary positions of the same size at 1,024, 4,096
and 8,192, where memory is linear, and how long its first picture takes there beside the whole pass:
the text is shown from its beginning on.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bars import THREADS, bar
from large_model import write_large_model, write_long_model

ROOT = Path(__file__).resolve().parents[2]


def peak(program, model, n):
    """Peak and what is kept, in MB, of a process of its own."""
    row = json.loads(
        subprocess.run(
            [program, model, str(n), str(THREADS)], capture_output=True, text=True, check=True
        ).stdout
    )
    print(
        (
            f"{Path(model).name}, {n} tokens: {row['seconds']:.1f} s, {row['peak_MB']:.0f} MB at "
            "the "
            f"peak, of which the trace keeps {row['kept_MB']:.0f} MB"
        ),
        flush=True,
    )
    return row["peak_MB"], row["kept_MB"]


def first_picture(program, model, n):
    """The first picture's time ÷ the whole text's."""
    row = json.loads(
        subprocess.run(
            [program, model, str(n), str(THREADS)], capture_output=True, text=True, check=True
        ).stdout
    )
    print(
        (
            f"{n} tokens: the first {row['shown']} are shown after {row['first_ms']} ms, all after "
            f"{row['whole_ms']} ms"
        ),
        flush=True,
    )
    bar(f"first picture of {n:,} tokens ÷ their whole pass", row["first_ms"] / row["whole_ms"], 0.9)


def main():
    program, picture = (
        Path(p).resolve()
        for p in sys.argv[1:3] or (ROOT / "build/memory_bench", ROOT / "build/first_picture")
    )
    with tempfile.TemporaryDirectory() as name:
        most, kept = peak(program, write_large_model(Path(name) / "gpt2-small-shaped"), 1024)
        bar(
            "memory of a pass at 1,024 tokens above the model and the trace's arrays",
            most - kept,
            40,
            unit=" MB",
        )
        model = write_long_model(Path(name) / "rotary")
        short, middle, long = (peak(program, model, n)[0] for n in (1024, 4096, 8192))
        bar("memory of 8,192 ÷ 4,096 tokens (linear: 2)", long / middle, 2.1)
        bar("memory of 4,096 ÷ 1,024 tokens (linear: 4)", middle / short, 4.2)
        for n in (4096, 8192):
            first_picture(picture, model, n)


if __name__ == "__main__":
    main()
