"""Requests about texts and pictures that need no pass: encode, decode, chat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..arrays import described_tokens
from ..errors import HeadlightError
from .pictures import Picture, Pictures, Reader

PARTS_OF_PICTURES = ("image", "image_url")  # what the parts of a message call a picture


@dataclass
class Answer:
    header: dict[str, Any]
    tensors: dict[str, Any] = field(default_factory=dict)


Stop = Callable[[], bool]


class Texts:
    """Answers by a tokenizer, and by what reads pictures."""

    def __init__(self, called: str, tokenizer: Any, reader: Reader = None):
        self.called, self.tokenizer, self.reader = called, tokenizer, reader
        self.pictures = Pictures()
        self._tokenizing = threading.Lock()

    def left(self) -> None:
        """Forget the pictures of a client that leaves."""
        self.pictures.forget()

    def _tokenizer(self) -> Any:
        if self.tokenizer is None:
            raise HeadlightError("This server has no tokenizer; send ids, or start it with one.")
        return self.tokenizer

    def _reader(self) -> Any:
        if self.reader is None:
            raise HeadlightError(f"{self.called} reads no pictures here; leave the picture out.")
        return self.reader

    def _picture(self, request: Mapping[str, Any], tensors: Mapping[str, Any]) -> Picture | None:
        """The picture that comes with a request, or is named by it."""
        if "picture" in tensors:
            self._reader()
            return self.pictures.keep(tensors["picture"])
        if request.get("picture") is None:
            return None
        self._reader()
        return self.pictures.named(request["picture"])

    def _named(self, request: Mapping[str, Any], tensors: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request of a pass with its picture instead of its name."""
        if "picture" in tensors:
            raise HeadlightError(
                'The tensor "picture" comes with encode; name it by the field "picture" here.'
            )
        if request.get("picture") is None:
            return request
        return {**request, "picture": self._picture(request, {})}

    def encode(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        picture = self._picture(request, tensors)
        if picture is not None or getattr(self.reader, "kind", "") == "alone":
            return self._beside(picture, request)
        tokenizer, text, target = self._tokenizer(), request.get("text"), request.get("target")
        if (text is None) == (target is None):
            raise HeadlightError('Send a text to encode, or as "target" what a decoder reads.')
        offsets = bool(getattr(tokenizer, "is_fast", False))
        with self._tokenizing:
            out = tokenizer(
                text,
                request.get("pair"),
                text_target=target,
                add_special_tokens=bool(request.get("special", True)),
                return_offsets_mapping=offsets,
            )
        told: dict[str, Any] = {**described_tokens(list(out["input_ids"]), tokenizer)}
        told["offsets"] = [list(pair) for pair in out["offset_mapping"]] if offsets else None
        told["types"] = out.get("token_type_ids")
        return Answer(told)

    def _beside(self, picture: Picture | None, request: Mapping[str, Any]) -> Answer:
        """What a picture and its text are encoded as."""
        reader = self._reader()
        for name in ("pair", "target"):
            if request.get(name) is not None:
                raise HeadlightError(
                    f'A picture is read beside one text; leave the field "{name}" out.'
                )
        if picture is None:
            raise HeadlightError(
                f'{self.called} reads pictures and no texts; send the tensor "picture".'
            )
        special = request.get("special")
        with self._tokenizing:
            told = reader.encoded(picture, request.get("text") or "", special is not False)
            held = reader.told(picture, told["ids"])
        return Answer({**told, "types": None, "picture": held})

    def decode(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        tokenizer = self._tokenizer()
        ids = request.get("ids") or []
        with self._tokenizing:
            return Answer({"text": tokenizer.decode(ids), **described_tokens(ids, tokenizer)})

    def chat(self, request: Any, tensors: Any, stop: Stop) -> Answer:
        tokenizer, messages = self._tokenizer(), request.get("messages")
        if not isinstance(messages, list):
            raise HeadlightError('A conversation is a list of messages; send it as "messages".')
        shown = pictures_in(messages)
        picture = self._picture(request, tensors)
        if shown and picture is None:
            raise HeadlightError(
                'A message of this conversation has a picture; name one by the field "picture".'
            )
        renders = template_holder(tokenizer, self.reader, bool(shown))
        if not getattr(renders, "chat_template", None):
            raise HeadlightError("This tokenizer has no chat template; send a text instead.")
        more = {"add_generation_prompt": bool(request.get("generation_prompt", True))}
        try:
            with self._tokenizing:
                text = renders.apply_chat_template(
                    messages, tools=request.get("tools"), tokenize=False, **more
                )
                ids = [] if shown else tokenizer(text, add_special_tokens=False)["input_ids"]
        except Exception as problem:  # whatever a template raises
            raise HeadlightError(
                f"The chat template refuses these messages: {str(problem)[:200]}"
            ) from None
        if not shown:
            return Answer({"text": text, **described_tokens(ids, tokenizer)})
        told = self._beside(picture, {"text": text, "special": False}).header
        return Answer({"text": text, **told})


def pictures_in(messages: list[Any]) -> int:
    """How many pictures the messages show."""
    contents = [held.get("content") for held in messages if isinstance(held, dict)]
    parts = [part for held in contents if isinstance(held, list) for part in held]
    return sum(isinstance(p, dict) and p.get("type") in PARTS_OF_PICTURES for p in parts)


def template_holder(tokenizer: Any, reader: Reader, shown: bool = False) -> Any:
    """What has the chat template: the tokenizer, or the processor beside it, which comes first
    where a picture is shown."""
    both = [tokenizer, getattr(reader, "processor", None)]
    found = [one for one in both if getattr(one, "chat_template", None)]
    return found[-1 if shown else 0] if found else tokenizer


def described_chat(tokenizer: Any, reader: Reader = None) -> dict[str, Any] | None:
    """The chat template, or several with their names, and the special tokens that they write."""
    held = getattr(template_holder(tokenizer, reader), "chat_template", None)
    if not held:
        return None
    if isinstance(held, Mapping):
        held = [{"name": str(name), "template": str(text)} for name, text in held.items()]
    tokens = getattr(tokenizer, "special_tokens_map", {})
    written = {name: str(token) for name, token in tokens.items() if isinstance(token, str)}
    return {"chat_template": held, "special_tokens": written}
