#!/usr/bin/env python3
"""The program as a person types it: exit statuses, messages, files; each function of a subject that takes nothing is a test.
PROGRAM [test…] [-test…]: all, these, or all but these. Ends with 'N passed, N failed'."""
import shutil
import sys
import time
import traceback
from types import FunctionType

import attributing
import circuits
import corpus
import failures
import fetching
import figures
import golden
import helping
import instruction_sets
import interventions
import learning
import models
from program import FOLDER

SUBJECTS = [failures, figures, golden, interventions, attributing, circuits, corpus, learning, models, fetching, instruction_sets, helping]


def main():
    tests = [t for subject in SUBJECTS for t in vars(subject).values() if isinstance(t, FunctionType) and t.__module__ == subject.__name__ and not t.__code__.co_argcount]
    left_out = {word[1:] for word in sys.argv[2:] if word.startswith("-")}
    wanted = {word for word in sys.argv[2:] if not word.startswith("-")}
    if unknown := (wanted | left_out) - {t.__name__ for t in tests}:
        sys.exit(f"no test is named {', '.join(sorted(unknown))}")
    tests = [t for t in tests if (not wanted or t.__name__ in wanted) and t.__name__ not in left_out]
    failed = 0
    for t in tests:
        begin = time.time()
        try:
            t()
            print(f"ok   {t.__name__} ({time.time() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {t.__name__}\n{traceback.format_exc()}", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
