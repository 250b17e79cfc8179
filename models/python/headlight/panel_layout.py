"""Where everything of a panel stands, in points, and its SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .colors import painted
from .errors import HeadlightError
from .panel_cells import Cell, aspect_of, nested
from .vector import INK, QUIET, cells, family_of, frame, gradient, text, ticks, width_of

SMALLEST = 4.5  # points of a label; below it, positions are numbered instead
GAP = 8.0  # points between cells
BAR = 6.0  # points, the width of a color bar
LONGEST = 150.0  # points, its height
Grid = Sequence[Sequence["Cell | None"]]


@dataclass
class Style:
    """What the caller chooses."""

    font: str
    size: float
    width: float  # points
    titles: list[list[str]]
    letters: list[list[str]]
    shared_bar: bool
    bar_title: str
    most: float | None  # the end of the scale, where it is fixed
    colors: Callable[[bool], np.ndarray]  # of maps with both signs, or of one


def same(ones: Sequence[object]) -> bool:
    return all(one == ones[0] for one in ones)


class Layout:
    """Margins are found first, from the longest labels; then the width of a cell; then rows are
    drawn from the top."""

    def __init__(self, grid: Grid, style: Style):
        self.grid, self.style = grid, style
        self.maps = [cell for row in grid for cell in row if cell and not cell.svg]
        self.small = style.size * 0.85
        self.both = any(cell.both_signs for cell in self.maps)
        self.most = style.most or max((cell.most for cell in self.maps), default=0.0)
        self.parts: list[str] = []
        # Share labels where maps beside and above each other are alike in them and in size.
        self.rows_shared = [
            same([(c.rows, c.axes[0], c.values.shape) for c in row if c and not c.svg])
            for row in grid
        ]
        self.columns_shared = all(
            same([(c.columns, c.axes[1]) for c in column if c and not c.svg])
            for column in zip(*grid)
        )
        self._find_widths()

    def _find_widths(self) -> None:
        size, wide = self.small, len(self.grid[0])
        self.axis = size * 1.5 if any(cell.axes[0] for cell in self.maps) else 0.0
        scales = [(cell.most, cell.both_signs) for cell in self.maps]
        scales = [(self.most, self.both)] if self.style.shared_bar else scales
        said = [width_of(label, size) for of in scales for _, label in self._ticks(*of, LONGEST)]
        bar = BAR + 4 + max(said, default=0.0)
        title = 1.6 * size if self.style.bar_title else 0.0
        self.right = bar + GAP + title if self.style.shared_bar and self.maps else 0.0
        self.own_bar = 0.0 if self.style.shared_bar else bar + 3
        self.label, self.left = size, [0.0] * wide
        for _ in range(3):  # labels shrink with the cells, and cells grow with what labels leave
            self.left = [self._left(column) for column in range(wide)]
            free = self.style.width - self.axis - self.right - sum(self.left) - GAP * (wide - 1)
            self.cell = free / wide - self.own_bar
            if self.cell < 3 * size:
                raise HeadlightError(
                    f"{wide} cells in a row leave {max(0, self.cell):.0f} points for each; give "
                    "fewer, a wider panel (width_mm=), or a smaller size_pt=."
                )
            most = max((max(cell.values.shape) for cell in self.maps), default=1)
            self.label = min(size, 0.95 * self.cell / most)

    def _left(self, column: int) -> float:
        """The room for the labels of rows before a column."""
        room = 0.0
        for row, shared in zip(self.grid, self.rows_shared):
            cell = row[column]
            if cell is None or cell.svg or (shared and column != self._first(row)):
                continue
            names = self._names(cell.rows, len(cell.values))
            room = max([room, *(width_of(name, self._size(cell.rows)) + 4 for name in names)])
        return room

    def _first(self, row: Sequence[Cell | None]) -> int:
        return next((i for i, cell in enumerate(row) if cell and not cell.svg), -1)

    def _size(self, names: Sequence[str]) -> float:
        return self.label if self.label >= SMALLEST or not names else min(self.small, 6.0)

    def _names(self, names: Sequence[str], count: int) -> list[str]:
        """Labels, or where they would be too small to read the position of every so many."""
        if self.label >= SMALLEST:
            return list(names)
        step = next(s for s in (5, 10, 20, 50, 100, 200, 500, 1000) if count / s <= 8 or s == 1000)
        return [str(i) if i % step == 0 else "" for i in range(count)]

    def _height(self, cell: Cell | None) -> float:
        if cell is None:
            return 0.0
        if cell.svg:
            return self.cell * aspect_of(cell.svg)
        rows, columns = cell.values.shape
        return self.cell * rows / columns if cell.axes[0] else max(
            self.cell * rows / columns, min(1.3 * self.label * rows, self.cell)
        )  # fmt: skip

    def _labeled(self, last: bool) -> bool:
        """Whether the columns of a row have labels: of alike ones, those of the last row alone."""
        return last or not self.columns_shared

    def _is_turned(self, cell: Cell) -> bool:
        """Whether the labels of columns would not fit side by side."""
        names = self._names(cell.columns, cell.values.shape[1])
        every = max(1, round(len(names) / max(1, sum(map(bool, names)))))
        pitch = self.cell / len(names) * every
        return any(width_of(name, self._size(names)) > 0.9 * pitch for name in names)

    def _label_room(self, row: Sequence[Cell | None]) -> float:
        rooms = [0.0]
        for cell in (cell for cell in row if cell and not cell.svg):
            names = self._names(cell.columns, cell.values.shape[1])
            size = self._size(names)
            turned = self._is_turned(cell)
            rooms += [width_of(name, size) if turned else size for name in names if name]
        return max(rooms) + 4

    def _below(self, row: Sequence[Cell | None], last: bool) -> float:
        """The room for labels and titles of columns under a row."""
        if not self._labeled(last):
            return 0.0
        titled = any(cell.axes[1] for cell in row if cell)
        return self._label_room(row) + (1.3 * self.small if titled else 0.0)

    def svg(self) -> str:
        """The whole panel."""
        y, tops = 0.0, []
        has_titles = any(t for row in self.style.titles + self.style.letters for t in row)
        for at, row in enumerate(self.grid):
            y += self.style.size * 1.6 if has_titles else 2.0
            high, last = max(map(self._height, row)), at == len(self.grid) - 1
            tops.append((y, high))
            self._draw_row(at, y, last)
            y += high + self._below(row, last) + (GAP if not last else 0.0)
        if self.right:
            top, bottom = tops[0][0], tops[-1][0] + tops[-1][1]
            high = min(bottom - top, LONGEST)
            left = self.style.width - self.right + GAP
            self._draw_bar(left, top, high, self.most, self.both)
            at = self.style.width - 0.3 * self.small
            self._title(at, top + high / 2, self.style.bar_title, -90)
        wide, high = self.style.width, y + 2
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
            'xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'width="{wide:.2f}pt" height="{high:.2f}pt" viewBox="0 0 {wide:.2f} {high:.2f}" '
            f'font-family="{family_of(self.style.font)}">\n'
            '<rect width="100%" height="100%" fill="#ffffff"/>\n'
            + "\n".join([*self.parts, "</svg>\n"])
        )

    def _draw_row(self, at: int, top: float, last: bool) -> None:
        row, x = self.grid[at], self.axis
        for column, cell in enumerate(row):
            x += self.left[column]
            if cell is not None:
                title, letter = self.style.titles[at][column], self.style.letters[at][column]
                if title or letter:
                    said = text(x, top - 0.5 * self.style.size, title, self.style.size, bold=letter)
                    self.parts.append(said)
                if cell.svg:
                    high = self._height(cell)
                    place = f"{at}-{column}"
                    self.parts.append(nested(cell.svg, place, x, top, self.cell, high))
                else:
                    self._draw_map(cell, x, top, self._height(cell))
                    self._draw_labels(cell, at, column, x, top, last)
            x += self.cell + self.own_bar + GAP

    def _draw_map(self, cell: Cell, x: float, top: float, high: float) -> None:
        both = self.both if self.style.shared_bar else cell.both_signs
        most = self.most if self.style.shared_bar or self.style.most else cell.most
        colors = painted(cell.values, most, self.style.colors(both), both)
        self.parts += [cells(x, top, self.cell, high, colors), frame(x, top, self.cell, high)]
        if not self.style.shared_bar:
            self._draw_bar(x + self.cell + 3, top, min(high, LONGEST), most, both)

    def _draw_labels(
        self, cell: Cell, at: int, column: int, x: float, top: float, last: bool
    ) -> None:
        row, high = self.grid[at], self._height(cell)
        if column == self._first(row) or not self.rows_shared[at]:
            self._label_rows(cell, x, top, high)
            left = x - self.left[column] - 0.5 * self.small
            self._title(left, top + high / 2, cell.axes[0], -90)
        if self._labeled(last):
            self._label_columns(cell, x, top + high)
            y = top + high + self._label_room([cell]) + 0.9 * self.small
            self._title(x + self.cell / 2, y, cell.axes[1], 0)

    def _title(self, x: float, y: float, said: str, turn: float) -> None:
        if said:
            drawn = text(x, y, said, self.small, anchor="middle", turn=turn, color=QUIET)
            self.parts.append(drawn)

    def _label_rows(self, cell: Cell, x: float, top: float, high: float) -> None:
        names, size = self._names(cell.rows, len(cell.values)), self._size(cell.rows)
        for i, name in enumerate(names):
            y = top + (i + 0.5) * high / len(names) + 0.35 * size
            self.parts += [text(x - 3, y, name, size, anchor="end")] if name else []

    def _label_columns(self, cell: Cell, x: float, bottom: float) -> None:
        names = self._names(cell.columns, cell.values.shape[1])
        size, turned = self._size(names), self._is_turned(cell)
        for i, name in enumerate(names):
            middle = x + (i + 0.5) * self.cell / len(names)
            drawn = (
                text(middle + 0.35 * size, bottom + 3, name, size, anchor="end", turn=-90)
                if turned
                else text(middle, bottom + 2 + size, name, size, anchor="middle")
            )
            self.parts += [drawn] if name else []

    def _draw_bar(self, x: float, top: float, high: float, most: float, both: bool) -> None:
        self.parts.append(gradient(x, top, BAR, high, self.style.colors(both)))
        self.parts.append(frame(x, top, BAR, high))
        for value, said in self._ticks(most, both, high):
            share = (value / most + 1) / 2 if both else value / most
            y = top + high * (1 - share)
            self.parts.append(
                f'<path d="M{x + BAR:.2f} {y:.2f}h2" stroke="{INK}" stroke-width="0.5"/>'
                + text(x + BAR + 3.5, y + 0.35 * self.small, said, self.small)
            )

    def _ticks(self, most: float, both: bool, high: float) -> list[tuple[float, str]]:
        """Round numbers that fit beside a bar, and their labels."""
        if not most:
            return []
        room = high / (1.5 * self.small) / (2 if both else 1)
        step, values = ticks(most, max(1, min(5, int(room))))
        values = sorted({*values, *(-value for value in values)}) if both else values
        places = next(n for n in range(12) if abs(step - round(step, n)) < 1e-6 * step)
        return [(one, f"{one:.{places}f}".replace("-", "−") if one else "0") for one in values]
