"""Open sample pages in Chromium, and check what they show, say and do.

test_page.py [WORD…] runs the checks whose names contain one of the words, or all.
"""

import shutil
import sys

import check_figures
import check_head
import check_live
import check_looks
import check_program
import check_views
import check_whole
import steps
from browser import PROGRAM, Browser

# Each adds its checks to steps.CHECKS.
PARTS = (
    check_whole,
    check_program,
    check_figures,
    check_head,
    check_views,
    check_looks,
    check_live,
)


def main(words):
    if not PROGRAM:
        print("skipped: Chromium is not installed")
        return 77
    browser, failed = Browser(), 0
    chosen = [c for c in steps.CHECKS if not words or any(word in c.__name__ for word in words)]
    try:
        for one in chosen:
            name = one.__name__.replace("_", " ")
            try:
                one(browser)
                print(f"ok   {name}", flush=True)
            except Exception as error:  # a failure of one check must not hide the others
                failed += 1
                print(f"FAIL {name}: {type(error).__name__} {error}", flush=True)
    finally:
        browser.close()
        shutil.rmtree(steps.FOLDER, ignore_errors=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
