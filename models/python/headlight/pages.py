"""Interactive pages in notebooks: a frame of its own for each, which can reach nothing outside."""

from __future__ import annotations

import html
import re

DATA = re.compile(r'id="headlight">(.*?)</script>', re.S)  # of a page, in JSON
LARGEST = 15_000_000  # characters of a page; notebooks keep every one in their file
# Pixels in which a page as wide as a notebook needs no bar of its own to scroll.
HEIGHTS = {"lens": 740, "lines": 820, "text": 820, "positions": 810}
HEIGHT = 890  # of other views
NARROWEST = 320  # pixels; a page that begins in a narrower frame has no room for a map
# How dark notebooks are told: JupyterLab and nbconvert, VS Code, Colab.
DARK = (
    '[data-jp-theme-light="false"]',
    '[data-vscode-theme-kind="vscode-dark"]',
    '[data-vscode-theme-kind="vscode-high-contrast"]',
    'html[theme="dark"]',
)
# A frame's color-scheme is what the page inside hears as the preferred one.
CSS = (
    f"iframe.headlight{{width:100%;min-width:{NARROWEST}px;border:0;color-scheme:light}}"
    f"{','.join(f'{dark} iframe.headlight' for dark in DARK)}{{color-scheme:dark}}"
)
BLOCK = '"query_tokens":'  # once in the data of each layer


def height_of(view: str, page: str) -> int:
    """Pixels in which a view is seen without scrolling, where that is not too much: all heads of a
    few layers need less."""
    if view == "heads":
        return min(740, max(440, 260 + 100 * page.count(BLOCK)))
    return HEIGHTS.get(view, HEIGHT)


def following(page: str) -> str:
    """The page, light or dark as what is around it."""
    found = DATA.search(page)
    if found is None:
        return page
    said = found[1].replace('"theme":"light"', '"theme":"auto"', 1)
    return page[: found.start(1)] + said + page[found.end(1) :]


def framed(page: str, view: str) -> str:
    """The page in an iframe. Without allow-same-origin its scripts see neither the notebook nor its
    cookies."""
    return (
        f'<style>{CSS}</style><iframe class="headlight" title="Headlight: {html.escape(view)}" '
        'sandbox="allow-scripts allow-downloads" '
        f'style="height: {height_of(view, page)}px" srcdoc="{html.escape(page)}"></iframe>'
    )
