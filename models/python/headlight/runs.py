"""One run of a model on a text, and all that can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .comparing import compare
from .errors import HeadlightError, ProgramDied, unknown_name
from .explaining import What, attribute, patch
from .figure import Figure
from .head_names import head_parts, placed_head
from .hooked_models import is_hooked
from .measures import Attribution, PatchMap
from .metrics import Metric
from .named_arrays import NamedArray
from .option_table import (
    AttributeOptions,
    CompareOptions,
    FigureOptions,
    HeadsOptions,
    PatchOptions,
)
from .program import spelled
from .recorded import CHANGES, Changes
from .showing import figure
from .signatures import takes
from .sources import Source, named_text, open_source
from .tables import Comparison, HeadTable
from .temporary import remove, temporary_path
from .trace_file import Trace

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .engine.changed import ChangedModel

LISTED = ("ablate", "change")


class Head:
    """A head of a run: `.run`, `.layer`, `.head`, `.pattern` [query, key], `.figure()`."""

    def __init__(self, run: Run, named: Any):
        parts = head_parts(named)
        self.run: Run = run
        self.name: str = ".".join(parts)
        self.kind: str = parts[0] if len(parts) == 3 else ""
        try:
            self.layer: int = int(parts[-2])
            self.head: int = int(parts[-1])
        except ValueError:
            raise HeadlightError(f'"{self.name}" names no head; give (1, 2) or "1.2".') from None

    @property
    def pattern(self) -> NamedArray:
        """float32 [query, key], with the names of the tokens."""
        return self.run.pattern(self.name)

    @takes(FigureOptions)
    def figure(self, view: str | None = None, **options: Unpack[FigureOptions]) -> Figure:
        """The program's view of it."""
        return self.run.figure(view, head=self.name, **options)

    def __repr__(self) -> str:
        return f"<headlight.Head {self.name} of {self.run!r}>"


class Run:
    """A model, a text and changes: `run.pattern(1, 2)`, `run.logits`, `run["resid_post", 3]`.

    `changed("mask:5>3@1.2")` is the run with a change, also as
    `with run.changed(…) as other`."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        text: Any,
        inputs: Mapping[str, Any],
        changes: Mapping[str, Any],
    ):
        self._asked = (*named_text(tokenizer, text), dict(inputs))
        self._model, self._changes = model, dict(changes)
        self._more: dict[str, Mapping[str, np.ndarray]] = {}
        self._live: ChangedModel | None = None
        try:
            self.source: Source = self._opened()
            self.trace: Trace = self.source.trace or self._recorded(self.source)
        except HeadlightError as problem:
            self.trace = self._computed_live(problem)
            self.source = Source(["--trace", str(self.trace.path)], self.trace)

    def _opened(self) -> Source:
        tokenizer, text, inputs = self._asked
        given = dict(inputs)
        source = open_source(self._model, tokenizer, text, given)
        if self._changes:
            source = source.with_weights()
            if source.trace is not None:
                raise HeadlightError(
                    "A recording cannot be changed; give headlight.run the model and the text."
                )
        if source.trace is not None:
            return source
        return replace(source, arguments=[*source.arguments, *spelled({**given, **self._changes})])

    def _computed_live(self, problem: HeadlightError) -> Trace:
        """A changed pass of the model itself, where its weights alone, or the program, would not
        do: it has hooks or adapters, or an architecture that the program does not open."""
        in_memory = hasattr(self._model, "forward") and not is_hooked(self._model)
        if not (self._changes and in_memory) or isinstance(problem, ProgramDied):
            raise problem
        from .engine.changed import ChangedModel  # which needs torch's model

        self._live = ChangedModel(self._model, *self._asked, self._changes)
        return self._live.trace()

    def _recorded(self, source: Source, names: Sequence[str] = ()) -> Trace:
        """A pass of the program; names: the arrays to keep, instead of its own choice."""
        target = temporary_path()
        try:
            source.run("trace", [*spelled({"capture": names}), "-o", str(target)])
        except BaseException as problem:
            remove(target)
            if str(problem).startswith("No tensor matches"):
                raise unknown_name(names[0], self.trace) from None
            raise
        return Trace(target, temporary=True)

    @property
    def tokens(self) -> list[str]:
        """The tokens as text, with the blank that a word begins with."""
        return self.trace.tokens

    @property
    def logits(self) -> np.ndarray:
        """float32 [pos, vocabulary]."""
        return self["logits"]

    def __getitem__(self, name: str | tuple[Any, ...]) -> np.ndarray:
        """An array by its name, as Trace has them. One that the pass did not keep is computed by
        another pass, with the same changes."""
        try:
            return self.trace[name]
        except HeadlightError:
            weightless = self.source.trace is not None and self.source.weights is None
            if weightless and self._live is None:
                raise
        names = self.trace.full_names(name)
        if names[0] not in self._more:
            self._more[names[0]] = (
                self._live.arrays(names)
                if self._live is not None
                else self._recorded(self.source.with_weights(), names)
            )
        held = self._more[names[0]]
        found = next((held[full] for full in names if full in held), None)
        if found is None:
            raise unknown_name(names[0], self.trace)
        return found

    def pattern(self, layer: Any, head: Any = None) -> NamedArray:
        """The pattern of a head, float32 [query, key]: pattern(1, 2), pattern("1.2") or
        pattern(("cross", 1, 2))."""
        parts = head_parts(placed_head(head, layer) if head is not None else layer)
        kind = parts[0] if len(parts) == 3 else ""
        try:
            held = self.trace["pattern", int(parts[-2]), kind][int(parts[-1])]
        except (HeadlightError, IndexError, ValueError):
            raise HeadlightError(
                f"There is no head {'.'.join(parts)}; this is {self.trace!r}."
            ) from None
        sides = [self.tokens, self.trace.target_tokens or self.tokens]
        query = sides[0] if kind == "encoder" else sides[1]
        key = sides[0] if kind == "cross" else query
        title = f"Head {'.'.join(parts)}"
        return NamedArray(np.asarray(held), title, query, key)

    def head(self, layer: Any, head: Any = None) -> Head:
        """A head of this run: head(1, 2), head("1.2") or head(("cross", 1, 2))."""
        return Head(self, placed_head(head, layer) if head is not None else layer)

    @takes(HeadsOptions)
    def heads(self, **options: Unpack[HeadsOptions]) -> HeadTable:
        """The statistics of every head, with the options of headlight.heads."""
        from . import heads

        return heads(self.source, **options)

    @takes(FigureOptions)
    def figure(
        self,
        view: str | None = None,
        *,
        head: Any = None,
        layer: Any = None,
        format: Literal["html", "png", "svg"] = "html",
        figsize: tuple[float, float] | None = None,
        ax: Any = None,
        **options: Unpack[FigureOptions],
    ) -> Figure:
        """A view of this run, with the options of headlight.figure."""
        own: dict[str, Any] = {"format": format, "figsize": figsize, "ax": ax}
        return figure(self.source, view=view, head=head, layer=layer, **own, **options)

    @takes(FigureOptions)
    def lens(self, **options: Unpack[FigureOptions]) -> Figure:
        """What each layer predicts; `.numbers()` are its arrays."""
        return self.figure("lens", **options)

    @takes(AttributeOptions)
    def attribute(
        self,
        *,
        method: str = "leave-out",
        metric: str | Metric | None = None,
        **options: Unpack[AttributeOptions],
    ) -> Attribution:
        """How much each token counts, with the options of headlight.attribute."""
        if not callable(metric):
            return attribute(self.source, method=method, metric=metric, **options)
        tokenizer, text, inputs = self._asked
        given: dict[str, Any] = {**inputs, **self._changes, **options}
        given |= {"method": method, "metric": metric}
        return attribute(self._model, tokenizer, text, **given)

    @takes(PatchOptions)
    def patch(
        self,
        corrupted: str | None = None,
        *,
        what: What | None = None,
        head: Any = None,
        metric: str | Metric | None = None,
        sender: Any = None,
        receivers: Any = None,
        part: Literal["q", "k", "v"] | None = None,
        **options: Unpack[PatchOptions],
    ) -> PatchMap:
        """Patch this run's activations into that of another text, with the options of
        headlight.patch."""
        tokenizer, text, inputs = self._asked
        if self._changes or inputs or not isinstance(text, str):
            raise HeadlightError(
                "Patching takes the activations of a text without changes; give headlight.run the "
                "text alone."
            )
        own: dict[str, Any] = {"what": what, "head": head, "metric": metric}
        own |= {"sender": sender, "receivers": receivers, "part": part}
        return patch(self._model, tokenizer, clean=text, corrupted=corrupted, **own, **options)

    @takes(CompareOptions)
    def compare(self, other: Run, **options: Unpack[CompareOptions]) -> Comparison:
        """How far apart the patterns of two runs are."""
        if not isinstance(other, Run):
            raise HeadlightError("A run is compared with another; give run.compare(other).")
        return compare(self.trace, model_b=other.trace, **options)

    @takes(Changes)
    def changed(self, *changes: str, **options: Unpack[Changes]) -> Run:
        """The run with changes: changed("mask:5>3@1.2", "ablate:2.0"), ablate=["1.2"],
        mask="window:4"."""
        given = {**options, "change": [*listed(options.get("change")), *changes] or None}
        both = dict(self._changes)
        for name, one in checked(given).items():
            if name in both and name not in LISTED:
                raise HeadlightError(f"The run has another {name}= already; leave one of them out.")
            both[name] = [*listed(both.get(name)), *listed(one)] if name in LISTED else one
        if not both:
            raise HeadlightError('There is no change; give one, changed("mask:5>3@1.2").')
        tokenizer, text, inputs = self._asked
        return Run(self._model, tokenizer, text, inputs, both)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the trace, to open it by headlight.run(path)."""
        return self.trace.save(path)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={one!r}" for name, one in self._changes.items())
        return f"<headlight.Run of {self.trace!r}{f' with {changed}' if changed else ''}>"


def listed(value: Any) -> list[Any]:
    """One change or several as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, set)) else [value]


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that are given; others have no place here."""
    if unknown := [name for name in options if name not in CHANGES]:
        raise HeadlightError(
            f"{unknown[0]}= is no change of a run; there are {', '.join(CHANGES)}. What is drawn "
            "or computed of a run takes its own options, run.figure for example."
        )
    return {name: one for name, one in options.items() if one is not None}
