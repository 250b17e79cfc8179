"""Measure the statistics of heads in one text after another, of one model or of two."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import HeadlightError, unknown_name
from .program import spelled
from .recorded import CHANGES
from .results import read_answer
from .runs import Run
from .shares import NO_TEXT, Share, outcomes
from .sources import Source, open_source
from .spreads import Row, Spread, Statistic, named_head, of_patterns
from .tables import HeadTable
from .temporary import remove, temporary_path
from .trace_file import Trace

TAKEN = (*CHANGES, "threads", "target")
Measured = tuple[int, list[Row]]  # the line of a text, and what each model does there


@dataclass(frozen=True)
class Asked:
    """What is measured, and of which models. statistics: None for all that the program has."""

    models: Sequence[Any]
    tokenizer: Any
    statistics: Mapping[str, Statistic | None] | None
    options: Mapping[str, Any]

    @property
    def of_program(self) -> bool:
        return self.statistics is None or None in self.statistics.values()

    @property
    def own(self) -> dict[str, Statistic]:
        """Functions of the user's."""
        named = self.statistics or {}
        return {name: one for name, one in named.items() if one is not None}


def each_text(shares: Iterator[Share], asked: Asked, heads: set[str] | None, client: Any) -> Spread:
    """The statistics in all texts of a corpus."""
    if left := [name for name in asked.options if name not in TAKEN]:
        raise HeadlightError(
            f"{left[0]}= has no place where each text is measured by itself, as model_b= and "
            f"statistics= do; leave it out. There are {', '.join(TAKEN)}."
        )
    task = lambda share, threads: (measured, asked, share.first, share.texts, threads)
    found = sorted((row for part in outcomes(shares, task, client) for row in part), key=_line)
    if not found:
        raise HeadlightError(NO_TEXT)
    return _spread(asked, found, heads)


def _line(row: Measured) -> int:
    return row[0]


def measured(asked: Asked, first: int, texts: Sequence[str], threads: int | None) -> list[Measured]:
    """Measure consecutive texts, on the worker."""
    options = {"threads": threads, **asked.options}
    lines = ((line, text) for line, text in enumerate(texts, first) if text)
    return [
        (line, [_row(asked, one, text, options) for one in asked.models]) for line, text in lines
    ]


def _row(asked: Asked, model: Any, text: str, options: Mapping[str, Any]) -> Row:
    """The statistics of each head of a model in a text."""
    given = {name: value for name, value in options.items() if value is not None}
    source = open_source(model, asked.tokenizer, text, given)
    trace = source.trace
    if trace is not None and (changes := {n: v for n, v in given.items() if n in CHANGES}):
        read = {name: options[name] for name in ("target",) if name in options}
        trace = Run(model, asked.tokenizer, text, read, changes).trace
    elif trace is None and asked.own:
        trace = _patterns(source, given)
    out: dict[str, dict[str, Any]] = {}
    if asked.of_program:
        recorded = None if trace is None else Source(["--trace", str(trace.path)])
        more = spelled(given) if recorded is None else []
        said = (recorded or source).run("heads", [*more, "--json"])
        out = _named(asked, HeadTable(read_answer(said, "heads")["heads"]))
    for head, own in (of_patterns(trace, asked.own) if trace is not None else {}).items():
        out.setdefault(head, {}).update(own)
    return out


def _patterns(source: Source, options: Mapping[str, Any]) -> Trace:
    """A pass of the program of which the patterns are kept."""
    target = temporary_path()
    capture = spelled({"capture": "*hook_pattern", **options})
    try:
        source.run("trace", [*capture, "-o", str(target)])
    except BaseException:
        remove(target)
        raise
    return Trace(target, temporary=True)


def _named(asked: Asked, table: HeadTable) -> dict[str, dict[str, Any]]:
    """What is asked of the program's statistics."""
    names = [
        n for n, own in (asked.statistics or dict.fromkeys(table.names)).items() if own is None
    ]
    if unknown := [name for name in names if name not in table.names]:
        raise unknown_name(unknown[0], table.names)
    return {
        named_head(row["attention"], row["layer"], row["head"]): {n: row[n] for n in names}
        for row in table.rows
    }


def _spread(asked: Asked, found: Sequence[Measured], chosen: set[str] | None) -> Spread:
    """All rows as arrays [model, text, head]."""
    rows = [row for _, several in found for row in several]
    heads = [head for head in rows[0] if chosen is None or head in chosen]
    if missing := (chosen or set()) - set(rows[0]):
        raise HeadlightError(
            f"There is no head {min(missing)}; the heads go from {next(iter(rows[0]))} to "
            f"{list(rows[0])[-1]}."
        )
    if odd := next((set(row) ^ set(rows[0]) for row in rows if set(row) != set(rows[0])), None):
        raise HeadlightError(
            f"Only one of the two models has a head {min(odd)}; give models of the same heads."
        )
    names = list(asked.statistics or rows[0][heads[0]])
    sides = list(zip(*(several for _, several in found)))
    values = {
        name: np.array([[[row[h][name] for h in heads] for row in side] for side in sides], float)
        for name in names
    }
    return Spread([_name(one) for one in asked.models], list(map(_line, found)), heads, values)


def _name(model: Any) -> str:
    """What a model is called."""
    if model is None:
        return "stories"
    if isinstance(model, (str, os.PathLike)):
        return Path(model).name
    config = getattr(model, "config", None)
    return Path(str(getattr(config, "_name_or_path", "") or type(model).__name__)).name
