"""Attribution scores of tokens, and maps of activation patching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .markup import scored_text
from .named_arrays import NamedArray
from .results import Result, numbered, read_answer

ESTIMATED = " estimated"  # after the name of a table


def _numbers(values: Any) -> np.ndarray:
    """float32, NaN where nothing is said."""
    return np.array(
        [
            [np.nan if v is None else v for v in row]
            if isinstance(row, list)
            else np.nan
            if row is None
            else row
            for row in values
        ],
        np.float32,
    )


class Attribution(Result):
    """How much each token counts: `scores` is float32 [token], in the order of `tokens`; `stacks`
    names the stack of each (encoder-decoder models have two). `metric` and its `value` are what was
    explained. `adds_up`: whether the scores sum to what they should within a tenth, None where no
    sum says so; `note` says it in words; `gap` is the share that is missing. `said` is all that the
    program says (baseline, sum; of leave-out p and p_without). The table that
    method="jacobian" without a metric gives is `matrix`, float32 [output, token], with
    `standard_error` where it was estimated."""

    unit = "score"

    def __init__(self, said: str | bytes):
        self.said = read_answer(said, "scores")
        self.method: str = self.said["method"]
        self.metric: str | None = self.said.get("metric")
        self.value: float | None = self.said.get("value")
        self.tokens: list[str] = self.said["tokens"]
        self.stacks: list[str] | None = self.said.get("stacks")
        self.adds_up: bool | None = self.said.get("adds_up")
        self.note: str | None = self.said.get("note")
        self.gap: float | None = self.said.get("gap")
        named = {
            name: _numbers(self.said[name]) if name in self.said else None
            for name in ("scores", "matrix", "standard_error")
        }
        self.scores: np.ndarray | None = named["scores"]
        self.matrix: np.ndarray | None = named["matrix"]
        self.standard_error: np.ndarray | None = named["standard_error"]

    def arrays(self) -> dict[str, NamedArray]:
        """The scores by token, or the matrix of outputs by tokens."""
        held = {"scores": self.scores, "matrix": self.matrix, "standard_error": self.standard_error}
        return {
            name: NamedArray(
                values, name, self.tokens[-len(values) :] if values.ndim == 2 else None, self.tokens
            )
            for name, values in held.items()
            if values is not None
        }

    def records(self) -> list[dict[str, Any]]:
        """A row for each token, or for each output with a column for each token."""
        if self.matrix is not None:
            named = numbered(self.tokens)
            last = named[-len(self.matrix) :]
            return [
                {"output": name, **dict(zip(named, row))}
                for name, row in zip(last, self.matrix.tolist())
            ]
        columns = {
            "token": self.tokens,
            **({"stack": self.stacks} if self.stacks else {}),
            "score": [] if self.scores is None else self.scores.tolist(),
        }
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def to_pandas(self) -> Any:
        """A data frame of pandas: a row for each token, or for each output with a column for each
        token."""
        return super().to_pandas() if self.matrix is None else self.arrays()["matrix"].to_pandas()

    def _repr_html_(self) -> str:
        if self.scores is None:
            return super()._repr_html_()
        return scored_text(self.tokens, self.scores.tolist(), f"{self.method}: {self.metric or ''}")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        held = self.scores if self.matrix is None else self.matrix
        return np.array(held, dtype) if copy or dtype is not None else np.asarray(held)

    def __repr__(self) -> str:
        return (
            f"<headlight.Attribution of {len(self.tokens)} tokens by "
            f"{self.method}{f': {self.metric} = {self.value:.3f}' if self.metric else ''}>"
        )


class PatchMap(Result):
    """How much of the clean run's answer returns when a part of it is put into the corrupted run, 0
    (none) to 1 (all): `values` is float32 [layer, position]; of heads, q, k, v, patterns and paths
    [layer, head]; of what="heads-by-position" [layer, head, position]. `dims` names these axes,
    `layers` and `columns` the rows and columns of the table. `estimates` are the same to first
    order (attribution patching), None if there is none; patch(…, estimate=True) gives them
    alone (`estimated`). `clean` and `corrupted` are the metric in both runs."""

    unit = "share restored"

    def __init__(self, said: str | bytes):
        self.said = read_answer(said, "tables")
        tables: Mapping[str, Any] = {table["name"]: table for table in self.said["tables"]}
        self.what: str = next(name for name in tables if name != "metric").removesuffix(ESTIMATED)
        self.estimated: bool = self.what not in tables
        held = tables[self.what + ESTIMATED if self.estimated else self.what]
        metric, estimates = tables["metric"], tables.get(self.what + ESTIMATED)
        self.layers: list[str] = held["rows"]
        self.columns: list[str] = held["columns"]
        self.axes: tuple[str, str] = (held["rows_are"], held["columns_are"])
        by_head = self.what == "heads-by-position"
        self.dims = ("layer", "head", "position") if by_head else self.axes
        shaped = self._by_head if by_head else np.asarray
        self.values = shaped(_numbers(held["values"]))
        self.estimates: np.ndarray | None = (
            None if estimates is None else shaped(_numbers(estimates["values"]))
        )
        self.metric: str = metric["rows"][0]
        self.clean, self.corrupted = map(float, metric["values"][0])

    def _by_head(self, rows: np.ndarray) -> np.ndarray:
        """Rows "1.2" as [layer, head], NaN where a layer has fewer heads."""
        places = np.array([row.split(".") for row in self.layers], int)
        out = np.full((*(places.max(0) + 1), rows.shape[1]), np.nan, np.float32)
        out[places[:, 0], places[:, 1]] = rows
        return out

    def arrays(self) -> dict[str, NamedArray]:
        """The shares as a table of `layers` by `columns`, and where both were computed their
        estimates."""
        held = {self.what: self.values}
        if not self.estimated and self.estimates is not None:
            held["estimates"] = self.estimates
        return {
            name: NamedArray(self._table(values), name, self.layers, self.columns)
            for name, values in held.items()
        }

    def _table(self, values: np.ndarray) -> np.ndarray:
        """[row, column]."""
        if values.ndim == 2:
            return values
        places = np.array([row.split(".") for row in self.layers], int)
        return values[places[:, 0], places[:, 1]]

    def records(self) -> list[dict[str, Any]]:
        """A row for each layer, or each head by position."""
        named, held = numbered(self.columns), self._table(self.values)
        return [
            {self.axes[0]: row, **dict(zip(named, values))}
            for row, values in zip(self.layers, held.tolist())
        ]

    def to_pandas(self) -> Any:
        """A data frame of pandas with a row for each layer, or each head by position."""
        frame = self.arrays()[self.what].to_pandas()
        return frame.rename_axis(index=self.axes[0], columns=self.axes[1])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype) if copy or dtype is not None else self.values

    def __repr__(self) -> str:
        return (
            f"<headlight.PatchMap of {self.what}{', estimated' if self.estimated else ''}, "
            f"{' × '.join(map(str, self.values.shape))}: {self.metric} {self.clean:.3f}, "
            f"corrupted {self.corrupted:.3f}>"
        )
