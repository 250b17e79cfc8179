"""Panels for papers: grids of heads and views with letters and one color bar."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .colors import sequential, signed
from .errors import HeadlightError
from .panel_cells import Cell, grid_of
from .panel_layout import Layout, Style
from .trace_writer import writing
from .vector import converted, missing_font

WIDTHS = {1: 85.0, 2: 178.0}  # mm of one and of two columns of a paper
POINT = 25.4 / 72  # mm
ENDINGS = (".svg", ".pdf", ".png")


class Panel:
    """A grid of heads and views. Notebooks show it inline; `save` writes .svg, .pdf or .png."""

    def __init__(self, svg: str, font: str, dpi: float):
        self.svg, self._font, self._dpi = svg, font, dpi

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it in the format that the path ends in: .svg, .pdf or .png. PDF and PNG need
        CairoSVG or rsvg-convert."""
        ending = Path(path).suffix
        if ending not in ENDINGS:
            raise HeadlightError(
                f'A panel is saved as .svg, .pdf or .png, not as "{path}"; change its ending.'
            )
        data = self.svg.encode() if ending == ".svg" else self._drawn(ending[1:])
        with writing(Path(path)):
            Path(path).write_bytes(data)
        return Path(path)

    @property
    def png(self) -> bytes:
        """The picture as PNG."""
        return self._drawn("png")

    def _drawn(self, kind: str) -> bytes:
        if there := missing_font(self._font):
            warnings.warn(
                f'The font "{self._font}" is not installed here, and "{there}" takes its place; '
                "install it, or save the panel as .svg.",
                stacklevel=3,
            )
        return converted(self.svg, kind, self._dpi)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        held = {"text/plain": repr(self), "image/svg+xml": self.svg}
        return {
            mime: value
            for mime, value in held.items()
            if (not include or mime in include) and mime not in (exclude or ())
        }

    def __repr__(self) -> str:
        return f"<headlight.Panel: {len(self.svg) / 1000:.0f} kB of SVG>"


def letter(at: int) -> str:
    """(a), (b), … (z), (aa), …"""
    name = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(ord("a") + rest) + name
    return f"({name})"


def _titles(labels: Any, grid: Sequence[Sequence[Cell | None]]) -> list[list[str]]:
    """A title for each cell: its own, or those given, as rows or as one list in reading order."""
    if labels is None:
        return [[cell.title if cell else "" for cell in row] for row in grid]
    if labels is False:
        return [["" for _ in row] for row in grid]
    rows = list(labels) if isinstance(labels, (list, tuple)) else [labels]
    flat = [one for row in rows for one in (row if isinstance(row, (list, tuple)) else [row])]
    count = sum(cell is not None for row in grid for cell in row)
    if len(flat) != count or not all(isinstance(one, str) for one in flat):
        raise HeadlightError(
            f"labels= has {len(flat)} titles for {count} cells; give a text for each, or "
            "labels=False for none."
        )
    left = iter(flat)
    return [[next(left) if cell else "" for cell in row] for row in grid]


def _letters(grid: Sequence[Sequence[Cell | None]], wanted: bool) -> list[list[str]]:
    numbers = iter(range(sum(map(len, grid))))
    return [[letter(next(numbers)) if wanted and cell else "" for cell in row] for row in grid]


def panel(
    cells: Any,
    *,
    shared_bar: bool = True,
    letters: bool = True,
    labels: Any = None,
    axis_titles: bool = True,
    bar_title: str | None = None,
    scale: float | None = None,
    colormap: Literal["beam", "viridis", "magma", "cividis", "gray"] = "beam",
    font: str = "sans-serif",
    size_pt: float = 8,
    columns: Literal[1, 2] = 2,
    width_mm: float | None = None,
    dpi: float = 300,
) -> Panel:
    """Lay out heads, views and results as a figure of a paper.

    Parameters
    ----------
    cells : list of list
        Rows of cells: figures of one head, whose weights are drawn again with the panel's font;
        figures of other views, as the program draws them; results and arrays [row, column]; None
        leaves a place empty.
    shared_bar : bool
        One color bar and one scale for all; else a bar beside each.
    letters : bool
        (a), (b), … before the titles.
    labels : list of str, optional
        Titles in reading order, or in rows; by default "Head 1.2"; False: none.
    axis_titles : bool
        "query" and "key" at the outer cells.
    bar_title : str, optional
        The title of the shared bar; by default "attention weight" of patterns; "" for none.
    scale : float, optional
        The weight at the end of the scale; by default the largest that is shown.
    colormap : str
        Of values without signs; values of both signs have the program's own.
    font : str
        The name of a font, as `font=` of a figure.
    size_pt : float
        Of titles; labels are smaller.
    columns : int
        The columns of the paper that it spans: 1 is 85 mm wide, 2 are 178 mm.
    width_mm : float, optional
        The width, instead of columns.
    dpi : float
        Pixels per inch of a PNG.

    Returns
    -------
    Panel
        Shown inline by notebooks; `.save("panel.pdf")`, also .svg and .png.

    Raises
    ------
    HeadlightError
        A cell cannot be drawn, or the cells have too little room.

    Examples
    --------
    >>> a, b = (headlight.figure("stories", text="Lily ran.", head=(1, h)) for h in (2, 3))
    >>> headlight.panel([[a, b]], font="Times", columns=1).save("panel.svg")
    """
    sizes = {"size_pt": size_pt, "width_mm": width_mm, "scale": scale, "dpi": dpi}
    for name, value in sizes.items():
        if value is not None and not (isinstance(value, (int, float, np.number)) and value > 0):
            raise HeadlightError(f"{name}= is a number above 0, not {value!r}.")
    if columns not in WIDTHS:
        raise HeadlightError(f"columns= is 1 or 2, of the paper, not {columns!r}; or width_mm=.")
    if not isinstance(font, str) or not font or set(font) & set("'\"<>&;"):
        raise HeadlightError('font= is the name of a font: font="Times".')
    grid = grid_of(cells)
    maps = [cell for row in grid for cell in row if cell and not cell.svg]
    if bar_title is None:
        bar_title = "attention weight" if all(cell.axes[1] == "key" for cell in maps) else ""
    if not axis_titles:
        for cell in (cell for row in grid for cell in row if cell):
            cell.axes = ("", "")
    style = Style(
        font,
        float(size_pt),
        (WIDTHS[columns] if width_mm is None else float(width_mm)) / POINT,
        _titles(labels, grid),
        _letters(grid, letters),
        shared_bar,
        bar_title,
        None if scale is None else float(scale),
        partial(_colors, colormap),
    )
    return Panel(Layout(grid, style).svg(), font, float(dpi))


def _colors(colormap: str, both_signs: bool) -> np.ndarray:
    return signed() if both_signs else sequential(colormap)
