"""Run the functions of modules that take nothing, each of which is a test."""

import os
import shutil
import sys
import tempfile
import time
import traceback
from types import FunctionType


def run(subjects, last):
    """Run all of them, or those that the command line names; last() ends the last line."""
    tests = [
        t
        for subject in subjects
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
    print(f"{len(tests) - failed} passed, {failed} failed; {last()}")
    return bool(failed)
