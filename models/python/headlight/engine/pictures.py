"""Pictures that a client sends, by their names, and what of a model reads them."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ..errors import HeadlightError

if TYPE_CHECKING:
    from .alone import Alone
    from .beside import Beside

MAX_PIXELS, MAX_RATIO, KEPT = 64_000_000, 200, 4


class UnknownPicture(HeadlightError):
    """The client sends the picture again."""

    code = "picture"


@dataclass(eq=False)
class Picture:
    """Pixels [height, width, 3], and what was made of them."""

    name: str
    pixels: Any
    processed: Any = None  # by the image processor
    read: Any = None  # by a Beside or an Alone
    lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def image(self) -> Any:
        """The picture as Pillow holds it."""
        try:
            from PIL import Image  # only where there are pictures
        except ImportError:
            raise HeadlightError(
                "Pictures need Pillow, which is not installed where the model runs; install it by "
                "pip install pillow."
            ) from None
        return Image.fromarray(self.pixels)


@dataclass
class PictureRead:
    """What a model reads of a picture. ids: of its tokens, from the first to the last, with what
    stands between its tiles. rows, columns: of its patches; 0 where they make no grid."""

    arrays: dict[str, Any]
    ids: list[int]
    rows: int = 0
    columns: int = 0
    types: dict[str, tuple[int, int]] = field(default_factory=dict)  # of its tokens, and of others
    seen: list[float] | None = None  # x, y, width and height of the part that is read; None: all

    def told(self, name: str, first: int) -> dict[str, Any]:
        """What an answer says of it. first: where its first token is."""
        held = {"name": name, "first": first, "count": len(self.ids)}
        held |= {"rows": self.rows, "columns": self.columns}
        return held if self.seen is None else {**held, "seen": self.seen}


Side = dict[str, list[Any]]
Reader = Optional["Beside | Alone"]


def picture_of(tensor: Any) -> Picture:
    """Check the tensor `picture`, and name it by a digest."""
    if tensor.dtype != np.uint8 or tensor.ndim != 3 or tensor.shape[2] != 3:
        raise HeadlightError(
            'The tensor "picture" is U8 of the shape [height, width, 3], rows of red, green and '
            "blue from the top."
        )
    height, width = tensor.shape[:2]
    if not height or not width or height * width > MAX_PIXELS:
        raise HeadlightError(
            f"A picture of {width} × {height} pixels cannot be read; send one of at least 1 × 1 "
            f"and at most {MAX_PIXELS // 1_000_000} million pixels."
        )
    if max(height, width) > MAX_RATIO * min(height, width):
        raise HeadlightError(
            f"A picture of {width} × {height} pixels is too narrow; send one whose longer side is "
            f"at most {MAX_RATIO} times the shorter one."
        )
    digest = hashlib.sha256(f"{height} {width} ".encode())
    digest.update(np.ascontiguousarray(tensor).data)
    return Picture(digest.hexdigest()[:32], tensor)


class Pictures:
    """The last pictures of a client. Any thread may ask."""

    def __init__(self) -> None:
        self._held: dict[str, Picture] = {}
        self._lock = threading.Lock()

    def keep(self, tensor: Any) -> Picture:
        """Keep a picture, and forget the one that was named longest ago."""
        new = picture_of(tensor)
        with self._lock:
            held = self._held.pop(new.name, new)
            self._held[new.name] = held
            while len(self._held) > KEPT:
                del self._held[next(iter(self._held))]
        return held

    def named(self, name: str) -> Picture:
        with self._lock:
            held = self._held.pop(name, None)
            if held is not None:
                self._held[name] = held
        if held is None:
            raise UnknownPicture(
                f'This server holds no picture "{name[:64]}" any more; send it again with encode.'
            )
        return held

    def forget(self) -> None:
        with self._lock:
            self._held.clear()


# ---- which models read pictures


def parameters_of(module: Any) -> set[str]:
    return set(inspect.signature(module.forward).parameters)


def reads_alone(model: Any) -> bool:
    """Whether a model reads a picture and no text."""
    named = parameters_of(model)
    paired = getattr(model.config, "is_encoder_decoder", False)
    others = {"input_ids", "decoder_input_ids", "inputs_embeds"}
    return "pixel_values" in named and not paired and not others & named


def parts_of(given: Any) -> tuple[Any, Any]:
    """The tokenizer in what was given for one, and the processor or image processor."""
    if given is None or hasattr(given, "convert_ids_to_tokens"):
        return given, None
    if hasattr(given, "image_processor"):
        return getattr(given, "tokenizer", None), given
    if hasattr(given, "tokenizer"):
        return given.tokenizer, None  # of a model that reads sound beside a text, for example
    if hasattr(given, "preprocess") or hasattr(given, "image_mean"):
        return None, given
    return given, None


def reader_of(model: Any, base: Any, tokenizer: Any, processor: Any) -> Reader:
    """What makes the model's arguments of pictures; None where it reads none."""
    if reads_alone(model):
        from .alone import Alone

        return Alone(model, processor)
    from .beside import Beside

    good = hasattr(processor, "image_processor") and tokenizer is not None
    good = good and not getattr(model.config, "is_encoder_decoder", False)
    if not good or "pixel_values" not in parameters_of(model) | parameters_of(base):
        return None
    return Beside(model, base, tokenizer, processor)


def arrays_of(torch: Any, out: Mapping[str, Any], known: set[str], dtype: Any) -> dict[str, Any]:
    """What a processor returned that the model's forward takes, in the model's type."""
    held = {name: torch.as_tensor(out[name]) for name in out if name in known}
    return {n: t.to(dtype) if t.is_floating_point() else t for n, t in held.items()}


def seen_of(processor: Any, picture: Picture, arrays: Mapping[str, Any]) -> list[float] | None:
    """Where a processor that crops the middle reads a picture: x, y, width and height in pixels.
    None: it reads all."""
    crop, pixels = getattr(processor, "crop_size", None), arrays.get("pixel_values")
    if not getattr(processor, "do_center_crop", False) or not crop or pixels is None:
        return None
    high, wide = (_side(crop, name) for name in ("height", "width"))
    height, width = picture.pixels.shape[:2]
    rows, columns = height, width  # as it is resized before
    if getattr(processor, "do_resize", True):
        size = getattr(processor, "size", None) or {}
        if short := _side(size, "shortest_edge"):
            rows, columns = (int(short * side / min(height, width)) for side in (height, width))
        elif _side(size, "height"):
            rows, columns = _side(size, "height"), _side(size, "width")
    if tuple(pixels.shape[-2:]) != (high, wide) or high > rows or wide > columns:
        return None  # another size was asked for, or a border is drawn around it
    if (high, wide) == (rows, columns):
        return None
    across, down = width / columns, height / rows
    left, top = (columns - wide) // 2, (rows - high) // 2
    return [left * across, top * down, wide * across, high * down]


def _side(size: Any, name: str) -> int:
    held = size.get(name) if hasattr(size, "get") else getattr(size, name, None)
    return int(held or 0)


def refused(problem: Exception) -> HeadlightError:
    """A sentence about what a processor raised."""
    first = " ".join(str(problem).split())[:200] or type(problem).__name__
    return HeadlightError(f"The processor refuses this picture or its text: {first}")


@contextmanager
def forgetting(base: Any) -> Iterator[None]:
    """The model without what it keeps of the positions of an earlier pass's picture (Qwen2-VL's,
    which moves the rows that a cache continues)."""
    held = [module for module in base.modules() if "rope_deltas" in vars(module)]
    before = [module.rope_deltas for module in held]
    try:
        for module in held:
            module.rope_deltas = None
        yield
    finally:
        for module, kept in zip(held, before):
            module.rope_deltas = kept
