"""Which heads of each block are in this process, of a model that torchrun spreads over several."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Optional

from ..errors import HeadlightError
from ..trace_writer import place
from .changes import Block
from .ranks import Ranks

NEAR = 1e-2  # of the largest number: what two processes that computed the same may differ by
Counts = Optional[tuple[int, ...]]  # of each process; None: all have all heads


class Spread:
    """Learned from the q and k of one pass: those that are alike are there more than once (OLMo
    normalizes across heads, so each of its processes has all)."""

    def __init__(self, ranks: Ranks, kept: Mapping[str, Any], blocks: Any):
        self.ranks = ranks
        self.queries: dict[Block, Counts] = {}
        self.keys: dict[Block, Counts] = {}
        for block in blocks:
            self.queries[block] = self._counts(kept[place(block) + "hook_q"])
            self.keys[block] = self._counts(kept[place(block) + "hook_k"])

    def _counts(self, tensor: Any) -> Counts:
        counts = self.ranks.numbers(tensor.shape[1])
        if len(set(counts)) == 1:
            every = self.ranks.whole(tensor.float(), 1, counts, everywhere=True)
            pairs = combinations(every.chunk(len(counts), 1), 2)
            alike = {float((a - b).abs().max()) <= NEAR * float(a.abs().max()) for a, b in pairs}
            if len(alike) == 1:
                return None if alike.pop() else tuple(counts)
        raise HeadlightError(
            f"The processes have {' + '.join(map(str, counts))} heads of a block, some of them the "
            "same; start a number of processes that divides the heads and the key-value heads."
        )

    def first(self, block: Block) -> int:
        """The number of the first head here."""
        counts = self.queries[block]
        return sum(counts[: self.ranks.rank]) if counts else 0

    def totals(self, block: Block, here: tuple[int, int]) -> tuple[int, int]:
        """Heads and key-value heads of the block, which has so many here."""
        queries, keys = self.queries[block], self.keys[block]
        return sum(queries) if queries else here[0], sum(keys) if keys else here[1]

    def asked(self, block: Block, heads: list[int]) -> Counts:
        """How many of these heads each process has."""
        counts, out, first = self.queries[block], [], 0
        for count in counts or ():
            out.append(sum(first <= head < first + count for head in heads))
            first += count
        return tuple(out) or None

    def all(self, good: bool) -> bool:
        """Whether it is so in every process."""
        return all(self.ranks.numbers(good))
