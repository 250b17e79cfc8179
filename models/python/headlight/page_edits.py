"""Pages with other data than the program wrote, for the calls of other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .errors import HeadlightError
from .figure import Figure
from .optional import optional
from .pages import DATA, framed
from .window import is_notebook


class Html:
    """A page: `data` is its text, which a file can hold; notebooks show it. `figure` is the
    Figure that it was made of."""

    def __init__(self, data: str, figure: Figure):
        self.data, self.figure = data, figure

    def _repr_html_(self) -> str:
        return framed(self.data, self.figure.view)

    def __str__(self) -> str:
        return self.data

    def __repr__(self) -> str:
        return f"<headlight.compat.Html of {self.figure!r}>"


def data_of(page: str) -> str:
    found = DATA.search(page)
    if found is None:
        raise HeadlightError("The program's page holds no data; reinstall headlight-attention.")
    return found[1]


def edited(page: str, change: Callable[[dict[str, Any]], None]) -> str:
    """The page with other data, which stay data: no text of them can end the element."""
    said = data_of(page)
    held = json.loads(said)
    change(held)
    written = json.dumps(held, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return page.replace(said, written, 1)


def keep(held: dict[str, Any], layers: Sequence[int] | None, begin: int | None) -> None:
    """Leave the other layers out; those that stay keep their numbers."""
    if layers is None:
        return
    number = lambda block: int(block["label"].rpartition(".")[2])
    known = {number(block) for block in held["blocks"]}
    if unknown := [one for one in layers if one not in known]:
        raise HeadlightError(
            f"include_layers= names layer {unknown[0]}, and there are those from 0 to {max(known)}."
        )
    if begin is not None and begin not in layers:
        raise HeadlightError(f"layer={begin} is not among include_layers=; add it there.")
    opened = held["blocks"][held["block"]]
    held["blocks"] = [block for block in held["blocks"] if number(block) in set(layers)]
    held["block"] = held["blocks"].index(opened) if opened in held["blocks"] else 0


def acted(page: Html, html_action: str) -> Html | None:
    """Show it in a notebook, as BertViz does, or return it."""
    if html_action not in ("view", "return"):
        raise HeadlightError(f'html_action is "view" or "return", not {html_action!r}.')
    if html_action == "return" or not is_notebook():
        return page
    optional("IPython.display", "Notebooks").display(page)
    return None
