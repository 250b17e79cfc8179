"""Refuse inputs that a model in memory cannot read, before it runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .errors import HeadlightError

# Of a pass before.
CACHES = (
    "past_key_values",
    "cache",
    "past_key_value",
    "layer_past",
    "past",
    "cache_params",
    "mems",
)


def check_arguments(model: Any, arguments: Mapping[str, Any]) -> None:
    """The arguments of the forward pass: a whole text, of ids that the model has."""
    if cache := next((name for name in CACHES if arguments.get(name) is not None), None):
        raise HeadlightError(
            f"inputs= holds {cache}, so this pass reads new tokens after others that are not "
            "there; give the whole text without it."
        )
    config = model.config
    if (
        hasattr(config, "get_text_config")
        and config.get_text_config() is not config
        and not getattr(config, "is_encoder_decoder", False)
    ):
        return  # places of pictures may have ids of their own
    for name in (
        ("input_ids",)
        if any(hasattr(config, own) for own in ("decoder_vocab_size", "tgt_vocab_size"))
        else ("input_ids", "decoder_input_ids")
    ):
        _check_ids(name, arguments.get(name), _vocabulary(model))


def _vocabulary(model: Any) -> int | None:
    """How many ids there are, where that is known."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except (AttributeError, NotImplementedError):
        return None


def _check_ids(name: str, ids: Any, count: int | None) -> None:
    if (
        count is None
        or not hasattr(ids, "min")
        or not hasattr(ids, "numel")
        or not ids.numel()
        or ids.is_floating_point()
    ):
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= count:
        raise HeadlightError(
            f"{name} hold {low if low < 0 else high}, and this model's ids go from 0 to "
            f"{count - 1}; give ids of its own tokenizer."
        )


def check_weights(model: Any) -> None:
    """A model that was made on the device "meta" has shapes and no numbers; what accelerate has put
    elsewhere comes when it is run."""
    torch = sys.modules["torch"]
    held = list(model.parameters()) if hasattr(model, "parameters") else []
    offloaded = getattr(model, "hf_device_map", None) or any(
        hasattr(module, "_hf_hook") for module in model.modules()
    )
    if (
        held
        and not offloaded
        and any(isinstance(p, torch.Tensor) and p.device.type == "meta" for p in held)
    ):
        raise HeadlightError(
            "This model is on the device meta, where it has shapes and no weights; load them, by "
            "from_pretrained for example, before it is shown."
        )
