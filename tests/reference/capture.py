#!/usr/bin/env python3
"""Traces that models/capture_trace.py records, opened by Headlight and compared with a live run of
the same tokens:

python capture.py build/headlight
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
CAPTURE = HERE.parents[1] / "models/capture_trace.py"
IDS, TARGET = "5,9,200,31,5,9,77,300,12,5", "3,4,7,9,5"
BAR = 1e-7  # bits of divergence, averaged over rows

sys.path.insert(0, str(CAPTURE.parent))
import capture_trace


def record(arguments, on_its_own):
    """None, or why there is no trace. Each process takes ten seconds to import its libraries, so
    one run alone is the command itself."""
    if on_its_own:
        made = subprocess.run([sys.executable, CAPTURE, *arguments], capture_output=True, text=True)
        return made.stderr.strip().splitlines()[-1][:300] if made.returncode else None
    try:
        with mock.patch.object(sys, "argv", [str(CAPTURE), *map(str, arguments)]):
            capture_trace.main()
    except SystemExit as end:
        return str(end.code)[:300] if end.code else None


def main():
    worst, failed, ran = 0.0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in tuple(
            (
                "gpt2 gpt_neox llama qwen3 gemma2 phi opt bloom bert distilbert modernbert "
                "marian bart t5"
            ).split()
        ):
            model = HERE / "models" / name
            if not model.exists():
                continue
            trace = Path(folder) / f"{name}.safetensors"
            two = ["--target-ids", TARGET] if name in ("marian", "bart", "t5") else []
            problem = record([model, "--ids", IDS, *two, "-o", trace], on_its_own=ran == 0)
            ran += 1
            if problem:
                failed += 1
                print(f"FAIL {name}: {problem}")
                continue
            left = [p.name for p in Path(folder).iterdir() if ".part-" in p.name]
            compared = subprocess.run(
                [PROGRAM, "compare", "--trace", trace, "--model", model, "--json"],
                capture_output=True,
                text=True,
            )
            if compared.returncode or left:
                failed += 1
                print(f"FAIL {name}: {compared.stderr.strip() or left}")
                continue
            distance = max(h["distance"] for h in json.loads(compared.stdout)["heads"])
            worst = max(worst, distance)
            if distance > BAR:
                failed += 1
                print(f"FAIL {name}: patterns differ by {distance:.2e} bits")
    print(
        f"{ran} captured traces show what a live run shows, largest divergence {worst:.1e} bits"
        if not failed
        else f"{failed} of {ran} differ"
    )
    sys.exit(bool(failed))


main()
