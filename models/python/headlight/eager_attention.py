"""Patterns as transformers' eager attention computes them, and which masks need no more words than
"causal" and "window"."""

from __future__ import annotations

from typing import Any


class Rows:
    """Patterns as transformers' eager attention computes them, of one head at a time."""

    def __init__(
        self,
        torch: Any,
        query: Any,
        key: Any,
        scaling: float,
        softcap: float | None,
        added: list[Any],
        sinks: Any,
    ):
        self.torch, self.query, self.key, self.scaling, self.softcap, self.added, self.sinks = (
            torch,
            query,
            key,
            scaling,
            softcap,
            added,
            sinks,
        )
        self.groups = query.shape[1] // key.shape[1]

    def pattern(self, batch: int, head: int) -> Any:
        """[query, key]. A row sums to less than 1 where the model lets weight flow into a sink that
        is not a token."""
        scores = (
            self.query[batch, head].float()
            @ self.key[batch, head // self.groups].float().T
            * self.scaling
        )
        if self.softcap:
            scores = self.softcap * (scores / self.softcap).tanh()
        for added in self.added:
            part = added[min(batch, added.shape[0] - 1), min(head, added.shape[1] - 1)]
            scores = (
                scores.masked_fill(part.logical_not(), self.torch.finfo(scores.dtype).min)
                if part.dtype == self.torch.bool
                else scores + part.float()
            )
        if self.sinks is not None:
            sink = self.sinks.reshape(-1)[head].float().expand(scores.shape[0], 1)
            return self.torch.cat([scores, sink], -1).softmax(-1)[:, :-1]
        return scores.softmax(-1)

    def attend(self, value: Any) -> Any:
        """[batch, query, head, d_head]."""
        batches, heads, queries, _ = self.query.shape
        out = self.query.new_empty(batches, queries, heads, value.shape[3])
        for batch in range(batches):
            for head in range(heads):
                out[batch, :, head] = (
                    self.pattern(batch, head).to(value.dtype) @ value[batch, head // self.groups]
                )
        return out


def follows(torch: Any, mask: Any, causal: bool, window: int, tokens: tuple[int, int]) -> bool:
    """Whether the mask is the one that "causal" and "window" alone describe. tokens: queries and
    keys."""
    if mask is None:
        return not causal and (not window or window >= max(tokens))
    if mask.dtype != torch.bool:
        if not ((mask == 0) | (mask < -1e4)).all():
            return False
        mask = mask == 0
    queries, keys = mask.shape[-2:]
    at = torch.arange(max(queries, keys), dtype=torch.int32, device=mask.device)
    distance = at[:queries, None] - at[:keys]
    expected = distance >= 0 if causal else torch.ones_like(distance, dtype=torch.bool)
    if window:
        expected &= distance.abs() < window
    return bool((mask == expected).all())
