"""Libraries that are used where they are installed."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import HeadlightError


def optional(library: str, what: str) -> Any:
    """The library, or the sentence that names it."""
    try:
        return importlib.import_module(library)
    except ImportError:
        package = library.partition(".")[0]
        raise HeadlightError(
            f"{what} need {package}, which is not installed here: pip install {package}."
        ) from None
