"""A user's own function from ids to patterns, and TransformerLens's models, behind the engine's
protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import arrays
from ..errors import HeadlightError
from ..hooked_models import is_hooked
from ..trace_writer import as_array, is_causal, place
from .changes import Block
from .fields import checked
from .plans import Cancelled, Wanted
from .requests import Requests
from .texts import Answer, Stop, Texts, described_chat

REFUSED = (
    "is a function that gives patterns, and nothing can be changed or asked inside it; give a "
    "transformers model for that."
)


class FunctionRequests(Requests):
    """Answers run, encode, decode and chat; refuses what needs a model's inside."""

    AT_ONCE = ("encode", "decode", "chat")  # the function is called by one thread alone

    def __init__(self, function: Any, tokenizer: Any, name: str):
        self.function, self.name = function, name
        self.hooked = is_hooked(function)
        tokenizer = tokenizer or (getattr(function, "tokenizer", None) if self.hooked else None)
        Texts.__init__(self, name, tokenizer)

    def forget(self) -> None:
        """Nothing is kept between requests."""

    def describe(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        can = dict.fromkeys(("reuse", "attention", "positions", "noise", "lens", "generate"), False)
        blocks = self._blocks()
        return Answer(
            {
                "name": self.name,
                "family": "function",
                "kind": "decoder" if all(b["rule"]["causal"] for b in blocks) else "encoder",
                "blocks": blocks,
                "tokenizer": str(getattr(self.tokenizer, "name_or_path", "") or "") or None,
                "chat": described_chat(self.tokenizer),
                "can": {**can, "chat": bool(getattr(self.tokenizer, "chat_template", None))},
            }
        )

    def _blocks(self) -> list[dict[str, Any]]:
        """What a pass over a few tokens shows: the blocks, their heads, whether they look ahead."""
        known = self.tokenizer is not None
        ids = list(self.tokenizer("one two three")["input_ids"]) if known else [0, 1, 2]
        return [
            {
                "path": place(block)[:-1],
                "at": place(block)[:-1],
                "heads": layer.shape[0],
                "kv_heads": layer.shape[0],
                "rule": {
                    "says": False,
                    "causal": is_causal(as_array(layer.head(0), np.dtype("<f4"))),
                },
            }
            for block, layer in self._called(ids)[0].blocks.items()
        ]

    def answer(self, verb: str, request: Any, tensors: Any, stop: Stop) -> Iterator[Answer]:
        acts = bool(request.get("changes")) or request.get("mask") not in (None, "own")
        if request.get("picture") is not None or "picture" in tensors:
            raise HeadlightError(f"{self.name} reads no pictures here; leave the picture out.")
        if verb not in ("describe", *self.AT_ONCE, "run") or acts:
            raise HeadlightError(f"{self.name} {REFUSED}")
        yield from super().answer(verb, request, tensors, stop)

    def run(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        ids = request.get("ids")
        if ids is None:
            ids = self.encode(checked({**request, "special": True}), tensors, stop).header["ids"]
        if not ids:
            raise HeadlightError("There are no tokens to read; send some text, or ids.")
        patterns, residuals = self._called(list(ids))
        if stop():
            raise Cancelled
        wanted = Wanted(request.get("capture") or ["*hook_pattern", "*hook_resid_*"])
        kept = {}
        for block, layer in patterns.blocks.items():
            name = place(block) + "hook_pattern"
            if wanted.name(name):
                heads = [as_array(layer.head(h), np.dtype("<f4")) for h in range(layer.shape[0])]
                kept[name] = np.stack(heads)
        kept |= {name: rows for name, rows in residuals.items() if wanted.name(name)}
        sides = arrays.sides_of(patterns.sizes, {"": ids}, self.tokenizer)
        return Answer({"from": 0, "sides": {"input": sides[""]}, "rules": _rules(patterns)}, kept)

    def _called(self, ids: list[int]) -> tuple[arrays.Patterns, dict[str, Any]]:
        out = self._hooked(ids) if self.hooked else self.function(ids)
        if isinstance(out, Mapping) and "patterns" in out:
            patterns = arrays.of_stacks({"patterns": out["patterns"]})
            held = out.get("residuals")
            return patterns, {} if held is None else _streams(held)
        if isinstance(out, Mapping):
            streams = {str(n): _rows(out[n]) for n in out if "hook_resid" in str(n)}
            return arrays.of_names(out), streams
        return arrays.of_stacks({"patterns": out}), {}

    def _hooked(self, ids: list[int]) -> Any:
        import torch  # that of the model

        kept = lambda name: name.endswith(("hook_pattern", "hook_resid_pre", "hook_resid_post"))
        with torch.no_grad():
            return self.function.run_with_cache(torch.tensor([ids]), names_filter=kept)[1]


def _rows(tensor: Any) -> np.ndarray:
    array = as_array(tensor, np.dtype("<f4"))
    return array[0] if array.ndim == 3 else array


def _streams(residuals: Any) -> dict[str, np.ndarray]:
    """Name residual streams [layer + 1, pos, d_model]: layer inputs, and the last output."""
    held = [_rows(part) for part in residuals]
    out = {f"blocks.{layer}.hook_resid_pre": rows for layer, rows in enumerate(held[:-1])}
    return out | {f"blocks.{layer - 1}.hook_resid_post": r for layer, r in enumerate(held) if layer}


def _rules(patterns: arrays.Patterns) -> dict[str, Any]:
    blocks: dict[Block, arrays.Layer] = patterns.blocks
    return {place(b)[:-1]: {"says": False, "heads": layer.shape[0]} for b, layer in blocks.items()}
