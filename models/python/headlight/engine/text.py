"""What a pass reads: a text or ids, a picture, and what continues them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..arrays import described_tokens
from ..errors import HeadlightError
from ..transformers_models import sides_of, takes
from .pictures import Picture

if TYPE_CHECKING:
    from .model import LiveModel


@dataclass
class Text:
    """Arguments of the model's forward, and the tokens of each side."""

    arguments: dict[str, Any]
    sides: dict[str, dict[str, list[Any]]]
    picture: Picture | None = None
    written: int = 0  # tokens at the end that were generated

    @property
    def ids(self) -> list[int]:
        return self.sides[""]["ids"]

    def part(self, first: int, last: int | None = None) -> Text:
        """Return some tokens of a text of one side, without a picture."""
        return Text({n: value[:, first:last] for n, value in self.arguments.items()}, self.sides)


def text_of(live: LiveModel, request: Mapping[str, Any]) -> Text:
    """Read ids or a text, and of an encoder-decoder its target; or a picture, and the text that
    comes with it."""
    picture = request.get("picture")
    if picture is not None or live.alone:
        if live.reader is None:
            raise HeadlightError(
                f"{type(live.model).__name__} reads no pictures here; leave the picture out."
            )
        arguments, side = live.reader.read(picture, request)
        return Text(arguments, {"": side}, picture)
    given = {
        name: request[name]
        for name in ("ids", "target_ids", "pair", "target")
        if request.get(name) is not None
    }
    if request.get("ids") is None and not isinstance(request.get("text"), str):
        raise HeadlightError('There is nothing to read; send "ids" or a "text".')
    arguments, sides = sides_of(live.model, live.tokenizer, request.get("text"), given)
    if (types := request.get("token_types")) is not None:
        arguments["token_type_ids"] = live.torch.tensor([types])
    arguments = {name: v for name, v in arguments.items() if takes(live.base, name)}
    mask = arguments.get("attention_mask")
    if mask is not None and bool(mask.all()):
        del arguments["attention_mask"]
    return Text(arguments, sides)


def longer(live: LiveModel, text: Text, side: str, chosen: int) -> Text:
    """The text with a token that was generated."""
    ids = [*text.sides[side]["ids"], chosen]
    if text.picture is not None and live.reader:
        written = text.written + 1
        arguments = live.reader.arguments(text.picture, ids, written)
        told = live.reader.described(text.picture, ids)
        return Text(arguments, {"": told}, text.picture, written)
    arguments = {n: v for n, v in text.arguments.items() if n.startswith("decoder") or side}
    arguments = {**arguments, f"{side}input_ids": live.torch.tensor([ids])}
    told = described_tokens(ids, live.tokenizer)
    return Text(arguments, {**text.sides, side: told})
