#!/usr/bin/env python3
"""How long 144 patterns of a Python process take to become a figure, and what memory that takes: handover.py PROGRAM"""
import os
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models/python"))
import headlight


def median(call, times=3):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


print("tokens   trace file   all heads, PNG   one head, PNG   Python's memory beyond the patterns")
for tokens in (128, 512, 1024):
    patterns = np.tril(np.random.default_rng(1).random((12, 12, tokens, tokens), np.float32))
    patterns /= patterns.sum(-1, keepdims=True)
    tracemalloc.start()
    held = headlight.trace(patterns=patterns)
    peak = tracemalloc.get_traced_memory()[1] / patterns[0, 0].nbytes
    tracemalloc.stop()
    del held
    trace = median(lambda: headlight.trace(patterns=patterns))
    heads = median(lambda: headlight.figure(patterns=patterns))
    head = median(lambda: headlight.figure(patterns=patterns, head=(3, 4)))
    print(f"{tokens:6}   {trace:8.2f} s   {heads:12.2f} s   {head:11.2f} s   {peak:.1f} heads")
