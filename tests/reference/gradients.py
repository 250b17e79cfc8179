#!/usr/bin/env python3
"""Every gradient that `headlight attribute --gradients` writes against torch.autograd through
transformers' own models, on a random tiny model of every family (random_models.py), and integrated
gradients on one:

    gradients.py build/headlight [--only llama,t5]

The seed is fixed. The truth is autograd in float64; an error may be five times the one of autograd
in float32, or FLOOR of the gradient's own norm where that is more (transformers keeps norms,
softmax and rotations in float32 either way)."""

import argparse
import copy
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import random_families
import torch
from random_families import Draw
from random_hybrids import HYBRIDS, mixers
from random_models import inputs_of, randomize
from safetensors.numpy import load_file
from tape import Tape

SEED, ROUNDS, NOISE, FLOOR = 20, 2, 5, 1e-5
# Families whose relevance of every output is compared.
RELEVANCE = tuple("gpt2 llama gemma2 phi bert t5 bart marian".split())
INTEGRATED = "llama"  # the input of its layer 0 is what `inputs_embeds` takes
# Families whose modules tape.py knows; every part of a layer is in one of them.
KINDS = ",".join(
    """
    gpt2 gpt_neox llama mistral qwen2 qwen3 gemma gemma2 phi opt bloom bert distilbert roberta
    xlm_roberta camembert electra albert modernbert marian bart t5 mt5 vit
    qwen3_next qwen3_5_text olmo_hybrid bamba granitemoehybrid mamba2 nemotron_h mamba
    falcon_mamba jamba falcon_h1
    mixtral qwen2_moe qwen3_moe olmoe glm4_moe dots1 minimax_m2 olmo2 exaone4 cohere granite
    gemma3n_text gemma4_text hunyuan_v1_dense ministral3 nanochat arcee deepseek_v2 minicpm3 lfm2
""".split()
)


def metric_of(out, position, token):
    logits = out.logits[0] if out.logits.ndim == 2 else out.logits[0, position]
    return torch.log_softmax(logits, -1)[token]


def autograd(kind, model, inputs, position, token):
    """Gradients of log p of a token by Headlight's names."""
    tape, modeling = Tape(kind, model), importlib.import_module(type(model).__module__)
    own, softmax = getattr(modeling, "eager_attention_forward", None), torch.nn.functional.softmax
    torch.nn.functional.softmax = tape.softmax(softmax)
    if own:
        modeling.eager_attention_forward = tape.attention(own)
    try:
        more = (
            {}
            if kind == "vit"
            else {"use_cache": False}
            if "use_cache" in model.config.to_dict() or model.config.is_encoder_decoder
            else {}
        )
        if kind == "gemma4_text":  # else it asks for vectors of layers that there may be none of
            more = {**more, "output_hidden_states": True}
        metric_of(model(**inputs, **more), position, token).backward()
    finally:
        torch.nn.functional.softmax = softmax
        if own:
            modeling.eager_attention_forward = own
        for handle in tape.handles:
            handle.remove()
    return named(kind, model, tape.kept)


def blocks_met(model):
    """Names of attention blocks in the order in which a pass meets them."""
    c = model.config
    if c.model_type in HYBRIDS:  # a recurrence has no scores and no pattern to take a gradient of
        return [
            f"blocks.{i}.attn" for i, (_, kind) in enumerate(mixers(c)) if kind == "full_attention"
        ]
    if not c.is_encoder_decoder:
        return [f"blocks.{i}.attn" for i in range(c.num_hidden_layers)]
    encoder = getattr(c, "encoder_layers", None) or c.num_layers
    decoder = getattr(c, "decoder_layers", None) or c.num_decoder_layers
    return [f"encoder.{i}.attn" for i in range(encoder)] + [
        f"decoder.{i}.{part}" for i in range(decoder) for part in ("attn", "cross_attn")
    ]


def by_layers(config, what, tensors):
    """Those of the program's layers, which hold the MLPs after them (Nemotron-H's are layers)."""
    if config.model_type not in HYBRIDS:
        return tensors
    starts = [at for at, _ in mixers(config)]
    ends = [at - 1 for at in starts[1:] + [len(tensors)]]
    return [tensors[at] for at in (ends if what == "hook_resid_post" else starts)]


def named(kind, model, kept):
    out = {}
    for name, tensors in kept.items():
        part, _, what = name.partition(".")
        if part != "attn":
            for i, t in enumerate(by_layers(model.config, what, tensors)):
                out[f"{part}.{i}.{what}"] = (
                    t.grad.numpy() if t.grad is not None else np.zeros(t.shape)
                ).reshape(-1, t.shape[-1])
            continue
        blocks = blocks_met(model)
        assert len(tensors) == len(blocks), (
            f"{kind}: {len(tensors)} of {name}, {len(blocks)} attention blocks"
        )
        for block, t in zip(blocks, tensors):
            g = t.grad.numpy() if t.grad is not None else np.zeros(t.shape)
            g = g.reshape(-1, *g.shape[-2:]) if what in ("scores", "pattern") else g[0]
            if what in ("q", "k", "v"):
                g = g.transpose(1, 0, 2)  # [head, n, d]
            if what == "q" and kind == "opt":  # theirs is scaled before it meets k
                g = g * (model.config.hidden_size // model.config.num_attention_heads) ** -0.5
            if what == "pattern":  # ours are of the cells that the mask allows
                g = g * (
                    kept["attn.scores"][blocks.index(block)].detach().numpy().reshape(g.shape)
                    > -1e30
                )
            out[f"{block}.hook_{'attn_scores' if what == 'scores' else what}"] = g
    return out


def ours(headlight, folder, options, metric, method="gradient", *more):
    command = [
        headlight,
        "attribute",
        "--model",
        folder,
        "--metric",
        metric,
        "--method",
        method,
        "--json",
        "--quiet",
        *options,
        *more,
    ]
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout)


def values(answer):
    return np.array(answer["scores"])


def integrated(model, inputs, position, token, steps):
    """Gauss–Legendre from zero embeddings, in float64."""
    embeddings = model.get_input_embeddings()(inputs["input_ids"]).detach()
    sum_ = torch.zeros_like(embeddings)
    for at, weight in zip(*np.polynomial.legendre.leggauss(steps)):
        x = (embeddings * (at + 1) / 2).requires_grad_()
        metric_of(model(inputs_embeds=x, use_cache=False), position, token).backward()
        sum_ += weight / 2 * x.grad
    return (embeddings * sum_).sum(-1)[0].numpy()


def relevances(kind, model, inputs, token):
    """[outputs, tokens of both stacks], for log p of the token at every position of the output: R ←
    R + mean over heads of (gradient ∘ pattern)⁺ R, layer by layer (Chefer et al. 2021, equations 5
    and 6); through cross-attention what the encoder's rows rest on passes to the decoder's by the
    same rule."""
    rows, blocks, dtype = [], blocks_met(model), next(model.parameters()).dtype
    sides = ["input_ids", "decoder_input_ids"] if model.config.is_encoder_decoder else ["input_ids"]
    lengths, more = (
        [inputs[side].shape[1] for side in sides],
        {"use_cache": False} if len(sides) > 1 else {},
    )
    for position in range(lengths[-1]):
        tape, softmax = Tape(kind, model), torch.nn.functional.softmax
        torch.nn.functional.softmax = tape.softmax(softmax)
        try:
            metric_of(model(**inputs, **more), position, token).backward()
        finally:
            torch.nn.functional.softmax = softmax
            for handle in tape.handles:
                handle.remove()
        # Of each stack's rows.
        relevance = list(torch.eye(sum(lengths), dtype=dtype).split(lengths))
        for block, pattern in zip(blocks, tape.kept["attn.pattern"], strict=True):
            read, write = (0, 1) if "cross" in block else (-1, -1) if "decoder" in block else (0, 0)
            moved = torch.zeros_like(pattern) if pattern.grad is None else pattern.grad * pattern
            relevance[write] = (
                relevance[write] + moved[0].clamp(min=0).mean(0).to(dtype) @ relevance[read]
            )
        rows.append(relevance[-1][position].detach().numpy())
    return np.stack(rows)


class Worst:
    def __init__(self):
        self.share, self.where, self.failures, self.count, self.relevance = 0.0, "", [], 0, {}

    def hold(self, where, got, exact, noisy):
        assert got.shape == exact.shape, (
            f"{where} has the shape {got.shape} instead of {exact.shape}"
        )
        norm, error = np.linalg.norm(exact), np.linalg.norm(got.astype(np.float64) - exact)
        allowed = (
            max(NOISE * np.linalg.norm(noisy.astype(np.float64) - exact), FLOOR * norm) + 1e-12
        )
        self.count += 1
        if not error <= allowed:
            self.failures.append(
                f"{where} is off by {error / max(norm, 1e-30):.1e} of its norm ({norm:.1e}), "
                f"{error / allowed:.1f} times what is allowed"
            )
        if not error / allowed <= self.share:
            self.share, self.where = (
                error / allowed,
                f"{where}: {error / max(norm, 1e-30):.1e} of its norm",
            )


def read_longer(kind, model, d, folder):
    """Inputs of more than one token."""
    while True:
        inputs, options = inputs_of(kind, model, d, folder)
        if all(t.shape[-1] > 1 for t in inputs.values()):
            return inputs, options


def compare(headlight, kind, seed, folder, worst):
    d = Draw(f"{kind} {seed}")
    d.long = seed == SEED
    config, head = getattr(random_families, "make_" + kind)(d)
    config._attn_implementation = config._experts_implementation = "eager"
    torch.manual_seed(seed)
    model = head(config).eval()
    randomize(model, torch.Generator().manual_seed(seed))
    model.save_pretrained(folder)
    inputs, options = read_longer(kind, model, d, folder)
    output = inputs.get("decoder_input_ids", inputs.get("input_ids"))
    position = 0 if output is None else d.randrange(output.shape[1] // 2, output.shape[1])
    token = d.randrange(3 if kind == "vit" else 90)
    doubled = copy.deepcopy(model).double()
    exact_inputs = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    noisy, exact = (
        autograd(kind, model, inputs, position, token),
        autograd(kind, doubled, exact_inputs, position, token),
    )
    embedded = [g.pop("blocks.0.hook_embed", None) for g in (exact, noisy)]
    metric, file = f"log p #{token}@{position}", folder / "gradients.safetensors"
    norms = values(ours(headlight, folder, options, metric, "gradient", "--gradients", file))
    got = load_file(file)
    for name, want in exact.items():
        if name.endswith("hook_pattern"):
            got[name] = got[name] * (want != 0)
        worst.hold(
            f"{kind} {seed} {name}",
            got[name].reshape(want.shape) if name.endswith("hook_z") else got[name],
            want,
            noisy[name],
        )
    stacks = ["encoder", "decoder"] if config.is_encoder_decoder else ["blocks"]
    first = lambda of: np.concatenate(
        [np.linalg.norm(of[f"{s}.0.hook_resid_pre"], axis=-1) for s in stacks]
    )
    by = [
        first(of) if own is None else np.linalg.norm(own, axis=-1)
        for of, own in zip((exact, noisy), embedded)
    ]
    worst.hold(f"{kind} {seed} gradient norms", norms, *by)
    if kind == INTEGRATED:
        want = [
            integrated(m, i, position, token, 20)
            for m, i in ((doubled, exact_inputs), (model, inputs))
        ]
        worst.hold(
            f"{kind} {seed} integrated gradients",
            values(
                ours(
                    headlight,
                    folder,
                    options,
                    metric,
                    "integrated-gradients",
                    "--baseline",
                    "zero",
                    "--steps",
                    20,
                )
            ),
            *want,
        )
    if kind in RELEVANCE and seed != SEED:
        found = ours(
            headlight, folder, options, f"log p #{token}", "relevance", "--over", "outputs"
        )["matrix"]
        exact, noisy = (
            relevances(kind, doubled, exact_inputs, token),
            relevances(kind, model, inputs, token),
        )
        worst.hold(f"{kind} {seed} relevance", np.array(found), exact, noisy)
        if source := exact.shape[1] - exact.shape[0]:  # small beside the output's own tokens
            worst.hold(
                f"{kind} {seed} relevance of the source",
                np.array(found)[:, :source],
                exact[:, :source],
                noisy[:, :source],
            )
        worst.relevance[kind] = float(np.abs(np.array(found) - exact).max() / exact.max())
    return len(got) - len(exact)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--only", default="")
    a = p.parse_args()
    kinds = random_families.kinds(a.only or KINDS)
    worst, without = Worst(), 0
    for kind in kinds:
        for seed in range(SEED, SEED + ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    without += compare(a.headlight, kind, seed, Path(folder), worst)
                except AssertionError as e:
                    worst.failures.append(f"{kind} {seed}: {e}")
    for failure in worst.failures:
        print("FAIL", failure)
    if worst.relevance:
        kind = max(worst.relevance, key=worst.relevance.get)
        print(
            f"relevance of {len(worst.relevance)} families ({', '.join(worst.relevance)}): "
            f"largest error {worst.relevance[kind]:.1e} of the largest ({kind})"
        )
    print(
        (
            f"{worst.count} gradients of {len(kinds)} families equal torch.autograd's, the largest "
            f"error {worst.share:.2f} of what is allowed ({worst.where}); {without} have no "
            "counterpart there"
        )
        if not worst.failures
        else f"{len(worst.failures)} of {worst.count} gradients differ"
    )
    return bool(worst.failures)


if __name__ == "__main__":
    sys.exit(main())
