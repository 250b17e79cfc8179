"""Errors, in one sentence each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

LISTED = 12  # names in a message


class HeadlightError(Exception):
    """The input cannot be used. The message is the program's own sentence: what, why, and what
    helps."""


class UnknownName(HeadlightError, KeyError):
    """A mapping has no such name. The message lists those that it has."""

    def __str__(self) -> str:
        return str(self.args[0])


class ProgramDied(HeadlightError):
    """The program was ended from outside (by a signal), so that the same may go well another
    time."""


def unknown_name(name: Any, known: Iterable[Any]) -> UnknownName:
    """The error for a name that is not among these."""
    names = [str(one) for one in known]
    near = difflib.get_close_matches(str(name), names, 1)
    listed = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
    return UnknownName(
        f'There is no "{name}" here'
        + (f'; did you mean "{near[0]}"?' if near else ".")
        + f" The names are {listed}."
    )
