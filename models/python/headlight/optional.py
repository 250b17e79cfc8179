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


def progress(parts: Sequence[Part], what: str) -> Iterable[Part]:
    """The parts, with a bar of tqdm where that is installed and somebody looks: at a terminal, or
    in a notebook."""
    if len(parts) < 2 or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return parts
    try:
        return importlib.import_module("tqdm.auto").tqdm(parts, desc=what, leave=False)
    except ImportError:
        return parts
