"""Bytes that a server must survive: frames that are wrong in one place, and random ones."""

import json
import os
import random
import socket
import time

import headlight
import numpy as np
from engine_client import PREFACE, Client, Refused, connect, frame
from headlight.engine import frames
from headlight.engine.requests import Requests

FRAMES = 1_000_000 if os.environ.get("HEADLIGHT_LONG") else 4_000
FUNCTION = lambda ids: np.full((2, 3, len(ids), len(ids)), 1 / len(ids), np.float32)


def parsed(header, body=b""):
    """What the server makes of a header and a body."""
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    told = frames.parse_header(data)
    return frames.parse_tensors(told, body)


def refused(header, body=b""):
    try:
        parsed(header, body)
    except frames.BadFrame as problem:
        return str(problem)
    raise AssertionError(f"{header} was read")


def a_tensor_lies_within_its_body():
    body = np.arange(6, dtype="<f4").tobytes()
    told = {"name": "a", "dtype": "F32", "shape": [2, 3], "offset": 0}
    assert parsed({"tensors": [told]}, body)["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    for wrong in (
        {"offset": 1},
        {"offset": -4},
        {"shape": [2, 4]},
        {"shape": [-1, -6]},
        {"shape": [1 << 62, 1 << 62]},
        {"shape": [2.0, 3]},
        {"shape": [True, 6]},
        {"shape": [1] * 5},
        {"dtype": "F64"},
        {"dtype": ["F32"]},
        {"name": "a" * 300},
        {"name": 7},
    ):
        assert refused({"tensors": [{**told, **wrong}]}, body)
    assert refused({"tensors": [told] * 5000}, body) and refused({"tensors": {}}, body)
    for text in (b"[]", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000, b'{"a":' * 100_000):
        assert refused(text)


def bfloat16_crosses_bit_by_bit():
    import torch

    numbers = torch.randn(3, 5).to(torch.bfloat16)
    dtype, shape, data = frames.raw(numbers)
    assert (dtype, shape) == ("BF16", [3, 5])
    bits = np.frombuffer(data, "<u2").astype(np.uint32) << 16
    assert np.array_equal(bits.view(np.float32).reshape(3, 5), numbers.float().numpy())
    told = {"name": "a", "dtype": dtype, "shape": shape, "offset": 0}
    read = parsed({"tensors": [told]}, bytes(data))["a"]
    assert np.array_equal(read, numbers.float().numpy())


def seated(server):
    """A client, when the server has seen the one before go."""
    for _ in range(400):
        try:
            return Client(server.address)
        except Refused as problem:
            assert problem.code == "busy", problem
            time.sleep(0.01)
    raise AssertionError("the seat stays taken")


def drained(connection, data):
    """Send bytes, and read until the server hangs up."""
    try:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


def random_frames_leave_the_server_standing():
    """Some through a socket, of which each ends a connection; most through the parser."""
    draw = random.Random(7)
    good = frame(
        {"verb": "run", "ids": [1, 2], "capture": ["*"]}, {"a": np.ones((2, 3), np.float32)}
    )
    with headlight.live(FUNCTION) as server:
        for _ in range(FRAMES):
            data = bytearray(good)
            for _ in range(draw.randint(1, 8)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            _, count, _ = PREFACE.unpack(data[:16])
            try:
                parsed(bytes(data[16 : 16 + min(count, len(data))]), bytes(data[-64:]))
            except frames.BadFrame:
                pass
        for i in range(200):
            garbage = draw.randbytes(draw.randint(1, 4000))
            with connect(server.address) as held:
                drained(held, (b"HLE1" if i % 2 else b"") + garbage)
        for _ in range(100):
            with seated(server) as client:
                data = bytearray(good)
                data[draw.randrange(len(data))] = draw.randrange(256)
                drained(client.socket, bytes(data))
        with seated(server) as client:
            _, got = client.ask("run", ids=[4, 5, 6])
            assert got["blocks.1.attn.hook_pattern"].shape == (3, 3, 3)


VALUES = [None, True, -1, 0, 1 << 40, 1.5, "", "x" * 300, "mask:*>0", [], [1], [-1], [[1]]]
VALUES += [["*"], [1 << 33], {}, {"a": 1}, ["mask:3>1"], "none", "window:-1", "global:1:1"]


def random_fields_get_a_sentence():
    """Requests of the right form with fields of any type: an answer or one sentence each."""
    from given_models import gpt2
    from headlight.engine.model import LiveModel

    draw, answers = random.Random(3), Requests(LiveModel(gpt2(1)))
    verbs = "describe encode decode chat run generate lens gradient weights".split()
    from headlight.engine.fields import FIELDS

    said = 0
    for _ in range(150 if FRAMES < 1_000_000 else 30_000):
        verb = draw.choice(verbs)
        fields = {name: draw.choice(VALUES) for name in FIELDS[verb] if draw.random() < 0.6}
        if draw.random() < 0.7 and "ids" in FIELDS[verb]:
            fields["ids"] = [1, 2, 3, 4]
        if verb == "generate":
            fields["tokens"] = draw.choice([0, 1, 2, "x"])
        try:
            for _ in answers.answer(verb, fields, {}, lambda: False):
                pass
        except headlight.HeadlightError as problem:
            said += 1
            assert "\n" not in str(problem) and len(str(problem)) < 400, problem
    assert said > 30


def a_frame_that_is_too_large_ends_the_connection():
    with headlight.live(FUNCTION) as server:
        for preface in (
            PREFACE.pack(b"HLE1", 1 << 31, 0),
            PREFACE.pack(b"HLE1", 100, 1 << 62),
            PREFACE.pack(b"HLE2", 100, 0),
        ):
            with seated(server) as client:
                client.socket.sendall(preface)
                try:
                    client.receive()
                    raise AssertionError("it was read")
                except Refused as problem:
                    assert problem.code == "frame"
        with connect(server.address) as held:  # before hello, less is read
            held.sendall(PREFACE.pack(b"HLE1", 5000, 0))
            assert b"larger" in held.recv(4096)
