"""Heads over many texts: parts of a corpus that add up to the same bits as the whole."""

from __future__ import annotations

import json
import math
import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import HeadlightError
from .figure import Figure
from .head_names import spelled_head
from .option_table import FigureOptions
from .optional import optional
from .program import run
from .signatures import takes
from .sources import Source
from .tables import HeadTable
from .temporary import remove, temporary_path
from .trace_writer import writing

if TYPE_CHECKING:
    from typing_extensions import Unpack


def add_part(whole: dict[str, Any], part: Mapping[str, Any], strongest: int) -> None:
    """Add the output of `headlight heads --corpus --json --sums` for other texts of the corpus. In
    whatever order parts come, the outcome is the same: counts are whole numbers, sums are lists of
    doubles that add up to them without rounding, and pairs are ordered by weight and line."""
    for count in ("texts", "tokens"):
        whole[count] += part[count]
    if [head["head"] for head in whole["heads"]] != [head["head"] for head in part["heads"]]:
        raise HeadlightError(
            f"Two workers have models of different heads ({whole['model']} and {part['model']}); "
            "give all of them the same model."
        )
    for mine, other in zip(whole["heads"], part["heads"]):
        _add_sums(mine, other)
        _add_pairs(mine, other, strongest)
    if "experts" in whole:
        whole["routed"] += part["routed"]
        for mine, other in zip(_experts(whole), _experts(part)):
            _add_expert(mine, other)


def _experts(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [expert for layer in said.get("experts", []) for expert in layer["experts"]]


def _add_expert(mine: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Each token once, with the count of both; the most frequent first, of equal ones the smaller
    id."""
    mine["tokens"] += other["tokens"]
    ours, theirs = mine["sums"], other["sums"]
    ours["weight"] = exact(ours["weight"] + theirs["weight"])
    counts: dict[int, list[Any]] = {}
    for token, label, count in ours["tokens"] + theirs["tokens"]:
        counts.setdefault(token, [token, label, 0])[2] += count
    ours["tokens"] = sorted(counts.values(), key=lambda held: (-held[2], held[0]))


def _settle_expert(expert: dict[str, Any], routed: int) -> None:
    frequent = 8  # as many as the program lists
    sums, count = expert.pop("sums"), expert["tokens"]
    expert["share"] = count / routed if routed else None
    expert["weight"] = math.fsum(sums["weight"]) / count if count else None
    expert["often"] = [
        {"token": label, "count": often} for _, label, often in sums["tokens"][:frequent]
    ]


def _add_sums(mine: dict[str, Any], other: Mapping[str, Any]) -> None:
    ours, theirs = mine["sums"], other["sums"]
    for name, spread in mine["statistics"].items():
        spread["texts"] += other["statistics"][name]["texts"]
        for sums in ("sum", "squares"):
            ours["statistics"][name][sums] = exact(
                ours["statistics"][name][sums] + theirs["statistics"][name][sums]
            )
    for query, row in ours["weights"].items():
        ours["queries"][query] += theirs["queries"][query]
        for key in row:
            row[key] = exact(row[key] + theirs["weights"][query][key])


def exact(numbers: list[float]) -> list[float]:
    """The fewest doubles with the same sum, the largest first: each is what the ones before it
    leave, rounded."""
    out: list[float] = []
    while rest := math.fsum([*numbers, *(-part for part in out)]):
        out.append(rest)
    return out


def _add_pairs(mine: dict[str, Any], other: Mapping[str, Any], strongest: int) -> None:
    """Each pair of ids once, with its strongest cell; of equal ones that which stands first in the
    corpus."""
    best: dict[tuple[int, ...], dict[str, Any]] = {}
    for head in (mine, other):
        for ids, pair in zip(map(tuple, head["sums"]["ids"]), head["strongest"]):
            if ids not in best or _rank(pair) < _rank(best[ids]):
                # Pairs of one text keep their order, which ranks those that are equal.
                best.pop(ids, None)
                best[ids] = pair
    kept = sorted(best.items(), key=lambda held: _rank(held[1]))[:strongest]
    mine["sums"]["ids"] = [list(ids) for ids, _ in kept]
    mine["strongest"] = [pair for _, pair in kept]


def _rank(pair: Mapping[str, Any]) -> tuple[float, int]:
    return -pair["weight"], pair["line"]


def settle(whole: dict[str, Any]) -> dict[str, Any]:
    """Compute means and deviations from the sums, as the program does, and drop the sums: the
    program's output for all texts at once."""
    for head in whole["heads"]:
        sums = head.pop("sums")
        for name, spread in head["statistics"].items():
            count, total, squares = (
                spread["texts"],
                math.fsum(sums["statistics"][name]["sum"]),
                math.fsum(sums["statistics"][name]["squares"]),
            )
            spread["mean"] = total / count if count else None
            spread["deviation"] = (
                math.sqrt(max(0.0, (squares - total * total / count) / (count - 1)))
                if count > 1
                else None
            )
        for query, row in head["links"].items():
            count = sums["queries"][query]
            for key in row:
                row[key] = (
                    float(np.float32(math.fsum(sums["weights"][query][key]) / count))
                    if count
                    else None
                )
    for expert in _experts(whole):
        _settle_expert(expert, whole["routed"])
    return whole


class Corpus(HeadTable):
    """Every head over many texts: `corpus["induction"]` is the mean over the texts, float32 [layer,
    head], and `corpus["induction_sd"]` its standard deviation; NaN where it is not defined. `texts`
    and `tokens` count what was read; `said` is all that the program says of it, that of experts too
    (`said["experts"]`)."""

    def __init__(self, said: dict[str, Any]):
        super().__init__([_row(head) for head in said["heads"]])
        self.said: dict[str, Any] = said
        self.model: str = said["model"]
        self.texts: int = said["texts"]
        self.tokens: int = said["tokens"]
        self.token_kinds: list[str] = list(said["kinds"])
        self._heads: dict[str, dict[str, Any]] = {head["head"]: head for head in said["heads"]}

    def _head(self, head: Any) -> dict[str, Any]:
        path = spelled_head(head)
        if path not in self._heads:
            raise HeadlightError(
                f"Head {path} is not among those of this corpus; it has "
                f"{', '.join(list(self._heads)[:3])}, …"
            )
        return self._heads[path]

    def strongest(self, head: Any) -> list[dict[str, Any]]:
        """Strongest pairs of tokens of a head, (1, 2) or "1.2", each with its "weight", "query",
        "key", their positions, and where it stands: the "line" in the corpus, counted from 1
        (texts[line - 1]), and its "text" (shortened)."""
        return list(self._head(head)["strongest"])

    def links(self, head: Any) -> np.ndarray:
        """The mean weight that a query of one kind of token gives to all keys of another, float32
        [kind of query, kind of key] in the order of `token_kinds`; NaN where there was no such
        query."""
        rows = self._head(head)["links"]
        return np.array(
            [
                [np.nan if rows[q][k] is None else rows[q][k] for k in self.token_kinds]
                for q in self.token_kinds
            ],
            np.float32,
        )

    def pairs(self) -> Any:
        """A data frame of pandas with a row for each of the strongest pairs of each head."""
        return optional("pandas", "Data frames").DataFrame(
            [
                {"head": path, **pair}
                for path, head in self._heads.items()
                for pair in head["strongest"]
            ]
        )

    @takes(FigureOptions)
    def figure(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, head: Any = None, **options: Unpack[FigureOptions]
    ) -> Figure:
        """The sheet of one head, (1, 2) or "1.2", the first by itself. Options are those of
        headlight.figure(view="corpus")."""
        kept = self.save(temporary_path().with_suffix(".json"))
        given: dict[str, Any] = {"corpus": kept, **options}
        figure = Figure(Source([]), "corpus", head, given.pop("format", "html"), given)
        weakref.finalize(figure, remove, kept)
        return figure

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the dossier: .json (which the window, figure(view="corpus", corpus=…) and
        `headlight heads --corpus` read again), a page .html, a table .csv, or the numbers in a
        format of the other results."""
        if Path(path).suffix in (".tsv", ".npy", ".npz", ".safetensors"):
            return super().save(path)
        if Path(path).suffix == ".json":
            with writing(Path(path)):
                Path(path).write_text(
                    json.dumps(self.said, ensure_ascii=False, indent=2) + "\n",
                    encoding="utf-8",
                    errors="replace",
                )
            return Path(path)
        dossier = temporary_path()
        try:
            self.save(dossier.with_suffix(".json"))
            run(["heads", "--corpus", str(dossier.with_suffix(".json")), "-o", os.fspath(path)])
        finally:
            remove(dossier)
        return Path(path)

    def __repr__(self) -> str:
        return (
            f"<headlight.Corpus of {self.model}: {len(self._heads)} heads over {self.texts} "
            f"texts, {self.tokens} tokens>"
        )


def _row(head: Mapping[str, Any]) -> dict[str, Any]:
    layer, _, number = head["head"].rpartition(".")
    numbers = {}
    for name, spread in head["statistics"].items():
        numbers |= {name: spread["mean"], name + "_sd": spread["deviation"]}
    return {"layer": layer, "head": int(number), **numbers}
