"""Integrals along a way: where an integrand bends, panels are halved (Gauss and Kronrod, 3 and 7
points), as core/analysis/attribution/path_integral.cpp does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = 0.01  # of the change, and of the sizes of the parts
MOST_POINTS = 511
PLACES = np.array([0.960491268708020283, 0.774596669241483377, 0.434243749346802558])
PLACES = np.concatenate([-PLACES, [0.0], PLACES[::-1]])
KRONROD = np.array([0.104656226026467265, 0.268488089868333440, 0.401397414775962223])
KRONROD = np.concatenate([KRONROD, [0.450916538658474142], KRONROD[::-1]])
GAUSS = np.array([0, 5 / 9, 0, 8 / 9, 0, 5 / 9, 0])
# Of places from 0 to 1: the values of the function there, and its slopes [place, part].
At = Callable[[np.ndarray], "tuple[np.ndarray, np.ndarray]"]


@dataclass
class Panel:
    """The integral over a piece of the way; begin, middle and end: the function's values."""

    first: float
    last: float
    begin: float
    middle: float
    end: float
    parts: np.ndarray
    missing: float  # of the change, in the sum of the parts
    error: float  # estimated, of the parts

    def off(self, change: float, size: float) -> float:
        """The share that may be wrong."""
        return max(self.missing / (change or 1), self.error / (size or 1))


def fixed(at: At, points: int) -> np.ndarray:
    """The integrals of the slopes at so many points of Gauss and Legendre."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return weights / 2 @ at((places + 1) / 2)[1]


def adaptive(at: At, begin: float, end: float) -> tuple[np.ndarray, int]:
    """The integrals of the slopes, which sum to end - begin within the tolerance, and how many
    points that took."""
    panels, points = [_panel(at, 0.0, 1.0, begin, end)], len(PLACES)
    change = abs(end - begin)
    while True:
        parts: Any = sum(panel.parts for panel in panels)
        size = float(np.abs(parts).sum())
        exact = sum(panel.missing for panel in panels) <= TOLERANCE * change
        exact = exact and sum(panel.error for panel in panels) <= TOLERANCE * size
        if exact or points + 2 * len(PLACES) > MOST_POINTS:
            return parts, points
        worst = max(panels, key=lambda panel: panel.off(change, size))
        half = (worst.first + worst.last) / 2
        panels.remove(worst)
        panels += [
            _panel(at, worst.first, half, worst.begin, worst.middle),
            _panel(at, half, worst.last, worst.middle, worst.end),
        ]
        points += 2 * len(PLACES)


def _panel(at: At, first: float, last: float, begin: float, end: float) -> Panel:
    half = (last - first) / 2
    values, slopes = at(first + half * (1 + PLACES))
    parts, apart = half * KRONROD @ slopes, half * (KRONROD - GAUSS) @ slopes
    size = float((half * KRONROD @ np.abs(slopes)).sum())
    share = float(np.abs(apart).sum()) / size if size else 0.0
    missing = abs(end - begin - float(parts.sum()))
    error = size * min(share, 100 * share * share)
    return Panel(first, last, begin, float(values[len(PLACES) // 2]), end, parts, missing, error)
