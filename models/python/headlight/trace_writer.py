"""Write trace files: a safetensors file that grows, one head at a time."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import HeadlightError
from .temporary import new_part

# Bytes of the header at the beginning, beside its tokens and a row for each tensor.
HEADER_BEFORE = 1 << 12
HEADER_ROW = 160


@dataclass(frozen=True)
class Heads:
    """Which of the `total` heads of an attention block a process has: those from `first` on.
    `whole`: every process has all of them."""

    first: int
    total: int
    whole: bool = False


class TensorFile:
    """A safetensors file that grows. It appears under its name when it is whole, and not before;
    what a process that died left of it goes when the same name is written again.

    Room for the header is left at the beginning; a header that needs more costs one copy of the
    file."""

    def __init__(self, path: str | os.PathLike[str], header_bytes: int = HEADER_BEFORE):
        self.path = Path(path)
        self._room = header_bytes + -header_bytes % 8
        self._header: dict[str, object] = {}
        self._offset = 0
        with writing(self.path):
            self._part, self._file = new_part(self.path)
            self._file.seek(8 + self._room)

    def add(
        self,
        name: str,
        shape: Sequence[int],
        parts: Iterable[Any],
        dtype: str = "F32",
        heads: Heads | None = None,
    ) -> None:
        """A tensor, whose parts (heads, rows) are converted and written one after another. dtype:
        F32 or I64. heads: all of them."""
        begin = self._offset
        kind = np.dtype("<i8" if dtype == "I64" else "<f4")
        for part in parts:
            array = as_array(part, kind)
            with writing(self.path):
                self._file.write(array.reshape(-1).view(np.uint8).data)
            self._offset += array.nbytes
        if self._offset - begin != kind.itemsize * int(np.prod(shape, dtype=np.int64)):
            raise HeadlightError(
                f"{name} does not have the shape {list(shape)} that it began with; give heads of "
                "one shape."
            )
        self._header[name] = {
            "dtype": dtype,
            "shape": list(shape),
            "data_offsets": [begin, self._offset],
        }

    def agree(self, blocks: Mapping[Any, dict[str, Any]]) -> None:
        """Join the blocks that several processes have seen."""

    def close(self, metadata: dict[str, str]) -> None:
        text = json.dumps({"__metadata__": metadata, **self._header}, ensure_ascii=False).encode(
            "utf-8", "replace"
        )
        with writing(self.path):
            if len(text) > self._room:
                self._move(len(text) + -len(text) % 8)
            self._file.seek(0)
            self._file.write(struct.pack("<Q", self._room) + text.ljust(self._room))
            self._file.close()
            os.replace(self._part, self.path)

    def _move(self, room: int) -> None:
        """Make room for a longer header, in another file."""
        old, before = self._file, self._part
        self._part, self._file = new_part(self.path)
        try:
            old.seek(8 + self._room)
            self._file.seek(8 + room)
            shutil.copyfileobj(old, self._file, 1 << 24)
        finally:
            old.close()
            before.unlink(missing_ok=True)
        self._room = room

    def drop(self) -> None:
        """Remove a file that did not become whole."""
        with suppress(OSError):  # its buffer may be too much for the disk
            self._file.close()
        self._part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in a sentence that a file cannot be written."""
    try:
        yield
    except OSError as problem:
        raise HeadlightError(
            f"{path} cannot be written ({problem.strerror}); name another file, or check the "
            "disk's free space."
        ) from None


def as_array(values: Any, dtype: np.dtype) -> np.ndarray:
    """An array of NumPy, PyTorch, JAX or another library as one contiguous array; without a copy
    where it is one already."""
    if hasattr(values, "detach"):
        values = values.detach().to("cpu")
        values = (values.long() if dtype.kind == "i" else values.float()).numpy()
    return np.ascontiguousarray(values, dtype=dtype)


class TraceWriter:
    """A trace of attention blocks. A block is (stack, cross, layer): ("blocks", False, 0),
    ("decoder", True, 2)."""

    def __init__(
        self,
        sides: dict[str, dict[str, list[Any]]],
        open_file: Callable[[int], TensorFile],
        blocks: int = 64,
    ):
        """sides: for "" and, of an encoder-decoder model, "decoder_": its "tokens", "labels" and,
        where known, "ids". open_file(room): a file with so many bytes for its header."""
        self.sides = sides
        self.blocks: dict[tuple[str, bool, int], dict[str, Any]] = {}
        texts = sum(
            len(str(part))
            for side in sides.values()
            for part in (side.get("tokens", []), side.get("labels", []))
        )
        self.file = open_file(HEADER_BEFORE + 3 * texts + blocks * 2 * HEADER_ROW)
        try:
            for side, held in sides.items():
                if held.get("ids"):
                    self.file.add(side + "input_ids", [len(held["ids"])], [held["ids"]], "I64")
        except BaseException:
            self.file.drop()
            raise

    def add_queries_and_keys(
        self,
        block: tuple[str, bool, int],
        query: Any,
        key: Any,
        rule: dict[str, Any],
        of_query: Heads,
        of_key: Heads,
    ) -> None:
        """query [head, pos, d_head], key [kv_head, pos, d_head], which are heads of those of the
        block; rule: scale, cap, window, causal."""
        _check_itself(block, query.shape[1], key.shape[1])
        self.blocks[block] = {
            "heads": of_query.total,
            "kv_heads": of_key.total,
            "d_head": query.shape[2],
            "tokens": query.shape[1],
            **rule,
        }
        for hook, tensor, held in (("hook_q", query, of_query), ("hook_k", key, of_key)):
            _, tokens, width = tensor.shape
            self.file.add(
                place(block) + hook,
                [tokens, held.total, width],
                [tensor.swapaxes(0, 1)],
                heads=held,
            )

    def add_patterns(
        self,
        block: tuple[str, bool, int],
        shape: Sequence[int],
        head: Callable[[int], Any],
        here: Heads | None = None,
    ) -> None:
        """shape: [head, query, key]; head(h): the pattern [query, key] of head h, which is written
        before the next is asked for. here: which heads these are, where several processes write."""
        heads, queries, keys = (int(n) for n in shape)
        here = here or Heads(0, heads)
        _check_itself(block, queries, keys)
        causal = queries == keys and not block[1]

        def checked() -> Iterable[np.ndarray]:
            nonlocal causal
            for h in range(heads):
                pattern = as_array(head(h), np.dtype("<f4"))
                _check(pattern, (queries, keys), place(block), h)
                causal = causal and is_causal(pattern)
                yield pattern

        self.file.add(
            place(block) + "hook_pattern", [here.total, queries, keys], checked(), heads=here
        )
        self.blocks[block] = {
            "heads": here.total,
            "kv_heads": here.total,
            "d_head": 1,
            "tokens": queries,
            "window": 0,
            "causal": causal,
        }

    def close(self, model: str, family: str, d_model: int = 0) -> None:
        """Describe the model as Headlight asks of the metadata, and let the file appear."""
        _check_alike(self.blocks, self.sides)
        self.file.agree(self.blocks)
        metadata = {"format": "headlight-trace", "version": "1", "model": model, "mask": "own"}
        for side, held in self.sides.items():
            metadata |= {
                side + key: json.dumps(held[key], ensure_ascii=False)
                for key in ("tokens", "labels")
            }
        self.file.close(metadata | _described(self.blocks, family, d_model))

    def drop(self) -> None:
        self.file.drop()


def place(block: tuple[str, bool, int]) -> str:
    stack, cross, layer = block
    return f"{stack}.{layer}.{'cross_attn' if cross else 'attn'}."


def is_causal(pattern: np.ndarray) -> bool:
    """Whether no query of [query, key] attends to a later key; looks at 64 rows at a time."""
    for i in range(0, len(pattern), 64):
        if pattern[i : i + 64, i + 64 :].any() or np.triu(pattern[i : i + 64, i : i + 64], 1).any():
            return False
    return True


class OfOthers(HeadlightError):
    """A block that should attend to its own text has other keys than queries."""


def _check_itself(block: tuple[str, bool, int], queries: int, keys: int) -> None:
    """Only one text attends to another with more queries or keys."""
    if not block[1] and queries != keys:
        raise OfOthers(
            f"Layer {block[2]} has {queries} queries and {keys} keys, as after a cache or a "
            "prefix; give a pass over the whole text, in which it attends to itself."
        )


def _check(pattern: np.ndarray, shape: tuple[int, int], where: str, head: int) -> None:
    if pattern.shape != shape:
        raise HeadlightError(
            f"Head {head} of {where[:-1]} has the shape {list(pattern.shape)} where "
            f"{list(shape)} is expected; give [layer, head, query, key]."
        )
    if not (pattern.min(initial=0) >= 0 and pattern.max(initial=0) <= 1.001):
        raise HeadlightError(
            f"Head {head} of {where[:-1]} holds numbers outside 0 to 1; give attention weights, "
            "as they are after the softmax."
        )


def _check_alike(
    blocks: Mapping[tuple[str, bool, int], dict[str, Any]],
    sides: Mapping[str, dict[str, list[Any]]],
) -> None:
    """The layers of a stack have as many heads and tokens, and the tokens are those of its side."""
    for (stack, cross, layer), held in blocks.items():
        first = next(other for block, other in blocks.items() if block[:2] == (stack, cross))
        if any(held[name] != first[name] for name in ("heads", "tokens")):
            raise HeadlightError(
                f"Layer {layer} has {held['heads']} heads over {held['tokens']} tokens where the "
                f"first has {first['heads']} over {first['tokens']}; "
                "give a model whose layers are alike, or one of the parts that this one is made of."
            )
        named = sides.get("decoder_" if stack == "decoder" else "", {}).get("tokens", [])
        if named and len(named) != held["tokens"]:
            raise HeadlightError(
                f"{len(named)} tokens were given where layer {layer} has {held['tokens']} "
                "positions; name them by tokens=[…], one for each position."
            )


def _described(
    blocks: dict[tuple[str, bool, int], dict[str, Any]], family: str, d_model: int
) -> dict[str, str]:
    """Stacks, heads, and how q and k meet; without the latter patterns are recorded."""
    names = [
        name
        for name in ("blocks", "encoder", "decoder")
        if any(block[0] == name for block in blocks)
    ]
    stacks, order = [], []
    for name in names:
        layers = [blocks[b] for b in sorted(blocks) if b[0] == name and not b[1]]
        cross = any(b[0] == name and b[1] for b in blocks)
        stacks.append(
            {
                "name": name,
                "layers": len(layers),
                **{key: layers[0][key] for key in ("heads", "kv_heads", "d_head")},
                "causal": all(b["causal"] for b in layers),
                "cross": cross,
                "windows": [b["window"] for b in layers],
            }
        )
    for name, cross in [(n, False) for n in names] + [(n, True) for n in names]:
        order += [blocks[b] for b in sorted(blocks) if b[:2] == (name, cross)]
    kind = "encoder_decoder" if len(names) == 2 else "decoder" if stacks[0]["causal"] else "encoder"
    first = order[0]
    out = {
        "config": json.dumps(
            {
                "kind": kind,
                "family": family,
                "d_model": d_model or first["heads"] * first["d_head"],
                "stacks": stacks,
            }
        )
    }
    if all("scale" in b for b in order):
        out["attention"] = json.dumps({"scale": [b["scale"] for b in order], "cap": first["cap"]})
    return out
