"""Patterns that somebody already holds: arrays, tensors, the output of a model, a cache of
activations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import HeadlightError
from .trace_writer import TraceWriter

NAMED = re.compile(r"^(blocks|encoder|decoder)\.(\d+)\.(attn|cross_attn)\.hook_pattern$")
# In the names of transformers' modules.
CROSS = re.compile(r"encoder_attn|crossattention|EncDecAttention|cross_attn|enc_dec", re.I)

OF_STEPS = (
    "What generate() returns keeps the patterns of each written token apart, a tuple of tuples "
    "of layers; give those of one pass over the whole text, "
    "model(outputs.sequences, output_attentions=True), or of the first step alone, "
    "outputs.attentions[0], which are those of the prompt."
)
NONE_KEPT = (
    "These patterns are empty: the model kept no attentions; load it with "
    'attn_implementation="eager", or give the model itself to Headlight.'
)


@dataclass
class Layer:
    """The patterns of a layer, one at a time."""

    shape: tuple[int, int, int]  # head, query, key
    head: Callable[[int], Any]


@dataclass
class Patterns:
    """Blocks (stack, cross, layer) with their patterns."""

    blocks: dict[tuple[str, bool, int], Layer]

    @property
    def sizes(self) -> dict[str, int]:
        """How many tokens each side has: "" and, of an encoder-decoder model, "decoder_"."""
        out: dict[str, int] = {}
        for (stack, cross, layer), held in self.blocks.items():
            side = "decoder_" if stack == "decoder" else ""
            for read, size in ((side, held.shape[1]), ("" if cross else side, held.shape[2])):
                if out.setdefault(read, size) != size:
                    raise HeadlightError(
                        f"Layer {layer} has {held.shape[1]} queries and {held.shape[2]} keys "
                        f"where {out[read]} tokens are expected; give patterns of the whole "
                        "text, "
                        "or encoder_patterns, decoder_patterns and cross_patterns where one text "
                        "attends to another."
                    )
        return out


def layers_of(patterns: Any, batch: int | None = None) -> list[Layer]:
    """The layers of [layer, head, query, key], of [head, query, key] (one layer), of [query, key]
    (one head), or of a list of such, each with or without a batch, of which `batch` names the text.
    Nothing is copied: a head is taken out by its index when it is asked for."""
    if not hasattr(patterns, "shape"):
        parts = list(patterns)
        if any(part is None for part in parts):
            raise HeadlightError(NONE_KEPT)
        if any(
            isinstance(part, (tuple, list))
            and part
            and all(len(getattr(one, "shape", ())) == 4 for one in part)
            for part in parts
        ):
            raise HeadlightError(OF_STEPS)
        if not all(hasattr(part, "shape") for part in parts):
            return layers_of(_numbers(parts), batch)
        if parts and all(len(part.shape) == 2 for part in parts):
            return [Layer((len(parts), *_two(parts[0])), lambda h: parts[h])]
        return [layer for part in parts for layer in layers_of(_unbatched(part, batch), batch)]
    rank = len(patterns.shape)
    if rank == 2:
        return [Layer((1, *_two(patterns)), lambda h: patterns)]
    if rank == 3:
        return [Layer(tuple(patterns.shape), lambda h: patterns[h])]
    if rank == 4 and batch is not None:
        return [_layer(patterns, which(patterns.shape[0], batch))]
    if rank == 4:
        return [_layer(patterns, i) for i in range(patterns.shape[0])]
    if rank == 5:
        return [
            _layer(patterns, i, which(patterns.shape[1], batch)) for i in range(patterns.shape[0])
        ]
    raise HeadlightError(
        f"Patterns of the shape {list(patterns.shape)} are not attention; give [layer, head, "
        "query, key], [head, query, key] or [query, key]."
    )


def _layer(patterns: Any, *at: int) -> Layer:
    """The layer at [layer] or [layer, batch] of what holds all of them."""
    heads, queries, keys = patterns.shape[-3:]
    return Layer((heads, queries, keys), lambda h: patterns[(*at, h)])


def _two(pattern: Any) -> tuple[int, int]:
    return int(pattern.shape[0]), int(pattern.shape[1])


def _unbatched(layer: Any, batch: int | None) -> Any:
    return layer[which(layer.shape[0], batch)] if len(layer.shape) == 4 else layer


def which(texts: Any, batch: int | None) -> int:
    """The place of a text in a batch of so many: the only one, or the one that was named."""
    count = int(texts)
    if batch is None and count != 1:
        raise HeadlightError(
            f"These are the patterns of a batch of {count} texts, and one is shown; name it by "
            f"batch=0 to batch={count - 1}."
        )
    if batch is not None and not 0 <= batch < count:
        raise HeadlightError(
            f"There is no text {batch} in a batch of {count}; name one by batch=0 to "
            f"batch={count - 1}."
        )
    return batch or 0


def _numbers(parts: list[Any]) -> np.ndarray:
    try:
        return np.asarray(parts, np.float32)
    except (TypeError, ValueError):
        raise HeadlightError(
            "Patterns are arrays of numbers; give [layer, head, query, key], [head, query, key] "
            "or [query, key]."
        ) from None


def of_stacks(given: Mapping[str, Any], batch: int | None = None) -> Patterns:
    """given: "patterns", or "encoder_patterns", "decoder_patterns" and "cross_patterns"."""
    if given.get("patterns") is not None:
        stacks = {("blocks", False): given["patterns"]}
    else:
        names = {
            ("encoder", False): "encoder_patterns",
            ("decoder", False): "decoder_patterns",
            ("decoder", True): "cross_patterns",
        }
        missing = [name for name in names.values() if given.get(name) is None]
        if missing:
            raise HeadlightError(
                f"An encoder-decoder model has three kinds of attention; {' and '.join(missing)} "
                "must be given too."
            )
        stacks = {block: given[name] for block, name in names.items()}
    blocks = {
        (*kind, i): layer
        for kind, patterns in stacks.items()
        for i, layer in enumerate(layers_of(patterns, batch))
    }
    if not blocks and all(isinstance(patterns, tuple) for patterns in stacks.values()):
        raise HeadlightError(NONE_KEPT)
    if not blocks:
        raise HeadlightError(
            "There are no patterns in what was given; give [layer, head, query, key], [head, "
            "query, key] or [query, key]."
        )
    return Patterns(blocks)


def of_names(named: Mapping[str, Any], batch: int | None = None) -> Patterns:
    """An ActivationCache, or any mapping of names such as "blocks.0.attn.hook_pattern" to
    tensors."""
    blocks = {}
    for name in named:
        if found := NAMED.match(str(name)):
            blocks[found[1], found[3] == "cross_attn", int(found[2])] = layers_of(
                _unbatched(named[name], batch)
            )[0]
    if not blocks:
        raise HeadlightError(
            "What was given holds no hook_pattern; run run_with_cache without a names_filter, or "
            "with one that keeps names that end in hook_pattern."
        )
    return Patterns(blocks)


def has_outputs(cache: Mapping[str, Any]) -> bool:
    return any(hasattr(_first_pass(entry), "output") for entry in cache.values())


def _first_pass(entry: Any) -> Any:
    return entry[0] if isinstance(entry, list) and entry else entry


def of_modules(cache: Mapping[str, Any], batch: int | None = None) -> Patterns:
    """The cache of a trace of nnsight, or any mapping of the names of a transformers model's
    modules to what has their `output`."""
    held = {
        str(name): pattern for name in cache if (pattern := _pattern_in(cache[name])) is not None
    }
    innermost = [name for name in held if not any(other.startswith(name + ".") for other in held)]
    two = any(_is_in(name, "encoder") for name in innermost) and any(
        _is_in(name, "decoder") for name in innermost
    )
    blocks: dict[tuple[str, bool, int], Layer] = {}
    for name in sorted(
        innermost,
        key=lambda name: [int(part) if part.isdigit() else -1 for part in name.split(".")],
    ):
        stack = "blocks" if not two else "encoder" if _is_in(name, "encoder") else "decoder"
        cross = stack == "decoder" and CROSS.search(name) is not None
        layer = sum(block[:2] == (stack, cross) for block in blocks)
        blocks[stack, cross, layer] = layers_of(_unbatched(held[name], batch))[0]
    if not blocks:
        raise HeadlightError(
            "This cache holds no attention patterns; load the model with "
            'attn_implementation="eager" and cache the outputs of its attention modules, or give '
            "the model itself to Headlight."
        )
    return Patterns(blocks)


def _is_in(name: str, stack: str) -> bool:
    return stack in name.split(".")


def _pattern_in(entry: Any) -> Any:
    """[batch, head, query, key], where an attention module returned it; of several passes, of the
    first. T5's returns its bias too, before it."""
    output = _first_pass(getattr(_first_pass(entry), "output", None))
    parts = (
        [part for part in output if len(getattr(part, "shape", ())) == 4]
        if isinstance(output, tuple)
        else []
    )
    return next(
        (
            part
            for part in reversed(parts)
            if float(part[0, 0].min()) >= 0 and float(part[0, 0].max()) <= 1.001
        ),
        None,
    )


def of_output(output: Any, batch: int | None = None) -> Patterns:
    """The output of a transformers model that was asked for output_attentions."""
    kinds = {
        f"{kind}_patterns": getattr(output, f"{kind}_attentions", None)
        for kind in ("encoder", "decoder", "cross")
    }
    if all(kinds.values()):
        return of_stacks(kinds, batch)
    if not getattr(output, "attentions", None):
        raise HeadlightError(
            "This output holds no attentions; call the model with output_attentions=True (and "
            'load it with attn_implementation="eager"), or give the model itself to Headlight.'
        )
    return of_stacks({"patterns": output.attentions}, batch)


def sides_of(
    sizes: Mapping[str, int], named: Mapping[str, Any], tokenizer: Any = None
) -> dict[str, dict[str, list[Any]]]:
    """Tokens, labels and ids of each side. named: for "" and "decoder_" a list of texts, ids (which
    a tokenizer spells), or None (positions)."""
    out = {}
    for side, size in sizes.items():
        tokens = named.get(side)
        described = described_tokens(
            range(size) if tokens is None else tokens, None if tokens is None else tokenizer
        )
        if len(described["tokens"]) != size:
            raise HeadlightError(
                f"{len(described['tokens'])} tokens are named where the patterns have {size}; "
                "give one for each position."
            )
        out[side] = described if tokens is not None else {**described, "ids": []}
    return out


def rows_of_ids(torch: Any, ids: Any) -> Any:
    """Ids [pos] or [batch, pos] as [batch, pos]."""
    held = torch.as_tensor(ids)
    return held if held.dim() == 2 else held.reshape(1, -1)


def described_tokens(tokens: Any, tokenizer: Any = None) -> dict[str, list[Any]]:
    """tokens: texts, or ids as numbers or a tensor [pos] or [1, pos]."""
    if hasattr(tokens, "detach"):
        tokens = tokens.detach().to("cpu").numpy()
    held = np.asarray(tokens).reshape(-1).tolist() if hasattr(tokens, "shape") else list(tokens)
    if isinstance(tokens, str) or any(not isinstance(t, (str, int, np.integer)) for t in held):
        raise HeadlightError("Tokens are texts or ids; give a list of them, one for each position.")
    if held and all(isinstance(t, str) for t in held):
        return {"tokens": held, "labels": held, "ids": []}
    ids = [int(t) for t in held]
    spelled = (
        [str(t) for t in ids]
        if tokenizer is None
        else [str(t) for t in tokenizer.convert_ids_to_tokens(ids)]
    )
    return {
        "tokens": spelled,
        "labels": spelled if tokenizer is None else [tokenizer.decode([i]) for i in ids],
        "ids": ids,
    }


def write(writer: TraceWriter, patterns: Patterns) -> None:
    """Head by head: at most one of them is copied at a time."""
    for block in sorted(patterns.blocks):
        held = patterns.blocks[block]
        writer.add_patterns(block, held.shape, held.head)
