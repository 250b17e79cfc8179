"""Models that read a picture beside a text: a processor spells the picture as tokens among those of
the text, and makes the arrays that their embeddings come from."""

from __future__ import annotations

import copy
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

from ..arrays import described_tokens
from ..errors import HeadlightError
from .pictures import Picture, PictureRead, Side, arrays_of, parameters_of, refused, seen_of

# Settings of models whose tokens of a picture are questions to it, and no patches.
ASKED = re.compile(r"perceiver|qformer|resampler|latent_query|query_tokens|num_query")
# How names of arrays of a picture begin; others are of each token.
OF_PICTURES = ("pixel", "image", "patch", "spatial", "aspect", "num_")
BESIDE = ("pair", "target", "target_ids", "token_types")


class Beside:
    """What makes such a model's arguments, of a picture and ids or a text."""

    kind = "beside"

    def __init__(self, model: Any, base: Any, tokenizer: Any, processor: Any):
        self.model, self.tokenizer, self.processor = model, tokenizer, processor
        self.known = (parameters_of(model) | parameters_of(base)) - {"labels", "input_ids"}
        self.placeholder = str(
            getattr(processor, "image_token", None) or getattr(tokenizer, "image_token", "") or ""
        )
        self._spelling: str | None = None

    # ---- texts

    def read(self, picture: Picture | None, request: Mapping[str, Any]) -> tuple[Any, Side]:
        """The arguments of a pass, and the tokens."""
        if picture is None:
            raise HeadlightError("There is no picture to read; send one with encode.")
        if named := [name for name in BESIDE if request.get(name) is not None]:
            raise HeadlightError(
                f'A picture is read beside one text; leave the field "{named[0]}" out.'
            )
        ids = request.get("ids")
        if ids is None:
            text = request.get("text")
            if not isinstance(text, str):
                raise HeadlightError('There is nothing to read; send "ids" or a "text".')
            ids = self.encoded(picture, text)["ids"]
        return self.arguments(picture, ids), self.described(picture, ids)

    def encoded(self, picture: Picture, text: str, special: bool = True) -> Side:
        """Tokens of a text with the picture; offsets point into the text as it was typed."""
        given = self.spelled(text)
        out, heard = self._processed(picture, given, None if special else False)
        ids = out["input_ids"][0].tolist()
        told = self.described(picture, ids)
        first = self.place(picture, ids)
        picture_at = range(first, first + len(self.of(picture).ids))
        told["offsets"] = heard.typed(text, self._typed_parts(text), picture_at, len(ids))
        return told

    def described(self, picture: Picture, ids: list[int]) -> Side:
        """Tokens, where the picture's patches are called by row and column."""
        told, read = described_tokens(ids, self.tokenizer), self.of(picture)
        first, count = self.place(picture, ids), 0
        for at, token in enumerate(read.ids, first):
            if token == self._token(read.ids):
                told["tokens"][at] = told["labels"][at] = called(count, read.columns)
                count += 1
        return told

    def place(self, picture: Picture, ids: list[int]) -> int:
        """Where the picture's first token is; refuse ids that do not hold its tokens."""
        wanted = self.of(picture).ids
        token = self._token(wanted)
        places = [at for at, one in enumerate(ids) if one == token]
        if not places or ids[places[0] : places[-1] + 1] != wanted:
            raise HeadlightError(
                f"These ids hold {len(places)} tokens of a picture, and this picture needs "
                f"{wanted.count(token)} in its own order; encode the text with the picture."
            )
        return places[0]

    def told(self, picture: Picture, ids: list[int]) -> dict[str, Any]:
        return self.of(picture).told(picture.name, self.place(picture, ids))

    # ---- how a picture is spelled

    def spelled(self, text: str) -> str:
        """The text with the picture's place: where it was typed, or before it."""
        if not self.placeholder:
            raise HeadlightError(
                f"{type(self.processor).__name__} says no token that stands for a picture, so "
                "none can be put into a text."
            )
        if (count := text.count(self.placeholder)) > 1:
            raise HeadlightError(
                f'The text holds "{self.placeholder}" {count} times, and one picture comes with '
                "it; write it once."
            )
        return text if count else self.spelling() + text

    def spelling(self) -> str:
        """How the chat template writes a picture before a text."""
        if self._spelling is None:
            self._spelling = self._of_template() or self.placeholder
        return self._spelling

    def _of_template(self) -> str:
        text = {"type": "text", "text": "headlight"}
        try:
            with_one, without = (
                self.rendered([{"role": "user", "content": content}])
                for content in ([{"type": "image"}, text], [text])
            )
        except Exception:  # no template, or one of another kind
            return ""
        first = last = 0
        least = min(len(with_one), len(without))
        while first < least and with_one[first] == without[first]:
            first += 1
        while last < least - first and with_one[-1 - last] == without[-1 - last]:
            last += 1
        found = with_one[first : len(with_one) - last]
        return found if found.count(self.placeholder) == 1 else ""

    def rendered(self, messages: Any, **more: Any) -> str:
        """A conversation by the processor's template."""
        return str(self.processor.apply_chat_template(messages, tokenize=False, **more))

    def _typed_parts(self, text: str) -> list[tuple[int, str]]:
        """What was typed beside the placeholder, and where."""
        before, found, after = text.partition(self.placeholder)
        if not found:
            return [(0, text)]
        return [(0, before), (len(before) + len(found), after)]

    # ---- what the model takes

    def arguments(self, picture: Picture, ids: list[int], written: int = 0) -> dict[str, Any]:
        """The arguments of a pass. written: how many tokens at the end were generated."""
        torch, read = sys.modules["torch"], self.of(picture)
        self.place(picture, ids)
        token = self._token(read.ids)
        out = {"input_ids": torch.tensor([ids]), **read.arrays}
        for name, (own, other) in read.types.items():
            held = torch.tensor([[own if one == token else other for one in ids]])
            if written and name == "token_type_ids" and own == other == 0:
                held[:, -written:] = 1  # what follows a prefix that is read in both directions
            out[name] = held
        return out

    def of(self, picture: Picture) -> PictureRead:
        """What the model reads of a picture."""
        with picture.lock:
            if picture.read is None:
                out, _ = self._processed(picture, self.spelled("") + "a")
                picture.read = self._read(picture, out)
            held: PictureRead = picture.read
            return held

    def _processed(
        self, picture: Picture, text: str, special: bool | None = None
    ) -> tuple[Any, Heard]:
        processor = copy.copy(self.processor)
        heard = processor.tokenizer = Heard(self.tokenizer, special)
        processor.image_processor = Once(self.processor.image_processor, picture)
        try:
            with picture.lock:
                out = processor(images=[picture.image], text=[text], return_tensors="pt")
        except (MemoryError, HeadlightError):
            raise
        except Exception as problem:  # whatever a processor raises
            raise refused(problem) from None
        return out, heard

    def _read(self, picture: Picture, out: Any) -> PictureRead:
        ids = out["input_ids"][0].tolist()
        token = next((t for t in self._tokens() if t in ids), None)
        if token is None:
            raise HeadlightError(
                f"{type(self.processor).__name__} puts no token of a picture into the text, so it "
                "cannot be shown."
            )
        last = len(ids) - ids[::-1].index(token)
        own = ids[ids.index(token) : last]
        torch, dtype = sys.modules["torch"], self.model.dtype
        arrays, types = arrays_of(torch, out, self.known, dtype), {}
        arrays.pop("attention_mask", None)
        for name in [n for n in arrays if not n.startswith(OF_PICTURES)]:
            types[name] = self._type(name, arrays.pop(name), ids, token)
        whole = own.count(token) == len(own)
        rows, columns = self._grid(arrays, len(own)) if whole else (0, 0)
        seen = seen_of(self.processor.image_processor, picture, arrays)
        return PictureRead(arrays, own, rows, columns, types, seen)

    def _type(self, name: str, values: Any, ids: list[int], token: int) -> tuple[int, int]:
        """The number that each token of a picture has, and each other one."""
        if list(values.shape) == [1, len(ids)]:
            held = values[0].tolist()
            own = {v for v, i in zip(held, ids) if i == token}
            others = {v for v, i in zip(held, ids) if i != token}
            if len(own) == len(others) == 1:
                return int(own.pop()), int(others.pop())
        raise HeadlightError(
            f"{type(self.model).__name__} reads pictures by {name}, which this server cannot make; "
            "leave the picture out."
        )

    def _tokens(self) -> list[int]:
        """Ids that may stand for patches: the model's own first."""
        config, names = self.model.config, ("image_token_id", "image_token_index")
        found = [getattr(config, name, None) for name in names]
        found += getattr(self.processor, "image_token_ids", None) or []
        found += [getattr(held, names[0], None) for held in (self.processor, self.tokenizer)]
        return [token for token in found if isinstance(token, int)]

    def _token(self, ids: list[int]) -> int:
        return ids[0]  # a picture's tokens begin with one

    def _grid(self, arrays: Mapping[str, Any], count: int) -> tuple[int, int]:
        """Rows and columns of its patches, where they follow from the arrays."""
        if any(ASKED.search(name) for name in self.model.config.to_dict()):
            return 0, 0
        rows = columns = 0
        sizes, pixels = arrays.get("image_grid_thw"), arrays.get("pixel_values")
        if sizes is not None:
            merged = int(getattr(self.processor.image_processor, "merge_size", 1) or 1)
            if len(sizes) == 1 and int(sizes[0][0]) == 1:
                rows, columns = (int(size) // merged for size in sizes[0][1:])
        elif pixels is not None and pixels.dim() > 3 and math.prod(pixels.shape[:-3]) == 1:
            height, width = pixels.shape[-2:]
            rows = round(math.sqrt(count * height / width))
            columns = count // max(rows, 1)
            if rows * width != columns * height:
                rows = 0
        return (rows, columns) if rows * columns == count else (0, 0)


def called(number: int, columns: int) -> str:
    """The label of a patch."""
    return f"{number // columns},{number % columns}" if columns else f"img {number}"


class Once:
    """An image processor that processes a picture once."""

    def __init__(self, own: Any, picture: Picture):
        self._own, self._picture = own, picture

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._picture.processed is None:
            if self._picture.pixels.shape[0] in (1, 3):  # which could be taken for channels
                named["input_data_format"] = "channels_last"
            self._picture.processed = self._own(*given, **named)
        return copy.copy(self._picture.processed)  # processors take parts out of it


class Heard:
    """A tokenizer that remembers the text it read, and where each token stands there."""

    def __init__(self, own: Any, special: bool | None):
        self._own, self._special = own, special
        self.text, self.offsets = "", []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __call__(self, text: Any, *given: Any, **named: Any) -> Any:
        if self._special is not None:
            named["add_special_tokens"] = self._special
        self.text = text if isinstance(text, str) else text[0]
        if getattr(self._own, "is_fast", False):
            special = bool(named.get("add_special_tokens", True))
            out = self._own(self.text, add_special_tokens=special, return_offsets_mapping=True)
            self.offsets = [tuple(pair) for pair in out["offset_mapping"]]
        return self._own(text, *given, **named)

    def typed(
        self, text: str, parts: list[tuple[int, str]], picture: range, count: int
    ) -> list[list[int]] | None:
        """Where each token stands in the text that was typed; None where that is not known."""
        if len(self.offsets) != count:
            return None
        spans = []
        for number, (at, part) in enumerate(parts):
            found = self.text.find(part) if number < len(parts) - 1 else self.text.rfind(part)
            if part and found >= 0:
                spans.append((found, found + len(part), at - found))
        out = []
        for number, (first, last) in enumerate(self.offsets):
            within = [
                (max(first, begin) + moved, min(last, end) + moved)
                for begin, end, moved in spans
                if number not in picture and first < last and first < end and last > begin
            ]
            out.append(list(within[0]) if within else [0, 0])
        return out
