"""Names of heads: (1, 2), "1.2", ("cross", 1, 2)."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .errors import HeadlightError


def head_parts(head: Any) -> list[str]:
    """(1, 2), "1.2", ("cross", 1, 2) or "cross.1.2": the layer, with the kind of attention before
    it where one is named, and the head."""
    try:
        parts = (
            head.split(".")
            if isinstance(head, str)
            else [part if isinstance(part, str) else str(operator.index(part)) for part in head]
        )
    except TypeError:
        parts = []
    if len(parts) < 2:
        raise HeadlightError(
            f'{head!r} names no head; give (layer, head), ("cross", layer, head) or "1.2", '
            "counted from 0."
        )
    return parts


def placed_head(head: Any, layer: Any = None) -> Any:
    """The head of layer=1, head=2; a head that names its layer is kept as given."""
    if layer is None or head is None:
        return head
    if not hasattr(head, "__index__") and not (isinstance(head, str) and head.isdigit()):
        raise HeadlightError(
            f"layer={layer} and head={head!r} both name a layer; give head=(1, 2), or layer=1, "
            "head=2."
        )
    return f"{layer}.{head}"


def spelled_head(head: Any) -> str:
    """(1, 2) as "1.2", ("cross", 1, 2) as "cross.1.2"."""
    return ".".join(head_parts(head))


def is_head(value: Any) -> bool:
    """Whether it is one head as numbers: (1, 2) or ("cross", 1, 2)."""
    return (
        isinstance(value, tuple)
        and len(value) in (2, 3)
        and all(hasattr(part, "__index__") for part in value[-2:])
        and (len(value) == 2 or isinstance(value[0], str))
    )


def spelled_heads(heads: Any) -> set[str] | None:
    """One head or several, or None: all of them."""
    if heads is None:
        return None
    if not isinstance(heads, Iterable):
        raise HeadlightError(
            f"heads= is {heads!r}; give heads=[(1, 2), …], or leave heads out for all of them."
        )
    out = {
        spelled_head(head)
        for head in ([heads] if isinstance(heads, str) or is_head(heads) else heads)
    }
    if not out:
        raise HeadlightError(
            "No head is named; give heads=[(1, 2), …], or leave heads out for all of them."
        )
    return out
