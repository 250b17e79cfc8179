#!/usr/bin/env python3
"""The live engine (docs/engine.md) as the window speaks to it, each function that takes nothing is
a test: test_live.py PROGRAM [test…]

Patterns from q and k, residual streams and lenses are compared with plain hooks on transformers'
models; runs with interventions also with `headlight trace` of the saved model. HEADLIGHT_LONG makes
more frames of random bytes."""

import os
import sys
import warnings
from pathlib import Path

os.environ["HEADLIGHT_PROGRAM"] = str(Path(sys.argv[1]).resolve())
os.environ["HF_HUB_OFFLINE"] = "1"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "models/python"), str(HERE), str(HERE.parent / "reference")]
warnings.filterwarnings("ignore")

import given_live_architectures
import given_live_frames
import given_live_images
import given_live_native
import given_live_outcomes
import given_live_pictures
import given_live_program
import given_live_ranks
import given_live_requests
import given_live_seen
import given_live_servers
import given_live_weights
import running

SUBJECTS = [
    given_live_frames,
    given_live_servers,
    given_live_requests,
    given_live_architectures,
    given_live_native,
    given_live_outcomes,
    given_live_program,
    given_live_pictures,
    given_live_images,
    given_live_seen,
    given_live_ranks,
    given_live_weights,
]


def main():
    worst = lambda: (
        f"largest difference from hooks {given_live_architectures.WORST[0]:.1e}, "
        f"from the program {given_live_native.WORST[0]:.1e}, "
        f"in the program {given_live_program.WORST[0]:.1e}, "
        f"over processes {given_live_ranks.WORST[0]:.1e}"
    )
    return running.run(SUBJECTS, worst)


if __name__ == "__main__":
    sys.exit(main())
