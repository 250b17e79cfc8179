"""Name attention blocks in the order in which they run, and write what they compute."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from .arrays import CROSS
from .parallel import Group, heads_here
from .trace_writer import Heads, TraceWriter


class NeedsPatterns(Exception):
    """Queries and keys alone do not say what the patterns are."""


class Recorder:
    """Attention blocks, named in the order in which they run, and what they compute, written."""

    def __init__(
        self,
        writer: TraceWriter | Any,
        model: Any,
        batch: int,
        patterns: bool,
        group: Group | None = None,
        only: Collection[Any] | None = None,
    ):
        """only: the modules whose attention is recorded; None: those that their names say."""
        self.only = only
        self.writer, self.batch, self.patterns, self.group = writer, batch, patterns, group
        self.config = model.config
        self.two_stacks = bool(getattr(model.config, "is_encoder_decoder", False))
        text = (
            self.config.get_text_config()
            if hasattr(self.config, "get_text_config")
            else self.config
        )
        self.tower = None if self.two_stacks or text is self.config else text.model_type
        self.names = {module: name for name, module in model.named_modules()}
        self.counts: dict[tuple[str, bool], int] = {}

    def shows(self, module: Any) -> bool:
        """Whether its attention is recorded: of a model that reads pictures or sound beside a text,
        that of the text to itself."""
        if self.only is not None:
            return module in self.only
        across = not self.two_stacks and CROSS.search(self.names.get(module, "")) is not None
        return not across and (
            self.tower is None
            or getattr(getattr(module, "config", None), "model_type", self.tower) == self.tower
        )

    def block(self, module: Any) -> tuple[str, bool, int]:
        name = self.names.get(module, "")
        # BERT as a decoder has an encoder inside
        first = re.search(r"(?:^|\.)(encoder|decoder)\.", name)
        stack = "blocks" if not self.two_stacks else first[1] if first else "decoder"
        cross = (
            self.two_stacks
            and stack == "decoder"
            and (bool(CROSS.search(name)) or bool(getattr(module, "is_cross_attention", False)))
        )
        layer = self.counts.get((stack, cross), 0)
        self.counts[stack, cross] = layer + 1
        return stack, cross, layer

    def note(self, module: Any, query: Any, key: Any, rule: dict[str, Any]) -> None:
        """query [batch, head, pos, d_head], key [batch, kv_head, pos, d_head]."""
        block = self.block(module)
        first = next((held for b, held in self.writer.blocks.items() if b[:2] == block[:2]), rule)
        if (
            any(first[name] != rule[name] for name in ("causal", "cap"))
            or first.get("d_head", query.shape[3]) != query.shape[3]
        ):
            raise NeedsPatterns
        of_query, of_key = (
            self.here(module, "num_attention_heads", query.shape[1]),
            self.here(module, "num_key_value_heads", key.shape[1]),
        )
        self.writer.add_queries_and_keys(
            block, query[self.batch], key[self.batch], rule, of_query, of_key
        )

    def note_patterns(self, module: Any, shape: Any, head: Any) -> None:
        self.writer.add_patterns(
            self.block(module), shape, head, self.here(module, "num_attention_heads", int(shape[0]))
        )

    def here(self, module: Any, name: str, held: int) -> Heads:
        """Which heads of the block this process has."""
        if self.group is None:
            return Heads(0, held)
        config = getattr(module, "config", None) or self.config
        config = config.get_text_config() if hasattr(config, "get_text_config") else config
        total = getattr(config, name, None) or getattr(config, "num_attention_heads", held)
        return heads_here(self.group, held, int(total))
