#!/usr/bin/env python3
"""The Python package as a user calls it, each function that takes nothing is a test:
test_package.py PROGRAM [test…]

Its patterns are compared number by number with what transformers (and TransformerLens, where it is
installed) return."""

import os
import sys
import warnings
from pathlib import Path

os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
os.environ["HF_HUB_OFFLINE"] = "1"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "models/python"), str(HERE)]
warnings.filterwarnings("ignore")

import given_architectures
import given_arrays
import given_attributing
import given_corpora
import given_dropins
import given_long_texts
import given_mistakes
import given_models
import given_names
import given_notebooks
import given_panels
import given_patching
import given_processes
import given_prompts
import given_results
import given_runs
import given_signatures
import given_spreads
import given_wrappers
import running
import surroundings

SUBJECTS = [
    surroundings,
    given_arrays,
    given_corpora,
    given_dropins,
    given_long_texts,
    given_mistakes,
    given_names,
    given_notebooks,
    given_models,
    given_architectures,
    given_attributing,
    given_signatures,
    given_spreads,
    given_wrappers,
    given_panels,
    given_patching,
    given_processes,
    given_prompts,
    given_results,
    given_runs,
]


def main():
    worst = lambda: f"largest difference from transformers {given_models.WORST[0]:.1e}"
    return running.run(SUBJECTS, worst)


if __name__ == "__main__":
    sys.exit(main())
