"""Models that attend with code of their own: their patterns are what their attention returns."""

from __future__ import annotations

from typing import Any

from ..recorder import Recorder
from ..trace_writer import place
from .passes import Pass


class Outputs(Recorder):
    """Takes patterns from what attention modules return."""

    def __init__(self, running: Pass, base: Any):
        super().__init__(None, base, 0, True, only=running.found.only)
        self.running = running

    def note_patterns(self, module: Any, shape: Any, head: Any) -> None:
        block, heads = self.block(module), int(shape[0])
        running = self.running
        if running.log:
            call = next(e for e in reversed(running.log.events) if e.module is module)
            running.log.attention.append((call.start + 0.5, block, module))
        running.heads[block], running.sizes[block] = (heads, heads), (1, int(shape[1]))
        running.rules[block] = {"says": False, "causal": _is_causal(head(0))}
        if wanted := running.wanted.pattern_heads(block, heads):
            kept = running.torch.stack([head(h) for h in wanted])
            running.keep(place(block) + "hook_pattern", kept, lambda t: t)


def _is_causal(pattern: Any) -> bool:
    return not bool(pattern.triu(1).any())
