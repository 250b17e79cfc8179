"""Options of what is recorded in memory, which the program itself does not take."""

from __future__ import annotations

from typing import Any, TypedDict

from .option_types import HeadNames, Ids, Texts

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


class Read(TypedDict, total=False):
    """What the program reads too."""

    pair: str
    target: str
    ids: Ids
    target_ids: Ids


class Changes(TypedDict, total=False):
    """Interventions of a run."""

    mask: str
    ablate: HeadNames
    change: Texts
    temperature_attn: float | str


class RunOptions(Recorded, Read, Changes, total=False):
    """Options of `headlight.run`."""


RECORDED = tuple(Recorded.__annotations__)
READ = tuple(Read.__annotations__)
CHANGES = tuple(Changes.__annotations__)
