"""One pass of several copies of a text, each under interventions of its own: what sweeps run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..eager_attention import Call
from ..errors import HeadlightError
from ..transformers_models import takes
from .changes import Block
from .logits import logits_of
from .passes import Pass
from .plans import Plan, Wanted
from .together import OneByOne

if TYPE_CHECKING:
    from .model import LiveModel
    from .text import Text

MAX_COPIES, MAX_LOGITS = 64, 1 << 26  # logits that a pass gives, of all copies and positions


class Copy(Pass):
    """What a pass does to one of its copies, of which nothing is kept."""

    def _describe(self, block: Block, call: Call, past: int) -> None:
        pass


class Batch(Pass):
    """A pass with one copy for each plan."""

    def __init__(self, live: LiveModel, plans: Sequence[Plan], stop: Any):
        super().__init__(live.torch, live.base, live.found, Wanted(), cancelled=stop)
        self.copies = [
            Copy(live.torch, live.base, live.found, Wanted(), plan, stop) for plan in plans
        ]

    def attend(self, module: Any, call: Call) -> Any:
        """Return [copy, query, head, d_head]."""
        if call.query.shape[0] != len(self.copies):
            raise OneByOne
        return self.torch.cat(
            [copy.attend(module, _of(call, i)) for i, copy in enumerate(self.copies)]
        )

    def _at(self, name: str, tensor: Any, scale: float) -> Any:
        count = len(self.copies)
        held = tensor
        if held.shape[0] == 1 and count > 1:  # copies one after another
            held = held.reshape(count, -1, held.shape[-1])
        if held.shape[0] != count:
            raise OneByOne
        changed = [copy._at(name, held[i : i + 1], scale) for i, copy in enumerate(self.copies)]
        if all(one is None for one in changed):
            return None
        rows = [held[i : i + 1] if one is None else one for i, one in enumerate(changed)]
        return self.torch.cat(rows).reshape(tensor.shape)


def _of(call: Call, copy: int) -> Call:
    """What one copy asks of its attention."""

    def own(tensor: Any) -> Any:
        return tensor if tensor is None or tensor.shape[0] == 1 else tensor[copy : copy + 1]

    return replace(
        call,
        query=own(call.query),
        key=own(call.key),
        value=own(call.value),
        mask=own(call.mask),
        bias=own(call.bias),
    )


def plans_of(
    live: LiveModel, request: Any, text: Text, tensors: Mapping[str, Any], stop: Any
) -> list[Plan]:
    """Read the interventions of each case; its own tensors are rows.CASE.CHANGE."""
    cases = request.get("cases")
    if not cases:
        raise HeadlightError(
            'There is nothing to compute; send "cases", a list of lists of changes.'
        )
    mask = {name: tensors[name] for name in ("mask",) if name in tensors}
    out = []
    for i, changes in enumerate(cases):
        mine = f"rows.{i}."
        rows = {
            "rows." + name.removeprefix(mine): values
            for name, values in tensors.items()
            if name.startswith(mine)
        }
        asked = {"mask": request.get("mask"), "changes": changes}
        out.append(live.plan(asked, text, {**mask, **rows}, stop))
    return out


def output_ids(text: Text) -> list[int]:
    return text.sides.get("decoder_", text.sides[""])["ids"]


def position_of(request: Any, text: Text) -> int:
    """Where the logits are read: in the output, at its end unless "at" says where."""
    count = len(output_ids(text))
    at = count - 1 if request.get("at") is None else int(request["at"])
    if at >= count:
        raise HeadlightError(f'There is no position {at}; "at" goes from 0 to {count - 1}.')
    return at


def logits_under(live: LiveModel, text: Text, plans: Sequence[Plan], at: int, stop: Any) -> Any:
    """[plan, vocabulary]: the logits at a position of the output under each plan. Copies whose
    positions are moved, those beside a picture, and those of a model that joins them, run one by
    one."""
    one = live.vocabulary() * len(output_ids(text))
    many = max(1, min(MAX_COPIES, MAX_LOGITS // one))
    out = []
    for first in range(0, len(plans), many):
        some = plans[first : first + many]
        try:
            out.append(_together(live, text, some, at, stop))
        except OneByOne:
            each = [live.compute(text, Wanted(), plan, stop, logits=True) for plan in some]
            out.append(live.torch.stack([running.kept["logits"][at] for running in each]))
    return live.torch.cat(out)


def _together(live: LiveModel, text: Text, plans: Sequence[Plan], at: int, stop: Any) -> Any:
    apart = text.picture is not None or any(moves(plan) for plan in plans)
    if len(plans) == 1 or not live.attends or live.ranks or apart:
        raise OneByOne
    copies = type(text)(
        {
            name: value.expand(len(plans), *value.shape[1:])
            for name, value in text.arguments.items()
        },
        text.sides,
    )
    more: dict[str, Any] = {}
    if at == len(output_ids(text)) - 1:
        more = {"logits_to_keep": 1} if takes(live.model, "logits_to_keep") else {}
    output = live.forward(Batch(live, plans, stop), copies, more, live.model)
    logits = logits_of(live.model, output)
    return logits[:, -1 if more else at].detach()


def moves(plan: Plan) -> bool:
    """Whether positions change, which all copies share."""
    return any(change.kind == "positions" for change in plan.changes)
