"""A transformers model that answers: what it is, what it can do, and its passes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from ..checks import check_weights
from ..errors import HeadlightError
from ..nnsight_models import traced_elsewhere
from ..parallel import check_divides, group_of
from ..trace_writer import place
from ..transformers_models import (
    attending,
    check_fits,
    evaluating,
    has_interface,
    hooked,
    on_device,
    register,
    takes,
)
from .aligned import along, partners
from .changes import PATCHES, Block, Change, Places, parse
from .logits import logits_of
from .masks import Mask, Side, normal_rows
from .outputs import Outputs
from .passes import NAME, Pass, attend
from .pictures import forgetting, parameters_of, parts_of, reader_of, reads_alone
from .places import Finder, Found, Log, first_tensor
from .plans import Plan, Wanted, given_rows, refuse_lengths
from .prefixes import Prefixes
from .ranks import Ranks, full
from .spread import Spread
from .text import Text, text_of

LOOKED_AT = 8  # tokens of the pass that looks for places
NEEDS = {  # the hook that a change needs in its layer
    "skip-attention": "attn_out",
    "skip-mlp": "mlp_out",
    "patch-resid": "resid_pre",
    "patch-attention": "attn_out",
    "patch-mlp": "mlp_out",
}
OF_ATTENTION = ("temperature", "mask", "unmask", "score", "freeze", "zero", "mean", "uniform")
OF_ATTENTION += ("hard", "keep", "patch-head")


class LiveModel:
    """Any transformers model. One thread calls `run` and what builds on it."""

    def __init__(
        self, model: Any, tokenizer: Any = None, name: str | None = None, ranks: Ranks | None = None
    ):
        self.model = getattr(model, "_orig_mod", model)
        self.tokenizer, processor = parts_of(tokenizer)
        check_weights(self.model)
        if ranks is None and group_of(self.model) is not None:
            raise HeadlightError(
                "This model is spread over processes, and changes, attributions and patches act in "
                "one alone; serve it by headlight.live in each, and ask from the window."
            )
        self.ranks = ranks
        self.torch = sys.modules["torch"]
        self.base = getattr(self.model, "base_model", self.model)
        self.config = self.model.config
        self.name = name or str(getattr(self.config, "_name_or_path", "") or "")
        self.name = self.name or type(self.model).__name__
        self.paired = bool(getattr(self.config, "is_encoder_decoder", False))
        self.attends = has_interface(self.model)
        if self.attends:
            register(sys.modules["transformers"], NAME, attend)
        self.alone = reads_alone(self.model)
        if self.alone and ranks:
            raise HeadlightError(
                f"{type(self.model).__name__} reads pictures, which a server in several processes "
                "does not; start one process."
            )
        if self.alone and "pixel_values" not in parameters_of(self.base):
            self.base = self.model  # DINOv3's base is its encoder, which reads embeddings
        self.reader = None if ranks else reader_of(self.model, self.base, self.tokenizer, processor)
        self.found, self.heads, self.rules, self.widths = Found(), {}, {}, {}
        self._look()

    # ---- what the model is

    def _look(self) -> None:
        """Find the places, the rules of its blocks, and whether its cache can be reused."""
        text = self._text_to_look_at()
        looking, log = self._looked(text)
        if self.attends and not (looking.heads and self._agrees(text, looking.output)):
            self.attends = False  # its attention takes more than the interface says
            looking, log = self._looked(text)
        if self.ranks and not self.attends:
            raise HeadlightError(
                f"{type(self.model).__name__} attends with code of its own, which this server "
                "does not follow in several processes; load it in one."
            )
        if not looking.heads:
            raise HeadlightError(
                f"{type(self.model).__name__} showed no attention that could be followed; load it "
                'with attn_implementation="eager".'
            )
        self.heads, self.rules, self.widths = looking.heads, looking.rules, looking.widths
        self.found_biases = {name for name in looking.kept if name.endswith("bias")}
        finder = Finder(self.torch, log, looking.recorder)
        self.found = finder.find(self._embeddings(), self.torch.tensor(text.ids))
        if self.alone:
            self.reader.settle(set(looking.sizes.values()))
        elif self.reader:  # what attends in a picture's tower is not shown
            self.found.only = frozenset(self.found.attention.values())
        if self.ranks:
            spread = self.found.spread = Spread(self.ranks, looking.kept, looking.heads)
            self.heads = {b: spread.totals(b, here) for b, here in looking.heads.items()}
        self.prefixes = Prefixes(self, text)

    def _text_to_look_at(self) -> Text:
        if self.alone and self.reader:
            return Text(self.reader.to_look_at(), {"": {"ids": [], "tokens": [], "labels": []}})
        ids = [(3 + 5 * i) % self.vocabulary() for i in range(LOOKED_AT)]
        return self.text({"ids": ids, **({"target_ids": ids} if self.paired else {})})

    def _looked(self, text: Text) -> tuple[Pass, Log]:
        log = Log(self.base)
        looking = Pass(self.torch, self.base, Found(), Wanted(("*hook_q", "*hook_k")), log=log)
        with log.watching():
            looking.output = first_tensor(self.forward(looking, text))
        return looking, log

    def _agrees(self, text: Text, output: Any) -> bool:
        """Return whether the model's own attention gives the same."""
        more = {"use_cache": False} if takes(self.base, "use_cache") else {}
        with self.torch.no_grad(), evaluating(self.model):
            own = first_tensor(self.base(**on_device(self.model, text.arguments), **more))
        if own is None or output is None:
            return True
        bar = 1e-3 if own.dtype == self.torch.float32 else 0.1
        return self.agreed(float((own - output).abs().max()) <= bar * (1 + float(own.abs().max())))

    def agreed(self, good: bool) -> bool:
        """Whether it is so in every process that holds the model."""
        return all(self.ranks.numbers(good)) if self.ranks else good

    def first(self, value: int) -> int:
        """What the first process says."""
        return self.ranks.number(value) if self.ranks else value

    def gathered(self, running: Pass, kept: Mapping[str, Any], everywhere: bool = False) -> Any:
        """Tensors with the heads of all processes."""
        return self.ranks.gathered(kept, running.parts, everywhere) if self.ranks else kept

    def _embeddings(self) -> Any:
        if self.alone:
            return None
        try:
            return self.model.get_input_embeddings()
        except (AttributeError, NotImplementedError):
            return None

    def vocabulary(self) -> int:
        return int(getattr(self._embeddings(), "num_embeddings", 0) or (0 if self.alone else 32))

    @property
    def places(self) -> Places:
        return Places({block: heads for block, (heads, _) in self.heads.items()})

    def causal(self, block: Block) -> bool:
        return not block[1] and bool(self.rules[block]["causal"])

    # ---- what it reads

    def text(self, request: Mapping[str, Any]) -> Text:
        """Read ids or a text, and of an encoder-decoder its target; or a picture."""
        return text_of(self, request)

    def side(self, text: Text, side: str) -> Side:
        held = text.sides[side]
        pad = None if self.alone else getattr(self.config, "pad_token_id", None)
        start = getattr(self.config, "decoder_start_token_id", None)
        ids = held["ids"]
        padding = [t == pad and (i > 0 or not (side and t == start)) for i, t in enumerate(ids)]
        types = text.arguments.get("token_type_ids")
        return Side(held["labels"], padding, types[0].tolist() if types is not None else ())

    # ---- passes

    def plan(
        self, request: Mapping[str, Any], text: Text, tensors: Mapping[str, Any], stop: Any
    ) -> Plan:
        """Read the mask and the changes, and compute the rows that patches give."""
        places = self.places
        changes = [parse(str(change), places) for change in request.get("changes") or ()]
        mask = Mask(str(request.get("mask") or "own"), tensors.get("mask"))
        given = given_rows(changes, tensors)
        for change in changes:
            self._check(change)
        if mask.name != "own" and not self.attends:
            raise self.refusal(f'The mask "{mask.text}"')
        sides = {}
        if mask.name != "own":
            sides = {("encoder" if self.paired else "blocks"): self.side(text, "")}
            if self.paired:
                sides["decoder"] = self.side(text, "decoder_")
        rows = {
            c.text: self._given(c, given[c.text]) if c.text in given else self._rows(c, text, stop)
            for c in changes
            if self._gives(c)
        }
        causal = {block: self.causal(block) for block in self.heads}
        return Plan(mask, changes, rows, sides, causal)

    def refusal(self, what: str) -> HeadlightError:
        return HeadlightError(
            f"{what} cannot act here, because {type(self.model).__name__} attends with code of its "
            "own; leave it out, or choose a change of the residual stream."
        )

    def _check(self, change: Change) -> None:
        """Refuse what this architecture cannot do."""
        name, found = type(self.model).__name__, self.found
        if change.kind in OF_ATTENTION and not self.attends:
            raise self.refusal(f'The change "{change.text}"')
        if change.kind in NEEDS:
            at = f"{change.stack}.{change.layer}.hook_"
            hook = at + ("cross_" if change.cross else "") + NEEDS[change.kind]
            if hook not in found.points:
                raise HeadlightError(
                    f'The change "{change.text}" cannot be used, because {name} adds no '
                    f"{NEEDS[change.kind]} of its own to the residual stream there."
                )
        if change.kind == "noise" and found.embedding_scale is None:
            raise HeadlightError(
                f'The change "{change.text}" cannot be used, because {name} does not read its '
                "token embeddings as they are in a table."
            )
        if change.kind == "positions" and not self.knows_positions(change.stack):
            raise HeadlightError(
                f'The change "{change.text}" cannot be used, because {name} shows no table, '
                "rotation or bias of positions that could be changed."
            )

    def knows_positions(self, stack: str) -> bool:
        stacks = [stack] if stack else sorted({block[0] for block in self.heads})
        biased = {block[0] for block in self.heads if place(block) + "bias" in self.found_biases}
        return all(s in self.found.rotary or s in self.found.learned or s in biased for s in stacks)

    @staticmethod
    def _gives(change: Change) -> bool:
        return change.kind in (*PATCHES, "freeze", "noise")

    def _given(self, change: Change, values: Any) -> Any:
        """The rows that a client sends itself."""
        if change.kind == "freeze":
            return self.torch.tensor(values)
        block = change.stack, bool(change.cross), change.layer
        width = self.widths[block][1] if change.head >= 0 else self.found.width
        if values.shape[1] != width:
            raise HeadlightError(
                f'The change "{change.text}" needs rows of {width} numbers, not {values.shape[1]}.'
            )
        return self._reaching(change, self.torch.tensor(values))

    def _rows(self, change: Change, text: Text, stop: Callable[[], bool]) -> Any:
        """The rows that a patch, frozen pattern or noise gives."""
        if change.kind == "noise":
            table = full(self._embeddings().weight).detach().double()
            deviation = 3 * abs(self.found.embedding_scale or 0.0) * float(table.std(correction=0))
            shape = (len(text.ids), table.shape[1])
            return self.torch.from_numpy(normal_rows(int(change.value), shape, deviation))
        block = change.stack, bool(change.cross), change.layer
        at, hook = place(block), PATCHES.get(change.kind, "pattern")
        cross = "cross_" if change.cross else ""
        name = (
            f"{at}hook_{hook}" if change.head >= 0 else f"{block[0]}.{block[2]}.hook_{cross}{hook}"
        )
        source = text
        if change.source:
            given: dict[str, Any] = {"text": change.source, "picture": text.picture}
            if self.paired:
                given["target_ids"] = text.sides["decoder_"]["ids"]
            source = self.text(given)
        heads = frozenset([(block, change.head)]) if hook == "pattern" else None
        computed = lambda of: self.compute(of, Wanted((name,), heads), stop=stop, everywhere=True)
        kept = computed(source).kept[name]
        if hook == "pattern":
            own = computed(text).kept[name][0]
            return self._along(block, own, kept[0], text, source)
        return self._reaching(change, kept[:, change.head] if hook == "z" else kept)

    @staticmethod
    def _reaching(change: Change, values: Any) -> Any:
        needs = change.rows.first + (change.rows.count if change.rows.count < 1 << 24 else 1)
        refuse_lengths(change, len(values), needs)
        return values

    def _along(self, block: Block, own: Any, theirs: Any, text: Text, source: Text) -> Any:
        """The pattern of another text, laid over this one's tokens."""
        pairs = {
            side: partners(held["labels"], source.sides[side]["labels"])
            for side, held in text.sides.items()
        }
        queries = pairs["decoder_" if block[0] == "decoder" else ""]
        keys = pairs[""] if block[1] else queries
        laid = along(own.float().cpu().numpy(), theirs.float().cpu().numpy(), queries, keys)
        return self.torch.from_numpy(laid)

    def compute(
        self,
        text: Text,
        wanted: Wanted,
        plan: Plan | None = None,
        stop: Callable[[], bool] = lambda: False,
        more: Mapping[str, Any] | None = None,
        logits: bool = False,
        graph: bool = False,
        everywhere: bool = False,
    ) -> Pass:
        """One pass; with logits, of all positions, under "logits". everywhere: every process gets
        the heads of all, and not the first one alone."""
        running = Pass(self.torch, self.base, self.found, wanted, plan, stop, graph=graph)
        output = self.forward(running, text, more, self.model if logits else self.base)
        if logits:
            running.kept["logits"] = logits_of(self.model, output)[0]
        if not graph:
            running.kept = self.gathered(running, running.kept, everywhere)
        return running

    def forward(
        self, running: Pass, text: Text, more: Mapping[str, Any] | None = None, runs: Any = None
    ) -> Any:
        runs = runs or self.base
        extra: dict[str, Any] = {"use_cache": False} if takes(self.base, "use_cache") else {}
        if not self.attends:
            extra["output_attentions"] = True
        with self._inside(running):
            try:
                return runs(**on_device(self.model, text.arguments), **{**extra, **(more or {})})
            except (RuntimeError, IndexError) as problem:
                check_divides(self.ranks, self.base.config)
                check_fits(text.sides, self.base.config)
                raise problem
            except Exception as problem:
                if told := traced_elsewhere(problem):
                    raise told from None
                raise

    @contextmanager
    def _inside(self, running: Pass) -> Iterator[None]:
        """The model runs this pass, and is afterwards as it was."""
        torch = self.torch
        gradients = torch.enable_grad() if running.graph else torch.no_grad()
        switches = has_interface(self.model)
        with ExitStack() as held:
            for entered in (gradients, evaluating(self.model), forgetting(self.base)):
                held.enter_context(entered)
            if switches:
                held.enter_context(attending(self.model, NAME if self.attends else "eager"))
            if not self.attends:
                held.enter_context(hooked(self.base, Outputs(running, self.base), torch))
            held.enter_context(running.running())
            yield
