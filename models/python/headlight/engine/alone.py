"""Models that read a picture and no text: their tokens are patches, after a class token and
registers where there are some."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import HeadlightError
from .beside import Once, called
from .pictures import (
    Picture,
    PictureRead,
    Side,
    arrays_of,
    parameters_of,
    picture_of,
    refused,
    seen_of,
)


class Alone:
    """What makes such a model's arguments of a picture."""

    kind = "alone"
    MOST_BEFORE = 64  # tokens that may stand before the patches

    def __init__(self, model: Any, processor: Any):
        self.model, self.first = model, 0
        self.processor = getattr(processor, "image_processor", processor)
        if self.processor is None:
            raise HeadlightError(
                f"{type(model).__name__} reads pictures; give its image processor, "
                "AutoImageProcessor.from_pretrained(…), where a tokenizer would be."
            )
        self.known = parameters_of(model) - {"labels"}
        draw = np.random.default_rng(5)
        self._looked_at = picture_of(draw.integers(0, 256, (96, 64, 3), dtype=np.uint8))

    def to_look_at(self) -> dict[str, Any]:
        """Arguments of the pass that looks for places; refuse a processor of another model."""
        arguments = self._arrays(self._looked_at)
        torch, device = sys.modules["torch"], next(self.model.parameters()).device
        try:
            with torch.no_grad():
                self.model(**{name: value.to(device) for name, value in arguments.items()})
        except (RuntimeError, TypeError, ValueError, AttributeError, IndexError) as problem:
            first = " ".join(str(problem).split())[:200]
            raise HeadlightError(
                f"{type(self.model).__name__} cannot read what {type(self.processor).__name__} "
                f"makes of a picture ({first}); give its own image processor."
            ) from None
        return arguments

    def settle(self, sizes: set[tuple[int, int]]) -> None:
        """Learn how many tokens stand before the patches, from what each block's attention sees:
        how many sequences, and how long."""
        rows, columns = self._grid(self._arrays(self._looked_at))
        count = sizes.pop()[1] if len(sizes) == 1 and next(iter(sizes))[0] == 1 else 0
        self.first = count - rows * columns
        if not rows or not 0 <= self.first <= self.MOST_BEFORE:
            raise HeadlightError(
                f"{type(self.model).__name__} does not attend over one sequence of its picture's "
                "patches, which is all that this server shows."
            )

    def of(self, picture: Picture) -> PictureRead:
        """What the model reads of a picture."""
        with picture.lock:
            if picture.read is None:
                arrays = self._arrays(picture)
                rows, columns = self._grid(arrays)
                seen = seen_of(self.processor, picture, arrays)
                ids = list(range(rows * columns))
                picture.read = PictureRead(arrays, ids, rows, columns, seen=seen)
            held: PictureRead = picture.read
            return held

    def _arrays(self, picture: Picture) -> dict[str, Any]:
        try:
            with picture.lock:
                out = Once(self.processor, picture)(images=[picture.image], return_tensors="pt")
        except (MemoryError, HeadlightError):
            raise
        except Exception as problem:  # whatever a processor raises
            raise refused(problem) from None
        return arrays_of(sys.modules["torch"], out, self.known, self.model.dtype)

    def _grid(self, arrays: Mapping[str, Any]) -> tuple[int, int]:
        """Rows and columns of the patches; 0 where they are not known."""
        pixels, patch = arrays.get("pixel_values"), getattr(self.model.config, "patch_size", None)
        if pixels is None or pixels.dim() != 4 or not patch:
            return 0, 0
        high, wide = patch if isinstance(patch, (list, tuple)) else (patch, patch)
        return int(pixels.shape[-2]) // int(high), int(pixels.shape[-1]) // int(wide)

    def read(self, picture: Picture | None, request: Mapping[str, Any]) -> tuple[Any, Side]:
        """The arguments of a pass, and the tokens."""
        if picture is None or any(request.get(n) for n in ("text", "pair", "target")):
            raise HeadlightError(
                f"{type(self.model).__name__} reads a picture and no text; encode a picture, and "
                "name it."
            )
        told, ids = self.described(picture), request.get("ids")
        if ids is not None and list(ids) != told["ids"]:
            raise HeadlightError(
                f"The ids of this picture are 0 to {len(told['ids']) - 1}; encode it, and send "
                "those."
            )
        return self.arguments(picture), told

    def encoded(self, picture: Picture, text: str, special: bool = True) -> Side:
        _, told = self.read(picture, {"text": text})
        return {**told, "offsets": [[0, 0] for _ in told["ids"]]}

    def described(self, picture: Picture) -> Side:
        """Tokens as the program calls those of its own models."""
        read = self.of(picture)
        tokens = [*self._before(), *(called(at, read.columns) for at in read.ids)]
        return {"tokens": tokens, "labels": list(tokens), "ids": list(range(len(tokens)))}

    def _before(self) -> list[str]:
        """What stands before the patches: a class token, and registers."""
        registers = int(getattr(self.model.config, "num_register_tokens", 0) or 0)
        named = ["[CLS]"] if self.first > registers or not registers else []
        others = self.first - len(named)
        return [*named, *(f"[REG{i}]" for i in range(others))][: self.first]

    def arguments(self, picture: Picture) -> dict[str, Any]:
        return dict(self.of(picture).arrays)

    def told(self, picture: Picture, ids: list[int]) -> dict[str, Any]:
        return self.of(picture).told(picture.name, self.first)
