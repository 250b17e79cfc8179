"""What is made of logits: a token that is chosen, a metric."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import HeadlightError

METRIC = re.compile(r"(p|log p)?\(?#(\d{1,7})\)?(?: - #(\d{1,7}))?(?:@(\d{1,6}))?")


def sampled(torch: Any, log_p: Any, request: Mapping[str, Any], draw: Any) -> int:
    """The most probable token, or one drawn at a temperature from the top_k or the nucleus."""
    temperature = float(request.get("temperature") or 0)
    if temperature <= 0:
        return int(log_p.argmax())
    p = (log_p.cpu() / temperature).softmax(-1)
    order = p.argsort(descending=True)
    kept = order[: int(request.get("top_k") or len(p))]
    within = p[kept].cumsum(0) - p[kept] < float(request.get("top_p") or 1)
    kept = kept[within]
    return int(kept[torch.multinomial(p[kept], 1, generator=draw)])


def metric(text: str, logits: Any) -> Any:
    """Read "#5", "p(#5)", "log p(#5)" or "#5 - #7", each with @POSITION."""
    found = METRIC.fullmatch(text)
    if not found or (found[1] and found[3]):
        raise HeadlightError(
            f'The metric "{text}" cannot be read; write #5, p(#5), log p(#5) or #5 - #7, and '
            "@POSITION after it."
        )
    position = len(logits) - 1 if found[4] is None else int(found[4])
    if position >= len(logits):
        raise HeadlightError(f"There is no position {position} in {len(logits)} tokens.")
    row, a = logits[position].float(), int(found[2])
    check_tokens([a, int(found[3] or a)], len(row))
    if found[1]:
        log_p = row.log_softmax(-1)[a]
        return log_p.exp() if found[1] == "p" else log_p
    return row[a] - (row[int(found[3])] if found[3] else 0)


def check_tokens(ids: Sequence[int], count: int) -> None:
    if wrong := [t for t in ids if not 0 <= t < count]:
        raise HeadlightError(f"There is no token {wrong[0]}; ids go from 0 to {count - 1}.")


def logits_of(model: Any, output: Any) -> Any:
    """The logits that a model returned."""
    if getattr(output, "logits", None) is None:
        raise HeadlightError(
            f"{type(model).__name__} predicts no tokens; load it with a language model's head, by "
            "AutoModelForCausalLM for example."
        )
    return output.logits
