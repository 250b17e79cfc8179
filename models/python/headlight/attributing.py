"""Attribute a metric that is a Python function to the tokens of a text, by a model's own passes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .engine.changed import plan_of
from .engine.changes import PATCHES, TO_END, Change, Span
from .engine.model import LiveModel, Text
from .engine.passes import Pass
from .engine.plans import Plan, Wanted
from .engine.together import OneByOne, Together, logits_of_copies
from .errors import HeadlightError
from .integrals import adaptive, fixed
from .measures import Attribution
from .metrics import Metric, check_differentiable, named, scalar, value_of
from .optional import progress
from .patching import opened_model
from .recorded import CHANGES
from .relevance import relevance

FIRST = "blocks.0.hook_resid_pre"  # what embeddings E are: with positions, where those are added
COPIES = 8  # of one pass, whose graph is kept
MISSES = 0.1  # of the sum, as in core/analysis/attribution
BASELINES = 'baseline= is "mean", "zero" or "text:A PROMPT"'
WHY = {
    "leave-out": "each word alone, so the sum is no test",
    "gradient": "lengths, so the sum is no test",
    "relevance": "positive parts alone, so the sum is no test",
    "input-x-gradient": "the slope at the text itself says little of a metric that is flat there",
    "integrated-gradients": "more points, or another baseline, bring them closer",
}
Scores = tuple[np.ndarray, dict[str, Any]]  # [token], and what else is said of them


class Embedded(Together):
    """A pass whose first layer reads given embeddings, one copy for each; `read`: what it read."""

    def __init__(self, held: LiveModel, copies: int = 1, rows: Any = None):
        super().__init__(held, [[]] * copies)
        self.rows, self.graph, self.read = rows, rows is not None, rows

    def _at(self, name: str, tensor: Any, scale: float) -> Any:
        if name != FIRST:
            return None
        if tensor.shape[0] != self.copies:
            raise OneByOne
        if self.rows is None:
            self.read = tensor.detach()
            return None
        return self.rows.to(tensor.device, tensor.dtype)


class Changed(Pass):
    """A pass with changes whose first layer reads given embeddings, which changes act on; `read`:
    what it read."""

    copies = 1

    def __init__(self, held: LiveModel, plan: Plan, rows: Any = None):
        graph = rows is not None
        super().__init__(held.torch, held.base, held.found, Wanted(), plan, graph=graph)
        self.rows, self.read = rows, rows

    def _at(self, name: str, tensor: Any, scale: float) -> Any:
        if name != FIRST:
            return super()._at(name, tensor, scale)
        if self.rows is None:
            self.read = tensor.detach()
        else:
            tensor = self.rows.to(tensor.device, tensor.dtype)
        changed = super()._at(name, tensor, scale)
        return tensor if changed is None else changed


class Explained:
    """A text, its changes, and the metric of it."""

    def __init__(self, held: LiveModel, text: Text, metric: Metric, plan: Plan | None):
        if FIRST not in held.found.points:
            raise HeadlightError(
                f"{type(held.model).__name__} shows no residual stream that its first layer reads, "
                "so there is no gradient by it; give a metric in words."
            )
        self.held, self.text, self.metric, self.plan = held, text, metric, plan
        running = self.running()
        self.value = value_of(metric, logits_of_copies(held, text, running)[0])
        self.rows = running.read[0]  # [pos, d_model]

    def running(self, copies: int = 1, rows: Any = None) -> Any:
        """A pass of copies; changes act in one alone."""
        if self.plan is None:
            return Embedded(self.held, copies, rows)
        if copies > 1:
            raise OneByOne
        return Changed(self.held, self.plan, rows)

    def slopes(self, rows: Any) -> tuple[list[float], Any]:
        """The metric, and ∂ metric / ∂ embeddings, for each of several [copy, pos, d_model]."""
        torch = self.held.torch
        leaf = rows.detach().requires_grad_()
        try:
            logits = logits_of_copies(self.held, self.text, self.running(len(leaf), leaf))
        except OneByOne:
            each = [self.slopes(one[None]) for one in leaf]
            return [v for values, _ in each for v in values], torch.cat([s for _, s in each])
        with torch.enable_grad():
            values = [scalar(self.metric, one) for one in logits]
            check_differentiable(values)
            said = [float(value.detach()) for value in values]
            return said, torch.autograd.grad(sum(values), leaf)[0].float()

    def along(self, start: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The metric at places from 0, the embeddings `start`, to 1, the text's, and the slope of
        each token's part of the way there, [place, token]."""
        way, torch = self.rows - start, self.held.torch
        shares = torch.tensor(places, dtype=start.dtype, device=start.device)[:, None, None]
        rows = (start + shares * way).split(COPIES)
        found = [self.slopes(part) for part in progress(rows, "attribute")]
        slopes = torch.cat([(slope * way.float()).sum(-1) for _, slope in found])
        values = np.array([value for several, _ in found for value in several])
        return values, slopes.cpu().double().numpy()

    def at(self, rows: Any) -> float:
        """The metric where the embeddings are these."""
        running = self.running(1, rows[None])
        running.graph = False
        return value_of(self.metric, logits_of_copies(self.held, self.text, running)[0])


def _left_out(of: Explained, asked: Mapping[str, Any]) -> Scores:
    """How far the metric falls without a token: the rest is run again."""
    held, ids, plan = of.held, of.text.ids, of.plan
    if not all(held.causal(block) for block in held.heads):
        raise HeadlightError(
            f"{type(held.model).__name__} reads in both directions, and a function may name a "
            'position that moves when a token is left out; choose method="gradient".'
        )
    if len(ids) < 2:
        raise HeadlightError("There is nothing to leave out of one token; write a longer text.")
    out = []
    for at in progress(range(len(ids)), "attribute"):
        rest = held.text({"ids": [*ids[:at], *ids[at + 1 :]]})
        running: Any = (
            Embedded(held) if plan is None else Changed(held, _without(of, plan, at, rest))
        )
        out.append(of.value - value_of(of.metric, logits_of_copies(held, rest, running)[0]))
    return np.array(out), {"adds_up": None, "note": f"exact, {len(ids)} runs · {WHY['leave-out']}"}


def _without(of: Explained, plan: Plan, at: int, rest: Text) -> Plan:
    """The changes of the other tokens where one is left out, as core/analysis/attribution moves
    them."""
    own = plan_of(of.held, rest, {"mask": plan.mask.text})
    moved: list[Change] = []
    for change in plan.changes:
        if change.kind in (*PATCHES, "freeze", "noise", "positions"):
            raise HeadlightError(
                f'Leaving a token out moves the tokens after it, and the change "{change.text}" '
                "names tokens by number; remove it, or choose another method."
            )
        rows, columns = _moved(change.rows, at), _moved(change.columns, at)
        if rows.count > 0 and columns.count > 0:
            moved.append(replace(change, rows=rows, columns=columns))
    return replace(own, changes=moved)


def _moved(span: Span, at: int) -> Span:
    """What is left of rows or columns without the one at a place."""
    first = span.first - (span.first > at)
    if span.count >= TO_END:
        return Span(first, span.count)
    end = span.first + span.count
    return Span(first, end - (end > at) - first)


def _relevance(of: Explained, asked: Mapping[str, Any]) -> Scores:
    """Patterns weighted by the gradients of the metric, through all layers."""
    scores = relevance(of.held, of.text, of.metric, of.plan)
    return scores, {"adds_up": None, "note": WHY["relevance"]}


def _gradient(of: Explained, asked: Mapping[str, Any]) -> Scores:
    """‖∂m/∂E_j‖."""
    scores = of.slopes(of.rows[None])[1][0].norm(dim=-1)
    return scores.cpu().numpy(), {"adds_up": None, "note": WHY["gradient"]}


def _input_x_gradient(of: Explained, asked: Mapping[str, Any]) -> Scores:
    """E_j · ∂m/∂E_j."""
    scores = (of.slopes(of.rows[None])[1][0] * of.rows.float()).sum(-1).cpu().numpy()
    return scores, _sums(scores, of.value, "input-x-gradient")


def _integrated_gradients(of: Explained, asked: Mapping[str, Any]) -> Scores:
    """(E_j − B_j) · ∫ ∂m/∂E_j from the baseline B to E (Sundararajan et al. 2017)."""
    baseline, steps = asked.get("baseline", "mean"), asked.get("steps", "auto")
    start = _baseline(of, baseline)
    begin, at = of.at(start), lambda places: of.along(start, places)
    if steps == "auto":
        scores, points = adaptive(at, begin, of.value)
    else:
        points = _steps(steps)
        scores = fixed(at, points)
    told = {"baseline": baseline, "baseline_value": begin, "steps": points}
    return scores, {**told, **_sums(scores, of.value - begin, "integrated-gradients")}


def _steps(given: Any) -> int:
    if isinstance(given, bool) or not str(given).isdecimal() or not 0 < int(given) <= 10000:
        raise HeadlightError(f'steps= is "auto" or a number from 1 to 10000, not {given!r}.')
    return int(given)


def _baseline(of: Explained, named: Any) -> Any:
    """Embeddings [pos, d_model]: zeros, those of a prompt, or each token at the vocabulary's
    mean."""
    held = of.held
    if named == "zero":
        return held.torch.zeros_like(of.rows)
    if isinstance(named, str) and named.startswith("text:"):
        prompt = held.text({"text": named.removeprefix("text:")})
        if len(prompt.ids) != len(of.text.ids):
            raise HeadlightError(
                f"The baseline has {len(prompt.ids)} tokens, and the text {len(of.text.ids)}; give "
                "a prompt with the same number of tokens."
            )
        return _read(of, prompt)
    table = held.model.get_input_embeddings()
    if named != "mean":
        raise HeadlightError(f"{BASELINES}, not {named!r}.")
    with held.torch.no_grad():
        mean = table(held.torch.arange(table.num_embeddings, device=table.weight.device)).mean(0)
    hook = table.register_forward_hook(lambda _, __, out: mean.expand_as(out))
    try:
        return _read(of, of.text)
    finally:
        hook.remove()


def _read(of: Explained, text: Text) -> Any:
    running = of.running()  # with positions off or shuffled, where they are
    of.held.forward(running, text)
    return running.read[0]


def _sums(scores: np.ndarray, due: float, method: str) -> dict[str, Any]:
    """Whether scores sum to what they should, in numbers and in words."""
    total = float(scores.sum())
    gap = abs(total - due) / abs(due) if due else None
    misses = gap is not None and gap > MISSES
    of = f"{total:+.3g} of {due:+.3g}"
    off = f", off by {100 * gap:.1f} %" if gap is not None else ""
    said = f"does not add up: {of}{off}; {WHY[method]}" if misses else f"adds up: {of}{off}"
    return {"due": due, "gap": gap, "adds_up": not misses, "note": said}


METHODS: dict[str, Callable[[Explained, Mapping[str, Any]], Scores]] = {
    "leave-out": _left_out,
    "gradient": _gradient,
    "jacobian": _gradient,
    "input-x-gradient": _input_x_gradient,
    "integrated-gradients": _integrated_gradients,
    "relevance": _relevance,
}


def attributed(
    model: Any, tokenizer: Any, text: Any, method: str, metric: Metric, more: Mapping[str, Any]
) -> Attribution:
    """The scores of the tokens. more: ids, changes, steps and baseline; others have no place."""
    if method not in METHODS:
        raise HeadlightError(
            f'method="{method}" takes no metric that is a function; there are '
            f'{", ".join(METHODS)}, or give a metric in words: "ball - car".'
        )
    given = {name: value for name, value in more.items() if value is not None}
    ids = given.pop("ids", None)
    changes = {name: given.pop(name) for name in CHANGES if name in given}
    taken = ("steps", "baseline") if method == "integrated-gradients" else ()
    if left := [name for name in given if name not in taken]:
        raise HeadlightError(
            f'{left[0]}= does not act on method="{method}" of a metric that is a function; leave '
            "it out, or give a metric in words."
        )
    held = opened_model(model, tokenizer)
    read = held.text({"text": text} if ids is None else {"ids": ids})
    plan = plan_of(held, read, changes)
    of = Explained(held, read, metric, plan if plan.changes or plan.mask.name != "own" else None)
    scores, told = METHODS[method](of, given)
    labels = [label.strip() or label for label in read.sides[""]["labels"]]
    said = {"version": 1, "method": method, "metric": named(metric), "value": of.value}
    said |= {"sum": float(scores.sum()), **told, "tokens": labels}
    said["scores"] = [score if math.isfinite(score) else None for score in scores.tolist()]
    return Attribution(json.dumps(said))
