#!/usr/bin/env python3
"""The program as a user types it: exit statuses, messages, files; each function of a subject that
takes nothing is a test. PROGRAM [test…]: all or these; HEADLIGHT_JOBS of them at a time (one), each
with a folder of its own. Ends with 'N passed, N failed'."""

import multiprocessing
import os
import shutil
import sys
import time
import traceback
from pathlib import Path
from types import FunctionType

sys.path.insert(0, str(Path(__file__).parents[1]))
import animations
import answers
import attributing
import averaging
import circuits
import conversions
import corpus
import cut_downloads
import cut_files
import endless
import explaining
import failures
import fetching
import figures
import golden
import heard
import helping
import instruction_sets
import interventions
import learning
import leaving_out
import lessons
import models
import patching
import reports
import translators
from program import FOLDER

SUBJECTS = [
    failures,
    answers,
    cut_files,
    figures,
    animations,
    reports,
    golden,
    interventions,
    patching,
    attributing,
    averaging,
    leaving_out,
    circuits,
    corpus,
    endless,
    explaining,
    learning,
    lessons,
    models,
    translators,
    fetching,
    cut_downloads,
    conversions,
    instruction_sets,
    helping,
    heard,
]


TESTS = {
    t.__name__: t
    for subject in SUBJECTS
    for t in vars(subject).values()
    if isinstance(t, FunctionType)
    and t.__module__ == subject.__name__
    and not t.__name__.startswith("_")
    and not t.__code__.co_argcount
}


# a loaded machine may end a process that a test waits for; what fails twice, or more tests than
# these, is a fault
SECOND_TRIES = 3


def _cpu():
    """CPU seconds of this process and of those that it ran."""
    return sum(os.times()[:4])


def outcome(name):
    """A test's name, whether it passed, and what is said of it."""
    begin, before = time.time(), _cpu()
    try:
        TESTS[name]()
        return (
            name,
            True,
            f"ok   {name} ({time.time() - begin:.1f} s, {_cpu() - before:.1f} s of CPU)",
        )
    except (Exception, SystemExit):  # which would end a process that others wait for
        return name, False, f"FAIL {name}\n{traceback.format_exc()}"


def outcomes(names):
    jobs = int(os.environ.get("HEADLIGHT_JOBS", 1))
    if jobs == 1:
        yield from map(outcome, names)
        return
    os.environ["TMPDIR"] = str(FOLDER)  # of each process, and so removed with it
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(outcome, names)


def main():
    wanted = set(sys.argv[2:])
    if unknown := wanted - TESTS.keys():
        sys.exit(f"no test is named {', '.join(sorted(unknown))}")
    names = [name for name in TESTS if not wanted or name in wanted]
    failed, late = {}, 0
    for name, ok, said in outcomes(names):
        print(said, flush=True)
        if not ok:
            failed[name] = said
    if 0 < len(failed) <= SECOND_TRIES:
        print(f"once more, alone: {', '.join(failed)}", flush=True)
        for name in list(failed):
            _, ok, failed[name] = outcome(name)
            late += ok
            if ok:
                del failed[name]
    shutil.rmtree(FOLDER, ignore_errors=True)
    # the end of the log is what ./test shows
    print(*failed.values(), sep="\n", end="")
    print(
        f"{len(names) - len(failed)} passed, {late} of them at the second try, {len(failed)} failed"
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
