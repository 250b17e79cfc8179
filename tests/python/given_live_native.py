"""Live models that the program opens too: what they compute under each mask and change equals
`headlight trace` of the same folder."""

import os
import random
import subprocess
import tempfile
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from change_cases import BLOCKS, PAIRS, PUT_BLOCKS, PUT_PAIRS
from engine_client import Client
from safetensors.numpy import load_file

MODELS = Path(__file__).resolve().parents[1] / "reference/models"
IDS = random.Random(5).choices(range(4, 110), k=10)
TARGET = [3, *random.Random(6).choices(range(4, 110), k=4)]
MASKS = ["own", "none", "causal", "padding", "window:3", "prefix:4", "global:2:3", "block"]
BAR = 2e-5
WORST = [0.0]


def loaded(name, auto="AutoModelForCausalLM"):
    model = getattr(transformers, auto).from_pretrained(MODELS / name, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(MODELS / name)


def traced(name, *options, ids=IDS, pair=False):
    """All that `headlight trace` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.safetensors"
        command = [os.environ["HEADLIGHT_PROGRAM"], "trace", "--model", MODELS / name, "--quiet"]
        command += ["--ids", ",".join(map(str, ids)), "--capture", "*", "-o", path]
        if pair:
            command += ["--target-ids", ",".join(map(str, TARGET))]
        run = subprocess.run([*map(str, command), *options], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return load_file(path)


def same(what, got, want, least):
    """Every float tensor that both name."""
    both = [n for n in want if n in got and want[n].dtype == np.float32]
    assert len(both) >= least, f"{what}: {sorted(set(want) - set(got))} are missing"
    for name in both:
        assert got[name].shape == want[name].shape, f"{what}: {name}"
        error = float(np.abs(got[name] - want[name]).max()) / max(1, np.abs(want[name]).max())
        WORST[0] = max(WORST[0], error)
        assert error <= BAR, f"{what}: {name} differs by {error:.1e}"


def equal(name, auto="AutoModelForCausalLM"):
    """Each mask, each change, and rows patched beside a change."""
    model, tokenizer = loaded(name, auto)
    pair = bool(model.config.is_encoder_decoder)
    more = {"target_ids": TARGET} if pair else {}
    lists = [[change] for change in (PAIRS if pair else BLOCKS)]
    lists += PUT_PAIRS if pair else PUT_BLOCKS
    cases = [(["--mask", mask], {"mask": mask}) for mask in MASKS]
    cases += [([w for c in held for w in ("--change", c)], {"changes": held}) for held in lists]
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        for options, fields in cases:
            _, got = client.ask("run", ids=IDS, capture=["*", "logits"], **more, **fields)
            want = traced(name, *options, pair=pair)
            same(f"{name} {fields}", got, want, 10 * model.config.num_hidden_layers)


def gpt2_equals_the_program():
    equal("gpt2")


def llama_equals_the_program():
    equal("llama")


def qwen3_equals_the_program():
    equal("qwen3")


def gemma2_equals_the_program():
    equal("gemma2")


def bert_equals_the_program():
    equal("bert", "AutoModelForMaskedLM")


def t5_equals_the_program():
    equal("t5", "AutoModelForSeq2SeqLM")


def marian_equals_the_program():
    equal("marian", "AutoModelForSeq2SeqLM")


def texts_give_rows_and_patterns():
    """Patches and frozen patterns of another text of the same length."""
    model, tokenizer = loaded("gpt2")
    text, count = "the cat sat", lambda held: len(tokenizer(held)["input_ids"])
    others = (
        "the cat the",
        "the dog ran",
        "a cat sat",
        "the sat cat",
        "the mat sat",
        "cat the sat",
    )
    other = next(held for held in others if count(held) == count(text))
    ids = tokenizer(text)["input_ids"]
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        for kind in ("patch-resid:1@1", "patch-attention:*@0", "patch-mlp:2..@1"):
            change = f"{kind}={other}"
            _, got = client.ask("run", ids=ids, capture=["*", "logits"], changes=[change])
            same(change, got, traced("gpt2", "--change", change, ids=ids), 30)
        change = f"patch-head:*@1.1={other}"
        _, got = client.ask("run", ids=ids, capture=["*", "logits"], changes=[change])
        same(change, got, traced("gpt2", "--change", change, ids=ids), 30)
        for source in (other, text, "a cat", "the mat and the cat sat"):
            change = f"freeze:1.0={source}"
            _, got = client.ask("run", ids=ids, capture=["*", "logits"], changes=[change])
            same(change, got, traced("gpt2", "--change", change, ids=ids), 30)
