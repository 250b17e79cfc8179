"""Check the values of options, in Python's words, before the program reads them."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from collections.abc import Set as AnySet
from numbers import Number
from typing import Any

from .errors import HeadlightError
from .option_table import EITHER, SWITCHES

# Which this package says itself.
OF_THE_COMMAND_LINE = ("output", "o", "json", "quiet", "help", "version", "commands")
TEXTS = ("text", "text_b", "pair", "target", "clean", "corrupted", "metric")


def check_option(name: str, value: Any) -> None:
    """Raise one sentence for a value that no option of this name takes."""
    if name in OF_THE_COMMAND_LINE:
        raise HeadlightError(
            f"{name}= is the command line's: here figures and corpora have .save(path), and "
            "trace takes path=; leave it out."
        )
    if callable(value):
        raise HeadlightError(
            f'{name}= is a function here, and the program takes words: metric="ball - car" for '
            "example, as its command line does."
        )
    if name in SWITCHES:
        if value not in (True, False) if isinstance(value, Number) else True:
            raise HeadlightError(f"{name}= is True or False, not {_shown(value)}.")
    elif isinstance(value, bool) and name not in EITHER:
        raise HeadlightError(f"{name}= takes a value, and {value} is none.")
    elif (
        name in TEXTS
        and not isinstance(value, str)
        and not (name == "metric" and isinstance(value, int))
    ):  # a token's id
        raise HeadlightError(f"{name}= is a text, and {_shown(value)} is none; give a string.")
    elif not (_is_plain(value) or _is_list(value)):
        raise HeadlightError(
            f"{name}= takes words, numbers or a list of them, not {_shown(value)}."
        )


def whole(name: str, value: Any) -> int:
    """A whole number from 1."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise HeadlightError(f"{name}= is a whole number from 1, not {_shown(value)}.")
    return number


def _shown(value: Any) -> str:
    """Numbers by their value, anything else by its type."""
    return (
        repr(value)
        if isinstance(value, (bool, int, float))
        else "an empty text"
        if isinstance(value, str) and not value
        else f"a value of type {type(value).__name__}"
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike, Number)) or getattr(value, "shape", None) == ()


def _is_list(value: Any) -> bool:
    """Of words or numbers, or of heads as tuples of them; an array has one axis."""
    if hasattr(value, "shape"):
        return len(value.shape) == 1
    return (
        isinstance(value, (Sequence, AnySet))
        and not isinstance(value, (bytes, bytearray))
        and all(
            _is_plain(part) or isinstance(part, tuple) and all(map(_is_plain, part))
            for part in value
        )
    )
