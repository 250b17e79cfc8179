"""A page in a notebook whose head and lock are Python's too."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .errors import HeadlightError
from .figure import Figure
from .head_names import head_parts, spelled_head
from .pages import CSS, DATA, following, height_of


def _blocks(page: str) -> dict[str, tuple[int, int, int]]:
    """Heads, queries and keys of each block of a page by its name, "1" or "cross.1"."""
    found = DATA.search(page)
    blocks = json.loads(found[1])["blocks"] if found else []
    return {block["label"]: (block["heads"], block["queries"], block["keys"]) for block in blocks}


def _cell(locked: Any, queries: int, keys: int) -> list[int] | None:
    """(query, key), or a query alone: −1 stands for its strongest key."""
    if locked is None:
        return None
    parts = (locked, -1) if hasattr(locked, "__index__") else tuple(locked)
    if len(parts) != 2 or not all(hasattr(part, "__index__") for part in parts):
        raise HeadlightError(f"locked is (query, key), a query, or None, not {locked!r}.")
    query, key = (int(part) for part in parts)
    if not 0 <= query < queries or not -1 <= key < keys:
        raise HeadlightError(
            f"There is no query {query} with key {key} here: there are {queries} queries and "
            f"{keys} keys, counted from 0."
        )
    return [query, key]


@cache
def _widget_class() -> type:
    import anywidget  # pyright: ignore[reportMissingImports]
    import traitlets  # pyright: ignore[reportMissingImports]

    class View(anywidget.AnyWidget):
        """A page whose `head` and `locked` cell are read and set from Python; on_change calls a
        function with it when either changes."""

        _esm = Path(__file__).with_name("widget.js")
        _css = CSS
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        asked = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        shown = traitlets.Dict().tag(sync=True)

        def __init__(self, figure: Figure):
            page = figure.html
            self._blocks = _blocks(page)
            if not self._blocks:
                raise HeadlightError(
                    "This view shows no heads; headlight.figure shows it in a notebook too."
                )
            first = figure.head or next(iter(self._blocks)) + ".0"
            super().__init__(
                page=following(page),
                height=height_of(figure.view, page),
                shown={"head": spelled_head(first), "locked": None},
            )
            self.figure = figure

        @property
        def head(self) -> tuple[Any, ...]:
            """(layer, head), or ("cross", layer, head)."""
            parts = head_parts(self.shown["head"])
            return tuple(int(part) if part.isdigit() else part for part in parts)

        @head.setter
        def head(self, head: Any) -> None:
            name = spelled_head(head)
            layer, _, number = name.rpartition(".")
            if not number.isdigit() or int(number) >= self._blocks.get(layer, (0,))[0]:
                raise HeadlightError(
                    f"There is no head {name} here; the layers are {', '.join(self._blocks)}, of "
                    f"{self._blocks[next(iter(self._blocks))][0]} heads."
                )
            self._ask({"head": name, "locked": self.shown["locked"]})

        @property
        def locked(self) -> tuple[int, int] | None:
            """(query, key) of the locked cell, or None. A query alone locks its strongest key."""
            held = self.shown["locked"]
            return None if held is None else (held[0], held[1])

        @locked.setter
        def locked(self, cell: Any) -> None:
            _, queries, keys = self._blocks[self.shown["head"].rpartition(".")[0]]
            self._ask({"head": self.shown["head"], "locked": _cell(cell, queries, keys)})

        def on_change(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            """Call a function with the view when its head or its lock changes; returns the
            function, so that it decorates too."""
            self.observe(lambda change: function(self), names="shown")
            return function

        def _ask(self, wanted: dict[str, Any]) -> None:
            self.asked = self.shown = wanted

        def __repr__(self) -> str:
            return f"<headlight.View: head {self.shown['head']}>"

    return View


def view_of(figure: Figure) -> Any:
    """A widget where anywidget is installed, else the page alone."""
    if importlib.util.find_spec("anywidget") is None:
        return figure
    return _widget_class()(figure)
