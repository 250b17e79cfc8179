"""Logits under many interventions at once are those of a run under each."""

import headlight
import numpy as np
from engine_client import Client
from given_live_architectures import tiny
from given_live_native import TARGET, loaded
from given_live_requests import refusal

IDS = [5, 9, 14, 22, 31, 40, 9, 14]
CASES = [
    [],
    ["ablate:0.1"],
    ["ablate:1.0:mean"],
    ["mask:5..>2@0.1"],
    ["temperature:0.5@1.1", "ablate:0.0"],
    ["skip-mlp:0"],
    ["skip-attention:1"],
    ["score:6>2@0.0=3.5"],
]
WORST = [0.0]


def equal(what, client, cases, **more):
    """Every case's row is the logits of its own run, at the end and at another place."""
    pair = "target_ids" in more
    output = len(more["target_ids"]) if pair else len(IDS)
    for at in (output - 1, 1):
        _, got = client.ask("outcomes", ids=IDS, cases=cases, at=at, **more)
        for changes, row in zip(cases, got["logits"]):
            _, run = client.ask("run", ids=IDS, changes=changes, capture=["logits"], **more)
            want = run["logits"][at]
            error = float(np.abs(row - want).max() / max(1, np.abs(want).max()))
            assert error < 1e-5, f"{what} {changes} at {at}: {error:.1e}"
            WORST[0] = max(WORST[0], error)


def many_interventions_are_computed_together():
    for name, auto, kind in (
        ("gpt2", "AutoModelForCausalLM", {}),
        ("llama", "AutoModelForCausalLM", {}),
        ("gemma2", "AutoModelForCausalLM", {}),
        ("mixtral", "AutoModelForCausalLM", {}),
        ("gpt_oss", "AutoModelForCausalLM", {}),
        ("bert", "AutoModelForMaskedLM", {}),
    ):
        model, tokenizer = loaded(name, auto)
        with headlight.live(model, tokenizer) as server, Client(server.address) as client:
            equal(name, client, CASES, **kind)
            equal(name, client, CASES[:4], mask="window:3", **kind)
    model, tokenizer = loaded("t5", "AutoModelForSeq2SeqLM")
    cases = [[], ["ablate:encoder.0.1"], ["ablate:cross.1.0:mean"], ["skip-mlp:decoder.0"]]
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        equal("t5", client, cases, target_ids=TARGET)
    print(f"     largest error {WORST[0]:.1e}")


def patches_take_rows_of_their_own():
    model, tokenizer = loaded("llama")
    draw = np.random.default_rng(3)
    width = model.config.hidden_size
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        rows = [draw.normal(size=(len(IDS), width)).astype(np.float32) for _ in range(3)]
        cases = [["patch-resid:3@1"], ["patch-mlp:0-2@0"], ["ablate:0.0", "patch-attention:5@1"]]
        tensors = {"rows.0.0": rows[0], "rows.1.0": rows[1], "rows.2.1": rows[2]}
        _, got = client.ask("outcomes", tensors, ids=IDS, cases=cases)
        for i, changes in enumerate(cases):
            held = {f"rows.{len(changes) - 1}": rows[i]}
            _, run = client.ask("run", held, ids=IDS, changes=changes, capture=["logits"])
            assert np.abs(got["logits"][i] - run["logits"][-1]).max() < 1e-4, changes


def they_run_in_one_pass_where_they_can():
    """A sweep of eight cases passes the model once; moved positions need a pass each."""
    model, tokenizer = loaded("gpt2")
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        passes = []
        hook = model.transformer.h[0].register_forward_hook(lambda *_: passes.append(1))
        client.ask("outcomes", ids=IDS, cases=CASES)
        assert len(passes) == 1, len(passes)
        passes.clear()
        client.ask("outcomes", ids=IDS, cases=[[], ["positions:off"], ["ablate:0.0"]])
        assert len(passes) == 3, len(passes)
        hook.remove()
        assert "cases" in refusal(lambda: client.ask("outcomes", ids=IDS))
        assert "position 8" in refusal(lambda: client.ask("outcomes", ids=IDS, cases=[[]], at=8))
        said = refusal(lambda: client.ask("outcomes", ids=IDS, cases=[["ablate:9.9"]]))
        assert "9.9" in said, said


def models_that_the_program_does_not_open_take_them_too():
    for family in ("doge", "jetmoe", "recurrent_gemma", "mimo_v2_flash"):
        model = tiny(family)
        with headlight.live(model) as server, Client(server.address) as client:
            paths = [b["path"] for b in client.ask("describe")[0]["blocks"]]
            equal(family, client, [[], [f"ablate:{paths[0]}.0"], [f"ablate:{paths[-1]}.1:mean"]])
