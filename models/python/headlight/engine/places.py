"""Find where a model keeps its residual stream: the modules whose inputs and outputs are resid_pre,
attn_out, mlp_out and so on, of any architecture.

One pass over a few tokens keeps what every module reads and returns. attn_out is the output c that
the residual stream x gains, x + s·c = what a later module reads (or the layer returns), and mlp_out
the next. What does not add up so is not offered, and a sentence says so."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..recorder import Recorder
from .changes import Block, Change
from .masks import shuffled
from .ranks import full
from .spread import Spread

LEARNED = re.compile(r"(^|\.)(wpe|position_embeddings?|embed_positions?|pos_emb\w*)$")


@dataclass(frozen=True)
class Point:
    """The input or output of a module's call, times a factor."""

    module: Any
    side: str
    call: int = 0
    scale: float = 1.0


@dataclass
class Event:
    """One call of a module while looking."""

    name: str
    module: Any
    call: int
    start: int
    end: int = 0
    read: Any = None
    out: Any = None
    pair: bool = False  # returned two tensors of one shape, as rotary embeddings do
    parts: int = 0  # of the tuple that it returned; 0: a tensor


@dataclass
class Found:
    """What one pass tells of a model."""

    points: dict[str, Point] = field(default_factory=dict)
    layers: dict[Block, Event] = field(default_factory=dict)
    rotary: dict[str, list[Any]] = field(default_factory=dict)
    learned: dict[str, list[Any]] = field(default_factory=dict)
    parts: dict[Any, int] = field(default_factory=dict)  # layers that predict: their tuples' sizes
    attention: dict[Block, Any] = field(default_factory=dict)  # modules
    only: frozenset[Any] | None = None  # modules whose attention is shown; None: by their names
    width: int | None = None  # d_model
    embedding_scale: float | None = None
    spread: Spread | None = None  # of a model that several processes hold


def first_tensor(value: Any) -> Any:
    """Return a module's hidden states: its output, or the first of a tuple."""
    if isinstance(value, (tuple, list)):
        return first_tensor(value[0]) if value else None
    for name in ("last_hidden_state", "logits"):
        if hasattr(value, name):
            return getattr(value, name)
    return value if hasattr(value, "detach") else None


def read_tensor(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the hidden states that a module reads."""
    if arguments and hasattr(arguments[0], "detach"):
        return arguments[0]
    return named.get("hidden_states")


def with_first(output: Any, tensor: Any) -> Any:
    """Return a module's output with other hidden states."""
    if isinstance(output, (tuple, list)):
        return type(output)([with_first(output[0], tensor), *output[1:]])
    if hasattr(output, "last_hidden_state"):
        output.last_hidden_state = tensor
        return output
    return tensor


def repositioned(change: Change, thread: int) -> Any:
    """A hook on what knows positions: a table's rows, or cosines and sines."""

    def moved(tensor: Any, off: Any) -> Any:
        if change.value < 0:
            return off
        return tensor[..., shuffled(int(change.value), tensor.shape[-2]), :]

    def hook(_: Any, __: Any, output: Any) -> Any:
        if threading.get_ident() != thread:
            return None
        if isinstance(output, tuple):
            cosine, sine = output  # the first position turns nothing
            return moved(cosine, cosine[..., :1, :].expand_as(cosine)), moved(sine, sine * 0)
        return moved(output, output * 0)

    return hook


class Log:
    """Keeps what each module reads and returns."""

    def __init__(self, base: Any):
        self.events: list[Event] = []
        self.attention: list[tuple[float, Block, Any]] = []
        self._names = {module: name for name, module in base.named_modules()}
        self._calls: Counter[Any] = Counter()
        self._open: list[Event] = []
        self._clock = 0

    def tick(self) -> int:
        self._clock += 1
        return self._clock

    def enter(self, module: Any, arguments: Any, named: Any) -> None:
        event = Event(self._names[module], module, self._calls[module], self.tick())
        self._calls[module] += 1
        event.read = _kept(read_tensor(arguments, named))
        self.events.append(event)
        self._open.append(event)

    def leave(self, module: Any, _: Any, output: Any) -> None:
        event = self._open.pop()
        event.end, event.out = self.tick(), _kept(first_tensor(output))
        event.parts = len(output) if isinstance(output, tuple) else 0
        event.pair = (
            isinstance(output, tuple)
            and len(output) == 2
            and all(hasattr(part, "shape") and not part.is_complex() for part in output)
            and output[0].shape == output[1].shape
        )

    @contextmanager
    def watching(self) -> Iterator[None]:
        hooks = []
        for module in self._names:
            hooks.append(module.register_forward_pre_hook(self.enter, with_kwargs=True))
            hooks.append(module.register_forward_hook(self.leave))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _kept(tensor: Any) -> Any:
    """Copy hidden states as [1, pos, d_model], of modules that read [pos, d_model] too."""
    if not hasattr(tensor, "detach"):
        return None
    held = tensor.detach().clone()
    return held[None] if held.dim() == 2 and held.is_floating_point() else held


class Finder:
    """Reads a log."""

    def __init__(self, torch: Any, log: Log, recorder: Recorder):
        self.torch, self.log, self.recorder = torch, log, recorder
        self.found = Found()

    def find(self, embedding: Any, ids: Any) -> Found:
        names = [self.recorder.names[module] for _, block, module in self.log.attention]
        self.found.attention = {block: module for _, block, module in self.log.attention}
        own = {name for name, (_, block, _) in zip(names, self.log.attention) if not block[1]}
        markers: dict[tuple[str, int], list[tuple[float, Block, Any]]] = {}
        events: dict[tuple[str, int], Event] = {}
        for name, marker in zip(names, self.log.attention):
            if layer := self._layer(name, own, marker[0]):
                key = layer.name, layer.call
                markers.setdefault(key, []).append(marker)
                events[key] = self.found.layers[marker[1]] = layer
        for key, held in markers.items():
            self._of_layer(events[key], held)
        self._positions()
        self._last(embedding, ids)
        return self.found

    def _layer(self, name: str, own: set[str], at: float) -> Event | None:
        """Return the outermost numbered module around one self-attention."""
        parts = name.split(".")
        for i, part in enumerate(parts):
            prefix = ".".join(parts[: i + 1])
            if part.isdigit() and sum((o + ".").startswith(prefix + ".") for o in own) <= 1:
                return next(
                    (e for e in self.log.events if e.name == prefix and e.start < at < e.end), None
                )
        return None

    def _of_layer(self, layer: Event, markers: list[tuple[float, Block, Any]]) -> None:
        stack, _, number = markers[0][1]
        at, points = f"{stack}.{number}.", self.found.points
        if not _is_stream(layer.read) or not _is_stream(layer.out):
            return
        points[at + "hook_resid_pre"] = Point(layer.module, "in", layer.call)
        points[at + "hook_resid_post"] = Point(layer.module, "out", layer.call)
        inner = [e for e in self.log.events if layer.start < e.start and e.end < layer.end]
        bases: list[tuple[Any, Point | None]] = [(layer.read, None)]
        since = layer.start
        for time, (_, cross, _), _ in markers:
            gained = self._gain(bases, inner, time, layer)
            if gained is None:
                if not cross:
                    self._parallel(at, inner, time, layer)
                return
            point, target, mid, _ = gained
            points[at + ("hook_cross_attn_out" if cross else "hook_attn_out")] = point
            since = target.start if target else layer.end
            bases = self._after(target, mid, inner)
        if since == layer.end:
            return
        gained = self._gain(bases, inner, since, layer)
        if gained is not None:
            points[at + "hook_mlp_out"] = gained[0]
            bases = bases[gained[3] :]
        if bases[0][1] is not None:
            points[at + "hook_resid_mid"] = bases[0][1]

    def _after(self, target: Any, mid: Any, inner: list[Event]) -> list[tuple[Any, Point | None]]:
        """Return what the stream may be after a sum: the sum, or its norm."""
        if target is None:
            return [(mid, None)]
        out: list[tuple[Any, Point | None]] = [(mid, Point(target.module, "in", target.call))]
        if target.out is not None and target.out.shape == mid.shape:
            out.append((target.out, Point(target.module, "out", target.call)))
        return out

    def _gain(self, bases: Any, inner: list[Event], since: float, layer: Event) -> Any:
        """Return the point whose output the stream gains after `since`, the event that reads the
        sum (None: the layer returns it), the sum, and which base it was added to."""
        targets = [(e, e.read) for e in inner if e.start > since and _alike(e.read, layer.read)]
        for event, total in [*targets, (None, layer.out)]:
            until = event.start if event else layer.end
            added = [e for e in inner if since < e.end < until and _alike(e.out, layer.read)]
            for which, (base, _) in enumerate(bases):
                for one in reversed(added):
                    if scale := self._scale(total - base, one.out):
                        return Point(one.module, "out", one.call, scale), event, total, which
        return None

    def _parallel(self, at: str, inner: list[Event], time: float, layer: Event) -> None:
        """Attention and MLP read the same stream: y = x + a + m."""
        total = layer.out - layer.read
        added = [e for e in inner if _alike(e.out, layer.read)]
        ends = [e for e in added if e.start < time < e.end or e.end > time]
        for a in reversed(ends):
            if not (a.start < time < a.end or self._beside(a, time, inner)):
                continue
            for m in reversed(added):
                apart = m.end < a.start or m.start > a.end
                if apart and self._scale(total - a.out, m.out) == 1.0:
                    self.found.points[at + "hook_attn_out"] = Point(a.module, "out", a.call)
                    self.found.points[at + "hook_mlp_out"] = Point(m.module, "out", m.call)
                    return

    def _beside(self, event: Event, time: float, inner: list[Event]) -> bool:
        """Return whether an event ran inside the module that attended."""
        around = [e for e in inner if e.start < time < e.end]
        return any(e.start < event.start and event.end < e.end for e in around)

    def _scale(self, difference: Any, added: Any) -> float | None:
        """Return s where difference = s · added, or None."""
        difference, added = difference.double(), added.double()
        size, norm = float(difference.abs().max()), float((added * added).sum())
        if size == 0 or norm == 0:
            return None
        s = float((difference * added).sum()) / norm
        bar = 1e-4 if self.log_dtype == self.torch.float32 else 3e-2
        if float((difference - s * added).abs().max()) > bar * size:
            return None
        return 1.0 if abs(s - 1) < bar else s

    @property
    def log_dtype(self) -> Any:
        return next((e.out.dtype for e in self.log.events if _is_stream(e.out)), None)

    def _positions(self) -> None:
        paired = self.recorder.two_stacks
        for event in self.log.events:
            stack = "blocks" if not paired else "encoder" if "encoder" in event.name else "decoder"
            if event.pair and "rotary" in type(event.module).__name__.lower():
                held = self.found.rotary.setdefault(stack, [])
            elif LEARNED.search(event.name) and event.out is not None:
                held = self.found.learned.setdefault(stack, [])
            else:
                continue
            if event.module not in held:
                held.append(event.module)

    def _last(self, embedding: Any, ids: Any) -> None:
        found = self.found
        stack = "decoder" if self.recorder.two_stacks else "blocks"
        blocks = [b for b in found.layers if b[0] == stack and not b[1]]
        if not blocks:
            return
        last, events = found.layers[blocks[-1]], self.log.events
        parent, _, number = last.name.rpartition(".")
        siblings = [e for e in events if re.fullmatch(re.escape(parent) + r"\.\d+", e.name)]
        for event in siblings:
            found.parts[event.module] = event.parts
        end = max(siblings, key=lambda e: e.end)
        if not _is_stream(end.out):
            return
        found.width = end.out.shape[-1]
        found.points["hook_resid_final"] = Point(end.module, "out", end.call)
        for event in events:
            if event.start > end.end and _alike(event.read, end.out) and _alike(event.out, end.out):
                same = bool((event.read == end.out).all())
                if same and "norm" in type(event.module).__name__.lower():
                    found.points["ln_final.hook_normalized"] = Point(
                        event.module, "out", event.call
                    )
        self._embedded(embedding, ids)

    def _embedded(self, embedding: Any, ids: Any) -> None:
        """The factor by which token embeddings enter the model."""
        table = getattr(embedding, "weight", None)
        own = lambda module: getattr(module, "weight", None) is table
        event = next((e for e in self.log.events if own(e.module) and e.out is not None), None)
        first = next(iter(self.found.layers.values()), None)
        if table is None or event is None or first is None:
            return
        rows = full(table).detach()[ids.to(table.device)]
        for total in (first.read, event.out):
            if total is not None and total.shape[1:] == rows.shape:
                scale = self._scale(total.reshape(rows.shape).to(rows.device), rows)
                if scale is not None:
                    outside = 1.0 if total is first.read else self._scaled_by_stack(event.module)
                    self.found.embedding_scale = scale * outside
                    return

    def _scaled_by_stack(self, embedding: Any) -> float:
        """The factor by which a stack multiplies what its embedding returns (Marian's)."""
        for module in self.recorder.names:
            scale = getattr(module, "embed_scale", None)
            if isinstance(scale, (int, float)) and embedding in module.children():
                return float(scale)
        return 1.0


def _is_stream(tensor: Any) -> bool:
    """Return whether it is [1, pos, d_model]."""
    return tensor is not None and tensor.dim() == 3 and tensor.is_floating_point()


def _alike(tensor: Any, other: Any) -> bool:
    return tensor is not None and tensor.shape == other.shape and tensor.is_floating_point()
