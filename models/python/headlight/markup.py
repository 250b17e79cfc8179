"""Small tables for notebooks, whose texts are data and never markup."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from .named_arrays import NamedArray

MOST = 32  # rows and columns shown
COLORS = ("13, 148, 136", "217, 119, 6")  # of what is above and below 0; seen on light and dark
STYLE = (
    "border-collapse: collapse; font: 12px/1.4 system-ui, sans-serif; "
    "font-variant-numeric: tabular-nums; margin: 0 0 12px"
)
CELL = "padding: 2px 6px; text-align: right; border: 1px solid rgba(128, 128, 128, 0.25)"
NAME = "padding: 2px 6px; text-align: right; font-weight: 400; opacity: 0.75"


def number(value: Any, most: float | None = None) -> str:
    """Three figures of the largest beside it, and nothing of what is not defined."""
    if value is None or value != value:
        return ""
    size = abs(value) if most is None else most
    places = max(0, 2 - math.floor(math.log10(size))) if size and math.isfinite(size) else 2
    return (f"{value:.{min(places, 8)}f}" if value else "0").replace("-", "−")


def shade(value: float, most: float) -> str:
    """The ground of a cell: the stronger the nearer the value is to the largest."""
    if value != value or not most:
        return ""
    return f"; background: rgba({COLORS[value < 0]}, {0.75 * min(1.0, abs(value) / most):.2f})"


def caption(text: str) -> str:
    return (
        f'<caption style="text-align: left; padding: 4px 0; font-weight: 600">{escape(text)}'
        "</caption>"
    )


def side_by_side(tables: Iterable[str]) -> str:
    return f'<div style="display: flex; flex-wrap: wrap; gap: 8px 32px">{"".join(tables)}</div>'


def heat_map(held: NamedArray, title: str) -> str:
    """An array as a table with colored cells; of a large one, the first rows and columns."""
    values = np.atleast_2d(np.asarray(held))[:MOST, :MOST]
    high, wide = np.atleast_2d(np.asarray(held)).shape
    most = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0
    rows = (held.rows or list(map(str, range(high))))[:MOST]
    columns = (held.columns or list(map(str, range(wide))))[:MOST]
    body = "".join(
        f'<tr><th style="{NAME}">{escape(name)}</th>'
        + "".join(f'<td style="{CELL}{shade(v, most)}">{number(v, most)}</td>' for v in row)
        + "</tr>"
        for name, row in zip(rows, values.tolist())
    )
    cut = f" (the first {len(rows)} × {len(columns)} of {high} × {wide})"
    shown = title + (cut if (high, wide) > (MOST, MOST) or max(high, wide) > MOST else "")
    heads = "".join(f'<th style="{NAME}">{escape(name)}</th>' for name in columns)
    return (
        f'<table style="{STYLE}">{caption(shown)}<thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def listing(records: Sequence[Mapping[str, Any]], title: str) -> str:
    """Rows of names and numbers, the first of them."""
    names: Iterable[str] = dict.fromkeys(name for row in records for name in row)
    heads = "".join(f'<th style="{NAME}">{escape(str(name))}</th>' for name in names)
    shown = lambda value: number(value) if isinstance(value, float) else escape(str(value))
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{CELL}">{shown(row.get(name, ""))}</td>' for name in names)
        + "</tr>"
        for row in records[:MOST]
    )
    cut = f" (the first {MOST} of {len(records)})" if len(records) > MOST else ""
    return (
        f'<table style="{STYLE}">{caption(title + cut)}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def scored_text(tokens: Sequence[str], scores: Sequence[float], title: str) -> str:
    """A text whose tokens are colored by their scores, which stand under them."""
    most = max((abs(one) for one in scores if one == one), default=0.0)
    cells = "".join(
        f'<span style="display: inline-block; text-align: center; padding: 2px 5px; margin: 1px'
        f'{shade(score, most)}">{escape(token)}<br><small>{number(score, most)}</small></span>'
        for token, score in zip(tokens, scores)
    )
    return f'<div style="{STYLE}"><b>{escape(title)}</b><br>{cells}</div>'
