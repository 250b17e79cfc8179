"""Figures: drawn by the program, shown inline by notebooks, saved in any of its formats."""

from __future__ import annotations

import io
import os
import struct
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .errors import HeadlightError
from .head_names import head_parts, placed_head
from .named_arrays import Numbers, read_arrays
from .option_table import NUMBERS, OF_FIGURES, FigureOptions
from .optional import optional
from .pages import LARGEST, following, framed
from .program import spelled
from .signatures import takes
from .sources import Source
from .window import Window, open_window

if TYPE_CHECKING:
    from typing_extensions import Unpack

PRESET_IN_NUMBERS = (
    "head",
    "text",
    "alignment",
    "picture",
)  # whose words it may join, or whose sink it may drop
WITHOUT_HEAD_IN_NUMBERS = ("delta", "positions")
OF_ALL_HEADS = ("delta", "next")  # compare shows them beside patterns
WITHOUT_CELL = ("head", "heads")  # figures that mark no cell; the window that show() opens does
WITHOUT_CELL_IN_NUMBERS = ("lines", "compare", "alignment", "picture")
SIZED = ("size", "dpi", "preset", "width_px", "height_px")  # options that choose the pixels too
ON_PAPER = ("size", "preset", "width_mm", "height_mm", "width_px", "height_px")
INCH = 25.4  # millimeters
FINE = 192  # pixels per inch, as screens of double resolution show
UNSEEN = (
    "ids",
    "target_ids",
    "token_types",
    "image",
    "temperature_attn",
)  # options that the window is not opened with
COMMANDS = (
    "mask",
    "unmask",
    "ablate",
    "temperature",
)  # changes that are commands of the window too
FORMATS = ("html", "png", "svg")  # that notebooks show


def head_options(head: Any) -> dict[str, object]:
    """Layer and head as the command line takes them."""
    if head is None:
        return {}
    parts = head_parts(head)
    return {"layer": ".".join(parts[:-1]), "head": parts[-1]}


def sized(options: Mapping[str, Any]) -> dict[str, Any]:
    """figsize=(w, h) in inches as width and height in millimeters."""
    out = dict(options)
    size = out.pop("figsize", None)
    if size is None:
        return out
    if beside := [name for name in ON_PAPER if out.get(name) is not None]:
        raise HeadlightError(f"figsize= and {beside[0]}= both give a size; leave one of them out.")
    sides = list(size) if isinstance(size, (tuple, list)) else []
    if len(sides) != 2 or not all(isinstance(side, (int, float)) and 0 < side for side in sides):
        raise HeadlightError("figsize= is the width and the height in inches: figsize=(3.3, 2.5).")
    wide, high = (float(side) * INCH for side in sides)
    return {**out, "width_mm": wide, "height_mm": high}


def beginning(options: Mapping[str, Any]) -> dict[str, object]:
    """The window's arguments for a figure's options, so that it begins with the same text, cell and
    changes."""
    changes = [change for name in ("change", "ablate") for change in _each(name, options.get(name))]
    changes += [f"mask:{options['mask']}"] if options.get("mask") else []
    unseen = [name for name in UNSEEN if options.get(name) is not None] + [
        change for change in changes if change.partition(":")[0] not in COMMANDS
    ]
    if unseen:
        raise HeadlightError(
            f"The window is opened with a text and not with {', '.join(unseen)}; open it by "
            "headlight.show without, and go on there."
        )
    commands = "; ".join(change.replace(":", " ", 1) for change in changes)
    return {
        "pair": options.get("pair"),
        "target": options.get("target"),
        "lock": options.get("cell"),
        "do": commands or None,
    }


def _each(name: str, given: Any) -> list[str]:
    """The values of a repeated option, as changes."""
    values = [] if given is None else [given] if isinstance(given, str) else list(given)
    return [value if name == "change" else f"{name}:{value}" for value in values]


class Figure:
    """A picture of a view. Notebooks show it inline; `save` writes it, or its numbers, to a file;
    `show` opens the window on it."""

    def __init__(
        self,
        source: Source,
        view: str | None,
        head: Any,
        format: str,
        options: Mapping[str, object],
    ):
        for name, given in (("view", view), ("format", format)):
            if not isinstance(given, str) and not (given is None and name == "view"):
                raise HeadlightError(
                    f"{name}= is a word, and a value of type {type(given).__name__} is none."
                )
        if format not in FORMATS:
            raise HeadlightError(
                f'format= is "html", "png" or "svg", not "{format}"; .save(path) writes others.'
            )
        self._options = sized(options)
        if head is not None:
            head = placed_head(head, self._options.pop("layer", None))
        self._source, self._format = source, format
        self._view = view or ("heads" if head is None else "head")
        self._head = head
        self._drawn: dict[str, bytes] = {}
        self.data("png" if format == "html" else format)  # so that what cannot be drawn is said

    def _drawing(self, format: str, more: Sequence[str], output: str) -> bytes:
        """The output of render in a format."""
        options, head = dict(self._options), head_options(self._head)
        if format != "png":
            options.pop("dpi", None)
        if format != "html":
            options.pop("exact", None)
        if format in NUMBERS:
            unheard = {
                *OF_FIGURES,
                *(() if self._view in PRESET_IN_NUMBERS else ("preset",)),
                *(("all_heads",) if self._view in WITHOUT_HEAD_IN_NUMBERS else ()),
            }
            options = {name: value for name, value in options.items() if name not in unheard}
            if self._view in WITHOUT_HEAD_IN_NUMBERS:
                head.pop("head", None)
            if self._view == "compare" and options.get("show") in OF_ALL_HEADS:
                head = {}
        if format == "html" and self._view in WITHOUT_HEAD_IN_NUMBERS:
            head.pop("head", None)
        if self._view in (
            WITHOUT_CELL if format not in NUMBERS else (*WITHOUT_CELL, *WITHOUT_CELL_IN_NUMBERS)
        ):
            options.pop("cell", None)
        try:
            return self._source.run(
                "render", [*spelled({"view": self._view, **head, **options}), *more, "-o", output]
            )
        except HeadlightError as problem:
            if not head or "layer=" not in str(problem):
                raise
            raise HeadlightError(str(problem).replace("layer=", "head=")) from None

    def data(self, format: str) -> bytes:
        """The figure or its numbers in a format of `headlight render`: "png", "svg", "csv", …"""
        if format not in self._drawn:
            fine = (
                ["--dpi", str(FINE)]
                if format == "png" and not any(name in self._options for name in SIZED)
                else []
            )
            self._drawn[format] = self._drawing(format, [*fine, "--format", format], "-")
        return self._drawn[format]

    @property
    def view(self) -> str:
        """The view that it shows."""
        return self._view

    @property
    def head(self) -> str | None:
        """The head that it shows, "1.2", where it is one's."""
        return None if self._head is None else ".".join(head_parts(self._head))

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return self.data("svg").decode()

    @property
    def png(self) -> bytes:
        """The picture as PNG."""
        return self.data("png")

    @property
    def html(self) -> str:
        """The interactive page: one file, which loads nothing."""
        return self.data("html").decode()

    def numbers(self) -> Numbers:
        """The numbers that the view shows, float32, by name: {"pattern": [query, key]} of one head.
        Each knows its title and the names of its rows and columns. Masked cells are NaN."""
        return read_arrays(self.data("safetensors"))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure, its page or its numbers, in the format that the path ends in: .pdf,
        .html, .csv, …"""
        self._drawing(Path(path).suffix[1:], [], os.fspath(path))
        return Path(path)

    def savefig(
        self,
        path: str | os.PathLike[str],
        *,
        dpi: float | None = None,
        transparent: bool | None = None,
        bbox_inches: Literal["tight"] | None = None,
    ) -> Path:
        """Write it as matplotlib's users do: `save` with the pixels per inch of a PNG, and
        transparent. There is no margin for bbox_inches="tight" to cut off."""
        if bbox_inches not in (None, "tight"):
            raise HeadlightError(
                f'bbox_inches is "tight" or None, not {bbox_inches!r}; width_mm= and height_mm= '
                "give a size."
            )
        given = {"dpi": dpi, "transparent": transparent}
        options = {name: value for name, value in given.items() if value is not None}
        return self._with(options).save(path)

    def draw(self, ax: Any) -> Any:
        """Draw the picture into an Axes of matplotlib, as a PNG of its size and of twice its
        resolution. Titles and letters set on the Axes stay."""
        if not hasattr(ax, "get_window_extent"):
            raise HeadlightError(
                f"ax= is an Axes of matplotlib, not a value of type {type(ax).__name__}."
            )
        if beside := [name for name in (*ON_PAPER, "dpi") if self._options.get(name) is not None]:
            raise HeadlightError(f"The Axes give the size; leave {beside[0]}= out.")
        box, dpi = ax.get_window_extent(), ax.figure.dpi
        size = {"figsize": (box.width / dpi, box.height / dpi), "dpi": 2 * dpi}
        read = optional("matplotlib.image", "Axes").imread
        ax.imshow(read(io.BytesIO(self._with(size).png)), aspect="auto")
        ax.set_axis_off()
        return ax

    @takes(FigureOptions)
    def changed(
        self, *, figsize: tuple[float, float] | None = None, **options: Unpack[FigureOptions]
    ) -> Figure:
        """The same figure with further options: figure.changed(title="", width_mm=85)."""
        return self._with({"figsize": figsize, **options})

    def _with(self, options: Mapping[str, Any]) -> Figure:
        given = {**self._options, **options}
        return Figure(self._source, self._view, self._head, self._format, given)

    def of_head(self, head: Any) -> Figure:
        """The pattern of one head, (1, 2) or "1.2", of the same."""
        return Figure(self._source, "head", head, self._format, {})

    def show(self, block: bool | None = None) -> Window:
        """Open the window on the same; see headlight.show."""
        return open_window(self._source, self._view, self._head, beginning(self._options), block)

    def _page(self) -> str | None:
        """The page in a frame, where the view has one that shows what the options ask for: a
        figure of a given size or look is shown as its picture."""
        if any(self._options.get(name) is not None for name in (*OF_FIGURES, "preset")):
            return None
        try:
            page = self.html
        except HeadlightError:
            return None
        if len(page) > LARGEST:
            warnings.warn(
                f"The interactive page has {len(page) / 1e6:.0f} MB, more than a notebook should "
                f'hold ({LARGEST / 1e6:.0f} MB); open it beside, by figure.save("page.html").',
                stacklevel=2,
            )
            return None
        return framed(following(page), self._view)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        makers: dict[str, Callable[[], Any]] = {
            "text/plain": lambda: repr(self),
            "text/html": lambda: self._page() if self._format == "html" else None,
            "image/svg+xml": lambda: self.svg if self._format == "svg" else None,
            "image/png": lambda: None if self._format == "svg" else self.png,
        }
        asked = {
            mime: make()
            for mime, make in makers.items()
            if (not include or mime in include) and mime not in (exclude or ())
        }
        shown = {mime: made for mime, made in asked.items() if made is not None}
        if "image/png" not in shown or any(name in self._options for name in SIZED):
            return shown, {}
        wide, high = struct.unpack(">II", shown["image/png"][16:24])
        return shown, {"image/png": {"width": wide // 2, "height": high // 2}}

    def __repr__(self) -> str:
        head = "" if self._head is None else f" of head {'.'.join(head_parts(self._head))}"
        return f"<headlight.Figure: {self._view}{head}>"
