"""Passes with changes of a model in memory that the program does not open, written as traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import HeadlightError
from ..head_names import is_head, spelled_head
from ..nnsight_models import unwrapped
from ..recorded import READ
from ..temporary import remove, temporary_path
from ..trace_file import Trace
from ..trace_writer import TensorFile, TraceWriter, as_array, place
from .model import LiveModel
from .plans import Plan, Wanted
from .requests import DEFAULT
from .text import Text

KEPT = ("*hook_pattern", *(glob for glob in DEFAULT if glob not in ("*hook_q", "*hook_k")))


class ChangedModel:
    """A model, what it reads, and changes: each pass computes all of it again."""

    def __init__(
        self, model: Any, tokenizer: Any, text: Any, read: Mapping[str, Any], changes: Any
    ):
        if left := [n for n, value in read.items() if n not in READ and value is not None]:
            raise HeadlightError(
                f"{left[0]}= is of a recording, and changes need a pass; give a text or ids=[…]."
            )
        self.held = LiveModel(*unwrapped(model, tokenizer))
        self.text = self.held.text({"text": text, **read})
        self.plan = plan_of(self.held, self.text, changes)

    def _computed(self, globs: Sequence[str]) -> Any:
        predicts = self.held.model.get_output_embeddings() is not None
        wanted = Wanted(globs)
        logits = predicts and wanted.name("logits")
        return self.held.compute(self.text, wanted, self.plan, logits=logits)

    def arrays(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The arrays of these names, as far as the model has them."""
        found = self._computed(names).kept
        return {n: as_array(found[n], np.dtype("<f4")) for n in names if n in found}

    def trace(self) -> Trace:
        """The patterns of every head, residual streams and logits, in a file that lives as long
        as the trace."""
        running, target = self._computed([*KEPT, "logits"]), temporary_path()
        writer = TraceWriter(self.text.sides, lambda room: TensorFile(target, room))
        kept = dict(running.kept)
        try:
            for block in self.held.heads:
                pattern = kept.pop(place(block) + "hook_pattern")
                writer.add_patterns(block, pattern.shape, lambda head, held=pattern: held[head])
            for name, tensor in kept.items():
                writer.file.add(name, tuple(tensor.shape), [tensor])
            config = self.held.config
            writer.close(self.held.name, str(config.model_type), self.held.found.width or 0)
        except BaseException:
            remove(target)
            raise
        finally:
            writer.drop()
        return Trace(target, temporary=True)


def plan_of(held: LiveModel, text: Text, changes: Mapping[str, Any]) -> Plan:
    """The changes of a run, as passes take them."""
    request = {"mask": changes.get("mask"), "changes": list(_spelled(changes))}
    return held.plan(request, text, {}, lambda: False)


def _spelled(changes: Mapping[str, Any]) -> Any:
    """The changes as --change spells them."""
    listed = lambda held: held if isinstance(held, (list, set)) else [held] if held else []
    yield from map(str, listed(changes.get("change")))
    for head in listed(changes.get("ablate")):
        yield "ablate:" + (spelled_head(head) if is_head(head) else str(head))
    if (temperature := changes.get("temperature_attn")) is not None:
        yield f"temperature:{temperature}@*"
