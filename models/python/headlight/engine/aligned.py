"""Lay one text's pattern over another's tokens, as the program aligns texts: by a longest common
subsequence (Hirschberg 1975), and one to one between two of its tokens if both texts have equally
many there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_CELLS = 16_000_000  # of the table; longer texts are paired by position


def partners(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return b's partner of each token of a, -1 for none."""
    out = [-1] * len(a)
    if list(a) == list(b) or (len(a) + 1) * (len(b) + 1) > MAX_CELLS:
        return [i if i < len(b) else -1 for i in range(len(a))]
    last = (-1, -1)
    for i, j in [*_common(a, b), (len(a), len(b))]:
        if i - last[0] == j - last[1]:
            for step in range(1, i - last[0]):
                out[last[0] + step] = last[1] + step
        if i < len(a):
            out[i] = j
        last = i, j
    return out


def _common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence, in order."""
    n, m = len(a), len(b)
    length = [[0] * (m + 1) for _ in range(n + 1)]  # of what a[i…] and b[j…] have in common
    for i in range(n - 1, -1, -1):
        here, below = length[i], length[i + 1]
        for j in range(m - 1, -1, -1):
            here[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], here[j + 1])
    out, i, j = [], 0, 0
    while i < n and j < m:
        if a[i] == b[j]:
            out.append((i, j))
            i, j = i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1
    return out


def along(own: np.ndarray, theirs: np.ndarray, queries: list[int], keys: list[int]) -> Any:
    """Return own [query, key] with the rows of theirs where queries have partners, over the keys
    that have some, summing to 1."""
    out = own.copy()
    mine = [k for k, partner in enumerate(keys) if partner >= 0]
    for query, partner in enumerate(queries):
        if partner < 0:
            continue
        row = np.zeros(own.shape[1], own.dtype)
        row[mine] = theirs[partner, [keys[k] for k in mine]]
        if (total := row.sum()) > 0:
            out[query] = row / total
    return out
