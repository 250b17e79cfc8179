"""What every result can do: be saved, be shown by a notebook, be a data frame, be drawn."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .errors import HeadlightError
from .figure import Figure
from .markup import heat_map, side_by_side
from .named_arrays import NamedArray, only_one, safetensors
from .option_table import FigureOptions
from .optional import optional
from .signatures import takes
from .sources import Source
from .trace_writer import writing

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .panel import Panel

VERSION = 1  # of the program's JSON, which this package reads
OF_PANELS = ("colormap", "width_mm", "dpi")  # options that a map of numbers has too
ENDINGS = (".csv", ".tsv", ".json", ".npy", ".npz", ".safetensors")
Draw = Callable[[Any, dict[str, Any]], Figure]  # head, options
Made = TypeVar("Made", bound="Result")


def read_answer(said: str | bytes, holds: str) -> dict[str, Any]:
    """An answer of the program in JSON. holds: the key of the rows of older programs, which
    answered without a version."""
    held = json.loads(said)
    if isinstance(held, list):
        return {"version": VERSION, holds: held}
    if held.get("version", VERSION) > VERSION:
        raise HeadlightError(
            f"The program answers in version {held['version']}, and this package reads version "
            f"{VERSION}; update the package: pip install --upgrade headlight-attention."
        )
    return held


class Result:
    """The base of results."""

    said: dict[str, Any]
    axes: tuple[str, str] = ("", "")  # of the first array: what its rows and its columns are
    unit = ""  # what its numbers are
    _draw: Draw | None = None

    def arrays(self) -> dict[str, NamedArray]:
        """The arrays by name, with the names of their rows and columns."""
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """The rows of the table that a .csv file or a data frame holds."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A data frame of pandas."""
        return optional("pandas", "Data frames").DataFrame(self.records())

    @takes(FigureOptions)
    def figure(self, head: Any = None, **options: Unpack[FigureOptions]) -> Figure | Panel:
        """The program's own view of it; of a head, (1, 2) or "1.2", where the view shows one.
        Options are those of headlight.figure. Of what no view of the program shows, as what a
        model's own passes computed, a Panel of its numbers."""
        if self._draw is None:
            return self._panel(head, dict(options))
        return self._draw(head, dict(options))

    def _panel(self, head: Any, options: dict[str, Any]) -> Panel:
        from .panel import panel  # which draws results

        title = options.pop("title", None)
        given = options if head is None else {"head": head, **options}
        if left := [name for name in given if name not in OF_PANELS]:
            raise HeadlightError(
                f"No view of the program shows this {type(self).__name__}, so its numbers are "
                f"drawn alone: leave {left[0]}= out, and give {', '.join(OF_PANELS)} or title."
            )
        labels = None if title is None else [title]
        look: dict[str, Any] = {"columns": 1, "letters": False, "bar_title": self.unit}
        return panel([[self]], labels=labels, **look, **options)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it: .csv, .tsv, .json, .npy, .npz or .safetensors."""
        ending = Path(path).suffix
        if ending not in ENDINGS:
            raise HeadlightError(
                f'A {type(self).__name__} is saved as {", ".join(ENDINGS)}, not as "{path}"; '
                ".figure().save(path) writes pictures."
            )
        data = self._written(ending)
        with writing(Path(path)):
            Path(path).write_bytes(data)
        return Path(path)

    def _written(self, ending: str) -> bytes:
        if ending == ".json":
            return (json.dumps(self.said, ensure_ascii=False, indent=2) + "\n").encode(
                "utf-8", "replace"
            )
        if ending in (".csv", ".tsv"):
            return table(self.records(), "," if ending == ".csv" else "\t")
        if ending == ".safetensors":
            return safetensors(self.arrays())
        held = io.BytesIO()
        if ending == ".npy":
            np.save(held, np.asarray(only_one(self.arrays())))
        else:
            named: dict[str, Any] = {name: np.asarray(one) for name, one in self.arrays().items()}
            np.savez(held, **named)
        return held.getvalue()

    def _repr_html_(self) -> str:
        return side_by_side(heat_map(held, name) for name, held in self.arrays().items())


def drawn(
    result: Made,
    source: Source,
    view: str,
    options: Mapping[str, Any],
    without: Collection[str] = (),
) -> Made:
    """The result, whose figure is this view of the source it was computed of. Of the options,
    those that figures have count for it too; without: but not these."""
    kept = {
        name: value
        for name, value in options.items()
        if name in FigureOptions.__annotations__ and name not in without and value is not None
    }
    result._draw = lambda head, more: Figure(
        source, view, head, more.pop("format", "html"), {**kept, **more}
    )
    return result


def numbered(names: Sequence[str]) -> list[str]:
    """Names of columns, with their positions where some are alike."""
    alike = len(set(names)) < len(names)
    return [f"{at} {name}" if alike else name for at, name in enumerate(names)]


def table(records: Sequence[Mapping[str, Any]], between: str) -> bytes:
    """Rows as text, what is None left empty."""
    names = list(dict.fromkeys(name for row in records for name in row))
    held = io.StringIO()
    writer = csv.DictWriter(held, names, delimiter=between, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return held.getvalue().encode("utf-8", "replace")
