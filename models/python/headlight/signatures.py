"""Signatures of functions that hand options to the program: each option with its type and what the
program takes without it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Any, TypeVar

from .errors import HeadlightError
from .option_table import DEFAULTS

NO_OPTION = re.compile(r"There is no option (\w+)=(?:; did you mean (\w+)=\?)?")
Function = TypeVar("Function", bound=Callable[..., Any])


def takes(options: type) -> Callable[[Function], Function]:
    """Show the options of a TypedDict in the signature of a function that takes them as
    **options. Where one is unknown, name those that are nearer than the program's own."""

    def around(function: Function) -> Function:
        declared = inspect.signature(function)
        own = [p for p in declared.parameters.values() if p.kind is not p.VAR_KEYWORD]
        names = {p.name for p in own}
        more = [p for p in _parameters(options) if p.name not in names]

        @functools.wraps(function)
        def called(*given: Any, **asked: Any) -> Any:
            for option in more:
                if asked.get(option.name, ...) is None:
                    del asked[option.name]
            try:
                return function(*given, **asked)
            except HeadlightError as problem:
                if better := _nearer(str(problem), [p.name for p in [*own, *more]]):
                    raise HeadlightError(better) from None
                raise

        called.__signature__ = declared.replace(parameters=[*own, *more])  # type: ignore
        return called  # type: ignore[return-value]

    return around


def _parameters(options: type) -> Iterator[inspect.Parameter]:
    """Options as parameters; None: not given."""
    for name, hint in options.__annotations__.items():
        default = DEFAULTS.get(options, {}).get(name)
        written = hint.__forward_arg__
        if default is None and written != "Any":
            written += " | None"
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=written
        )


def _nearer(said: str, own: Sequence[str]) -> str | None:
    """The sentence about an unknown option with the nearest name, where that is one of Python's
    own."""
    found = NO_OPTION.match(said)
    near = get_close_matches(found[1], own, 1) if found else []
    if not found or not near:
        return None
    ratio = [SequenceMatcher(None, found[1], name).ratio() for name in (near[0], found[2] or "")]
    return (
        f"There is no option {found[1]}=; did you mean {near[0]}=?{said[found.end() :]}"
        if ratio[0] > ratio[1]
        else None
    )
