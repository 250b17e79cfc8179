"""Frames of the engine's protocol (docs/engine.md): a JSON header and raw tensors. Every length is
checked before anything of that length is read, and nothing is unpickled."""

from __future__ import annotations

import json
import math
import os
import secrets
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import HeadlightError
from ..trace_file import DTYPES

PREFACE = struct.Struct("<4sIQ")  # magic, bytes of the header, bytes of the body
MAGIC = b"HLE1"
ALIGNMENT = 64
SHARED = "/dev/shm"
SHARED_FROM = 1 << 20  # bytes of a body that is worth a mapped file
MAX_TENSORS, MAX_NAME, MAX_RANK = 4096, 256, 4
NUMPY = {name: DTYPES[name] for name in ("F32", "F16", "I64", "I32", "U8")} | {"BF16": "<u2"}


class BadFrame(HeadlightError):
    """The bytes are no frame: what follows them cannot be read either."""


class Closed(Exception):
    """The other side is gone."""


@dataclass(frozen=True)
class Bounds:
    """The largest header and body that are read, in bytes."""

    header: int
    body: int


STRANGER = Bounds(4096, 0)  # before hello
CLIENT = Bounds(8 << 20, 256 << 20)


@dataclass
class Frame:
    """A header, and arrays by name. BF16 tensors become F32."""

    header: dict[str, Any]
    tensors: dict[str, np.ndarray] = field(default_factory=dict)


def parse_header(data: bytes) -> dict[str, Any]:
    """Return the JSON object; refuse NaN, infinity, and what is nested too deeply."""
    try:
        header = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise BadFrame("The header of a frame is not JSON; send one object in UTF-8.") from None
    if not isinstance(header, dict):
        raise BadFrame("The header of a frame is not a JSON object; send one in UTF-8.")
    return header


def _refuse(name: str) -> float:
    raise ValueError(name)


def parse_tensors(header: Mapping[str, Any], body: bytes) -> dict[str, np.ndarray]:
    """Return the arrays that the header places in the body."""
    listed = header.get("tensors", [])
    if not isinstance(listed, list) or len(listed) > MAX_TENSORS:
        raise BadFrame(f'"tensors" is a list of at most {MAX_TENSORS} objects.')
    return dict(_parse_tensor(entry, body) for entry in listed)


def _parse_tensor(entry: Any, body: bytes) -> tuple[str, np.ndarray]:
    wrong = BadFrame(
        "A tensor of a frame is not where the header says; send name, dtype, shape and offset "
        "within the body."
    )
    if not isinstance(entry, dict):
        raise wrong
    held: list[Any] = [entry.get(key) for key in ("name", "dtype", "shape", "offset")]
    name, dtype, shape, offset = held
    sizes = [offset, *shape] if isinstance(shape, list) and len(shape) <= MAX_RANK else [None]
    if not isinstance(name, str) or len(name) > MAX_NAME:
        raise wrong
    if not isinstance(dtype, str) or dtype not in NUMPY:
        raise wrong
    if any(type(n) is not int or not 0 <= n <= 1 << 40 for n in sizes):
        raise wrong
    count = math.prod(shape)
    if offset + count * np.dtype(NUMPY[dtype]).itemsize > len(body):
        raise wrong
    array = np.frombuffer(body, NUMPY[dtype], count, offset).reshape(shape)
    if dtype == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return name, array


def raw(tensor: Any) -> tuple[str, list[int], memoryview]:
    """Return dtype, shape and little-endian bytes of an array of NumPy or PyTorch. The numbers are
    sent in the type that the model computes in."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().to("cpu").contiguous()
        torch_dtype = str(tensor.dtype).removeprefix("torch.")
        if torch_dtype == "bfloat16":
            bits = tensor.view(dtype=_torch().int16).numpy().view(np.uint16)
            return "BF16", list(bits.shape), _bytes(bits)
        tensor = tensor.numpy()
    code: str = tensor.dtype.str
    kind = {"f8": "<f4", "b1": "u1"}.get(code[1:], code)
    held = np.ascontiguousarray(tensor, kind.replace("=", "<").replace("|", ""))
    dtype = next((name for name, code in NUMPY.items() if np.dtype(code) == held.dtype), None)
    if dtype is None:
        raise HeadlightError(f"Numbers of the type {held.dtype} cannot be sent; send float32.")
    return dtype, list(held.shape), _bytes(held)


def _torch() -> Any:
    import torch  # only where there are tensors of it

    return torch


def _bytes(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def packed(tensors: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[memoryview], int]:
    """Return where each tensor lies in a body, the body's parts, and its bytes."""
    listed: list[dict[str, Any]] = []
    parts, offset = [], 0
    for name, tensor in tensors.items():
        dtype, shape, data = raw(tensor)
        listed.append({"name": name, "dtype": dtype, "shape": shape, "offset": offset})
        gap = -len(data) % ALIGNMENT
        parts += [data, memoryview(bytes(gap))]
        offset += len(data) + gap
    return listed, parts, offset


class Wire:
    """One connection. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket):
        self.connection, self.bounds, self.shares = connection, STRANGER, False
        self._sending = threading.Lock()
        self._files: list[str] = []

    def receive(self) -> Frame:
        magic, header_bytes, body_bytes = PREFACE.unpack(self._read(PREFACE.size))
        if magic != MAGIC:
            raise BadFrame("This is no frame of Headlight's engine, version 1; see docs/engine.md.")
        if header_bytes > self.bounds.header or body_bytes > self.bounds.body:
            raise BadFrame(
                f"A frame of {header_bytes} + {body_bytes} bytes is larger than the "
                f"{self.bounds.header} + {self.bounds.body} that this server reads; send less."
            )
        header = parse_header(self._read(header_bytes))
        return Frame(header, parse_tensors(header, self._read(body_bytes)))

    def _read(self, count: int) -> bytes:
        out = bytearray()
        while len(out) < count:
            part = self.connection.recv(min(count - len(out), 1 << 20))
            if not part:
                raise Closed
            out += part
        return bytes(out)

    def send(self, header: Mapping[str, Any], tensors: Mapping[str, Any] | None = None) -> None:
        listed, parts, offset = packed(tensors or {})
        told = {**header, "tensors": listed} if listed else dict(header)
        if self.shares and offset >= SHARED_FROM and (path := self._shared(parts)):
            told |= {"body_file": path, "body_bytes": offset}
            parts, offset = [], 0
        text = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
        with self._sending:
            try:
                self.connection.sendall(PREFACE.pack(MAGIC, len(text), offset) + text)
                for part in parts:
                    self.connection.sendall(part)
            except OSError:
                raise Closed from None

    def _shared(self, parts: list[memoryview]) -> str | None:
        """Write a body into a file that the client maps and removes; None where that fails."""
        path = f"{SHARED}/headlight-{secrets.token_hex(16)}"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return None
        self._files = [held for held in self._files if os.path.exists(held)] + [path]
        with os.fdopen(handle, "wb") as file:
            try:
                for part in parts:
                    file.write(part)
                file.flush()
            except OSError:  # no room there
                os.unlink(path)
                return None
        return path

    def close(self) -> None:
        for path in self._files:
            try:
                os.unlink(path)
            except OSError:  # the client has removed it
                pass
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()
