"""One forward pass of a model: takes what is asked for and applies interventions, in the thread
that computes alone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..eager_attention import Call, Rows
from ..recorder import Recorder
from ..trace_writer import place
from .changes import PATCHES, Block, Change
from .masks import shuffled, softmax_changes
from .places import Found, Log, Point, first_tensor, read_tensor, repositioned, with_first
from .plans import Cancelled, Plan, Wanted
from .spread import Counts

NAME = "headlight_live"
RUNNING: dict[int, Pass] = {}  # by the thread that computes


View = Callable[[Any], Any]


class Pass:
    """What one forward pass computes. log: of the pass that looks for places."""

    def __init__(
        self,
        torch: Any,
        base: Any,
        found: Found,
        wanted: Wanted,
        plan: Plan | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        log: Log | None = None,
        graph: bool = False,
    ):
        self.torch, self.found, self.wanted, self.graph = torch, found, wanted, graph
        self.plan, self.cancelled, self.log = plan or Plan(), cancelled, log
        self.recorder = Recorder(None, base, 0, False, only=found.only)
        self.output: Any = None  # of the pass that looks for places
        self.kept: dict[str, Any] = {}
        self.views: dict[str, View] = {}
        self.parts: dict[str, tuple[int, Sequence[int]]] = {}  # of what each process has a part of
        self.rules: dict[Block, dict[str, Any]] = {}
        self.heads: dict[Block, tuple[int, int]] = {}
        self.widths: dict[Block, tuple[int, int]] = {}  # of a head's q and k, and of its v
        self.sizes: dict[Block, tuple[int, int]] = {}  # how many sequences, and their tokens
        self._calls: Counter[Any] = Counter()
        self._memo: dict[Any, tuple[Any, Any]] = {}

    def check(self) -> None:
        if self.cancelled():
            raise Cancelled

    def keep(
        self,
        name: str,
        tensor: Any,
        view: View = lambda t: t[0],
        dim: int = 0,
        counts: Counts = None,
    ) -> None:
        """Keep a view of a tensor; of a graph the tensor itself, of which the rest is made. counts:
        how many heads each process has, in the view's dimension `dim`."""
        if not self.wanted.name(name):
            return
        if counts:
            self.parts[name] = dim, counts
        if self.graph:
            self.kept[name], self.views[name] = tensor, view
        else:
            self.kept[name] = view(tensor).detach()

    # ---- attention

    def attend(self, module: Any, call: Call) -> Any:
        """Return [1, query, head, d_head]."""
        self.check()
        if not self.recorder.shows(module):
            return call.attend()
        block = self.recorder.block(module)
        if self.log:
            self.log.attention.append((self.log.tick(), block, module))
        past = 0 if block[1] else call.key.shape[2] - call.query.shape[2]
        self._reposition(block, call)
        self._describe(block, call, past)
        changes = self.plan.of_attention(block)
        masked = self.plan.mask.name != "own" and not block[1]
        asked, heads, counts = self._asked(block, call.query.shape[1])
        whole = self.graph
        if not (asked or changes or masked):
            return self._head_outputs(block, call.attend())
        patterns = [
            self._pattern(block, call, h, past, changes, masked)
            for h in range(call.query.shape[1])
            if whole or changes or masked or h in heads
        ]
        if asked:
            none = call.query.new_zeros(0, call.query.shape[2], call.key.shape[2]).float()
            stacked = self.torch.stack(patterns) if patterns else none
            patterns = list(stacked) if whole else patterns
            chosen = heads if len(patterns) > len(heads) else list(range(len(heads)))
            self.keep(place(block) + "hook_pattern", stacked, lambda t: t[chosen], 0, counts)
        if not (changes or masked or whole):
            return self._head_outputs(block, call.attend())
        groups = call.query.shape[1] // call.key.shape[1]
        z = [p.to(call.value.dtype) @ call.value[0, h // groups] for h, p in enumerate(patterns)]
        return self._head_outputs(block, self.torch.stack(z, 1)[None].to(call.query.dtype))

    def _first(self, block: Block) -> int:
        """The number of the first head in this process."""
        return self.found.spread.first(block) if self.found.spread else 0

    def _asked(self, block: Block, here: int) -> tuple[bool, list[int], Counts]:
        """Whether patterns are asked for; those of heads here, counted from the first here; and
        how many each process has."""
        if not (spread := self.found.spread):
            heads = self.wanted.pattern_heads(block, here)
            return bool(heads), heads, None
        first, total = spread.first(block), spread.totals(block, (here, 0))[0]
        heads = self.wanted.pattern_heads(block, total)
        own = [head - first for head in heads if first <= head < first + here]
        return bool(heads), own, spread.asked(block, heads)

    def _describe(self, block: Block, call: Call, past: int) -> None:
        key = ("rule", _same(call.mask), call.window, call.query.shape[2])
        if key not in self._memo:
            self._memo[key] = call.mask, call.rule()
        rule = {**self._memo[key][1], "scale": call.scale, "cap": call.cap}
        follows, at = rule.pop("follows"), place(block)
        spread = self.found.spread
        of_q, of_k = (spread.queries[block], spread.keys[block]) if spread else (None, None)
        rule["says"] = self._bias(at, call, of_q, follows)
        self.rules[block] = rule
        here = int(call.query.shape[1]), int(call.key.shape[1])
        self.heads[block] = spread.totals(block, here) if spread else here
        self.widths[block] = int(call.query.shape[3]), int(call.value.shape[3])
        self.sizes[block] = int(call.query.shape[0]), int(call.query.shape[2])
        rows = lambda t: t[0, :, past:].transpose(0, 1)
        self.keep(at + "hook_q", call.query, lambda t: t[0].transpose(0, 1), 1, of_q)
        self.keep(at + "hook_k", call.key, rows, 1, of_k)
        self.keep(at + "hook_v", call.value, rows, 1, of_k)

    def _bias(self, at: str, call: Call, counts: Counts, follows: bool) -> bool:
        """Keep sinks [head], and a bias as [head, distance] where it depends on key - query
        alone; return whether that was so, and the mask follows a rule."""
        if call.sinks is not None:
            self._said(at + "sinks", call.sinks.reshape(-1), counts)
        spread = self.found.spread
        if call.bias is None:
            several = call.mask is not None and call.mask.shape[1] > 1
            return spread.all(follows) if spread and several else follows
        bare = not bool(call.bias.any())
        if spread.all(bare) if spread else bare:
            return spread.all(follows) if spread else follows
        bias = call.bias[0]
        queries, keys = bias.shape[1:]
        by_distance = self.torch.cat([bias[:, :, 0].flip(1), bias[:, 0, 1:]], 1)
        at_each = self.torch.arange(keys, device=bias.device)[None, :] + (
            queries - 1 - self.torch.arange(queries, device=bias.device)[:, None]
        )
        good = follows and bool((by_distance[:, at_each] == bias).all())
        if not (spread.all(good) if spread else good):
            return False
        self._said(at + "bias", by_distance, counts)
        return True

    def _said(self, name: str, tensor: Any, counts: Counts) -> None:
        """Keep what a rule needs, of each head or of all alike."""
        self.kept[name] = tensor.detach()
        if counts and len(tensor) > 1:
            self.parts[name] = 0, counts

    def _reposition(self, block: Block, call: Call) -> None:
        """Positions off or shuffled, for a bias by distance."""
        change = self.plan.positions(block[0])
        if change is None or block[1] or call.bias is None:
            return
        if change.value < 0:
            call.bias = None
        else:
            order = shuffled(int(change.value), call.bias.shape[-1])
            call.bias = call.bias[..., order, :][..., order]

    def _pattern(
        self, block: Block, call: Call, head: int, past: int, changes: Any, masked: bool
    ) -> Any:
        rows, first = call.rows(), self._first(block)
        mine = [c for c in changes if c.of_head(block, first + head)]
        if not mine and not masked:
            return rows.pattern(0, head)
        frozen = next((c for c in reversed(mine) if c.kind == "freeze"), None)
        if frozen is None:
            return self._computed(block, call, head, past, mine, masked)
        held = self.plan.rows[frozen.text].to(call.query.device)
        shape = call.query.shape[2], call.key.shape[2]
        if held.shape == shape:
            return held
        out = self._computed(block, call, head, past, mine, masked)  # its later rows stay
        out[: len(held)] = 0
        out[: len(held), : held.shape[1]] = held[: shape[0], : shape[1]]
        return out

    def _computed(
        self, block: Block, call: Call, head: int, past: int, mine: Any, masked: bool
    ) -> Any:
        rows = call.rows()
        scores, allowed = self._scores(rows, head)
        if masked:
            allowed = self._named(block, call, allowed, past)
        temperature = 1.0
        for change in mine:
            here = change.rows.within(scores.shape[0], past), change.columns.within(scores.shape[1])
            if change.kind in ("mask", "unmask"):
                allowed = allowed.clone()
                allowed[here] = change.kind == "unmask"
            elif change.kind == "score":
                scores = scores.clone()
                scores[here] = change.value
            else:
                temperature = {"uniform": float("inf"), "hard": 0.0}.get(change.kind, change.value)
        return self._softmax(rows, scores, allowed, rows.sink(head), temperature)

    def _scores(self, rows: Rows, head: int) -> tuple[Any, Any]:
        scores = rows.scores(0, head)
        allowed = self.torch.ones_like(scores, dtype=self.torch.bool)
        for part in rows.added(0, head):
            opened = part if part.dtype == self.torch.bool else part > -1e4
            allowed = allowed & opened
            if part.dtype != self.torch.bool:
                scores = scores + self.torch.where(opened, part, 0).float()
        return scores, allowed

    def _named(self, block: Block, call: Call, own: Any, past: int) -> Any:
        key = ("mask", block[0], _same(call.mask), self.plan.causal.get(block, True))
        if key not in self._memo:
            allowed = self.plan.mask.allowed(
                own.cpu().numpy(),
                past,
                self.plan.causal.get(block, True),
                self.plan.sides[block[0]],
            )
            self._memo[key] = call.mask, self.torch.as_tensor(allowed, device=own.device)
        return self._memo[key][1]

    def _softmax(self, rows: Rows, scores: Any, allowed: Any, sink: Any, temperature: Any) -> Any:
        """softmax(scores / T) over allowed keys; a fully masked row is uniform."""
        scores, sink = softmax_changes(self.torch, scores, sink, temperature)
        scores = scores.masked_fill(~allowed, self.torch.finfo(scores.dtype).min)
        if temperature != 0:
            return rows.softmax(scores, sink)
        hard = self.torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[1]).float()
        return hard if sink is None else hard * (scores.amax(-1, keepdim=True) >= sink)

    def _head_outputs(self, block: Block, out: Any) -> Any:
        """z under changes; out is [1, query, head, d_head]."""
        kinds, first = ("zero", "mean", "keep", "patch-head"), self._first(block)
        for change in self.plan.changes:
            if change.kind not in kinds:
                continue
            for head in range(out.shape[2]):
                if not change.of_head(block, first + head):
                    continue
                out = out.clone()
                if change.kind == "patch-head":
                    here = change.rows.within(out.shape[1])
                    values = self.plan.rows[change.text].to(out.device, out.dtype)
                    out[0, here, head] = values[here]
                elif change.kind == "mean":
                    out[0, :, head] = out[0, :, head].mean(0, keepdim=True)
                else:
                    out[0, :, head] = 0
        counts = self.found.spread.queries[block] if self.found.spread else None
        self.keep(place(block) + "hook_z", out, dim=1, counts=counts)
        return out

    # ---- the residual stream

    def _at(self, name: str, tensor: Any, scale: float) -> Any:
        """Return what stands at a point from now on; tensor is [1, pos, d_model] there."""
        stream = tensor if scale == 1 else tensor * scale
        stack, number, hook = name.split(".", 2) if name.count(".") > 1 else (name, "-1", "")
        cross = "cross" in hook
        new = stream
        for change in self.plan.changes:
            if not self._acts(change, (stack, cross, int(number)), hook):
                continue
            new = new.clone()
            if change.kind.startswith("skip"):
                new.zero_()
                continue
            here = change.rows.within(new.shape[1])
            values = self.plan.rows[change.text].to(new.device, new.dtype)[here]
            new[0, here] = new[0, here] + values if change.kind == "noise" else values
        if self.graph and self.wanted.name(name) and not new.requires_grad:
            new = new.detach().requires_grad_()
        self.keep(name, new)
        traced = self.graph and self.wanted.name(name)  # what is kept is what the model reads on
        return new / scale if traced or new is not stream else None

    def _acts(self, change: Change, block: Block, hook: str) -> bool:
        if change.kind == "noise":
            first = "encoder" if self.recorder.two_stacks else "blocks"
            return hook == "hook_resid_pre" and block == (first, False, 0)
        part = hook.removeprefix("hook_").replace("cross_", "")
        kinds = {"skip-attention": "attn_out", "skip-mlp": "mlp_out", **PATCHES}
        return kinds.get(change.kind) == part and change.of_block(block)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hooks at every point, for this thread alone."""
        thread, points = threading.get_ident(), {}
        for name, point in self.found.points.items():
            points.setdefault((point.module, point.side), []).append((name, point))
        with ExitStack() as held:
            for (module, side), named in points.items():
                held.callback(self._hook(module, side, named, thread).remove)
            for hook in self._position_hooks(thread):
                held.callback(hook.remove)
            RUNNING[thread] = self
            held.callback(RUNNING.pop, thread)
            yield

    def _hook(self, module: Any, side: str, named: list[tuple[str, Point]], thread: int) -> Any:
        def new(tensor: Any) -> Any:
            if not self.found.spread:  # several processes stop together, at an attention
                self.check()
            call = self._calls[module, side]
            self._calls[module, side] += 1
            for name, point in named:
                if point.call == call and tensor is not None:
                    flat = tensor.dim() == 2
                    changed = self._at(name, tensor[None] if flat else tensor, point.scale)
                    if changed is not None:
                        tensor = changed[0] if flat else changed
            return tensor

        def entering(_: Any, arguments: Any, more: Any) -> Any:
            if threading.get_ident() != thread:
                return None
            held = read_tensor(arguments, more)
            if held is None:
                return None
            if arguments and held is arguments[0]:
                return (new(held), *arguments[1:]), more
            return arguments, {**more, "hidden_states": new(held)}

        def leaving(_: Any, __: Any, output: Any) -> Any:
            if threading.get_ident() != thread:
                return None
            return with_first(output, new(first_tensor(output)))

        if side == "in":
            return module.register_forward_pre_hook(entering, with_kwargs=True)
        return module.register_forward_hook(leaving)

    def _position_hooks(self, thread: int) -> Iterator[Any]:
        for modules in (self.found.rotary, self.found.learned):
            for stack, held in modules.items():
                change = self.plan.positions(stack)
                if change is not None:
                    for module in held:
                        yield module.register_forward_hook(repositioned(change, thread))


def _same(mask: Any) -> Any:
    """Tell a mask that several layers share, while it is held."""
    return None if mask is None else (mask.data_ptr(), tuple(mask.shape))


def attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    **more: Any,
) -> tuple[Any, None]:
    """The attention function of transformers' interface. A pass of another thread is its own."""
    import torch  # that of the model

    call = Call.of(torch, module, query, key, value, attention_mask, scaling, more)
    running = RUNNING.get(threading.get_ident())
    return (running.attend(module, call) if running else call.attend()), None
