"""Trace files as mappings of names to arrays."""

from __future__ import annotations

import json
import os
import shutil
import struct
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .errors import HeadlightError, unknown_name
from .temporary import remove
from .trace_writer import writing

OTHER_FORMATS = tuple(
    (
        ".h5 .hdf5 .zarr .npz .npy .csv .tsv .json .parquet .pt .pth .bin .gguf .png .svg .pdf "
        ".html"
    ).split()
)

DTYPES = {
    "F32": "<f4",
    "F64": "<f8",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "U8": "u1",
    "BOOL": "?",
}


def read_header(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file, and where its data begins."""
    try:
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > os.path.getsize(path):
                raise ValueError
            return json.loads(file.read(length)), 8 + length
    except OSError as problem:
        raise HeadlightError(
            f"{path} cannot be read ({problem.strerror}); check its name."
        ) from None
    except (ValueError, struct.error):
        raise HeadlightError(
            f"{path} is not a safetensors file; record a trace with headlight.trace(…)."
        ) from None


def is_trace(path: Path) -> bool:
    """Whether the file is a trace of Headlight."""
    if not path.is_file():
        return False
    try:
        return read_header(path)[0].get("__metadata__", {}).get("format") == "headlight-trace"
    except HeadlightError:
        return False


class Trace(Mapping[str, np.ndarray]):
    """A forward pass in a file: a mapping of TransformerLens's names to arrays, mapped and not
    read.

    `trace["blocks.0.attn.hook_pattern"]` and `trace["pattern", 0]` are the same array, float32
    [head, query, key]; `trace["q", 0]` is [pos, head, d_head], `trace["resid_post", 0]` [pos,
    d_model]. Encoder-decoder models name the kind third: `trace["pattern", 0, "cross"]`. A pattern
    that the file does not hold is computed from its queries and keys."""

    def __init__(self, path: str | os.PathLike[str], temporary: bool = False):
        self.path = Path(path)
        if temporary:
            weakref.finalize(self, remove, self.path)
        header, self._begin = read_header(self.path)
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        if self.metadata.get("format") != "headlight-trace":
            raise HeadlightError(
                f"{self.path} is not a trace of Headlight; record one with headlight.trace(…)."
            )
        self._tensors: dict[str, dict[str, Any]] = header

    @property
    def tokens(self) -> list[str]:
        """The tokens as text, with the blank that a word begins with."""
        return json.loads(self.metadata.get("labels") or self.metadata["tokens"])

    @property
    def target_tokens(self) -> list[str]:
        """The tokens that the decoder of an encoder-decoder model read; [] of other models."""
        return json.loads(
            self.metadata.get("decoder_labels") or self.metadata.get("decoder_tokens", "[]")
        )

    @property
    def config(self) -> dict[str, Any]:
        """Kind, family, widths and stacks of layers."""
        return json.loads(self.metadata["config"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __getitem__(self, name: str | tuple[Any, ...]) -> np.ndarray:
        if isinstance(name, tuple):
            return self._short(*name)
        if name not in self._tensors:
            raise unknown_name(name, self._tensors)
        tensor = self._tensors[name]
        if 0 in tensor["shape"]:
            return np.zeros(tensor["shape"], DTYPES[tensor["dtype"]])
        return np.memmap(
            self.path,
            DTYPES[tensor["dtype"]],
            "r",
            self._begin + tensor["data_offsets"][0],
            tuple(tensor["shape"]),
        )

    def _place(self, layer: int, kind: str) -> tuple[str, str, bool]:
        """A layer's block, its stack, and whether that is cross-attention's."""
        kind = kind or ("blocks" if len(self.config["stacks"]) == 1 else "decoder")
        stack, cross = ("decoder", True) if kind == "cross" else (kind, False)
        return f"{stack}.{layer}.", stack, cross

    def full_names(self, name: str | tuple[Any, ...]) -> list[str]:
        """What ("q", 0) may be called: a name inside attention, and one beside it."""
        if isinstance(name, str):
            return [name]
        short, layer, kind = name if len(name) == 3 else (*name, "")
        at, _, cross = self._place(layer, kind)
        return [f"{at}{'cross_attn' if cross else 'attn'}.hook_{short}", f"{at}hook_{short}"]

    def _short(self, name: str, layer: int, kind: str = "") -> np.ndarray:
        at, stack, cross = self._place(layer, kind)
        names = self.full_names((name, layer, kind))
        for full in names:
            if full in self._tensors:
                return self[full]
        inside = names[0].removesuffix(f"hook_{name}")
        if (
            name == "pattern"
            and inside + "hook_q" in self._tensors
            and "attention" in self.metadata
        ):
            return self._pattern(inside, stack, cross, layer)
        raise unknown_name(
            names[0], sorted(self._tensors, key=lambda held: not held.startswith(at))
        )

    def _pattern(self, at: str, stack: str, cross: bool, layer: int) -> np.ndarray:
        """softmax(cap(scale · q·k) + mask), [head, query, key]."""
        query, key = self[at + "hook_q"], self[at + "hook_k"]
        stacks, rule = self.config["stacks"], json.loads(self.metadata["attention"])
        described = next(s for s in stacks if s["name"] == stack)
        before = 0 if len(stacks) == 1 or stack == "encoder" else stacks[0]["layers"]
        scale = rule["scale"][layer + before + (described["layers"] if cross else 0)]
        masked = (
            None
            if cross
            else _masked(
                len(query), described["causal"], (described["windows"] or [0] * (layer + 1))[layer]
            )
        )
        shared = query.shape[1] // key.shape[1]
        out = np.empty((query.shape[1], len(query), len(key)), np.float32)
        for head in range(len(out)):
            np.matmul(query[:, head] * np.float32(scale), key[:, head // shared].T, out=out[head])
            _soften(out[head], rule["cap"], masked)
        return out

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Copy the file, to keep it or to carry it to another computer."""
        check_ending(path)
        with writing(Path(path)):
            return Path(shutil.copyfile(self.path, path))

    def __repr__(self) -> str:
        stacks = ", ".join(
            f"{s['layers']} layers of {s['heads']} heads" for s in self.config["stacks"]
        )
        return (
            f"<headlight.Trace of {self.metadata.get('model', 'a model')}: {stacks}, "
            f"{len(self.tokens)} tokens, {self.path}>"
        )


def _masked(tokens: int, causal: bool, window: int) -> np.ndarray:
    distance = np.subtract.outer(np.arange(tokens), np.arange(tokens))
    masked = distance < 0 if causal else np.zeros_like(distance, bool)
    return masked | (np.abs(distance) >= window) if window else masked


def _soften(scores: np.ndarray, cap: float, masked: np.ndarray | None) -> None:
    """Scores [query, key] become weights where they lie."""
    if cap:
        np.tanh(np.divide(scores, np.float32(cap), out=scores), out=scores)
        scores *= np.float32(cap)
    if masked is not None:
        scores[masked] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse names of other formats."""
    if Path(path).suffix.lower() in OTHER_FORMATS:
        raise HeadlightError(
            f"A trace is a .safetensors file, and {path} names another format; change its ending."
        )
