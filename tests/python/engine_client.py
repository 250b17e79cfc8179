"""A client of the engine's protocol, written after docs/engine.md: what the window will do."""

import json
import math
import mmap
import os
import secrets
import socket
import struct
from pathlib import Path

import numpy as np

PREFACE = struct.Struct("<4sIQ")
TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U8": "u1"}


class Refused(Exception):
    """The server's sentence, with its code."""

    def __init__(self, header):
        super().__init__(header["error"])
        self.code, self.id = header["code"], header.get("id")


def connect(address):
    if address.startswith("unix:"):
        held = socket.socket(socket.AF_UNIX)
        held.connect(address.removeprefix("unix:"))
    else:
        host, port = address.rsplit(":", 1)
        held = socket.create_connection((host, int(port)))
    held.settimeout(60)
    return held


def frame(header, tensors=()):
    """The bytes of a frame."""
    body, listed = b"", []
    for name, array in dict(tensors).items():
        dtype = next(d for d, code in TYPES.items() if np.dtype(code) == array.dtype)
        shape = list(array.shape)
        listed.append({"name": name, "dtype": dtype, "shape": shape, "offset": len(body)})
        body += array.tobytes() + bytes(-array.nbytes % 64)
    text = json.dumps({**header, **({"tensors": listed} if listed else {})}).encode()
    return PREFACE.pack(b"HLE1", len(text), len(body)) + text + body


class Client:
    def __init__(self, address, token=None, protocol=1, shared=False):
        self.socket, self.number, self.bytes = connect(address), 0, 0
        hello = {"verb": "hello", "id": 0, "protocol": protocol}
        if token is not None:
            hello["token"] = token
        probe = Path(f"/dev/shm/headlight-{secrets.token_hex(8)}")
        if shared:
            nonce = secrets.token_hex(32)
            probe.write_text(nonce)
            hello["shared"] = {"path": str(probe), "nonce": nonce}
        try:
            self.socket.sendall(frame(hello))
            self.about, _ = self.receive()
        except BaseException:
            self.close()
            raise
        finally:
            probe.unlink(missing_ok=True)

    def send(self, verb, tensors=(), **fields):
        self.number += 1
        self.socket.sendall(frame({"verb": verb, "id": self.number, **fields}, tensors))
        return self.number

    def ask(self, verb, tensors=(), **fields):
        number = self.send(verb, tensors, **fields)
        header, arrays = self.receive()
        assert header["id"] == number, header
        return header, arrays

    def receive(self):
        magic, header_bytes, body_bytes = PREFACE.unpack(self._read(16))
        assert magic == b"HLE1"
        self.bytes += 16 + header_bytes + body_bytes
        header, body = json.loads(self._read(header_bytes)), self._read(body_bytes)
        if "error" in header:
            raise Refused(header)
        if "body_file" in header:
            body = _mapped(header)
        return header, {t["name"]: _array(t, body) for t in header.get("tensors", [])}

    def _read(self, count):
        out = b""
        while len(out) < count:
            part = self.socket.recv(count - len(out))
            if not part:
                raise EOFError
            out += part
        return out

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _mapped(header):
    """A body in a file that is the client's to remove."""
    with open(header["body_file"], "rb") as file:
        held = mmap.mmap(file.fileno(), header["body_bytes"], prot=mmap.PROT_READ)
    os.unlink(header["body_file"])
    return held


def _array(told, body):
    kind, count = np.dtype(TYPES[told["dtype"]]), math.prod(told["shape"])
    array = np.frombuffer(body, kind, count, told["offset"]).reshape(told["shape"])
    if told["dtype"] == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def pattern(arrays, rules, at, head):
    """[query, key] of a head from q and k, as the window makes it: softmax(cap(scale · q·k) + bias)
    over the keys that "causal" and "window" allow, beside the head's sink."""
    rule, q, k = rules[at], arrays[at + ".hook_q"], arrays[at + ".hook_k"]
    assert rule["says"], f"{at} needs its patterns"
    queries, keys = len(q), len(k)
    scores = q[:, head] @ k[:, head // (q.shape[1] // k.shape[1])].T * rule["scale"]
    if rule["cap"]:
        scores = rule["cap"] * np.tanh(scores / rule["cap"])
    distance = np.arange(queries)[:, None] - np.arange(keys)[None, :]
    if at + ".bias" in arrays:
        scores = scores + arrays[at + ".bias"][head][queries - 1 - distance]
    hidden = distance < 0 if rule["causal"] else np.zeros_like(distance, bool)
    if rule["window"]:
        hidden |= abs(distance) >= rule["window"]
    scores = np.where(hidden, -np.inf, scores.astype(np.float64))
    sink = arrays[at + ".sinks"][head] if at + ".sinks" in arrays else -np.inf
    top = np.maximum(scores.max(1, keepdims=True), sink)
    weights = np.exp(scores - top)
    return weights / (weights.sum(1, keepdims=True) + np.exp(sink - top))
