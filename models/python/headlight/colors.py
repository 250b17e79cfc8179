"""The program's color maps, as its own figures hold them."""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np

from .errors import HeadlightError
from .figure import Figure
from .pages import DATA
from .sources import open_source

STOP = re.compile(r'<stop offset="([\d.]+)" style="stop-color:rgb\(([\d.]+)%,([\d.]+)%,([\d.]+)%\)')
HIDDEN = (243, 244, 246)  # of what a mask hides: no weight has it


def _figure(**options: object) -> Figure:
    source = open_source(None, None, None, {"patterns": np.eye(2, dtype=np.float32)})
    return Figure(source, "head", None, "svg", options)


@cache
def sequential(name: str) -> np.ndarray:
    """Colors from nothing to the largest weight, uint8 [256, 3], read from a color bar."""
    stops = [[float(part) for part in stop] for stop in STOP.findall(_figure(colormap=name).svg)]
    if len(stops) < 2:
        raise HeadlightError(f"The color map {name} has no color bar; name another colormap=.")
    at, *colors = np.array(stops).T
    steps = np.linspace(0, 1, 256)
    return np.rint(np.stack([np.interp(steps, at, one) for one in colors], 1) * 2.55).astype("u1")


@cache
def signed() -> np.ndarray:
    """Colors from the most negative to the largest value, uint8 [256, 3]."""
    found = DATA.search(_figure().html)
    told = json.loads(found[1])["maps"]["balance_light"] if found else ""
    return np.array([list(bytes.fromhex(one)) for one in told.split("#")[1:]], "u1")


def painted(values: np.ndarray, most: float, colors: np.ndarray, both_signs: bool) -> np.ndarray:
    """Values as colors, uint8 [row, column, 3]: 0 to most, or −most to most."""
    share = values / most if most else np.zeros_like(values)
    share = (share + 1) / 2 if both_signs else share
    hidden = np.isnan(share)
    index = np.rint(np.clip(np.where(hidden, 0, share), 0, 1) * (len(colors) - 1)).astype(int)
    return np.where(hidden[..., None], np.array(HIDDEN, "u1"), colors[index])
