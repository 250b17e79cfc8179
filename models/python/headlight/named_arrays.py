"""Arrays whose rows and columns have names, under short keys."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .errors import HeadlightError, unknown_name
from .optional import optional
from .trace_file import DTYPES

# What a table is of, where it names a token, a layer or a head: "of red 3 in layer 0".
OF_A_PLACE = re.compile(r" (?:of|from|to|at|in|on) (.*\d.*)$")
OF_A_HEAD = re.compile(r"head (\S+)$")


class NamedArray(np.ndarray):
    """An array that knows its `title`, and the names of its `rows` and `columns`. What is
    computed of it, or cut out of it, is an array without names."""

    title: str | None
    rows: list[str] | None
    columns: list[str] | None

    def __new__(
        cls,
        values: Any,
        title: str | None = None,
        rows: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
    ) -> NamedArray:
        out = np.asarray(values).view(cls)
        out.title = title
        out.rows = None if rows is None else list(rows)
        out.columns = None if columns is None else list(columns)
        return out

    def __array_finalize__(self, made_of: Any) -> None:
        self.title, self.rows, self.columns = None, None, None

    def to_pandas(self) -> Any:
        """A data frame of pandas with the names of rows and columns."""
        return optional("pandas", "Data frames").DataFrame(
            np.asarray(self), index=self.rows, columns=self.columns
        )


def short_name(title: str) -> str:
    """A key without the token, the layer and the query that a title names: "shares of the logit
    of ball at red 3" is "shares", and "pattern of head 1.2" is "pattern.1.2"."""
    found = OF_A_PLACE.search(title)
    head = OF_A_HEAD.match(found[1]) if found else None
    kept = title[: found.start()] if found else title
    return re.sub(r"\W+", "_", kept).strip("_") + (f".{head[1]}" if head else "")


class Numbers(Mapping[str, NamedArray]):
    """The arrays of a figure by their short names."""

    def __init__(self, arrays: Mapping[str, NamedArray]):
        self._arrays = dict(arrays)

    def __getitem__(self, name: str) -> NamedArray:
        if name not in self._arrays:
            raise unknown_name(name, self._arrays)
        return self._arrays[name]

    def __iter__(self) -> Any:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {list(held.shape)}" for name, held in self.items())
        return f"<headlight.Numbers: {shapes}>"


def read_arrays(data: bytes) -> Numbers:
    """The arrays of a safetensors file, as the program writes them."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    named = header.pop("__metadata__", {})
    arrays: dict[str, NamedArray] = {}
    for title, held in header.items():
        names = json.loads(named.get(title, "{}"))
        begin = 8 + length + held["data_offsets"][0]
        count = int(np.prod(held["shape"]))
        values = np.frombuffer(data, DTYPES[held["dtype"]], count, begin).reshape(held["shape"])
        # Two titles that differ in their place alone keep it.
        name = short_name(title)
        key = name if name not in arrays else re.sub(r"\W+", "_", title).strip("_")
        arrays[key] = NamedArray(values, title, names.get("rows"), names.get("columns"))
    return Numbers(arrays)


def safetensors(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a safetensors file, with the names of rows and columns as the program writes
    them."""
    header: dict[str, Any] = {}
    names, parts, at = {}, [], 0
    for name, held in arrays.items():
        values = np.ascontiguousarray(held, "<f4")
        header[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [at, at + values.nbytes],
        }
        if isinstance(held, NamedArray):
            names[name] = json.dumps({"columns": held.columns, "rows": held.rows})
        parts.append(values.tobytes())
        at += values.nbytes
    said = json.dumps({"__metadata__": names, **header}).encode()
    said += b" " * (-len(said) % 8)
    return struct.pack("<Q", len(said)) + said + b"".join(parts)


def only_one(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The one array that a .npy file holds."""
    if len(arrays) != 1:
        raise HeadlightError(
            f"A .npy file holds one array, and these are {len(arrays)}; end the name in .npz or "
            ".safetensors."
        )
    return next(iter(arrays.values()))
