"""Statistics of heads text by text: how they are spread over a corpus, and how far two models
differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import HeadlightError, unknown_name
from .markup import listing
from .named_arrays import NamedArray
from .results import OF_PANELS, VERSION, Result
from .trace_file import Trace

if TYPE_CHECKING:
    from .panel import Panel

PERCENT = np.arange(0, 101, 10)
DECILES = [f"{percent} %" for percent in PERCENT]
SHOWN = 12  # heads whose deciles a figure shows
Statistic = Callable[[np.ndarray], Any]  # pattern [query, key] -> a number
Row = Mapping[str, Mapping[str, Any]]  # of a text: by head and statistic


class Spread(Result):
    """Statistics of every head over texts, of one model or of two: `spread["entropy"]` is float32
    [layer, head], the mean, of two models that of the difference B − A in each text, with
    "entropy_a" and "entropy_b" beside it. "entropy_effect" is Cohen's d, that mean by the standard
    deviation of the statistic over the texts ("entropy_deciles" are float32 [head, 11], the
    smallest, 10 %, … the largest). `a` and `b` hold the numbers themselves, {"entropy": [text,
    head]}, `lines` the lines of the texts, counted from 1. `rows` are sorted by effect."""

    axes = ("layer", "head")

    def __init__(
        self, models: Sequence[str], lines: Sequence[int], heads: Sequence[str], values: Any
    ):
        self.models, self.lines, self.heads = list(models), list(lines), list(heads)
        named = lambda held, name: NamedArray(held, name, map(str, lines), heads)
        sides = [{n: named(v[side], n) for n, v in values.items()} for side in range(len(models))]
        self.a: dict[str, NamedArray] = sides[0]
        self.b: dict[str, NamedArray] | None = sides[1] if len(sides) > 1 else None
        self.statistics = list(values)
        self._held = {name: _summed(values[name]) for name in values}
        self.rows = self._sorted()
        said = {"version": VERSION, "models": self.models, "texts": len(self.lines)}
        without = lambda row: {n: None if v != v else v for n, v in row.items()}
        self.said = {**said, "heads": [without(row) for row in self.rows]}

    def _sorted(self) -> list[dict[str, Any]]:
        rows = []
        for name, held in self._held.items():
            for at, head in enumerate(self.heads):
                row = {"statistic": name, "head": head, "texts": int(held["texts"][at])}
                for part in (part for part in held if part != "texts"):
                    value = held[part][:, at].tolist() if part.endswith("deciles") else None
                    own = {part: float(held[part][at])} if value is None else {}
                    before = part.removesuffix("deciles").replace("_", " ")
                    row |= own if value is None else {before + n: v for n, v in zip(DECILES, value)}
                rows.append(row)
        if self.b is None:
            return rows
        size = lambda value: -abs(value) if value == value else np.inf
        return sorted(rows, key=lambda row: (size(row["effect"]), size(row["difference"])))

    def arrays(self) -> dict[str, NamedArray]:
        """[layer, head] of each statistic by name, "cross.entropy" of one of several kinds, and
        its deciles [head, 11]."""
        out: dict[str, NamedArray] = {}
        for name, held in self._held.items():
            for part in (part for part in held if part != "texts"):
                whole = part in ("mean", "difference")
                key = name if whole else f"{name}_{part.removeprefix('mean_')}"
                if part.endswith("deciles"):
                    out[key] = NamedArray(held[part].T.astype("<f4"), key, self.heads, DECILES)
                else:
                    out |= self._placed(key, held[part])
        return out

    def _placed(self, key: str, values: np.ndarray) -> dict[str, NamedArray]:
        """Numbers of heads as [layer, head], of each kind of attention."""
        parts = [head.rsplit(".", 2) for head in self.heads]
        kinds: dict[str, list[int]] = {}
        for at, named in enumerate(parts):
            kinds.setdefault(".".join(named[:-2]), []).append(at)
        out = {}
        for kind, places in kinds.items():
            layers, heads = ([int(parts[at][axis]) for at in places] for axis in (-2, -1))
            held = np.full((max(layers) + 1, max(heads) + 1), np.nan, np.float32)
            held[layers, heads] = values[places]
            called = f"{kind}.{key}" if len(kinds) > 1 else key
            out[called] = NamedArray(
                held, called, map(str, range(len(held))), map(str, range(held.shape[1]))
            )
        return out

    def __getitem__(self, name: str) -> NamedArray:
        held = self.arrays()
        if name not in held:
            raise unknown_name(name, held)
        return held[name]

    def records(self) -> list[dict[str, Any]]:
        """A row for each statistic of each head; of two models the largest effect first."""
        return self.rows

    def _panel(self, head: Any, options: dict[str, Any]) -> Panel:
        """Of each statistic the effect of every head, and how the heads with the largest ones are
        spread."""
        from .panel import panel  # which draws results

        given = options if head is None else {"head": head, **options}
        if left := [name for name in given if name not in OF_PANELS]:
            raise HeadlightError(
                f"A Spread is drawn with {', '.join(OF_PANELS)}, and not with {left[0]}=; leave it "
                "out."
            )
        cells, labels = [], []
        for name in self.statistics:
            if not self._held[name]["texts"].any():
                continue
            of_heads = name if self.b is None else f"{name}_effect"
            first = [row["head"] for row in self.rows if row["statistic"] == name][:SHOWN]
            places = [self.heads.index(one) for one in first]
            spread = self._held[name]["deciles"][:, places].T
            maps = self._placed(of_heads, self._held[name]["mean" if self.b is None else "effect"])
            cells.append([*maps.values(), NamedArray(spread, "", first, DECILES)])
            between = "" if self.b is None else ", B − A"
            labels += [*(key.replace("_", ", ") for key in maps), f"{name}{between}: deciles"]
        if not cells:
            raise HeadlightError(
                f"No text defines {', '.join(self.statistics)}, so there is nothing to draw; give "
                "longer texts, or other statistics."
            )
        return panel(cells, labels=labels, shared_bar=False, letters=False, **options)

    def _repr_html_(self) -> str:
        kept = [name for name in self.rows[0] if "%" not in name]
        shown = [*kept, "10 %", "50 %", "90 %"]
        title = f"{', '.join(self.models)}, over {len(self.lines)} texts"
        return listing([{name: row[name] for name in shown} for row in self.rows], title)

    def __repr__(self) -> str:
        return (
            f"<headlight.Spread of {' and '.join(self.models)}: {', '.join(self.statistics)} of "
            f"{len(self.heads)} heads over {len(self.lines)} texts>"
        )


def _summed(values: np.ndarray) -> dict[str, np.ndarray]:
    """Means and deciles of [model, text, head], of two models those of the difference first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of what no text defines, which is NaN
        spread = lambda held: np.nanpercentile(held, PERCENT, axis=0)
        held = values[0] if len(values) == 1 else values[1] - values[0]
        texts = {"texts": np.isfinite(held).sum(0)}
        if len(values) == 1:
            return {**texts, "mean": np.nanmean(held, axis=0), "deciles": spread(held)}
        out = {**texts, "difference": np.nanmean(held, axis=0)}
        both = np.where(np.isfinite(held), values, np.nan)
        # d = mean(B − A) / √((s_A² + s_B²) / 2): a difference beside what texts make (Cohen 1988).
        deviation = np.sqrt(np.nanvar(both, axis=1, ddof=1).mean(0))
        for side, name in enumerate("ab"):
            out[f"mean_{name}"] = np.nanmean(both[side], axis=0)
        out["effect"] = np.where(deviation > 0, out["difference"] / deviation, np.nan)
        return {**out, "deciles": spread(held)} | {
            f"{name}_deciles": spread(both[side]) for side, name in enumerate("ab")
        }


def named_statistics(given: Any) -> dict[str, Statistic | None] | None:
    """Statistics by name; None: the program computes it. given: names, functions, a dictionary
    that names functions, or None for all that the program has."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        several = [(str(name), one) for name, one in given.items()]
    else:
        listed = [given] if isinstance(given, str) or callable(given) else given
        several = [(_called(one), one) for one in (listed if isinstance(listed, Iterable) else ())]
    out = {name: one if callable(one) else None for name, one in several}
    known = all(callable(one) or (isinstance(one, str) and one == name) for name, one in several)
    if not out or len(out) < len(several) or not known:
        raise HeadlightError(
            'statistics= are names, ["entropy"], functions of a pattern [query, key] with names of '
            'their own, or a dictionary of these: {"diagonal": lambda pattern: pattern.trace()}.'
        )
    return out


def _called(statistic: Any) -> str:
    return str(getattr(statistic, "__name__", statistic)).replace("<lambda>", "statistic")


def of_patterns(trace: Trace, own: Mapping[str, Statistic]) -> Row:
    """A user's own statistics of every head of a trace."""
    out: dict[str, dict[str, Any]] = {}
    for kind, layer in _layers(trace) if own else ():
        try:
            patterns = trace["pattern", layer, kind]
        except HeadlightError:  # a layer without attention
            continue
        for number, pattern in enumerate(patterns):
            held = np.array(pattern)
            out[named_head(kind, layer, number)] = {n: _value(n, f, held) for n, f in own.items()}
    return out


def named_head(kind: str, layer: int, number: int) -> str:
    """A head as its name: "1.2", "cross.1.2"."""
    return f"{layer}.{number}" if kind == "blocks" else f"{kind}.{layer}.{number}"


def _layers(trace: Trace) -> Iterator[tuple[str, int]]:
    for stack in trace.config["stacks"]:
        for kind in (stack["name"], *(["cross"] if stack["cross"] else [])):
            yield from ((kind, layer) for layer in range(stack["layers"]))


def _value(name: str, statistic: Statistic, pattern: np.ndarray) -> float:
    try:
        value = statistic(pattern)
    except Exception as problem:  # whatever it raises
        raise HeadlightError(
            f'The statistic "{name}" failed on a pattern of {len(pattern)} queries '
            f"({type(problem).__name__}: {problem}); correct the function."
        ) from problem
    if getattr(value, "shape", ()) != () or not hasattr(value, "__float__"):
        raise HeadlightError(
            f'The statistic "{name}" takes a pattern [query, key] and returns one number, as '
            f"lambda pattern: pattern[-1].max() does; this one returned a {type(value).__name__}."
        )
    return float(value)
