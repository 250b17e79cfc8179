"""Show a model's heads: in the window, in a notebook, as figures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from .errors import HeadlightError
from .figure import Figure
from .head_names import placed_head
from .option_table import FigureOptions, ShowOptions
from .results import Result
from .signatures import takes
from .sources import Source, is_workspace, open_source
from .widget import view_of
from .window import Window, is_notebook, open_window

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(ShowOptions)
def show(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    view: str | None = None,
    head: Any = None,
    layer: Any = None,
    block: bool | None = None,
    inline: bool | None = None,
    **options: Unpack[ShowOptions],
) -> Figure | Window:
    """Open the window, or in a notebook return a figure.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists. A workspace
        ("saved.headlight.json") opens in the window.
    view : str, optional
        A view of the window: "head", "lines", "heads", …
    head : tuple or str, optional
        (layer, head), ("cross", layer, head) or "1.2"; also its number beside layer.
    layer : int or str, optional
        The layer of head: layer=1, head=2.
    block : bool, optional
        Return only when the window is closed; by default where Python is not interactive.
    inline : bool, optional
        Return a figure instead of the window; by default in notebooks.
    **options
        Further options of the program.

    Returns
    -------
    Figure or Window
        A figure's `.show()` opens the window.

    Raises
    ------
    HeadlightError
        The model, the text or an option is wrong, or the window does not open.

    Examples
    --------
    >>> headlight.show("stories", text="Lily had a red ball.", head=(1, 2))
    """
    if is_workspace(model):
        return open_window(
            Source([os.fspath(model)]), view, placed_head(head, layer), options, block
        )
    source = open_source(model, tokenizer, text, options)
    if is_notebook() if inline is None else inline:
        return Figure(source, view, head, "html", {"layer": layer, **options})
    if head is not None or layer is None:
        return open_window(source, view, placed_head(head, layer), options, block)
    raise HeadlightError(
        f"The window opens on a head; give head=0 beside layer={layer}, or leave layer out."
    )


@takes(FigureOptions)
def figure(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    view: str | None = None,
    head: Any = None,
    layer: Any = None,
    format: Literal["html", "png", "svg"] = "html",
    figsize: tuple[float, float] | None = None,
    ax: Any = None,
    **options: Unpack[FigureOptions],
) -> Figure:
    """Draw a view.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    view : str, optional
        "heads" (all, by default), "head" (by default where head is given), "lines", "graph",
        "compare", "text"; with an encoder and a decoder "alignment"; of models that the program
        runs itself "steps", "delta", "lens", "model", "positions", "patch", "influence", "origins",
        "circuits", "corpus", "learn".
    head : tuple or str, optional
        (layer, head), ("cross", layer, head) or "1.2"; also its number beside layer.
    layer : int or str, optional
        The layer of head: layer=1, head=2; or alone, of a mean over its heads.
    format : str
        What notebooks show: "html", an interactive page beside a PNG for where pages are not
        shown, or "png" or "svg". Views without a page, and figures whose size or look is given,
        are shown as the picture.
    figsize : tuple of float, optional
        Width and height in inches, instead of width_mm= and height_mm=.
    ax : matplotlib.axes.Axes, optional
        Draw into it too.
    **options
        Further options of the program.

    Returns
    -------
    Figure
        Shown inline by notebooks; `.save(path)` writes it or its numbers.

    Raises
    ------
    HeadlightError
        The view cannot be drawn of this model, text and options.

    Examples
    --------
    >>> headlight.figure("stories", text="Lily had a red ball.", head=(1, 2)).save("head.pdf")
    """
    source = open_source(model, tokenizer, text, options)
    given = {"layer": layer, "figsize": figsize, **options}
    drawn = Figure(source, view, head, format, given)
    if ax is not None:
        drawn.draw(ax)
    return drawn


@takes(FigureOptions)
def view(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    view: str | None = None,
    head: Any = None,
    layer: Any = None,
    **options: Unpack[FigureOptions],
) -> Any:
    """Show a page whose head and lock Python reads, sets and follows.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists; or a Figure, or what has a
        figure.
    view : str, optional
        "heads" (all, by default), "head" (by default where head is given), "lines", "text", …
    head : tuple or str, optional
        (layer, head), ("cross", layer, head) or "1.2"; also its number beside layer.
    layer : int or str, optional
        The layer of head: layer=1, head=2.
    **options
        Further options of the program.

    Returns
    -------
    View or Figure
        A widget with `.head`, `.locked` and `.on_change(function)` where anywidget is installed
        (pip install "headlight-attention[notebook]"), else the Figure.

    Raises
    ------
    HeadlightError
        The view has no page, or the model, the text or an option is wrong.

    Examples
    --------
    >>> shown = headlight.view("stories", text="Lily had a red ball.", head=(1, 2))
    >>> shown.on_change(lambda view: print(view.head, view.locked))
    """
    if isinstance(model, Figure):
        given = {"view": view, "head": head, "layer": layer, **options}
        if named := [name for name, value in given.items() if value is not None]:
            raise HeadlightError(f"The figure is drawn already; give {named[0]}= where it is made.")
        return view_of(model)
    if isinstance(model, Result):
        shown = model.figure(placed_head(head, layer), **options)
        if view is not None or not isinstance(shown, Figure):
            raise HeadlightError(
                f"A {type(model).__name__} has no other view, or no page; show its .figure()."
            )
        return view_of(shown)
    if callable(getattr(model, "figure", None)) and tokenizer is None and text is None:
        return view_of(model.figure(view, head=placed_head(head, layer), **options))
    return view_of(figure(model, tokenizer, text, view=view, head=head, layer=layer, **options))
