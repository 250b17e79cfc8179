"""Record models of TransformerLens (TransformerBridge, and HookedTransformer before version 4.3),
known by their methods alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from .arrays import NAMED, described_tokens, rows_of_ids, which
from .errors import HeadlightError
from .trace_writer import TraceWriter
from .transformers_models import evaluating


def is_hooked(model: Any) -> bool:
    return all(hasattr(model, name) for name in ("run_with_hooks", "run_with_cache", "to_tokens"))


def tokens_of(model: Any, text: Any, given: Mapping[str, Any]) -> Any:
    """[batch, pos], with the token that the model puts first."""
    torch = sys.modules["torch"]
    if given.get("ids") is not None:
        return rows_of_ids(torch, given["ids"])
    if text is None or getattr(model, "tokenizer", None) is None:
        raise HeadlightError(
            "A model of TransformerLens reads a text by its tokenizer, or ids=[…]; give one of "
            "them."
        )
    return model.to_tokens(text)


def record(
    model: Any, text: Any, given: Mapping[str, Any], start: Callable[[dict[str, Any]], TraceWriter]
) -> TraceWriter:
    """One forward pass; each hook_pattern goes to the file as it is computed. The writer is left
    open."""
    read = tokens_of(model, text, given)
    batch = which(read.shape[0], None if given.get("batch") is None else int(given["batch"]))
    side = described_tokens(read[batch], getattr(model, "tokenizer", None))
    if given.get("tokens") is not None:
        side = {**described_tokens(given["tokens"]), "ids": side["ids"]}
    writer = start({"": side})

    def note(pattern: Any, hook: Any) -> None:
        found = NAMED.match(hook.name)
        block = (found[1], found[3] == "cross_attn", int(found[2])) if found else ("", False, 0)
        if found and block not in writer.blocks:
            writer.add_patterns(block, pattern.shape[1:], lambda h: pattern[batch, h])

    names = [f"blocks.{layer}.attn.hook_pattern" for layer in range(int(model.cfg.n_layers))]
    try:
        with sys.modules["torch"].no_grad(), evaluating(model):
            model.run_with_hooks(read, return_type=None, fwd_hooks=[(name, note) for name in names])
        if not writer.blocks:
            raise HeadlightError(
                "This model runs no hook_pattern; load it so that it keeps attention patterns "
                "(of TransformerLens 4: with eager attention)."
            )
    except BaseException:
        writer.drop()
        raise
    return writer
