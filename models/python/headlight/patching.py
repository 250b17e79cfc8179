"""Patch a model in memory by its own passes: with a metric that is a Python function, and along
paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from .engine.model import LiveModel, Text
from .engine.together import OF_HEADS, OF_STREAM, Cell, Edit, Kept, OneByOne, together
from .errors import HeadlightError
from .head_names import head_parts
from .hooked_models import is_hooked
from .measures import PatchMap
from .metrics import Metric, as_function, value_of
from .nnsight_models import unwrapped
from .optional import progress

ROOM = 1 << 28  # bytes of the logits of one pass
COPIES = 64  # at most, of one pass
WHAT = (*OF_STREAM, "heads", "head", "heads-by-position", "q", "k", "v", "pattern")


class Pair:
    """A clean and a corrupted text of equal length, and the metric in both."""

    def __init__(self, held: LiveModel, clean: Text, corrupted: Text, metric: Any):
        if len(clean.ids) != len(corrupted.ids):
            raise HeadlightError(
                f"The clean text has {len(clean.ids)} tokens and the corrupted one "
                f"{len(corrupted.ids)}; give texts with the same number of tokens."
            )
        self.held, self.text, self.clean_text = held, corrupted, clean
        logits = together(held, clean, [[]])[0][0].float()
        self.name, self.metric = as_function(metric, held.tokenizer, logits)
        self.clean = value_of(self.metric, logits)
        self.corrupted = value_of(self.metric, together(held, corrupted, [[]])[0][0])
        if self.clean == self.corrupted:
            raise HeadlightError(
                f"The metric is {self.clean:g} in both runs, so there is nothing to restore; "
                "choose another metric, or other texts."
            )

    def kept(self, text: Text, part: str) -> Kept:
        """A part of every layer in a run without changes."""
        return together(self.held, text, [[]], (part,))[1]

    def middles(self) -> Kept:
        """attn_out + Δ resid_mid. A module that reads resid_mid is not all that does: the residual
        goes around it, and takes what attention adds."""
        own, theirs, added = (
            self.kept(text, part)
            for text, part in (
                (self.text, "resid_mid"),
                (self.clean_text, "resid_mid"),
                (self.text, "attn_out"),
            )
        )
        return {
            ("attn_out", layer): held + theirs["resid_mid", layer] - own["resid_mid", layer]
            for (_, layer), held in added.items()
            if ("resid_mid", layer) in own
        }

    def share(self, logits: Any) -> float:
        """How much of the clean run's metric is there, 0 to 1."""
        value = value_of(self.metric, logits)
        return (value - self.corrupted) / (self.clean - self.corrupted)

    def batches(self, count: int, what: str) -> Iterable[range]:
        """Numbers of copies that one pass takes, seen on a bar where tqdm is installed."""
        vocabulary = max(self.held.vocabulary(), 1)
        size = max(1, min(COPIES, ROOM // (4 * vocabulary * len(self.text.ids))))
        parts = [range(at, min(at + size, count)) for at in range(0, count, size)]
        return progress(parts, f"patch {what}")

    def copies(self, edits: Sequence[Sequence[Edit]], keep: Sequence[str] = ()) -> Any:
        """Runs of the corrupted text with edits: logits, and of each kept part the copies."""
        try:
            return together(self.held, self.text, edits, keep)
        except OneByOne:
            each = [together(self.held, self.text, [one], keep) for one in edits]
            torch = self.held.torch
            parts = {name: torch.cat([kept[name] for _, kept in each]) for name in each[0][1]}
            return torch.cat([logits for logits, _ in each]), parts

    def map(self, what: str, rows: list[str], columns: list[str], shares: list[float]) -> PatchMap:
        width = len(columns)
        values = [shares[at : at + width] for at in range(0, len(shares), width)]
        of_stream = what in OF_STREAM
        by_row = "." in rows[0] and what != "path"
        table = {
            "name": what,
            "rows_are": "head" if by_row else "layer",
            "columns_are": "position" if of_stream or by_row else "head",
            "rows": rows,
            "columns": columns,
            "values": values,
        }
        metric = {"name": "metric", "rows": [self.name], "columns": ["clean", "corrupted"]}
        metric["values"] = [[self.clean, self.corrupted]]
        return PatchMap(json.dumps({"version": 1, "tables": [table, metric]}))


def patched(pair: Pair, what: str, head: Any = None) -> PatchMap:
    """Each place of the corrupted run takes what the clean one has there."""
    held, labels = pair.held, [label.strip() or label for label in pair.text.sides[""]["labels"]]
    layers, heads = _shape(held)
    positions = range(len(labels))
    named = [str(head) for head in range(heads)]
    part = "z" if what.startswith("head") else what
    if part in OF_HEADS and not held.attends:
        raise held.refusal(f'what="{what}"')
    if what in OF_STREAM:
        rows, columns = [str(layer) for layer in range(layers)], labels
        part = "attn_out" if what == "resid_mid" else what
        cells = [Cell(part, layer, None, at) for layer in range(layers) for at in positions]
    elif what in ("head", "heads-by-position"):
        places = [(layer, h) for layer in range(layers) for h in range(heads)]
        if what == "head":
            places, what = [_placed(head, layers, heads)], f"head {'.'.join(head_parts(head))}"
        rows, columns = [f"{layer}.{h}" for layer, h in places], labels
        cells = [Cell("z", *place, at) for place in places for at in positions]
    else:
        rows, columns = [str(layer) for layer in range(layers)], named
        cells = [Cell(part, layer, h) for layer in range(layers) for h in range(heads)]
    source = pair.middles() if what == "resid_mid" else pair.kept(pair.clean_text, part)
    if missing := [cell for cell in cells if (cell.part, cell.layer) not in source]:
        raise HeadlightError(
            f"{type(held.model).__name__} shows no {what} in layer {missing[0].layer}; choose "
            "another what=."
        )
    shares: list[float] = []
    for batch in pair.batches(len(cells), what):
        logits, _ = pair.copies([[Edit(cells[i], source)] for i in batch])
        shares += [pair.share(one) for one in logits]
    return pair.map(what, rows, columns, shares)


def along_paths(pair: Pair, sender: Any, receivers: Any, part: str | None) -> PatchMap:
    """Path patching (Wang et al. 2022): the sender's z is that of the clean run, all other heads
    are frozen to the corrupted run and MLPs computed again; what the receivers read of that, their
    q, k or v, enters the corrupted run."""
    held = pair.held
    layers, heads = _shape(held)
    if not held.attends:
        raise held.refusal("sender=")
    ends = _receivers(receivers, layers, heads)
    if not ends and part is not None:
        raise HeadlightError('part= is of receiving heads, and "logits" are none; leave it out.')
    if ends and part not in ("q", "k", "v"):
        raise HeadlightError('part= is what the receivers read: "q", "k" or "v"; give one.')
    own, theirs = pair.kept(pair.text, "z"), pair.kept(pair.clean_text, "z")
    frozen = [Edit(Cell("z", layer), own) for layer in range(layers)]
    senders = [(layer, head) for layer in range(layers) for head in range(heads)]
    senders = senders if sender is None else [_placed(sender, layers, heads)]
    shares: list[float] = []
    for batch in pair.batches(len(senders), "paths"):
        edits = [[*frozen, Edit(Cell("z", *senders[i]), theirs)] for i in batch]
        logits, seen = pair.copies(edits, [part] if part else [])
        if part:
            reads = [Cell(part, *end) for end in ends]
            logits, _ = pair.copies(
                [[Edit(cell, seen, row) for cell in reads] for row in range(len(batch))]
            )
        shares += [pair.share(one) for one in logits]
    if sender is not None:
        return pair.map("path", [str(senders[0][0])], [str(senders[0][1])], shares)
    return pair.map("path", [str(i) for i in range(layers)], [str(i) for i in range(heads)], shares)


def opened_model(model: Any, tokenizer: Any) -> LiveModel:
    """A model whose own passes take a metric that is a function."""
    model, tokenizer = unwrapped(model, tokenizer)
    if is_hooked(model) or not hasattr(model, "config"):
        raise HeadlightError(
            "A metric that is a function, and sender=, take a model of transformers in memory; "
            "give that one."
        )
    held = LiveModel(model, tokenizer)
    if held.paired:
        raise HeadlightError(
            "Models with encoder and decoder are explained and patched by the program; give a "
            "metric in words."
        )
    return held


def opened(
    model: Any, tokenizer: Any, clean: Any, corrupted: Any, metric: str | Metric | None, more: Any
) -> Pair:
    """The pair of a model in memory. more: clean_ids and corrupted_ids; others have no place."""
    given = {name: value for name, value in more.items() if value is not None}
    ids = [given.pop(name, None) for name in ("clean_ids", "corrupted_ids")]
    if given:
        raise HeadlightError(
            f"{next(iter(given))}= is computed by the program alone, and this by the model in "
            "memory; leave it out, or give a metric in words without sender=."
        )
    held = opened_model(model, tokenizer)
    read = []
    for name, text, row in zip(("clean", "corrupted"), (clean, corrupted), ids):
        if text is None and row is None:
            raise HeadlightError(f"There is no {name} text; give {name}=, or {name}_ids=.")
        read.append(held.text({"text": text} if row is None else {"ids": row}))
    return Pair(held, read[0], read[1], metric)


def _shape(held: LiveModel) -> tuple[int, int]:
    """How many layers, and heads of each."""
    heads = [count for count, _ in held.heads.values()]
    if len(set(heads)) > 1:
        raise HeadlightError(
            "Layers of different numbers of heads are patched by the program; give a metric in "
            "words."
        )
    return len(heads), heads[0]


def _placed(head: Any, layers: int, heads: int) -> tuple[int, int]:
    """A head that is there."""
    parts = head_parts(head)
    try:
        layer, number = map(int, parts)
    except ValueError:
        layer = number = -1
    if not (0 <= layer < layers and 0 <= number < heads):
        raise HeadlightError(
            f"There is no head {'.'.join(parts)}; this model has {layers} layers of {heads} heads."
        )
    return layer, number


def _receivers(receivers: Any, layers: int, heads: int) -> list[tuple[int, int]]:
    """The heads that receive; none: the logits do."""
    if receivers is None or (isinstance(receivers, str) and receivers == "logits"):
        return []
    several = receivers if isinstance(receivers, (list, set)) else [receivers]
    if not several:
        raise HeadlightError('receivers= is empty; give heads, [(9, 6), (9, 9)], or "logits".')
    return [_placed(one, layers, heads) for one in several]
