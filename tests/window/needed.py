"""The tools that drive a window: without them a test is skipped where a user runs it, and fails
where a service does (CI is set)."""

import os
import shutil

SKIPPED = 77  # ctest and ./test read it as "skipped"


def status_without(*tools):
    """The status to exit with where one of them is not installed; None where all are."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if not missing:
        return None
    if os.environ.get("CI"):
        print(
            f"FAIL {', '.join(missing)} not installed, and CI is set: a service that skips these "
            "tests tests nothing\n0 passed, 1 failed"
        )
        return 1
    print(f"skipped: {', '.join(missing)} not installed\n0 passed, 0 failed, 1 skipped")
    return SKIPPED
