"""The fields of requests, and their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import HeadlightError

MAX_IDS, MAX_GLOBS = 1 << 20, 256
COMMON = {"verb", "id", "slot", "tensors"}
READS = {"ids", "text", "pair", "target_ids", "target", "token_types", "picture"}
ACTS = {"mask", "changes"}
FIELDS = {
    "describe": {"tokenizer"},
    "encode": {"text", "pair", "target", "special", "picture"},
    "decode": {"ids"},
    "chat": {"messages", "generation_prompt", "tools", "picture"},
    "run": {*READS, *ACTS, "capture", "heads", "from"},
    "generate": {*READS, *ACTS, "tokens", "temperature", "top_k", "top_p", "seed", "top", "stop"},
    "outcomes": {*READS, "mask", "cases", "at"},
    "lens": {"top", "tokens", "all"},
    "gradient": {*READS, *ACTS, "metric", "by", "heads"},
    "weights": {"head", "file", "from"},
}


FLOATS = {"temperature", "top_p"}
NUMBERS = {"tokens", "top_k", "top", "seed", "from", "at", "temperature", "top_p"}


def checked(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse fields of other types than the protocol's, so that none reaches the model."""
    for name, value in request.items():
        if value is None or name in ("id", "slot", "verb", "tensors", "messages", "tools"):
            continue
        if name in NUMBERS and not (name == "tokens" and isinstance(value, list)):
            good = isinstance(value, (int, float)) and not isinstance(value, bool)
            good = good and 0 <= value < 1 << 63 and (name in FLOATS or isinstance(value, int))
        elif name in ("ids", "target_ids", "token_types", "stop", "tokens"):
            good = isinstance(value, list) and len(value) <= MAX_IDS
            good = good and all(type(i) is int and 0 <= i < 1 << 31 for i in value)
        elif name in ("capture", "by", "changes", "heads"):
            good = isinstance(value, list) and len(value) <= MAX_GLOBS
            good = good and all(isinstance(part, str) for part in value)
        elif name == "cases":
            good = isinstance(value, list) and len(value) <= MAX_GLOBS
            good = good and all(
                isinstance(case, list)
                and len(case) <= MAX_GLOBS
                and all(isinstance(part, str) for part in case)
                for case in value
            )
        elif name in ("special", "generation_prompt", "all"):
            good = isinstance(value, bool)
        else:
            good = isinstance(value, str)
        if not good:
            raise HeadlightError(f'The field "{name}" has another type than docs/engine.md says.')
    return request


def known(verb: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse fields that the verb does not have, and fields of other types."""
    if unknown := sorted(set(request) - FIELDS[verb] - COMMON):
        raise HeadlightError(
            f'The request "{verb}" has no field "{unknown[0]}"; it has '
            f"{', '.join(sorted(FIELDS[verb]))}."
        )
    return checked(request)
