#!/usr/bin/env python3
"""The Python package as a user calls it, each function that takes nothing is a test:
test_package.py PROGRAM [test…]

Its patterns are compared number by number with what transformers (and TransformerLens, where it is
installed) return."""

import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from types import FunctionType

os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
os.environ["HF_HUB_OFFLINE"] = "1"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "models/python"), str(HERE)]
warnings.filterwarnings("ignore")

import given_architectures
import given_arrays
import given_corpora
import given_mistakes
import given_models
import given_names
import given_processes
import given_prompts
import given_wrappers
import surroundings

SUBJECTS = [
    surroundings,
    given_arrays,
    given_corpora,
    given_mistakes,
    given_names,
    given_models,
    given_architectures,
    given_wrappers,
    given_processes,
    given_prompts,
]


def main():
    tests = [
        t
        for subject in SUBJECTS
        for t in vars(subject).values()
        if isinstance(t, FunctionType)
        and t.__module__ == subject.__name__
        and not t.__code__.co_argcount
    ]
    if unknown := set(sys.argv[2:]) - {t.__name__ for t in tests}:
        sys.exit(f"no test is named {', '.join(sorted(unknown))}")
    tests = [t for t in tests if not sys.argv[2:] or t.__name__ in sys.argv[2:]]
    failed = 0
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="headlight python é ")
    for t in tests:
        begin = time.time()
        try:
            t()
            print(f"ok   {t.__name__} ({time.time() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {t.__name__}\n{traceback.format_exc()}", flush=True)
    shutil.rmtree(tempfile.tempdir, ignore_errors=True)
    print(
        f"{len(tests) - failed} passed, {failed} failed; largest difference from transformers "
        f"{given_models.WORST[0]:.1e}"
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
