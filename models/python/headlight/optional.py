"""Libraries that are used where they are installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .errors import HeadlightError

Part = TypeVar("Part")


def optional(library: str, what: str) -> Any:
    """The library, or the sentence that names it."""
    try:
        return importlib.import_module(library)
    except ImportError:
        package = library.partition(".")[0]
        raise HeadlightError(
            f"{what} need {package}, which is not installed here: pip install {package}."
        ) from None


def shown_bar() -> Any:
    """tqdm, where it is installed and somebody looks: at a terminal, or in a notebook."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return None
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None


def progress(parts: Sequence[Part], what: str) -> Iterable[Part]:
    """The parts, with a bar where one is shown."""
    bar = shown_bar() if len(parts) > 1 else None
    return parts if bar is None else bar(parts, desc=what, leave=False)
