"""Means with intervals over prompts, of what the other functions measure in one."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import HeadlightError
from .markup import listing
from .named_arrays import NamedArray
from .option_table import AverageOptions
from .program import run, spelled
from .results import Result, drawn, read_answer
from .saved_models import saved_folder
from .signatures import takes
from .sources import Source
from .temporary import remove, temporary_path

if TYPE_CHECKING:
    from typing_extensions import Unpack

# What render calls that which each verb averages.
MEASURES = {"heads": "ablated", "explain": "direct", "attribute": "left-out", "patch": "patched"}


class Averages(Result):
    """Means over prompts with 95 % intervals (Student's t): `rows` has a dictionary for each head,
    token or cell, with "mean", "low", "high" and "n" of each quantity, and its "values" where
    each=True; `value` is the same of the metric itself. `prompts` are those measured, `left_out`
    the others, each with "why"."""

    def __init__(self, said: str | bytes):
        held = self.said = read_answer(said, "rows")
        self.rows: list[dict[str, Any]] = held["rows"]
        self.value: dict[str, Any] = held["value"]
        self.metric: str = held["metric"]
        self.of: str = held["of"]
        self.prompts: list[dict[str, Any]] = held["prompts"]
        self.left_out: list[dict[str, Any]] = held["left_out"]

    def arrays(self) -> dict[str, NamedArray]:
        """Each mean by row: the names of the rows are those of heads, tokens or cells."""
        flat = self.records()
        names = (
            [name for name, value in flat[0].items() if isinstance(value, float)] if flat else []
        )
        rows = [_row_name(row) for row in self.rows]
        return {
            name: NamedArray(
                np.array([np.nan if row[name] is None else row[name] for row in flat], np.float32),
                name,
                None,
                rows,
            )
            for name in names
        }

    def records(self) -> list[dict[str, Any]]:
        """A row for each mean: "effect", "effect_low", …"""
        return [
            {
                (name if part == "mean" else f"{name}_{part}"): number
                for name, value in row.items()
                for part, number in (
                    value.items() if isinstance(value, dict) else [("mean", value)]
                )
            }
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        return listing(self.records(), f"{self.of}, over {len(self.prompts)} prompts")

    def __repr__(self) -> str:
        return (
            f"<headlight.Averages of {len(self.rows)} values over {len(self.prompts)} prompts"
            f"{', ' + self.metric if self.metric else ''}>"
        )


def _row_name(row: Mapping[str, Any]) -> str:
    """The head "1.2", or the token or cell that a row is of."""
    named = [str(value) for value in row.values() if isinstance(value, (str, int))]
    return ("." if "head" in row else " ").join(named)


def _written(prompts: Any) -> tuple[str, bytes]:
    """What the program is to read, and its standard input."""
    if isinstance(prompts, (str, os.PathLike)):
        return os.fspath(prompts), b""
    if isinstance(prompts, Mapping):
        return "-", json.dumps(prompts).encode()
    if isinstance(prompts, Iterable):
        return "-.jsonl", "\n".join(json.dumps(_pair(one)) for one in prompts).encode()
    raise HeadlightError(
        "Prompts are a template (a dictionary), a list of texts or pairs, or the path of a file."
    )


def _pair(prompt: Any) -> Any:
    """A prompt, or (clean, corrupted) with their names."""
    if isinstance(prompt, (tuple, list)) and len(prompt) == 2:
        return dict(zip(("clean", "corrupted"), prompt))
    return prompt


def _kept(file: str, text: bytes, metric: str | None, source: Source) -> str:
    """A file of the prompts, each with its metric, which lives as long as the source that reads
    it."""
    if not text:
        return file
    rows = [json.loads(line) for line in text.decode().splitlines()]
    rows = [{"text": row} if isinstance(row, str) else row for row in rows]
    if metric is not None:
        rows = [{"metric": metric, **row} for row in rows]
    path = temporary_path().with_suffix(Path(file).suffix or ".json")
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    weakref.finalize(source, remove, path)
    return str(path)


@takes(AverageOptions)
def average(
    prompts: Any,
    model: Any = None,
    tokenizer: Any = None,
    *,
    measure: str = "heads",
    metric: str | None = None,
    **options: Unpack[AverageOptions],
) -> Averages:
    """Average over prompts what is measured in one.

    Parameters
    ----------
    prompts : dict, list or path
        A template {"text": "{A} met {B}. {B}", "metric": "{A} - {B}", "fill": {"A": ["Tom",
        "Lily"], "B": "A"}}, also with "corrupted"; a list of texts, or of dictionaries with "text"
        (or "clean"), "corrupted" and "metric"; or a .json or .jsonl file of these.
    model, tokenizer : optional
        A folder, a .gguf file or a name, or a transformers model in memory with its tokenizer.
    measure : str, optional
        "heads": the effect of ablating each head; "explain": that and each head's path straight to
        the answer, in logits; "attribute": a score for each token; "patch": what each place
        restores.
    metric : str, optional
        Of prompts without one: "ball - car".
    **options
        Further options of the program: at_most=50, seed=0, each=True, what="heads",
        method="integrated-gradients".

    Returns
    -------
    Averages
        `averages.rows`, or `averages.to_pandas()`.

    Raises
    ------
    HeadlightError
        No prompt can be measured, or an option is wrong.

    Examples
    --------
    >>> headlight.average(["Lily had a red", "Tom had a red"], "stories", metric="ball").rows
    """
    if measure not in MEASURES:
        raise HeadlightError(f'measure= is one of {", ".join(MEASURES)}, not "{measure}".')
    if model is not None and not isinstance(model, (str, os.PathLike)):
        model = saved_folder(model, tokenizer)
    file, text = _written(prompts)
    given = {
        "model": None if model is None else os.fspath(model),
        "pairs" if measure == "patch" else "prompts": file,
        "metric": metric,
        **options,
    }
    found = Averages(run([measure, *spelled(given), "--json"], text))
    if metric is not None and not text:
        return found  # read by the view from the file of prompts alone
    # Give a text: render reads one beside the prompts.
    source = Source(
        spelled({"model": given["model"], "text": found.prompts[0]["text"]}), held=model
    )
    kept = _kept(file, text, metric, source)
    named = {**options, "prompts": kept, "averaged": MEASURES[measure]}
    return drawn(found, source, "prompts", named, ("method", "metric"))
