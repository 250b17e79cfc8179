"""Interventions as the command line spells them (docs/interventions.md): what each names, and what
it does to the attention of a head."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import HeadlightError

TO_END = 1 << 24
MAX_SEED, MAX_SCORE, MIN_TEMPERATURE, MAX_POSITION = 1 << 20, 1e30, 1e-6, 1_000_000
ABLATIONS = ("zero", "mean", "uniform", "hard", "keep")
PATCHES = {
    "patch-resid": "resid_pre",
    "patch-attention": "attn_out",
    "patch-mlp": "mlp_out",
    "patch-head": "z",
}
KINDS = (
    *("ablate", "temperature", "mask", "unmask", "score", "freeze", "skip-attention"),
    *("skip-mlp", "positions", "noise", *PATCHES),
)
# Changes under which a row depends on no later one, so that cached rows stay right.
KEEPS_ROWS = ("zero", "uniform", "hard", "keep", "temperature", "mask", "score", "skip-attention")
Block = tuple[str, bool, int]  # stack, cross, layer


@dataclass(frozen=True)
class Span:
    """Rows or columns."""

    first: int
    count: int

    def within(self, size: int, past: int = 0) -> slice:
        """Return the part that lies in positions past … past + size, counted from past."""
        end = min(self.first + self.count, past + size)
        return slice(max(self.first - past, 0), max(end - past, 0))


@dataclass(frozen=True)
class Change:
    """One change. stack "": of every block that the kind acts on; layer and head -1: all."""

    text: str
    kind: str
    stack: str = ""
    cross: bool | None = None
    layer: int = -1
    head: int = -1
    rows: Span = Span(0, TO_END)
    columns: Span = Span(0, TO_END)
    value: float = 0.0
    source: str = ""

    def of_block(self, block: Block) -> bool:
        stack, cross, layer = block
        if self.stack and (stack != self.stack or self.layer not in (-1, layer)):
            return False
        return self.cross is None or cross == self.cross

    def of_head(self, block: Block, head: int) -> bool:
        if not self.of_block(block):
            return False
        if self.kind == "keep":
            return head != self.head
        return self.head in (-1, head)


def wrong(text: str, helps: str) -> HeadlightError:
    return HeadlightError(f'The change "{text}" cannot be used; {helps}')


class Places:
    """The blocks of a model and their heads, by which places are read."""

    def __init__(self, heads: dict[Block, int]):
        self.heads = heads
        self.paired = any(stack != "blocks" for stack, *_ in heads)

    def block(self, text: str) -> Block | None:
        """Read "3", "encoder.0" or "cross.1"."""
        found = re.fullmatch(r"(?:(blocks|encoder|decoder|cross)\.)?(\d{1,6})", text)
        if not found:
            return None
        name = found[1] or ("decoder" if self.paired else "blocks")
        block = ("decoder" if name == "cross" else name, name == "cross", int(found[2]))
        return block if block in self.heads else None

    def head(self, text: str) -> tuple[Block, int] | None:
        """Read "3.5" or "cross.0.2"."""
        layer, _, number = text.rpartition(".")
        block = self.block(layer)
        if block is None or not re.fullmatch(r"\d{1,6}", number):
            return None
        return (block, int(number)) if int(number) < self.heads[block] else None

    def place(self, text: str) -> dict[str, Any] | None:
        """Read what stands after the @."""
        if text == "*":
            return {}
        kinds = {"encoder": ("encoder", False), "decoder": ("decoder", False)}
        kinds["cross"] = ("decoder", True)
        if text in kinds:
            stack, cross = kinds[text]
            there = any(block[:2] == (stack, cross) for block in self.heads)
            return {"stack": stack, "cross": cross} if there else None
        if (block := self.block(text)) is not None:
            return _of(block)
        found = self.head(text)
        return None if found is None else {**_of(found[0]), "head": found[1]}


def _of(block: Block) -> dict[str, Any]:
    return {"stack": block[0], "cross": block[1], "layer": block[2]}


def read_span(text: str) -> Span | None:
    """Read "16", "3-5", "16.." and "*"."""
    if text == "*":
        return Span(0, TO_END)
    found = re.fullmatch(r"(\d{1,6})(?:(\.\.)|-(\d{1,6}))?", text)
    if not found:
        return None
    first = int(found[1])
    if found[2]:
        return Span(first, TO_END)
    last = int(found[3] or first)
    return Span(first, last - first + 1) if last >= first else None


def read_number(text: str) -> float | None:
    if text in ("inf", "+inf"):
        return float("inf")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= MAX_SCORE else None


def parse(text: str, places: Places) -> Change:
    """Read one change, as --change spells it."""
    kind, _, rest = text.partition(":")
    kind = {"forbid": "mask", "allow": "unmask"}.get(kind, kind)
    if kind == "ablate-expert":
        raise wrong(text, "a live model's experts cannot be ablated; save the model and open it.")
    if kind not in KINDS:
        raise wrong(text, f"write one of {', '.join(KINDS)}, as docs/interventions.md spells them.")
    if kind == "ablate":
        return _ablation(text, rest, places)
    if kind in ("skip-attention", "skip-mlp"):
        block = places.block(rest)
        if block is None or (kind == "skip-mlp" and block[1]):
            raise wrong(text, "there is no such layer.")
        return Change(text, kind, *block)
    if kind == "freeze":
        head, _, source = rest.partition("=")
        found = places.head(head)
        if not found or not source:
            raise wrong(text, "write freeze:L.H=TEXT with a head that the model has.")
        return Change(text, kind, *found[0], head=found[1], source=source)
    if kind == "noise":
        return _noise(text, rest)
    return _placed(text, kind, rest, places)


def _ablation(text: str, rest: str, places: Places) -> Change:
    head, _, how = rest.partition(":")
    found, how = places.head(head), how or "zero"
    if found is None:
        raise wrong(text, "write ablate:L.H with a head that the model has.")
    if how not in ABLATIONS:
        raise wrong(text, "write zero, mean, uniform, hard or keep after the colon.")
    return Change(text, how, *found[0], head=found[1])


def _noise(text: str, rest: str) -> Change:
    positions, _, seed = rest.partition("=")
    span = read_span(positions)
    if span is None or not re.fullmatch(r"\d{0,7}", seed) or int(seed or 0) > MAX_SEED:
        raise wrong(text, "write noise:3-5=SEED with tokens of the text and a seed up to 1048576.")
    return Change(text, "noise", layer=0, rows=span, value=int(seed or 0))


def _placed(text: str, kind: str, rest: str, places: Places) -> Change:
    """Read a change whose place stands after an @."""
    before, equals, after = rest.partition("=")
    what, at, place = before.partition("@")
    named = places.place(place) if at else None
    if at and named is None:
        raise wrong(
            text,
            "there is no such place after the @: write a head (@2.0), a layer (@2), a kind "
            "(@encoder, @decoder, @cross) that the model has, or @*.",
        )
    if kind in PATCHES:
        return _patch(text, kind, what, named or {}, after if equals else None)
    if kind == "positions":
        return _positions(text, what, named or {})
    if kind == "temperature":
        value = read_number(what)
        if value is None or not (value == 0 or value >= MIN_TEMPERATURE):
            raise wrong(text, "write 0 (hard), a number from 1e-6 to 1e30, or inf (uniform).")
        return Change(text, kind, value=value, **(named or {}))
    return _cells(text, kind, what, {"cross": False} if named is None else named, after)


def _cells(text: str, kind: str, what: str, place: dict[str, Any], value: str) -> Change:
    rows, _, columns = what.partition(">")
    spans = read_span(rows), read_span(columns)
    if spans[0] is None or spans[1] is None:
        raise wrong(
            text, "write QUERY>KEY: 16>10, 3-5>9 for several, 16..>0 for 16 and later, *>0."
        )
    number = read_number(value) if kind == "score" else 0.0
    if number is None or number == float("inf") or (kind == "score" and _several(spans)):
        raise wrong(text, "write score:QUERY>KEY@L.H=NUMBER with a number from -1e30 to 1e30.")
    return Change(text, kind, rows=spans[0], columns=spans[1], value=number, **place)


def _several(spans: Iterable[Any]) -> bool:
    return any(span.count != 1 for span in spans)


def _positions(text: str, what: str, place: dict[str, Any]) -> Change:
    if "layer" in place or place.get("cross"):
        raise wrong(text, "positions are a whole text's: write @encoder or @decoder, or no place.")
    seed = re.fullmatch(r"shuffle:(\d{1,7})", what)
    if what != "off" and (not seed or int(seed[1]) > MAX_SEED):
        raise wrong(text, "write positions:off, or positions:shuffle:SEED, a seed up to 1048576.")
    return Change(text, "positions", value=int(seed[1]) if seed else -1, **place)


def _patch(text: str, kind: str, what: str, place: dict[str, Any], source: str | None) -> Change:
    span, of_head = read_span(what), kind == "patch-head"
    fits = "layer" in place and ("head" in place) == of_head
    if not fits or (place.get("cross") and kind in ("patch-resid", "patch-mlp")):
        raise wrong(text, f"write {kind}:POSITIONS@{'L.H' if of_head else 'L'}=TEXT.")
    if span is None:
        raise wrong(
            text, "write positions as 16, 3-5 for several, 16.. for 16 and later, * for all."
        )
    if source == "":
        raise wrong(text, "write the text that the values are of after the =, or leave the = out.")
    return Change(text, kind, rows=span, source=source or "", **place)


def keeps_rows(changes: Sequence[Change]) -> bool:
    """Return whether a row under these changes depends on no later one."""
    return all(change.kind in KEEPS_ROWS or change.kind == "skip-mlp" for change in changes)
