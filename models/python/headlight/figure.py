"""Figures: drawn by the program, shown inline by notebooks, saved in any of its formats."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import HeadlightError
from .head_names import head_parts
from .option_table import NUMBERS, OF_FIGURES
from .program import spelled
from .sources import Source
from .trace_file import DTYPES
from .window import Window, open_window

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
MIME = {"png": "image/png", "svg": "image/svg+xml"}


def head_options(head: Any) -> dict[str, object]:
    """Layer and head as the command line takes them."""
    if head is None:
        return {}
    parts = head_parts(head)
    return {"layer": ".".join(parts[:-1]), "head": parts[-1]}


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
        self._source, self._format = source, format
        self._view = view or ("heads" if head is None else "head")
        self._head = head
        self._options = dict(options)
        self._drawn: dict[str, bytes] = {}
        self.data(format)  # so that what cannot be drawn is said here

    def _drawing(self, format: str, more: Sequence[str], output: str) -> bytes:
        """The output of render in a format."""
        options, head = dict(self._options), head_options(self._head)
        if format != "png":
            options.pop("dpi", None)
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
                ["--dpi", "192"]
                if format == "png" and not any(name in self._options for name in SIZED)
                else []
            )
            self._drawn[format] = self._drawing(format, [*fine, "--format", format], "-")
        return self._drawn[format]

    @property
    def svg(self) -> str:
        return self.data("svg").decode()

    @property
    def png(self) -> bytes:
        return self.data("png")

    def numbers(self) -> dict[str, np.ndarray]:
        """The numbers that the view shows, float32, by name: {"pattern": [query, key]} of one head.
        Masked cells are NaN."""
        data = self.data("safetensors")
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__", None)
        return {
            name: np.frombuffer(
                data,
                DTYPES[t["dtype"]],
                int(np.prod(t["shape"])),
                8 + length + t["data_offsets"][0],
            ).reshape(t["shape"])
            for name, t in header.items()
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure, or its numbers, in the format that the path ends in: .pdf, .csv, …"""
        self._drawing(Path(path).suffix[1:], [], os.fspath(path))
        return Path(path)

    def show(self, block: bool | None = None) -> Window:
        """Open the window on the same; see headlight.show."""
        return open_window(self._source, self._view, self._head, beginning(self._options), block)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        mime = MIME.get(self._format, "image/png")
        data = self.data("svg" if mime.endswith("xml") else "png")
        shown: dict[str, Any] = {
            "text/plain": repr(self),
            mime: data.decode() if mime.endswith("xml") else data,
        }
        shown = {
            name: value
            for name, value in shown.items()
            if (not include or name in include) and name not in (exclude or ())
        }
        if mime != "image/png" or any(name in self._options for name in SIZED):
            return shown, {}
        wide, high = struct.unpack(">II", data[16:24])
        return shown, {mime: {"width": wide // 2, "height": high // 2}}

    def __repr__(self) -> str:
        head = "" if self._head is None else f" of head {'.'.join(head_parts(self._head))}"
        return f"<headlight.Figure: {self._view}{head}>"
