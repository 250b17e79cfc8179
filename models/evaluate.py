#!/usr/bin/env python3
"""Print what every built-in model reached: the tables of their cards come from here.

    python models/evaluate.py --data DIR [stories translator scenes formation recurrent]

DIR holds the held-out stories and pairs. Each folder's evaluate.py measures its model; formation's
run.json holds what was measured at each step.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
MODELS = "stories translator scenes formation recurrent".split()


def formation():
    last = json.loads((ROOT / "formation/run.json").read_text())["curve"][-1]
    print(f"step {last['step']}: validation loss {last['loss']:.3f}")
    print(f"random tokens, first time {last['once']:.2f}, repeated {last['again']:.2f}")
    print(f"best previous-token head {max(last['previous']):.2f}")
    print(f"best induction head {max(last['induction']):.2f}")


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("models", nargs="*", choices=[[], *MODELS], default=MODELS)
    p.add_argument("--data", type=Path, required=True)
    a = p.parse_args()
    failed = False
    for name in a.models or MODELS:
        print(f"# {name}", flush=True)
        if name == "formation":
            formation()
        else:
            script, folder = ROOT / name / "evaluate.py", ROOT / name
            command = [sys.executable, script, folder, "--data", a.data]
            failed |= subprocess.run(command).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
