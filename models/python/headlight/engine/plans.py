"""What a pass is asked for: tensors, and interventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..errors import HeadlightError
from ..trace_writer import place
from .changes import PATCHES, Block, Change
from .masks import Mask, Side


class Cancelled(Exception):
    """The client wants another answer."""


class Lost(HeadlightError):
    """Another process that holds a part of the model is gone."""


@dataclass
class Wanted:
    """Which tensors a pass keeps, by their names in a trace; of patterns, which heads."""

    globs: Sequence[str] = ()
    heads: frozenset[tuple[Block, int]] | None = None
    _known: dict[str, bool] = field(default_factory=dict, repr=False)

    def name(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = any(fnmatchcase(name, glob) for glob in self.globs)
        return self._known[name]

    def pattern_heads(self, block: Block, heads: int) -> list[int]:
        if not self.name(place(block) + "hook_pattern"):
            return []
        return [h for h in range(heads) if self.heads is None or (block, h) in self.heads]


@dataclass
class Plan:
    """The interventions of a pass. rows: values by the spelling of a change that gives them."""

    mask: Mask = field(default_factory=lambda: Mask("own"))
    changes: Sequence[Change] = ()
    rows: Mapping[str, Any] = field(default_factory=dict)
    sides: Mapping[str, Side] = field(default_factory=dict)  # by stack
    causal: Mapping[Block, bool] = field(default_factory=dict)

    def of_attention(self, block: Block) -> list[Change]:
        kinds = ("temperature", "mask", "unmask", "score", "freeze", "uniform", "hard")
        return [c for c in self.changes if c.kind in kinds and c.of_block(block)]

    def positions(self, stack: str) -> Change | None:
        """Return the last change of a stack's positions."""
        held = [c for c in self.changes if c.kind == "positions" and c.stack in ("", stack)]
        return held[-1] if held else None


def given_rows(changes: Sequence[Change], tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a client gives for its changes, the tensors rows.0, rows.1 …, by the
    spelling of each change."""
    out: dict[str, Any] = {}
    for name, values in tensors.items():
        if not name.startswith("rows."):
            continue
        number = name.removeprefix("rows.")
        at = int(number) if number.isdecimal() and len(number) < 4 else len(changes)
        kind = changes[at].kind if at < len(changes) else ""
        if kind not in (*PATCHES, "freeze") or values.ndim != 2 or values.dtype != np.float32:
            raise HeadlightError(
                f'The tensor "{name}" is no matrix of float32 for a change that takes values.'
            )
        if changes[at].text in out:
            raise HeadlightError(f'The change "{changes[at].text}" is there twice with values.')
        out[changes[at].text] = values
    return out


def refuse_lengths(change: Change, have: int, need: int) -> None:
    if have < need:
        raise HeadlightError(
            f'The change "{change.text}" needs values of position {need - 1}, and its text has '
            f"{have} tokens; make it as long as the text that is shown."
        )
