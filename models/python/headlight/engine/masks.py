"""Named masks of self-attention, as docs/interventions.md defines them, and seeded draws as the
program makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import HeadlightError

# Numbers after a mask's name, with the smallest value of each.
LEAST: dict[str, tuple[int, ...]] = {
    "own": (),
    "none": (),
    "causal": (),
    "padding": (),
    "window": (1,),
    "prefix": (0,),
    "global": (0, 1),
    "block": (),
    "rows": (),
}
GROWS = ("own", "causal", "window")  # rows of earlier queries stay as they are


class Mask:
    """A mask of every self-attention layer, "window:3" for example. "rows" has its rows of 0 and 1
    in `given`."""

    def __init__(self, text: str, given: np.ndarray | None = None):
        self.text, self.given = text, given
        self.name, *numbers = text.split(":")
        least = LEAST.get(self.name)
        if self.name == "file":
            raise HeadlightError(
                'A server reads no mask from a file; send its rows as the tensor "mask", and name '
                'the mask "rows".'
            )
        if least is None or len(least) != len(numbers):
            raise self._wrong()
        if any(not re.fullmatch(r"\d{1,6}", n) for n in numbers):
            raise self._wrong()
        self.numbers = [int(n) for n in numbers]
        if any(n < low for n, low in zip(self.numbers, least)):
            raise self._wrong()
        if (self.name == "rows") != (given is not None) or (given is not None and given.ndim != 2):
            raise HeadlightError(
                'The mask "rows" needs the tensor "mask", [query, key] of 0 and 1.'
            )

    def _wrong(self) -> HeadlightError:
        return HeadlightError(
            f'The mask "{self.text}" is unknown; write own, none, causal, padding, window:W, '
            "prefix:P, global:G:W, block or rows."
        )

    def allowed(self, own: np.ndarray, past: int, causal: bool, sides: Side) -> np.ndarray:
        """Return [query, key] of booleans. own: the model's, whose first query is `past`."""
        n = own.shape[1]
        q, k = np.arange(past, past + own.shape[0])[:, None], np.arange(n)[None, :]
        below = k <= q if causal else np.ones(own.shape, bool)
        a, b = (*self.numbers, 0, 0)[:2]
        if self.name == "causal":
            return k <= q
        if self.name == "padding":
            return own & (sides.sentences[None, :n] >= 0)
        if self.name == "window":
            return below & (abs(q - k) < a)
        if self.name == "prefix":
            return (k <= q) | ((q < a) & (k < a))
        if self.name == "global":
            return below & ((q < a) | (k < a) | (abs(q - k) < b))
        if self.name == "block":
            of = sides.sentences[:n]
            return below & (of[past : past + own.shape[0], None] == of[None, :])
        if self.given is not None:
            out = own.copy()
            given = self.given[past : past + len(own), :n] != 0
            out[: given.shape[0], : given.shape[1]] = given
            return out
        return np.ones(own.shape, bool)


class Side:
    """What a mask reads of the tokens of a stack: the sentence of each, -1 for padding."""

    def __init__(self, tokens: Sequence[str], padding: Sequence[bool], types: Sequence[int] = ()):
        number, out = 0, []
        for i, token in enumerate(tokens):
            if 0 < i < len(types) and types[i] != types[i - 1]:
                number += 1
            out.append(number)
            number += token[-1:] in (".", "!", "?")
        self.sentences = np.where(np.array(padding, bool), -1, np.array(out, int))


def uniform(seed: int, count: int) -> np.ndarray:
    """Return u = (random + ½) / 2³² of std::mt19937, as base/draws.h does."""
    generator = np.random.RandomState(seed)
    words = generator.randint(0, 1 << 32, count, np.uint64)
    return (words.astype(np.float64) + 0.5) / 2.0**32


def normal_rows(seed: int, shape: tuple[int, int], deviation: float) -> np.ndarray:
    """Return normal numbers, √(−2 log u) cos(2π u′) (Box and Muller 1958), drawn row by row."""
    u = uniform(seed, 2 * shape[0] * shape[1]).reshape(-1, 2)
    out = np.sqrt(-2 * np.log(u[:, 0])) * np.cos(2 * np.pi * u[:, 1])
    return (deviation * out).astype(np.float32).reshape(shape)


def shuffled(seed: int, count: int) -> list[int]:
    """Return 0 … count − 1 in an order that grows: one more moves two of them."""
    order: list[int] = []
    for i, u in enumerate(uniform(seed, count)):
        order.append(i)
        j = min(i, int(u * (i + 1)))
        order[i], order[j] = order[j], order[i]
    return order


def softmax_changes(torch: Any, scores: Any, sink: Any, temperature: float) -> tuple[Any, Any]:
    """Divide scores and the sink's by the temperature; T = ∞ makes them 0, T = 0 leaves them."""
    if temperature == float("inf"):
        return torch.zeros_like(scores), None if sink is None else torch.zeros_like(sink)
    if temperature in (0, 1):
        return scores, sink
    return scores / temperature, None if sink is None else sink / temperature
