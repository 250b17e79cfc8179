"""Interactive pages in notebooks: a frame of its own for each, which can reach nothing outside."""

from __future__ import annotations

import html
import re

DATA = re.compile(r'id="headlight">(.*?)</script>', re.S)  # of a page, in JSON
LARGEST = 15_000_000  # characters of a page; notebooks keep every one in their file
HEIGHTS = {"head": 640, "compare": 640, "delta": 640, "positions": 640}
HEIGHT = 740  # pixels, of views with a list or a panel below


def height_of(view: str) -> int:
    return HEIGHTS.get(view, HEIGHT)


def framed(page: str, view: str) -> str:
    """The page in an iframe. Without allow-same-origin its scripts see neither the notebook nor its
    cookies."""
    return (
        f'<iframe title="Headlight: {html.escape(view)}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {height_of(view)}px; border: 0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
