#!/usr/bin/env python3
"""Masks and ablations against transformers given the same 4-D mask or the same hook, on decoders, encoders and
encoder-decoders of the reference folder:

    python changes.py build/headlight
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
IDS, TARGET = [5, 9, 200, 31, 5, 9, 77, 300, 12, 5], [3, 4, 7, 9, 5]
TOLERANCE = 2e-4
worst = 0.0
failed = 0


def allowed(name, n, causal):
    """The mask that the name means, as rows of booleans."""
    kind, *numbers = name.split(":")
    numbers = list(map(int, numbers))
    q, k = torch.arange(n)[:, None], torch.arange(n)[None, :]
    below = (k <= q) if causal else torch.ones(n, n, dtype=torch.bool)
    return {"none": lambda: torch.ones(n, n, dtype=torch.bool), "causal": lambda: k <= q, "window": lambda: below & ((q - k).abs() < numbers[0]),
            "prefix": lambda: (k <= q) | ((q < numbers[0]) & (k < numbers[0])), "global": lambda: below & ((q < numbers[0]) | (k < numbers[0]) | ((q - k).abs() < numbers[1]))}[kind]()


def additive(mask):
    return torch.zeros(1, 1, *mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)


def ours(folder, *options, ids=IDS):
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "t.safetensors"
        command = [PROGRAM, "trace", "--model", folder, "--ids", ",".join(map(str, ids)), "-o", path, "--capture", "logits", "--quiet", *options]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return load_file(path)["logits"]


def hold(what, got, want):
    global worst, failed
    error = (got - want).abs().max().item()
    worst = max(worst, error)
    if error > TOLERANCE:
        failed += 1
        print(f"FAIL {what}: {error:.2e}")


def zero_head(module, head, width):
    """The output projection's input without one head."""
    def hook(_, inputs):
        x = inputs[0].clone()
        x[..., head * width:(head + 1) * width] = 0
        return (x, *inputs[1:])
    return module.register_forward_pre_hook(hook)


@torch.no_grad()
def main():
    ids = torch.tensor([IDS])
    checks = 0
    for name, projection in (("gpt2", lambda m: m.transformer.h[1].attn.c_proj), ("llama", lambda m: m.model.layers[1].self_attn.o_proj), ("qwen2", lambda m: m.model.layers[1].self_attn.o_proj), ("phi", lambda m: m.model.layers[1].self_attn.dense)):
        folder = HERE / "models" / name
        model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        for mask in ("none", "causal", "window:3", "prefix:4", "global:2:3"):
            hold(f"{name} {mask}", ours(folder, "--mask", mask), model(ids, attention_mask=additive(allowed(mask, len(IDS), True))).logits[0])
            checks += 1
        for head in range(2):
            width = model.config.hidden_size // model.config.num_attention_heads
            handle = zero_head(projection(model), head, width)
            hold(f"{name} ablate 1.{head}", ours(folder, "--ablate", f"1.{head}"), model(ids).logits[0])
            handle.remove()
            checks += 1
    for name, projection in (("bert", lambda m: m.bert.encoder.layer[1].attention.output.dense), ("distilbert", lambda m: m.distilbert.transformer.layer[1].attention.out_lin)):
        folder = HERE / "models" / name
        model = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        width = model.config.hidden_size // model.config.num_attention_heads
        handle = zero_head(projection(model), 1, width)
        hold(f"{name} ablate 1.1", ours(folder, "--ablate", "1.1"), model(ids).logits[0])
        handle.remove()
        checks += 1
        padded = IDS[:7] + [model.config.pad_token_id] * 3
        as_tensor = torch.tensor([padded])
        want = model(as_tensor, attention_mask=(as_tensor != model.config.pad_token_id).long()).logits[0]
        hold(f"{name} padding", ours(folder, "--mask", "padding", ids=padded), want)
        handles = [zero_head(projection(model), head, width) for head in range(model.config.num_attention_heads) if head != 1]
        hold(f"{name} keep 1.1", ours(folder, "--ablate", "1.1:keep"), model(ids).logits[0])
        for handle in handles:
            handle.remove()
        checks += 2
        if name != "bert":
            continue
        for mask in ("none", "causal", "window:3", "prefix:4", "global:2:3"):
            hold(f"{name} {mask}", ours(folder, "--mask", mask), model(ids, attention_mask=additive(allowed(mask, len(IDS), False))).logits[0])
            checks += 1
    folder = HERE / "models" / "gpt2"
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    for forbidden in ((6, 2), (9, 0)):
        mask = allowed("causal", len(IDS), True)
        mask[forbidden] = False
        hold(f"gpt2 forbid {forbidden}", ours(folder, "--change", f"forbid:{forbidden[0]}>{forbidden[1]}"), model(ids, attention_mask=additive(mask)).logits[0])
        checks += 1
    for name in ("marian", "bart"):
        folder = HERE / "models" / name
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        target = torch.tensor([TARGET])
        layers = {"encoder.0.1": (model.model.encoder.layers[0].self_attn.out_proj, 1), "decoder.1.0": (model.model.decoder.layers[1].self_attn.out_proj, 0), "cross.0.2": (model.model.decoder.layers[0].encoder_attn.out_proj, 2)}
        for head, (module, number) in layers.items():
            width = model.config.d_model // model.config.decoder_attention_heads
            handle = zero_head(module, number, width)
            hold(f"{name} ablate {head}", ours(folder, "--target-ids", ",".join(map(str, TARGET)), "--ablate", head), model(ids, decoder_input_ids=target).logits[0])
            handle.remove()
            checks += 1
    print(f"{checks} masks and ablations equal transformers', largest error {worst:.1e}" if not failed else f"{failed} of {checks} differ")
    sys.exit(bool(failed))


main()
