"""Models that several processes hold together, served: what two give equals what one gives, under
interventions too, and neither a request that is cancelled nor a process that dies keeps a client
waiting."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from engine_client import Client, Refused
from given_live_native import MODELS
from given_models import IDS
from headlight.engine.command import load, parser

BAR = 1e-5  # half of a sum in each process
WORST = [0.0]
TEXT, OTHER = "the cat sat on the mat", "a dog ran on the mat"
EVERY = ["*hook_*", "logits"]
CHANGES = [
    ["ablate:0.3", "ablate:1.0"],
    ["ablate:0.2:mean", "ablate:1.1:keep", "temperature:0.5@0.0", "temperature:2@1.3"],
    ["mask:*>0@1", "unmask:2>5@1.3", "score:3>1@0.2=4", "ablate:0.1:uniform", "ablate:1.2:hard"],
    ["skip-attention:1", "skip-mlp:0"],
    ["noise:2-4=7", "patch-resid:3@1", "patch-head:2..@1.3"],
    ["positions:shuffle:3"],
]


@contextlib.contextmanager
def two(*folders):
    """Two processes that serve the folders; the first one's address comes on its output."""
    with tempfile.TemporaryDirectory() as folder:
        script, errors = Path(__file__).with_name("two_ranks.py"), Path(folder, "errors")
        run = subprocess.Popen(
            [sys.executable, *map(str, (script, f"{folder}/meet", *folders))],
            env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(errors, "w"),
            text=True,
            start_new_session=True,
        )
        try:
            yield run, lambda: errors.read_text()[-6000:]
        except BaseException:
            print(errors.read_text()[-6000:])
            raise
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.communicate()


def saved(kind, folder, **config):
    """A random model of few weights, in a folder."""
    torch.manual_seed(1)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 300, "pad_token_id": 0}
    small |= {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48}
    config = getattr(transformers, kind + "Config")(**small, eos_token_id=0, **config)
    getattr(transformers, kind + "ForCausalLM")(config).save_pretrained(Path(folder) / kind)


def same(what, got, want):
    """Every tensor that either names."""
    assert set(got) == set(want) and want, f"{what}: {sorted(set(got) ^ set(want))}"
    for name in want:
        assert got[name].shape == want[name].shape, f"{what}: {name}"
        if want[name].size:
            error = float(np.abs(got[name] - want[name]).max()) / max(1, np.abs(want[name]).max())
            WORST[0] = max(WORST[0], error)
            assert error <= BAR, f"{what}: {name} differs by {error}"


def generated(client, **fields):
    client.send("generate", **fields)
    steps = []
    while "done" not in (header := client.receive()[0]):
        steps.append(header)
    return [step["ids"] for step in steps], {"log_p": np.array([step["log_p"] for step in steps])}


def compared(what, several, one, texts):
    """All that either server answers."""

    def ask(verb, tensors=(), **fields):
        (a, got), (b, want) = (client.ask(verb, tensors, **fields) for client in (several, one))
        same(f"{what} {verb} {fields}", got, want)
        assert a.get("rules") == b.get("rules") and a.get("from") == b.get("from"), what
        return a, want

    told, _ = several.ask("describe")
    assert told["can"] == one.ask("describe")[0]["can"] and told["can"]["reuse"], what
    assert told["blocks"] == one.ask("describe")[0]["blocks"], what
    assert "spread over processes" in told["weights"]["refused"]
    ask("run", ids=IDS[:6])
    assert ask("run", ids=IDS, **{"from": 6})[0]["from"] == 6, "rows are reused"
    _, kept = ask("run", ids=IDS, capture=EVERY)
    ask("run", ids=IDS, capture=["*hook_pattern"], heads=["0.1", "1.0", "1.3"], mask="window:3")
    for changes in CHANGES:
        ask("run", ids=IDS, capture=EVERY, changes=changes)
    ask("run", ids=IDS, capture=EVERY, mask="none")
    rows = {"rows.0": kept["blocks.0.attn.hook_z"][:, 0], "rows.1": np.tril(np.ones((8, 8), "f4"))}
    changes = ["patch-head:*@1.2", "freeze:0.3=x"]
    ask("run", {n: r[::-1].copy() for n, r in rows.items()}, ids=IDS, changes=changes)
    if texts:
        changes = [f"freeze:1.1={OTHER}", f"patch-head:1-3@0.2={OTHER}"]
        ask("run", text=TEXT, capture=EVERY, changes=changes)
    ask("lens", {"rows": kept["hook_resid_final"]}, all=True)
    ask("gradient", ids=IDS, metric="#5 - #7", by=["*hook_*"])
    ask("gradient", ids=IDS, metric="#5", by=["*hook_pattern"], heads=["1.3"])
    ask("weights", head="1.3")
    ask("outcomes", ids=IDS, cases=[[], *CHANGES])
    for more in ({}, {"temperature": 1.0, "seed": 3, "changes": ["ablate:0.2"]}):
        ids, log_p = generated(several, ids=IDS, tokens=5, **more)
        expected, want = generated(one, ids=IDS, tokens=5, **more)
        assert ids == expected, f"{what}: {ids} are not {expected}"
        same(f"{what} generate", log_p, want)


def cancelled(client):
    """The newest request wins, and one that is half answered can be stopped."""
    numbers = [client.send("run", ids=IDS[: 2 + i % 6]) for i in range(12)]
    answered = set()
    while len(answered) < len(numbers):
        try:
            header, _ = client.receive()
        except Refused as problem:
            assert problem.code == "cancelled" and problem.id != numbers[-1], problem
            header = {"id": problem.id}
        answered.add(header["id"])
    assert answered == set(numbers)
    number = client.send("generate", ids=IDS, tokens=40)
    client.receive()
    client.send("cancel", of=number)
    try:
        while "done" not in client.receive()[0]:
            pass
    except Refused as problem:
        assert problem.code == "cancelled"
        client.ask("run", ids=IDS)


def several_processes_serve_what_one_serves():
    with tempfile.TemporaryDirectory() as own:
        folders = [MODELS / "llama", Path(own, "Mixtral"), Path(own, "Olmo3")]
        with two(*folders, MODELS / "gpt2", MODELS / "llama") as (run, said):
            saved("Mixtral", own, num_local_experts=4)  # while the processes start
            saved("Olmo3", own, sliding_window=4)  # normalizes across heads: all are in each
            second = int(run.stdout.readline())
            for folder in folders:
                held = load(parser().parse_args([str(folder)]))
                address = run.stdout.readline().strip()
                assert address.startswith("unix:"), address
                with headlight.live(*held) as alone, Client(alone.address) as one:
                    with Client(address) as several:
                        assert "2 processes" in several.about["runs"]
                        compared(folder.name, several, one, texts=folder.parent == MODELS)
                        cancelled(several)
                run.stdin.write("\n")
                run.stdin.flush()
            refused = run.stdout.readline()
            assert refused.startswith("refused: transformers has no plan"), refused
            one_that_dies_is_a_sentence(run, second, said)


def one_that_dies_is_a_sentence(run, second, said):
    with Client(run.stdout.readline().strip()) as client:
        assert client.ask("run", ids=IDS)[1]
        os.kill(second, signal.SIGKILL)
        try:
            client.ask("run", ids=IDS)
            raise AssertionError("half of the model answered")
        except Refused as problem:
            assert problem.code == "model" and "has died" in str(problem), problem
    assert run.wait() == 1
    assert "\nheadlight: Process 0 of 2 ends" in said(), said()
