#!/usr/bin/env python3
"""The real window under Xvfb, driven by keyboard and mouse: each function of a subject is a test.
PROGRAM [test…]; HEADLIGHT_JOBS of them at a time (one), each on a screen of its own. Ends with
'N passed, N failed'."""

import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import adapting
import averaging
import chatting
import circuits
import commands
import comparing
import corpora
import documents
import drive
import each_view
import experts
import folding
import following
import frames
import golden
import guesses
import guide
import hub_models
import influencing
import interventions
import learn_contents
import learning
import lessons
import limits
import living
import looking
import metrics
import models
import patching
import questions
import rules
import saving
import sizes
import standing
import starting
import steps
import tasks
import typing_text
import ways_in
from drive import Display
from needed import status_without

SUBJECTS = [
    starting,
    typing_text,
    saving,
    commands,
    comparing,
    adapting,
    chatting,
    documents,
    each_view,
    experts,
    folding,
    steps,
    frames,
    golden,
    guide,
    looking,
    interventions,
    rules,
    metrics,
    patching,
    questions,
    influencing,
    averaging,
    circuits,
    corpora,
    tasks,
    guesses,
    learning,
    learn_contents,
    following,
    lessons,
    models,
    hub_models,
    limits,
    living,
    sizes,
    standing,
    ways_in,
]

# a loaded machine may delay a window or lose a key; what fails twice, or more tests than these, is
# a fault
SECOND_TRIES = 5


def outcome(test, display):
    """Where a test failed; None if it passed."""
    begin, where = time.time(), None
    try:
        test(display)
        said = f"ok   {test.__name__} ({time.time() - begin:.1f} s)"
    except Exception:
        said = where = f"FAIL {test.__name__}\n{traceback.format_exc()}"
    print(said + "\n", end="", flush=True)
    return where


def run(tests, jobs=1):
    """Run tests on as many screens; return those that failed, each with where."""
    displays, waiting, failed = [Display() for _ in range(jobs)], iter(tests), {}

    def lane(display):
        for t in waiting:
            if (where := outcome(t, display)) is not None:
                failed[t] = where

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lane, displays))
    for display in displays:
        display.close()
    return failed


def main():
    if (status := status_without("Xvfb", "xdotool", "xwd")) is not None:
        return status
    tests = [
        t
        for subject in SUBJECTS
        for t in vars(subject).values()
        if isinstance(t, FunctionType)
        and t.__module__ == subject.__name__
        and not t.__name__.startswith("_")
    ]
    wanted = sys.argv[2:]
    if unknown := set(wanted) - {t.__name__ for t in tests}:
        sys.exit(f"no test is named {', '.join(sorted(unknown))}")
    ran = [t for t in tests if not wanted or t.__name__ in wanted]
    failed = run(ran, int(os.environ.get("HEADLIGHT_JOBS", 1)))
    again = list(failed) if len(failed) <= SECOND_TRIES else []
    if again:
        print(
            f"once more, on a screen of their own: {', '.join(t.__name__ for t in again)}",
            flush=True,
        )
        failed = run(again)
    late = len(again) - len(failed) if again else 0
    # the end of the log is what ./test shows
    print(*failed.values(), sep="\n", end="")
    print(
        f"{len(ran) - len(failed)} passed, {late} of them at the second try, {len(failed)} "
        f"failed; typed again: {len(drive.TYPED_AGAIN)} times"
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
