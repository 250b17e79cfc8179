"""One call of transformers' attention interface: its scores and patterns as eager attention
computes them, and whether "causal" and "window" alone say its mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class Call:
    """Hold what a model asks of its attention function.

    query is [batch, head, query, d_head], key and value [batch, kv_head, key, d_head], mask
    [batch, head, query, key] of booleans or of numbers to add, bias [batch, head, query, key],
    sinks [head]."""

    torch: Any
    query: Any
    key: Any
    value: Any
    mask: Any
    bias: Any
    sinks: Any
    scale: float
    cap: float
    window: int

    @classmethod
    def of(
        cls,
        torch: Any,
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        mask: Any,
        scaling: float | None,
        more: Mapping[str, Any],
    ) -> Call:
        said = more.get("is_causal")
        causal = bool(getattr(module, "is_causal", False) if said is None else said)
        causal = causal and query.shape[2] == key.shape[2]
        if mask is None and causal:
            shape = query.shape[2], key.shape[2]
            mask = torch.ones(*shape, dtype=torch.bool, device=query.device).tril()[None, None]
        bias, keys = more.get("position_bias"), key.shape[2]
        if mask is not None:
            mask = mask[..., :keys].expand(-1, -1, query.shape[2], -1)
        return cls(
            torch,
            query,
            key,
            value,
            mask,
            None if bias is None else bias[..., :keys],
            more.get("s_aux"),
            float(query.shape[-1] ** -0.5 if scaling is None else scaling),
            float(more.get("softcap") or 0),
            int(more.get("sliding_window") or 0),
        )

    def rule(self) -> dict[str, Any]:
        """Return scale, cap, window and causal, and "follows": whether the mask is theirs."""
        tokens = self.query.shape[2], self.key.shape[2]
        causal = follows(self.torch, self.mask, True, self.window, tokens)
        return {
            "scale": self.scale,
            "cap": self.cap,
            "window": self.window,
            "causal": causal,
            "follows": follows(self.torch, self.mask, causal, self.window, tokens),
        }

    def rows(self) -> Rows:
        return Rows(self)

    def attend(self) -> Any:
        """Return [batch, query, head, d_head], as the model by itself computes it."""
        if self.cap or self.bias is not None or self.sinks is not None:
            return self.rows().attend()
        groups = self.query.shape[1] // self.key.shape[1]
        each = lambda t: t if groups == 1 else t.repeat_interleave(groups, 1)
        out = self.torch.nn.functional.scaled_dot_product_attention(
            self.query, each(self.key), each(self.value), attn_mask=self.mask, scale=self.scale
        )
        return out.transpose(1, 2).contiguous()


class Rows:
    """Patterns as transformers' eager attention computes them, of one head at a time."""

    def __init__(self, call: Call):
        self.call, self.torch = call, call.torch
        self.groups = call.query.shape[1] // call.key.shape[1]

    def scores(self, batch: int, head: int) -> Any:
        """Return scale · q·k, soft-capped, [query, key]."""
        call = self.call
        query, key = call.query[batch, head], call.key[batch, head // self.groups]
        scores = query.float() @ key.float().T * call.scale
        return call.cap * (scores / call.cap).tanh() if call.cap else scores

    def added(self, batch: int, head: int) -> list[Any]:
        """Return what acts on a head's scores: masks of booleans, and numbers to add."""
        return [
            part[min(batch, part.shape[0] - 1), min(head, part.shape[1] - 1)]
            for part in (self.call.mask, self.call.bias)
            if part is not None
        ]

    def sink(self, head: int) -> Any:
        """Return the score of a head's sink, or None."""
        sinks = self.call.sinks
        return None if sinks is None else sinks.reshape(-1)[head].float()

    def pattern(self, batch: int, head: int) -> Any:
        """Return [query, key]. A row sums to less than 1 where the model lets weight flow into a
        sink that is not a token."""
        scores = self.scores(batch, head)
        for part in self.added(batch, head):
            scores = (
                scores.masked_fill(part.logical_not(), self.torch.finfo(scores.dtype).min)
                if part.dtype == self.torch.bool
                else scores + part.float()
            )
        return self.softmax(scores, self.sink(head))

    def softmax(self, scores: Any, sink: Any) -> Any:
        if sink is None:
            return scores.softmax(-1)
        column = sink.expand(scores.shape[0], 1)
        return self.torch.cat([scores, column], -1).softmax(-1)[:, :-1]

    def attend(self) -> Any:
        """Return [batch, query, head, d_head]."""
        query, value = self.call.query, self.call.value
        batches, heads, queries, _ = query.shape
        out = query.new_empty(batches, queries, heads, value.shape[3])
        for batch in range(batches):
            for head in range(heads):
                out[batch, :, head] = (
                    self.pattern(batch, head).to(value.dtype) @ value[batch, head // self.groups]
                )
        return out


def follows(torch: Any, mask: Any, causal: bool, window: int, tokens: tuple[int, int]) -> bool:
    """Return whether the mask is the one that "causal" and "window" alone describe. tokens: queries
    and keys; of more keys than queries, the first ones come from a cache."""
    if mask is None:
        return not causal and (not window or window >= max(tokens))
    if mask.dtype != torch.bool:
        if not ((mask == 0) | (mask < -1e4)).all():
            return False
        mask = mask == 0
    queries, keys = mask.shape[-2:]
    at = torch.arange(max(queries, keys), dtype=torch.int32, device=mask.device)
    past = keys - queries if keys > queries and (causal or window) else 0
    distance = at[past : past + queries, None] - at[:keys]
    expected = distance >= 0 if causal else torch.ones_like(distance, dtype=torch.bool)
    if window:
        expected &= distance.abs() < window
    return bool((mask == expected).all())
