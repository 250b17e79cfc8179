"""Statistics of heads and distances between two runs, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import unknown_name
from .markup import listing
from .named_arrays import NamedArray
from .results import VERSION, Result, read_answer


class HeadTable(Mapping[Any, np.ndarray], Result):
    """Numbers of every head: `table["induction"]` is float32 [layer, head], NaN where a number is
    not defined. Encoder-decoder models name the kind of attention first: `table["cross",
    "entropy"]`. `rows` are the program's own rows, in its order."""

    axes = ("layer", "head")

    def __init__(self, rows: Sequence[Mapping[str, Any]]):
        self.said = {"version": VERSION, "heads": list(rows)}
        self.rows = [_placed(row) for row in rows]
        self.kinds = list(dict.fromkeys(row["attention"] for row in self.rows))
        self.names = (
            [name for name in self.rows[0] if name not in ("attention", "layer", "head", "metric")]
            if self.rows
            else []
        )

    def __getitem__(self, name: str | tuple[str, str]) -> np.ndarray:
        kind, name = name if isinstance(name, tuple) else (self.kinds[0], name)
        if name not in self.names or kind not in self.kinds:
            raise (
                unknown_name(name, self.names)
                if kind in self.kinds
                else unknown_name(kind, self.kinds)
            )
        rows = [row for row in self.rows if row["attention"] == kind]
        out = np.full(
            (1 + max(row["layer"] for row in rows), 1 + max(row["head"] for row in rows)),
            np.nan,
            np.float32,
        )
        for row in rows:
            out[row["layer"], row["head"]] = np.nan if row[name] is None else row[name]
        return out

    def __iter__(self) -> Iterator[Any]:
        return iter(
            self.names
            if len(self.kinds) == 1
            else [(kind, name) for kind in self.kinds for name in self.names]
        )

    def __len__(self) -> int:
        return len(self.names) * len(self.kinds)

    def arrays(self) -> dict[str, NamedArray]:
        """[layer, head] of each number by name, "cross.entropy" of one of several kinds."""
        out = {}
        for kind, name in ((kind, name) for kind in self.kinds for name in self.names):
            values = self[kind, name]
            layers, heads = (list(map(str, range(size))) for size in values.shape)
            key = name if len(self.kinds) == 1 else f"{kind}.{name}"
            out[key] = NamedArray(values, key, layers, heads)
        return out

    def records(self) -> list[dict[str, Any]]:
        """A row for each head."""
        return self.rows

    def __repr__(self) -> str:
        return (
            f"<headlight.{type(self).__name__} of {len(self.rows)} heads: "
            f"{', '.join(map(str, self.names))}>"
        )


def _placed(row: Mapping[str, Any]) -> dict[str, Any]:
    """ "cross.2" and 2 alike become a kind and a number."""
    kind, _, layer = str(row["layer"]).rpartition(".")
    return {"attention": kind or row.get("attention", "blocks"), **row, "layer": int(layer)}


class Comparison(HeadTable):
    """How far apart the patterns of two runs are: `comparison["distance"]`, the Jensen-Shannon
    divergence in bits, averaged over rows. `next`: the next tokens of both with their probabilities
    a and b; [] where nothing predicts. `metric`: that of both, where one was asked for.
    `strengths`, of strengths=True: the metric and p of the next tokens at strengths of the
    adapter."""

    unit = "bits"

    def __init__(self, said: str | bytes):
        held = read_answer(said, "heads")
        super().__init__(held["heads"])
        self.said = held
        self.next: list[dict[str, Any]] = held["next"]
        self.metric: dict[str, Any] | None = held.get("metric")
        self.strengths: dict[str, Any] | None = held.get("strengths")

    @property
    def distance(self) -> np.ndarray:
        """[layer, head]."""
        return self["distance"]

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (listing(self.next, "next tokens") if self.next else "")
