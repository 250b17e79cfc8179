"""Who may connect to a live server, and what it leaves behind."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import headlight
import numpy as np
import torch
from engine_client import Client, Refused, connect, frame
from given_arrays import sentence_of
from given_live_frames import FUNCTION, seated
from given_models import IDS, gpt2
from surroundings import PACKAGE


def refusal(call):
    try:
        call()
    except Refused as problem:
        return problem.code, str(problem)
    raise AssertionError("it was not refused")


def the_folder_of_sockets_is_closed_to_others():
    with tempfile.TemporaryDirectory() as folder:
        own = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            with headlight.live(FUNCTION) as server:
                path = Path(server.address.removeprefix("unix:"))
                assert path.parent == Path(folder) / "headlight"
                assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
                assert server.token == ""
                with Client(server.address) as client:
                    assert client.about["protocol"] == 1
            assert not path.exists(), "a server that is closed leaves no socket"
            dead = path.parent / "dead-1-2.sock"
            with socket.socket(socket.AF_UNIX) as held:
                held.bind(str(dead))
            with headlight.live(FUNCTION):
                assert not dead.exists(), "one that died is swept"
        finally:
            os.environ.pop("XDG_RUNTIME_DIR")
            if own is not None:
                os.environ["XDG_RUNTIME_DIR"] = own


def a_port_needs_the_token():
    with headlight.live(FUNCTION, port=0) as server:
        assert server.address.startswith("127.0.0.1:") and len(server.token) == 64
        for token in (None, "", server.token[:-1], server.token + "0", "é" * 64, ["a"], 7):
            code, said = refusal(lambda: Client(server.address, token))
            assert code == "token" and "\n" not in said
        with Client(server.address, server.token) as client:
            assert client.ask("run", ids=[1, 2])[1]
        port = int(server.address.rsplit(":", 1)[1])
        assert str(port) in sentence_of(lambda: headlight.live(FUNCTION, port=port))


def another_version_is_one_sentence():
    with headlight.live(FUNCTION) as server:
        code, said = refusal(lambda: Client(server.address, protocol=2))
        assert code == "version" and "version 1" in said
        with connect(server.address) as held:
            held.sendall(frame({"verb": "run", "ids": [1]}))
            assert b"hello" in held.recv(4096)


def a_second_window_is_refused():
    with headlight.live(FUNCTION) as server:
        with Client(server.address):
            code, said = refusal(lambda: Client(server.address))
            assert code == "busy" and "Another window" in said
        with seated(server) as client:
            assert client.ask("run", ids=[1, 2])[1]


class Slow(torch.nn.Module):
    """Delays a pass at one layer."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.begun = inner, threading.Event()

    def forward(self, *given, **named):
        self.begun.set()
        time.sleep(0.3)
        return self.inner(*given, **named)


def the_newest_request_wins():
    model = gpt2(1)
    with headlight.live(model) as server, Client(server.address) as client:
        slow = model.h[1].mlp = Slow(model.h[1].mlp)
        first = client.send("run", ids=IDS)
        assert slow.begun.wait(300)
        second, third = client.send("run", ids=IDS), client.send("run", ids=IDS[:3])
        kept = client.send("run", ids=IDS[:2], slot=None)
        found = {}
        for _ in range(4):
            try:
                header, arrays = client.receive()
                found[header["id"]] = len(arrays["blocks.0.hook_resid_pre"])
            except Refused as problem:
                found[problem.id] = problem.code
        assert found == {first: "cancelled", second: "cancelled", third: 3, kept: 2}, found


def a_request_is_cancelled_by_its_number():
    model = gpt2(1)
    with headlight.live(model) as server, Client(server.address) as client:
        slow = model.h[1].mlp = Slow(model.h[1].mlp)
        running = client.send("run", ids=IDS)
        assert slow.begun.wait(300)
        client.send("cancel", of=running)
        assert client.receive()[0]["cancelled"] == 1
        assert refusal(client.receive)[0] == "cancelled"
        assert client.ask("cancel", of=running)[0]["cancelled"] == 0


def closing_leaves_the_model_as_it_was():
    model = gpt2(1).train()
    model.drop.eval()
    modes = [module.training for module in model.modules()]
    own = model.config._attn_implementation
    hooks = lambda: sum(
        len(m._forward_hooks) + len(m._forward_pre_hooks) + ("forward" in vars(m))
        for m in model.modules()
    )
    before = hooks()
    server = headlight.live(model)
    with Client(server.address) as client:
        client.ask("run", ids=IDS, changes=["ablate:0.1", "positions:off"])
        model.h[1].mlp = slow = Slow(model.h[1].mlp)
        client.send("run", ids=IDS)
        assert slow.begun.wait(300)
        with torch.no_grad():  # meanwhile, in the user's own thread
            model(torch.tensor([IDS]))
        server.close()
        model.h[1].mlp = slow.inner
    server.close()
    assert [module.training for module in model.modules()] == modes
    assert model.config._attn_implementation == own and hooks() == before
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("headlight")], names


def the_users_own_passes_are_not_changed():
    """While the server computes under interventions, a pass of another thread is the model's."""
    model = gpt2(1)
    with torch.no_grad():
        want = model(torch.tensor([IDS])).last_hidden_state
    with headlight.live(model) as server, Client(server.address) as client:
        held = model.h[0].mlp = Slow(model.h[0].mlp)
        client.send("run", ids=IDS, changes=["skip-attention:0", "skip-mlp:1", "mask:*>0@*"])
        assert held.begun.wait(300)
        with torch.no_grad():
            got = model(torch.tensor([IDS])).last_hidden_state
        client.receive()
    assert float((got - want).abs().max()) < 1e-5


def bulk_goes_through_a_mapped_file():
    ids = list(range(300)) * 3
    files = lambda: {  # a fuzzer's folders may lie there too
        p for p in Path("/dev/shm").glob("headlight-*") if p.stat().st_uid == os.getuid()
    }
    others = files()
    with headlight.live(FUNCTION) as server:
        with Client(server.address, shared=True) as client:
            assert client.about["shared"]
            before = client.bytes
            _, mapped = client.ask("run", ids=ids)
            assert client.bytes - before < 100_000, "the tensors do not cross the socket"
            left = files() - others
        assert not left, left
        with seated(server) as client:
            assert not client.about["shared"]
            _, sent = client.ask("run", ids=ids)
        assert all(np.array_equal(mapped[name], sent[name]) for name in sent)


def a_model_that_fails_is_a_sentence():
    def broken(ids):
        if len(ids) == 2:
            raise MemoryError
        raise ValueError("first line\nsecond line")

    with headlight.live(broken) as server, Client(server.address) as client:
        assert refusal(lambda: client.ask("run", ids=[1, 2]))[0] == "memory"
        code, said = refusal(lambda: client.ask("run", ids=[1]))
        assert code == "model" and "ValueError: first line second line" in said
        assert refusal(lambda: client.ask("nonsense"))[0] == "request"
        assert "no field" in refusal(lambda: client.ask("run", ids=[1], color="red"))[1]
        assert "another type" in refusal(lambda: client.ask("run", ids="x"))[1]
    assert "function" in sentence_of(lambda: headlight.live(7))


def the_module_serves_a_folder():
    stories = Path(__file__).resolve().parents[2] / "models/stories"
    command = [sys.executable, "-m", "headlight", "live", str(stories), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        address = run.stdout.readline().strip()
        assert address, run.stderr.read()
        token = next(line.split()[1] for line in run.stderr if line.startswith("token "))
        with Client(address, token) as client:
            assert "transformers" in client.about["runs"]
            told, _ = client.ask("encode", text="The cat sat.")
            header, got = client.ask("run", text="The cat sat.", capture=["*hook_pattern"])
            assert header["sides"]["input"]["ids"] == told["ids"] and len(got) == 4
        run.send_signal(signal.SIGINT)
        assert run.wait(300) == 0, run.stderr.read()
    finally:
        run.kill()
        run.communicate()
    wrong = subprocess.run(
        [*command[:4], "/nowhere/model"], capture_output=True, text=True, env=environment
    )
    assert wrong.returncode == 1 and wrong.stderr.startswith("headlight: "), wrong.stderr
    assert "Traceback" not in wrong.stderr
