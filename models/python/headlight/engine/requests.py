"""Answer the requests of the engine's protocol (docs/engine.md) for a transformers model."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..arrays import described_tokens
from ..errors import HeadlightError
from ..trace_writer import place
from .batches import logits_under, plans_of, position_of
from .changes import Block
from .fields import known
from .lens import Lens
from .logits import check_tokens, metric, sampled
from .model import LiveModel
from .passes import Pass
from .plans import Plan, Wanted
from .prefixes import Prefix, spelled_plan
from .sending import Sending, described_weights, weights_version
from .spellings import tokenizer_file
from .text import Text, longer
from .texts import Answer, Stop, Texts, described_chat
from .weights import head_weights

MAX_TOKENS, MAX_TOP = 1 << 16, 1000
DEFAULT = ("*hook_q", "*hook_k", "*hook_resid_pre", "*hook_attn_out", "*hook_mlp_out")
DEFAULT += ("*hook_resid_post",)


class Requests(Texts):
    """Each verb is a method that gives one answer, or yields several."""

    AT_ONCE = ("describe", "encode", "decode", "chat")  # answered while a pass runs

    def __init__(self, live: LiveModel):
        super().__init__(type(live.model).__name__, live.tokenizer, live.reader)
        self.live, self.lens_of, self.sending = live, Lens(live), Sending(live)

    def answer(
        self, verb: str, request: Mapping[str, Any], tensors: Mapping[str, Any], stop: Stop
    ) -> Iterator[Answer]:
        out = getattr(self, verb)(known(verb, request), tensors, stop)
        yield from [out] if isinstance(out, Answer) else out

    def forget(self) -> None:
        """Forget what belongs to a client that is gone."""
        self.live.prefixes.held = Prefix()
        self.sending.folder = None

    def close(self) -> None:
        """Nothing more is asked."""

    # ---- what there is

    def describe(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        live, tokenizer = self.live, self.live.tokenizer
        out = {
            "name": live.name,
            "family": str(live.config.model_type),
            "kind": self._kind(),
            "class": type(live.model).__name__,
            "d_model": live.found.width,
            "vocabulary": live.vocabulary(),
            "logits": self.lens_of.vocabulary,
            "mask": getattr(tokenizer, "mask_token_id", None),
            "positions": getattr(live.config, "max_position_embeddings", None),
            "config": _finite(live.config.to_dict()),
            "blocks": [self._block(block) for block in live.heads],
            "tensors_of_layers": sorted(live.found.points),
            "tokenizer": str(getattr(tokenizer, "name_or_path", "") or "") or None,
            "can": self._can(),
            "weights": described_weights(live),
            "chat": described_chat(tokenizer, live.reader),
            "ends": sorted(self._ends({})),
            "pictures": getattr(live.reader, "kind", None),
        }
        with self._tokenizing:
            file = tokenizer_file(tokenizer) if request.get("tokenizer") == "file" else None
        if file is None:
            return Answer(out)
        return Answer(out, {"tokenizer.json": np.frombuffer(file.encode(), np.uint8)})

    def _kind(self) -> str:
        if self.live.paired:
            return "encoder_decoder"
        return "decoder" if all(map(self.live.causal, self.live.heads)) else "encoder"

    def _block(self, block: Block) -> dict[str, Any]:
        live, (heads, kv_heads) = self.live, self.live.heads[block]
        stack, cross, layer = block
        path = (
            f"cross.{layer}" if cross else str(layer) if stack == "blocks" else f"{stack}.{layer}"
        )
        event = live.found.layers.get(block)
        module = event.name if event else None
        return {
            "path": path,
            "at": place(block)[:-1],
            "module": module,
            "heads": heads,
            "kv_heads": kv_heads,
            **dict(zip(("d_head", "d_value"), live.widths.get(block, ()))),
            "rule": live.rules[block],
        }

    def _can(self) -> dict[str, Any]:
        live = self.live
        return {
            "reuse": live.prefixes.work,
            "attention": live.attends,
            "positions": all(live.knows_positions(b[0]) for b in live.heads),
            "noise": live.found.embedding_scale is not None,
            "lens": self.lens_of.works,
            "generate": self.lens_of.predicts and self._kind() != "encoder",
            "chat": described_chat(live.tokenizer, live.reader) is not None,
        }

    # ---- passes

    def _text(
        self, request: Mapping[str, Any], tensors: Mapping[str, Any], predicts: bool = True
    ) -> Text:
        if predicts and self.live.alone:
            raise HeadlightError(
                f"{self.called} reads pictures and predicts no tokens; ask for its patterns and "
                "its residual stream."
            )
        with self._tokenizing:
            return self.live.text(self._named(request, tensors))

    def _heads(self, request: Mapping[str, Any]) -> frozenset[tuple[Block, int]] | None:
        if request.get("heads") is None:
            return None
        found = [(name, self.live.places.head(str(name))) for name in request["heads"]]
        if missing := next((name for name, head in found if head is None), None):
            raise HeadlightError(f'This model has no head "{missing}"; write 3.5 or cross.0.2.')
        return frozenset(head for _, head in found if head)

    def run(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        globs = request.get("capture") or list(DEFAULT)
        logits = any(glob == "logits" for glob in globs)
        text = self._text(request, tensors, logits)
        plan = self.live.plan(request, text, tensors, stop)
        wanted = Wanted(globs, self._heads(request))
        version, have = self._version(), request.get("from") or 0
        past, running = self._reusing(text, plan, wanted, stop, logits, have, version)
        kept = {n: t for n, t in running.kept.items() if wanted.name(n) or _says(n)}
        if not any(wanted.name(name) for name in kept):
            raise HeadlightError(
                f"Nothing that this model computes is called {' or '.join(map(str, globs))}; ask "
                "describe for the names."
            )
        told = {
            "from": past,
            "version": version,
            "sides": {side or "input": held for side, held in text.sides.items()},
            "rules": {place(block)[:-1]: rule for block, rule in running.rules.items()},
        }
        return Answer(told, kept)

    def _version(self) -> int:
        return self.live.first(weights_version(self.live.model))

    def _reusing(
        self,
        text: Text,
        plan: Plan,
        wanted: Wanted,
        stop: Stop,
        logits: bool,
        have: int,
        version: int,
    ) -> tuple[int, Pass]:
        """A pass over the rows that the client lacks; version: of the weights that compute it."""
        live, spelled = self.live, f"{version}\n{spelled_plan(plan)}"
        prefixes = live.prefixes
        if text.picture is not None:  # what it keeps is of a text alone
            prefixes.held = Prefix()
        if text.picture is not None or not prefixes.keep(plan):
            return 0, live.compute(text, wanted, plan, stop, logits=logits)
        past, cache = prefixes.resume(text, spelled, have)
        more = prefixes.cached(cache)
        running = live.compute(text.part(past), wanted, plan, stop, more, logits)
        prefixes.held = Prefix(text.ids, spelled, cache)
        return past, running

    def generate(self, request: Any, tensors: Any, stop: Stop) -> Iterator[Answer]:
        text, torch = self._text(request, tensors), self.live.torch
        if self._kind() == "encoder":
            raise HeadlightError(
                f"{type(self.live.model).__name__} reads a whole text at once, so it continues "
                "none; ask lens for what it predicts at a mask."
            )
        side = "decoder_" if self.live.paired else ""
        draw = torch.Generator().manual_seed(int(request.get("seed") or 0))
        ends = self._ends(request)
        reason = "length"
        for step in range(min(int(request.get("tokens") or 20), MAX_TOKENS)):
            plan = self.live.plan(request, text, tensors, stop)
            have = len(text.sides[side]["ids"]) - 1
            version = self._version()
            _, running = self._reusing(text, plan, Wanted(()), stop, True, have, version)
            p = running.kept["logits"][-1].float().log_softmax(-1)
            chosen = self.live.first(sampled(torch, p, request, draw))
            top = p.topk(min(int(request.get("top") or 5), MAX_TOP, len(p)))
            yield Answer(
                {
                    "step": step,
                    "p": float(p[chosen].exp()),
                    "log_p": float(p[chosen]),
                    **{k: v[0] for k, v in self._spelled([chosen]).items()},
                    "top": {**self._spelled(top.indices.tolist()), "log_p": top.values.tolist()},
                    "more": True,
                }
            )
            if chosen in ends:
                reason = "end"
                break
            text = self._longer(text, side, chosen)
        yield Answer({"done": reason})

    def _spelled(self, ids: list[int]) -> dict[str, list[Any]]:
        with self._tokenizing:
            return described_tokens(ids, self.live.tokenizer)

    def _ends(self, request: Mapping[str, Any]) -> set[int]:
        if request.get("stop") is not None:
            return set(request["stop"])
        config = getattr(self.live.model, "generation_config", None) or self.live.config
        ends = getattr(config, "eos_token_id", None)
        listed = ends if isinstance(ends, (list, tuple)) else [ends]
        return {end for end in listed if end is not None}

    def _longer(self, text: Text, side: str, chosen: int) -> Text:
        with self._tokenizing:
            return longer(self.live, text, side, chosen)

    def lens(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        """The final norm and the unembedding on rows [row, d_model]."""
        rows = tensors.get("rows")
        if rows is None or rows.ndim != 2:
            raise HeadlightError(
                'There are no rows to read; send the tensor "rows", [row, d_model].'
            )
        logits = self.lens_of.logits(rows, stop)
        if request.get("all"):
            return Answer({}, {"logits": logits})
        log_p = logits.log_softmax(-1)
        top = logits.topk(min(int(request.get("top") or 10), MAX_TOP, logits.shape[1]))
        out = {
            "top_ids": top.indices,
            "top_logits": top.values,
            "top_log_p": log_p.gather(1, top.indices),
        }
        if asked := request.get("tokens"):
            check_tokens(asked, logits.shape[1])
            out |= {"logits": logits[:, asked], "log_p": log_p[:, asked]}
        spelled = {}
        for token in sorted(set(top.indices.flatten().tolist()) | set(asked or ())):
            spelled[str(token)] = self._spelled([token])["labels"][0]
        return Answer({"labels": spelled}, out)

    def outcomes(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        """The logits at a position under each case's changes [case, vocabulary]."""
        text = self._text(request, tensors)
        plans = plans_of(self.live, request, text, tensors, stop)
        at = position_of(request, text)
        return Answer({}, {"logits": logits_under(self.live, text, plans, at, stop)})

    def gradient(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        """∂ metric / ∂ each tensor that "by" names."""
        live, text = self.live, self._text(request, tensors)
        plan = live.plan(request, text, tensors, stop)
        wanted = Wanted(request.get("by") or ["*hook_resid_pre"], self._heads(request))
        running = live.compute(text, wanted, plan, stop, logits=True, graph=True)
        logits = running.kept.pop("logits")
        value = metric(str(request.get("metric") or ""), logits)
        kept = {n: t for n, t in running.kept.items() if wanted.name(n) and t.requires_grad}
        if not kept:
            raise HeadlightError(
                'Nothing that "by" names is differentiable; ask for *hook_resid_pre.'
            )
        with live.torch.enable_grad():
            out = live.torch.autograd.grad(value, list(kept.values()), allow_unused=True)
        if apart := [name for name, part in zip(kept, out) if part is None]:
            raise HeadlightError(
                f"{type(live.model).__name__} computes its logits apart from {apart[0]}, so there "
                "is no gradient by it; ask for *hook_resid_pre."
            )
        found = live.gathered(running, {n: running.views[n](part) for n, part in zip(kept, out)})
        return Answer({"value": float(value.detach())}, found)

    def weights(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        """W_Q, W_K, W_V [d_model, d_head] and W_O [d_head, d_model] of one head; or the names of
        the files of all weights; or a part of one file."""
        if (name := request.get("file")) is not None:
            return Answer({}, {"bytes": self.sending.part(name, int(request.get("from") or 0))})
        if request.get("head") is None:
            return Answer(self.sending.files())
        found = self.live.places.head(str(request["head"]))
        if found is None:
            raise HeadlightError(f'This model has no head "{request["head"]}".')
        return Answer({}, head_weights(self.live, *found))


def _finite(value: Any) -> Any:
    """Return what JSON can hold; None for NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _says(name: str) -> bool:
    return name.endswith((".bias", ".sinks"))


def versions() -> str:
    transformers, torch = sys.modules.get("transformers"), sys.modules.get("torch")
    held = [("transformers", transformers), ("torch", torch)]
    return ", ".join(f"{name} {module.__version__}" for name, module in held if module)
