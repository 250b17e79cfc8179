"""Models of nnsight: the transformers model that one holds, with its tokenizer; caches of its
traces. nnsight itself is that of the model; it is not imported here."""

from __future__ import annotations

from typing import Any

HELD = ("_module", "_model")  # where nnsight keeps it, since 0.5 and before


def unwrapped(model: Any, tokenizer: Any) -> tuple[Any, Any]:
    """The model in nnsight's LanguageModel, TransformersModel or NNsight, loaded where nnsight has
    put that off, and the cache of a trace as a mapping of the names of modules; anything else
    unchanged."""
    if not any(kind.__module__.partition(".")[0] == "nnsight" for kind in type(model).__mro__):
        return model, tokenizer
    if not any(name in vars(model) for name in HELD):
        return {name: model[name] for name in model.keys() if "." in name} if hasattr(
            type(model), "keys"
        ) else model, tokenizer
    if vars(model).get("dispatched", True) is False:
        model.dispatch()
    inside = next(vars(model)[name] for name in HELD if name in vars(model))
    return inside, tokenizer if tokenizer is not None else vars(model).get("tokenizer")
