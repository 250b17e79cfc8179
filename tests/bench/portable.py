#!/usr/bin/env python3
"""A program built for any x86-64 processor beside one built for this one, in turn: what the
instruction sets of core/kernels leave to gain.

    python3 tests/bench/portable.py [build/headlight_bench] [NATIVE/headlight_bench]

Builds the second one in build/native (-march=native) unless it is named. The fastest of many short
runs count, then medians.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bars import bar, bench
from large_model import write_large_model

ROOT = Path(__file__).resolve().parents[2]
LENGTHS, ROUNDS, WORK = (8, 64, 256, 1024), 8, ("window_update", "everything")


def native_program():
    folder = ROOT / "build/native"
    quietly = {"cwd": ROOT, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(
        ["cmake", "--preset", "release", "-B", folder, "-DCMAKE_CXX_FLAGS=-march=native"], **quietly
    )
    subprocess.run(["cmake", "--build", folder, "--target", "headlight_bench"], **quietly)
    return folder / "headlight_bench"


def main():
    ours = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/headlight_bench").resolve()
    programs = {
        "any": ours,
        "native": Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else native_program(),
    }
    times = {name: {} for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        model = write_large_model(Path(folder) / "large")
        for _ in range(ROUNDS):
            for name, program in programs.items():
                for row, measured in bench(
                    program, model, [f"{w}/{n}" for w in WORK for n in LENGTHS], 0.05, 6
                )[0].items():
                    times[name].setdefault(row, []).extend(measured)
    for work in WORK:
        for n in LENGTHS:
            a, b = (times[name][f"{work}/{n}"] for name in programs)
            print(f"{work}, {n} tokens: {min(a):.2f} ms, built for this processor {min(b):.2f} ms")
            bar(
                f"{work.replace('_', ' ')}: a build for any x86-64 ÷ a native build, {n} tokens",
                min(a) / min(b),
                1.02,
                statistics.median(a) / statistics.median(b),
            )


if __name__ == "__main__":
    main()
