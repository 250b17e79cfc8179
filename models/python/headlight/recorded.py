"""Options of what is recorded in memory, which the program itself does not take."""

from __future__ import annotations

from typing import Any, TypedDict

PATTERNS = ("patterns", "encoder_patterns", "decoder_patterns", "cross_patterns")


class Recorded(TypedDict, total=False):
    """Patterns, and what a model in memory reads."""

    patterns: Any
    encoder_patterns: Any
    decoder_patterns: Any
    cross_patterns: Any
    tokens: Any
    target_tokens: Any
    inputs: Any
    batch: int
    name: str


RECORDED = tuple(Recorded.__annotations__)
READ = ("pair", "target", "ids", "target_ids")  # options that the program takes too
