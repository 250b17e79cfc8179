"""Unit tests of a real model, with the files of its Python package."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path


def run_with(distribution, test, variable, files):
    """Run the unit tests (argv[1]) that begin with `test`; `variable` names what `files` finds in
    the folder of the package."""
    package = importlib.util.find_spec(distribution.replace("-", "_"))
    if not package:
        sys.exit(f"skipped: the package {distribution} is not installed")
    found = next(Path(package.submodule_search_locations[0]).glob(files))
    done = subprocess.run(
        [sys.argv[1], f"--test-case={test}*"], env=dict(os.environ, **{variable: str(found)})
    )
    sys.exit(done.returncode)
