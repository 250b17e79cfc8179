"""One pass of several copies of a text, each of which takes activations of another pass at places
of its own: what patching and path patching run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..eager_attention import Call
from .logits import logits_of
from .model import LiveModel
from .passes import Pass
from .plans import Wanted
from .text import Text

OF_STREAM = ("resid_pre", "attn_out", "resid_mid", "mlp_out")
OF_HEADS = ("z", "q", "k", "v", "pattern")
Kept = Mapping[tuple[str, int], Any]  # by part and layer, each [copy, …]


class OneByOne(Exception):
    """The model's layers join the copies, so that each needs a pass."""


@dataclass(frozen=True)
class Cell:
    """A place: a layer's part, of a head or of all, at a position or at all."""

    part: str
    layer: int
    head: int | None = None
    position: int | None = None

    def at(self) -> tuple[Any, ...]:
        """Its index in the part of one copy: the stream [pos, d_model], z [pos, head, d_head],
        others [head, pos, d]."""
        every = slice(None)
        head = every if self.head is None else self.head
        position = every if self.position is None else self.position
        if self.part in OF_STREAM:
            return (position,)
        return (position, head) if self.part == "z" else (head, position)


@dataclass(frozen=True)
class Edit:
    """A cell takes what another pass had there, in its copy `row`."""

    cell: Cell
    source: Kept
    row: int = 0


class Together(Pass):
    """A pass with one copy for each list of edits. keep: parts to keep of each layer."""

    def __init__(
        self, held: LiveModel, edits: Sequence[Sequence[Edit]], keep: Collection[str] = ()
    ):
        super().__init__(held.torch, held.base, held.found, Wanted())
        self.copies, self.keep_parts = len(edits), keep
        self.parts: dict[tuple[str, int], Any] = {}
        self.edits: dict[tuple[str, int], list[tuple[int, Edit]]] = {}
        for copy, several in enumerate(edits):
            for edit in several:
                place = edit.cell.part, edit.cell.layer
                self.edits.setdefault(place, []).append((copy, edit))

    def _touches(self, part: str, layer: int) -> bool:
        return part in self.keep_parts or (part, layer) in self.edits

    def _put(self, part: str, layer: int, tensor: Any) -> Any:
        """The tensor with what its copies take, kept where that was asked for."""
        if tensor.shape[0] != self.copies:
            raise OneByOne
        if edits := self.edits.get((part, layer)):
            tensor = tensor.clone()
            for copy, edit in edits:
                at = edit.cell.at()
                values = edit.source[part, layer][edit.row]
                tensor[copy][at] = values[at].to(tensor.device, tensor.dtype)
        if part in self.keep_parts:
            self.parts[part, layer] = tensor.detach()
        return tensor

    def attend(self, module: Any, call: Call) -> Any:
        """Return [copy, query, head, d_head]."""
        if not self.recorder.shows(module):
            return call.attend()
        layer = self.recorder.block(module)[2]
        groups = call.query.shape[1] // call.key.shape[1]
        if groups > 1 and any(self._touches(part, layer) for part in ("k", "v", "pattern")):
            call.key = call.key.repeat_interleave(groups, 1)  # a head reads keys of its own
            call.value = call.value.repeat_interleave(groups, 1)
        for part, name in (("q", "query"), ("k", "key"), ("v", "value")):
            if self._touches(part, layer):
                setattr(call, name, self._put(part, layer, getattr(call, name)))
        out = call.attend()
        if self._touches("pattern", layer):
            out = self._attended(layer, call, out)
        return self._put("z", layer, out) if self._touches("z", layer) else out

    def _attended(self, layer: int, call: Call, out: Any) -> Any:
        """z where patterns are kept, or taken from another pass."""
        heads, rows = call.query.shape[1], call.rows()
        if "pattern" in self.keep_parts:
            self.parts["pattern", layer] = self.torch.stack(
                [
                    self.torch.stack([rows.pattern(copy, head) for head in range(heads)])
                    for copy in range(self.copies)
                ]
            )
        for copy, edit in self.edits.get(("pattern", layer), ()):
            head = edit.cell.head
            pattern = edit.source["pattern", layer][edit.row, head].to(call.value)
            out[copy, :, head] = pattern @ call.value[copy, head]
        return out

    def _at(self, name: str, tensor: Any, scale: float) -> Any:
        _, number, hook = name.split(".", 2) if name.count(".") > 1 else ("", "-1", "")
        part, layer = hook.removeprefix("hook_"), int(number)
        if part not in OF_STREAM or not self._touches(part, layer):
            return None
        stream = tensor if scale == 1 else tensor * scale
        new = self._put(part, layer, stream)
        return None if new is stream else new / scale


def logits_of_copies(held: LiveModel, text: Text, running: Together) -> Any:
    """Run copies of a text; their logits [copy, position, vocabulary]."""
    arguments = {
        name: value.expand(running.copies, *value.shape[1:]) if hasattr(value, "expand") else value
        for name, value in text.arguments.items()
    }
    output = held.forward(running, Text(arguments, text.sides), runs=held.model)
    return logits_of(held.model, output)


def together(
    held: LiveModel, text: Text, edits: Sequence[Sequence[Edit]], keep: Collection[str] = ()
) -> tuple[Any, Kept]:
    """The logits [copy, position, vocabulary] of copies of a text, and the parts that are kept."""
    running = Together(held, edits, keep)
    return logits_of_copies(held, text, running), running.parts
