"""Relevance: patterns weighted by the gradients of a metric, R ← R + R · mean over heads of
(gradient ∘ pattern)⁺ from the last layer down (Chefer et al. 2021), as
core/analysis/attribution/relevance.cpp does of metrics in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .eager_attention import Call
from .engine.changes import Block
from .engine.logits import logits_of
from .engine.model import LiveModel, Text
from .engine.passes import Pass
from .engine.plans import Plan, Wanted
from .metrics import Metric, check_differentiable, scalar
from .trace_writer import place

# The first layer's input begins the graph of a model whose weights are frozen.
KEPT = ("*hook_pattern", "blocks.0.hook_resid_pre")


class Weighted(Pass):
    """A pass of which every pattern is in the graph: a hard one and a frozen one too."""

    def _pattern(
        self, block: Block, call: Call, head: int, past: int, changes: Any, masked: bool
    ) -> Any:
        out = super()._pattern(block, call, head, past, changes, masked)
        return out if out.requires_grad else out.detach().requires_grad_()


def relevance(held: LiveModel, text: Text, metric: Metric, plan: Plan | None) -> np.ndarray:
    """The relevance of each token. A metric of several positions is to first order a sum over
    them, and so are the scores: each position starts a walk of its own."""
    torch = held.torch
    if not held.attends:
        raise held.refusal('method="relevance"')
    running = Weighted(torch, held.base, held.found, Wanted(KEPT), plan, graph=True)
    logits = logits_of(held.model, held.forward(running, text, runs=held.model))[0]
    kept = {name: t for name, t in running.kept.items() if name.endswith("hook_pattern")}
    with torch.enable_grad():
        value = scalar(metric, logits)
        check_differentiable([value])
        (seed,) = torch.autograd.grad(value, logits, retain_graph=True)
    scores = np.zeros(len(text.ids))
    for position in seed.any(-1).nonzero().flatten().tolist():
        own = torch.zeros_like(seed)
        own[position] = seed[position]
        with torch.enable_grad():
            slopes = torch.autograd.grad(
                logits, list(kept.values()), own, retain_graph=True, allow_unused=True
            )
        weighted = {
            name: (pattern * slope).clamp(min=0).mean(0).detach().cpu().double().numpy()
            for (name, pattern), slope in zip(kept.items(), slopes)
            if slope is not None
        }
        scores += _walk(held, plan, weighted, position)
    return scores


def _walk(
    held: LiveModel, plan: Plan | None, weighted: Mapping[str, np.ndarray], position: int
) -> np.ndarray:
    """From a position at the top to the tokens. What reaches a row that a patch replaced stays
    there: no lower layer made it."""
    size = next(iter(weighted.values())).shape[1] if weighted else position + 1
    moving, stayed = np.zeros(size), np.zeros(size)
    moving[position] = 1
    for block in sorted(held.heads, key=lambda block: -block[2]):
        if (name := place(block) + "hook_pattern") in weighted:
            moving = moving + moving @ weighted[name]
        for change in plan.changes if plan else ():
            if change.kind == "patch-resid" and change.of_block(block):
                rows = change.rows.within(size)
                stayed[rows] += moving[rows]
                moving[rows] = 0
    return moving + stayed
