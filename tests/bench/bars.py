"""A line for each bar of a benchmark, which all.py collects, and the rows of headlight_bench."""

import json
import os
import subprocess

THREADS = 2


def bar(work, value, most, least=None, unit=""):
    """Print whether a figure keeps its bar; `least`: the same of the fastest runs, on a machine
    that others use too."""
    fastest = "" if least is None else f"{least:.2f}{unit}"
    print(
        (
            f"bar | {work} | {value:.2f}{unit} | {fastest} | ≤ {most}{unit} | "
            f"{'met' if value <= most else 'missed'}"
        ),
        flush=True,
    )


def row(name, cells):
    """Print figures of one row of docs/performance.md, by column; all.py collects them, and joins
    rows of one name."""
    print("row | " + json.dumps([name, cells], ensure_ascii=False), flush=True)


def bench(program, model, rows, seconds=0.15, repetitions=8):
    """Times of rows of forward_bench.cpp in ms, "row/8" each: a mean for each repetition; with the
    counters of the last one."""
    environment = dict(
        os.environ, HEADLIGHT_BENCH_MODEL=str(model), HEADLIGHT_BENCH_THREADS=str(THREADS)
    )
    command = [
        program,
        "--benchmark_format=json",
        f"--benchmark_filter=^({'|'.join(rows)})(/|$)",
        f"--benchmark_min_time={seconds}",
        f"--benchmark_repetitions={repetitions}",
    ]
    out = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=True
    ).stdout
    times, counters = {}, {}
    for row in json.loads(out)["benchmarks"]:
        if row["run_type"] != "iteration":
            continue
        name = "/".join(
            part
            for part in row["name"].split("/")
            if part.isdigit() or part == row["name"].split("/")[0]
        )
        times.setdefault(name, []).append(row["real_time"])
        counters[name] = row
    return times, counters


class Machine:
    """The peak rates of this machine: the best of what was measured in the run."""

    def __init__(self):
        self.read, self.flops = 0.0, 0.0

    def measure(self, program, model):
        row = bench(program, model, ["machine"], repetitions=1)[1]["machine"]
        self.read = max(self.read, row["GB_per_s"] * 1e9)
        self.flops = max(self.flops, row["GFLOP_per_s"] * 1e9)

    def __str__(self):
        return (
            f"this machine reads {self.read / 1e9:.1f} GB/s and computes {self.flops / 1e9:.0f} "
            "GFLOP/s"
        )
