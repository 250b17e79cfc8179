"""Open sample pages in Chromium or Firefox, and check what they show, say and do.

test_page.py [--firefox] [WORD…] runs the checks whose names contain one of the words, or all.
test_page.py look_like --write writes the golden pictures anew.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import browser
import check_colors
import check_figures
import check_golden
import check_head
import check_live
import check_looks
import check_program
import check_views
import check_whole
import firefox
import steps
from drawn import drawn

# Each adds its checks to steps.CHECKS.
PARTS = (
    check_whole,
    check_program,
    check_figures,
    check_head,
    check_views,
    check_looks,
    check_golden,
    check_colors,
    check_live,
)


def tried(one, page):
    """What one check comes to: ok, skip or FAIL."""
    name = one.__name__.replace("_", " ")
    try:
        one(page)
    except browser.Unable as reason:
        print(f"skip {name}: {reason}", flush=True)
        return "skip"
    except Exception as error:  # a failure of one check must not hide the others
        print(f"FAIL {name}: {type(error).__name__} {error}", flush=True)
        return "FAIL"
    print(f"ok   {name}", flush=True)
    return "ok"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--firefox", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    check_golden.WRITES.extend([True] * given.write)
    kind, program = browser.Browser, browser.PROGRAM
    if given.firefox:
        kind, program = firefox.Firefox, firefox.PROGRAM
    if not program:
        print(f"skipped: {kind.name} is not installed")
        return 77
    chosen = [
        one
        for one in steps.CHECKS
        if not given.words or any(word in one.__name__ for word in given.words)
    ]
    if given.firefox and not given.words:  # Chromium has seen all
        chosen = drawn(chosen, 0.5)
    page = kind()
    try:
        results = [tried(one, page) for one in chosen]
    finally:
        page.close()
        shutil.rmtree(steps.FOLDER, ignore_errors=True)
    print(f"{kind.name}: {results.count('ok')} passed, {results.count('FAIL')} failed")
    return 1 if "FAIL" in results or "ok" not in results else 0


if __name__ == "__main__":
    sys.exit(main())
