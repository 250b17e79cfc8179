"""Rows of an earlier pass that a longer text keeps: the model's key/value cache."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..transformers_models import cache_name
from .changes import keeps_rows
from .masks import GROWS
from .plans import Plan, Wanted

if TYPE_CHECKING:
    from .model import LiveModel
    from .text import Text


@dataclass
class Prefix:
    """The key/value cache of an earlier pass, and what it was of."""

    ids: list[int] = field(default_factory=list)
    spelled: str = ""
    cache: Any = None


class Prefixes:
    """The cache of a model, where it can be reused."""

    def __init__(self, live: LiveModel, text: Text):
        self.live, self.held = live, Prefix()
        self.work = live.agreed(self._agree(text))

    def _agree(self, text: Text) -> bool:
        """Try the cache: five tokens and then three must equal eight."""
        live = self.live
        if live.paired or not live.attends or not cache_name(live.base):
            return False
        parameters = str(getattr(live.config, "rope_parameters", "") or "")
        if "dynamic" in parameters or "longrope" in parameters:  # turn with the length
            return False
        if not all(live.causal(block) for block in live.heads):
            return False
        wanted = Wanted(("*hook_k", "*hook_resid_post"))
        try:
            whole = live.compute(text, wanted, Plan())
            cache = self._new_cache()
            live.compute(text.part(0, 5), wanted, Plan(), more=self.cached(cache))
            rest = live.compute(text.part(5), wanted, Plan(), more=self.cached(cache))
        except Exception:  # a cache of another kind, which is not reused
            return False
        bar = 1e-4 if whole.torch.float32 == live.model.dtype else 5e-2
        return set(whole.kept) == set(rest.kept) and all(
            part.shape == rest.kept[name].shape
            and float((part - rest.kept[name]).abs().max()) <= bar * float(part.abs().max() + 1)
            for name, part in ((n, held[5:]) for n, held in whole.kept.items() if wanted.name(n))
        )

    def _new_cache(self) -> Any:
        return sys.modules["transformers"].DynamicCache()

    def cached(self, cache: Any) -> dict[str, Any]:
        """Arguments of a pass that reads a cache and adds to it."""
        return {cache_name(self.live.base): cache, "use_cache": True}

    def keep(self, plan: Plan) -> bool:
        """Return whether rows under these interventions stay as they are in a longer text."""
        return self.work and plan.mask.name in GROWS and keeps_rows(plan.changes)

    def resume(self, text: Text, spelled: str, have: int) -> tuple[int, Any]:
        """Return how many rows the cache holds of this text, at most `have`, and the cache."""
        held, ids = self.held, text.ids
        self.held = Prefix()
        same = 0
        if held.spelled == spelled:
            while same < min(len(held.ids), len(ids) - 1, have) and held.ids[same] == ids[same]:
                same += 1
        if not same:
            return 0, self._new_cache()
        for layer in held.cache.layers:
            layer.keys, layer.values = layer.keys[:, :, :same], layer.values[:, :, :same]
        return same, held.cache


def spelled_plan(plan: Plan) -> str:
    """What two passes must agree in to share rows."""
    return "\n".join([plan.mask.text, *(change.text for change in plan.changes)])
