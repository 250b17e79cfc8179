"""Models of nnsight: the transformers model that one holds, with its tokenizer; caches of its
traces. nnsight itself is that of the model; it is not imported here."""

from __future__ import annotations

from typing import Any

from .errors import HeadlightError

HELD = ("_module", "_model")  # where nnsight keeps it, since 0.5 and before
EDITS = ("_edits", "_default_mediators")  # what model.edit() stored, since 0.6 and before


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
    if any(vars(model).get(name) for name in EDITS):
        raise HeadlightError(
            "This nnsight model has edits, which only nnsight's own traces apply; give the model "
            "without them (model.clear_edits()), and make the same change as an intervention here."
        )
    if vars(model).get("dispatched", True) is False:
        model.dispatch()
    inside = next(vars(model)[name] for name in HELD if name in vars(model))
    return inside, tokenizer if tokenizer is not None else vars(model).get("tokenizer")


def watches(function: Any) -> bool:
    """Whether nnsight has put it on a module, where it changes nothing outside of its traces."""
    named = type(function).__module__, getattr(function, "__module__", "")
    return any(str(name).partition(".")[0] == "nnsight" for name in named)


def traced_elsewhere(problem: Exception) -> HeadlightError | None:
    """A sentence where a pass met a trace of nnsight that runs in another thread, whose workers are
    greenlets of that thread."""
    if "different thread" not in str(problem):
        return None
    return HeadlightError(
        "A trace of nnsight runs in this model meanwhile; ask again once it has ended."
    )
