"""What stands in the cells of a panel: maps with named rows and columns, or the program's views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import HeadlightError
from .figure import Figure
from .named_arrays import NamedArray
from .results import Result

SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
NAME = re.compile(r'(id="|href="#|url\(#)([a-z]+[\d-]*)')


@dataclass
class Cell:
    """A map, or an SVG of the program."""

    title: str
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    axes: tuple[str, str] = ("", "")  # titles of rows and columns
    svg: str = ""

    @property
    def both_signs(self) -> bool:
        return bool((self.values < 0).any())

    @property
    def most(self) -> float:
        seen = np.abs(self.values[np.isfinite(self.values)])
        return float(seen.max()) if seen.size else 0.0


def cell_of(held: Any) -> Cell | None:
    """The cell of a figure, of a result, of an array, or of what has a figure."""
    if held is None:
        return None
    if isinstance(held, Figure):
        return _of_figure(held)
    if isinstance(held, Result):
        name, array = next(iter(held.arrays().items()))
        return _of_array(array, name, held.axes)
    if isinstance(held, np.ndarray):
        title = getattr(held, "title", None)
        return _of_array(NamedArray(held) if title is None else held, title or "")
    if callable(getattr(held, "figure", None)):
        return cell_of(held.figure())
    raise HeadlightError(
        "A cell of a panel is a figure, a result or an array [row, column], not a value of type "
        f"{type(held).__name__}."
    )


def _of_figure(figure: Figure) -> Cell:
    title = f"Head {figure.head}" if figure.head else figure.view.capitalize()
    if figure.view != "head":
        return Cell(title, svg=_svg_of(figure))
    pattern = figure.numbers()["pattern"]
    return Cell(
        title, np.asarray(pattern), pattern.rows or [], pattern.columns or [], ("query", "key")
    )


def _svg_of(figure: Figure) -> str:
    """Its SVG without title and caption, which the panel has."""
    try:
        return figure.changed(title="", caption="").svg
    except HeadlightError:  # a view that has neither
        return figure.svg


def _of_array(array: Any, title: str, axes: tuple[str, str] = ("", "")) -> Cell:
    values = np.atleast_2d(np.asarray(array, dtype=np.float64))
    if values.ndim != 2 or not values.size:
        raise HeadlightError(
            f"A cell of a panel is an array [row, column], and this has the shape {values.shape}."
        )
    rows = array.rows or ([""] if np.ndim(array) == 1 else list(map(str, range(values.shape[0]))))
    columns = array.columns or list(map(str, range(values.shape[1])))
    return Cell(title, values, rows, columns, axes)


def grid_of(cells: Any) -> list[list[Cell | None]]:
    """Rows of cells, all of one length: a list of lists, or one list as one row."""
    if not isinstance(cells, Sequence) or isinstance(cells, str) or not len(cells):
        raise HeadlightError("A panel is a list of rows of figures: panel([[a, b], [c, d]]).")
    rows = list(cells) if isinstance(cells[0], (list, tuple)) else [cells]
    if not all(isinstance(row, (list, tuple)) for row in rows):
        raise HeadlightError("Either every row of a panel is a list, or none is.")
    wide = max(map(len, rows))
    if not any(held is not None for row in rows for held in row):
        raise HeadlightError("A panel needs a figure; give panel([[a, b], [c, d]]).")
    return [[cell_of(held) for held in (*row, *[None] * (wide - len(row)))] for row in rows]


def nested(svg: str, at: str, x: float, y: float, wide: float, high: float) -> str:
    """The program's SVG inside another: names of its own, so that two do not share glyphs."""
    inner = svg[svg.index("<svg") :]
    inner = NAME.sub(lambda found: f"{found[1]}c{at}-{found[2]}", inner)
    box = SIZE.search(inner)
    view = f'viewBox="0 0 {box[1]} {box[2]}" ' if box else ""
    return (
        f'<svg x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" {view}'
        f'overflow="visible">{inner[inner.index(">") + 1 :]}'
    )


def aspect_of(svg: str) -> float:
    """Height by width."""
    box = SIZE.search(svg)
    return float(box[2]) / float(box[1]) if box else 1.0
