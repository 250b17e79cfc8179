#!/usr/bin/env python3
"""Figures beside matplotlib's, in one run: a 12 x 12 grid at 64 tokens as PNG, one head at 256
tokens as SVG, and the memory of many sentences. Headlight's times are of whole processes, the
forward pass included; matplotlib's begin with the weights in memory.

    python3 tests/bench/figures.py [build]          (needs matplotlib)
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
from bars import row
from large_model import write_large_model

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
PROGRAM = BUILD / "headlight"


def best(function, times=5):
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        took.append(time.perf_counter() - begin)
    return min(took)


def render(*arguments):
    subprocess.run([PROGRAM, "render", "--quiet", *map(str, arguments)], check=True)


def weights(model, ids, view, folder):
    render("--model", model, "--ids", ids, "--view", view, "-o", folder / "w.npy")
    return np.nan_to_num(np.load(folder / "w.npy"))


def peak_mb(*command):
    out = subprocess.run(
        ["/usr/bin/time", "-f", "%M", *map(str, command)],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    return int(out.split()[-1]) / 1024


def grid(model, folder):
    ids = ",".join(str(17 * i % 4000) for i in range(64))
    head = weights(model, ids, "head", folder)

    def theirs():
        figure, axes = plt.subplots(12, 12, figsize=(10.9, 10.9), dpi=96)
        for axis in axes.flat:
            axis.imshow(
                head, cmap="mako" if "mako" in matplotlib.colormaps else "viridis", vmin=0, vmax=1
            )
            axis.set_xticks([])
            axis.set_yticks([])
        figure.savefig(folder / "theirs.png")
        plt.close(figure)

    mine, other = (
        best(
            lambda: render(
                "--model", model, "--ids", ids, "--view", "heads", "-o", folder / "grid.png"
            )
        ),
        best(theirs, 3),
    )
    forward = best(
        lambda: subprocess.run(
            [PROGRAM, "heads", "--quiet", "--model", model, "--ids", ids],
            stdout=subprocess.DEVNULL,
            check=True,
        )
    )
    row(
        "12 × 12 heads, 64 tokens, PNG",
        {
            "Headlight": f"{1e3 * mine:,.0f} ms, {1e3 * (mine - forward):.0f} without the pass",
            "matplotlib": f"{1e3 * other:,.0f} ms",
        },
    )
    print(
        f"12 x 12 grid, 64 tokens, PNG: {1e3 * mine:.0f} ms, of which {1e3 * forward:.0f} ms "
        f"without a picture (verb heads: the pass, the statistics); matplotlib {1e3 * other:.0f} "
        f"ms: the picture alone {(mine - forward) / other:.3f}, the whole process "
        f"{mine / other:.3f} (bar 0.1)"
    )


def head(model, folder):
    ids = ",".join(str(17 * i % 4000) for i in range(256))
    head = weights(model, ids, "head", folder)
    labels = [f"#{17 * i % 4000}" for i in range(256)]

    def theirs():
        figure, axis = plt.subplots(figsize=(24, 24))
        axis.pcolormesh(head, edgecolors="none", rasterized=False)  # vector cells
        axis.set_xticks(np.arange(256) + 0.5, labels, rotation=90, fontsize=5)
        axis.set_yticks(np.arange(256) + 0.5, labels, fontsize=5)
        figure.savefig(folder / "theirs.svg")
        plt.close(figure)

    for name, more in (
        ("as it comes (cells finer than a page are one picture)", ()),
        ("vector cells, 600 mm wide", ("--width-mm", "600")),
    ):
        mine = best(
            lambda: render(
                "--model", model, "--ids", ids, "--view", "head", "-o", folder / "head.svg", *more
            )
        )
        size = (folder / "head.svg").stat().st_size / 2**20
        other = best(theirs, 2)
        theirs_size = (folder / "theirs.svg").stat().st_size / 2**20
        row(
            f"one head, 256 tokens, SVG{', vector cells, 600 mm' if more else ''}",
            {
                "Headlight": f"{1e3 * mine:,.0f} ms, {size:.1f} MB",
                "matplotlib": f"{1e3 * other:,.0f} ms, {theirs_size:.1f} MB",
            },
        )
        print(
            f"one head, 256 tokens, SVG, {name}: {1e3 * mine:.0f} ms, {size:.2f} MB (bar 3 MB); "
            f"matplotlib {1e3 * other:.0f} ms, "
            f"{theirs_size:.1f} MB: {mine / other:.3f} (bar "
            "0.2)"
        )


def many(folder):
    for count in (100, 1000):
        (folder / "lines.txt").write_text(
            "".join(f"Lily had a red ball and Tom had {i} blue balls .\n" for i in range(count))
        )
        begin = time.perf_counter()
        memory = peak_mb(
            PROGRAM,
            "render",
            "--quiet",
            "--text-file",
            folder / "lines.txt",
            "--view",
            "head",
            "-o",
            folder / "many.png",
        )
        row(
            f"{count:,} sentences, a PNG each",
            {"Headlight": f"{time.perf_counter() - begin:.1f} s, {memory:.0f} MB"},
        )
        print(
            f"{count} sentences to PNG: {memory:.0f} MB at most, "
            f"{time.perf_counter() - begin:.1f} s"
        )


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = write_large_model(folder / "large")
        grid(model, folder)
        head(model, folder)
        many(folder)


if __name__ == "__main__":
    main()
