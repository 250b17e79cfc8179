#!/usr/bin/env python3
"""How long 144 patterns of a Python process take to become a figure, and what memory that takes in
both: handover.py PROGRAM

The program maps the patterns: "own" is memory that is its alone, "mapped" what it read of files,
which the system takes back when it needs it."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models/python"))
import headlight
from bars import row


def median(call, times=3):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def memory(trace, *view):
    """The most of its own memory and of mapped files that drawing takes, in MB, looked at every
    millisecond."""
    most = {"RssAnon": 0, "RssFile": 0}
    with tempfile.TemporaryDirectory() as folder:
        drawing = subprocess.Popen(
            [
                os.environ["HEADLIGHT_PROGRAM"],
                "render",
                "--quiet",
                "--trace",
                trace.path,
                *view,
                "-o",
                Path(folder) / "x.png",
            ]
        )
        while drawing.poll() is None:
            try:
                rows = dict(
                    line.split(":", 1)
                    for line in Path(f"/proc/{drawing.pid}/status").read_text().splitlines()
                )
            except (OSError, ValueError):
                break
            for name in most:
                most[name] = max(most[name], int(rows.get(name, "0").split()[0]) / 1e3)
            time.sleep(0.001)
        assert drawing.wait() == 0
    return most


print(
    "tokens   patterns   trace file   all heads, PNG   one head, PNG   Python's memory beyond "
    "the patterns   the program's own (mapped) memory: all heads, one head"
)
for tokens in (128, 512, 1024):
    patterns = np.tril(np.random.default_rng(1).random((12, 12, tokens, tokens), np.float32))
    patterns /= patterns.sum(-1, keepdims=True)
    tracemalloc.start()
    held = headlight.trace(patterns=patterns)
    peak = tracemalloc.get_traced_memory()[1] / patterns[0, 0].nbytes
    tracemalloc.stop()
    own = [memory(held, *view) for view in ((), ("--view", "head", "--layer", "3", "--head", "4"))]
    del held
    trace = median(lambda: headlight.trace(patterns=patterns))
    heads = median(lambda: headlight.figure(patterns=patterns))
    head = median(lambda: headlight.figure(patterns=patterns, head=(3, 4)))
    said = ", ".join(f"{m['RssAnon']:.0f} ({m['RssFile']:.0f}) MB" for m in own)
    print(
        f"{tokens:6}   {patterns.nbytes / 1e6:5.0f} MB   {trace:8.2f} s   {heads:12.2f} s   "
        f"{head:11.2f} s   {peak:8.1f} heads {said:>44}"
    )
    all_heads, one_head = (round(m["RssAnon"]) for m in own)
    row(
        f"{tokens:,} tokens",
        {
            "all heads, PNG": f"{heads:.1f} s",
            "one head, PNG": f"{head:.1f} s",
            "copied in Python": f"{peak:.1f} heads",
            "program's memory": f"{all_heads} MB; {one_head} MB for one head",
        },
    )
