"""Programs, models and texts of the window's tests."""

import sys
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
TESTS = Path(__file__).parents[1]
REFERENCE, MALFORMED = TESTS / "reference/models", TESTS / "reference/malformed"
GPT2 = REFERENCE / "gpt2"
LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
SENTENCE = "Lily had a red ball. Tom had"
