#!/usr/bin/env python3
"""Run the fuzzers of a build from their corpora, two at a time: run.py BUILD SECONDS [--model
SECONDS] [--keep FOLDER]

One line each, 'ok' or 'FAIL' with the end of its log; what made one fail lies beside the build as
NAME-crash-… . With --keep new inputs are added to the corpora in FOLDER."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMITS = {
    "fuzz_model": [
        "-timeout=30",
        "-rss_limit_mb=2500",
        "-max_len=18",
        "-len_control=0",
        "-detect_leaks=0",
    ]
}
USUAL = ["-timeout=10", "-rss_limit_mb=2000", "-max_len=20000"]


def run(program, seconds, keep):
    name = program.name
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(keep or scratch) / name
        found.mkdir(parents=True, exist_ok=True)
        command = [
            program,
            f"-max_total_time={seconds}",
            *LIMITS.get(name, USUAL),
            f"-artifact_prefix={program.parent}/{name}-",
            found,
            HERE / "corpus" / name,
        ]
        done = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(os.environ, TMPDIR=scratch),
        )
    lines = done.stderr.splitlines()
    said = next((line for line in reversed(lines) if line.startswith("Done ")), "")
    coverage = re.findall(r"cov: (\d+)", done.stderr)
    if done.returncode == 0:
        return (
            True,
            f"ok   {name}: {said.removeprefix('Done ')}, {coverage[-1] if coverage else '?'} edges",
        )
    return False, f"FAIL {name}\n" + "\n".join(lines[-40:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--model", type=int, help="seconds of fuzz_model")
    parser.add_argument("--keep")
    o = parser.parse_args()
    names = sorted(source.stem for source in HERE.glob("fuzz_*.cpp"))
    names.sort(key=lambda name: name != "fuzz_model")  # the longest first
    seconds = {"fuzz_model": o.model or o.seconds}
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        results = list(
            both.map(
                lambda name: run(o.build.resolve() / name, seconds.get(name, o.seconds), o.keep),
                names,
            )
        )
    for _, line in results:
        print(line)
    failed = sum(not passed for passed, _ in results)
    print(f"{len(results) - failed} fuzzers passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
