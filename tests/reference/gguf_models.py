#!/usr/bin/env python3
"""Writes reference models as GGUF, with tensor names from the gguf package's own table, and compares what Headlight
computes from them with what it computes from the Hugging Face folders (which other tests hold against transformers).

    gguf_models.py build/headlight [--seed N]

Covers the architectures for which there is no fixed reference file; phi2 with q, k and v apart and as one matrix. What a configuration says beside shapes (share of a head
that turns, base of the rotation, windows, caps, whether key_length is written) is drawn from the seed, which is printed, so
that no number can come from a default. Needs gguf, numpy and safetensors.
"""
import argparse
import json
import logging
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

MODELS = Path(__file__).with_name("models")
ARCHITECTURES = {"qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma2", "phi": "phi2", "bert": "bert"}  # reference folder: GGUF's name
ROUNDS = 4
IDS = "5,9,20,31,44,7,5,9,60,71,12,13"


def draw(d, config):
    """The same weights under another configuration."""
    out = dict(config)
    for key in ("rms_norm_eps", "layer_norm_eps"):
        if key in out:
            out[key] = d.choice([1e-6, 1e-3, 1e-2])
    if rope := out.get("rope_parameters"):
        out["rope_parameters"] = {**rope, "rope_theta": d.choice([500.0, 10000.0, 1e6])}
        if "partial_rotary_factor" in rope:
            out["rope_parameters"]["partial_rotary_factor"] = d.choice([0.25, 0.375, 0.75, 1.0])
    if out["model_type"] == "gemma2":
        out.update(sliding_window=d.choice([3, 5, 8]), attn_logit_softcapping=d.choice([4.0, 20.0]), final_logit_softcapping=d.choice([5.0, 12.0]))
    return out


def joined(tensors):
    """q, k and v of each layer as one matrix, as phi2's converter writes them."""
    out = {}
    for key, value in tensors.items():
        before, found, rest = key.partition(".q_proj.")
        if found:
            out[f"{before}.qkv_proj.{rest}"] = np.concatenate([tensors[f"{before}.{p}_proj.{rest}"] for p in "qkv"])
        elif ".k_proj." not in key and ".v_proj." not in key:
            out[key] = value
    return out


def write(path, name, config, tensors, key_length, fused):
    w = gguf.GGUFWriter(path, name)
    heads, width = config["num_attention_heads"], config["hidden_size"]
    d_head = config.get("head_dim") or width // heads
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(width)
    w.add_block_count(config["num_hidden_layers"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    w.add_head_count_kv(config.get("num_key_value_heads", heads))
    if "rms_norm_eps" in config:
        w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if "layer_norm_eps" in config:
        w.add_layer_norm_eps(config["layer_norm_eps"])
    if rope := config.get("rope_parameters"):
        w.add_rope_freq_base(rope["rope_theta"])
        w.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1) * d_head))
    if key_length or d_head != width // heads:  # converters leave out what follows from the other sizes
        w.add_key_length(d_head)
        w.add_value_length(d_head)
    if name == "gemma2":
        w.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        w.add_final_logit_softcapping(config["final_logit_softcapping"])
        w.add_sliding_window(config["sliding_window"])
    if fused:
        tensors = joined(tensors)
    names = gguf.get_tensor_name_map(next(a for a, n in gguf.MODEL_ARCH_NAMES.items() if n == name), config["num_hidden_layers"])
    for key, value in tensors.items():
        stored = names.get_name(key.removeprefix("bert."), try_suffixes=(".weight", ".bias")) or gguf_qkv(key)
        w.add_tensor(stored, value + 1 if name == "gemma2" and key.endswith("norm.weight") else value)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def gguf_qkv(key):
    _, _, layer, _, _, kind = key.split(".")
    return f"blk.{layer}.attn_qkv.{kind}"


def trace(headlight, model, out):
    subprocess.run([headlight, "trace", "--model", model, "--ids", IDS, "-o", out, "--quiet"], check=True)
    return load_file(out)


def compare(headlight, name, d, round, folder):
    config = draw(d, json.loads((MODELS / name / "config.json").read_text()))
    tensors = {k: v for k, v in load_file(MODELS / name / "model.safetensors").items() if not k.startswith("cls.")}
    if name == "gemma2":
        config["query_pre_attn_scalar"] = config["head_dim"]  # GGUF does not carry it: it is the head's width
    plain = folder / "plain"
    plain.mkdir()
    (plain / "config.json").write_text(json.dumps(config))
    (plain / "model.safetensors").write_bytes((MODELS / name / "model.safetensors").read_bytes())
    write(folder / f"{name}.gguf", ARCHITECTURES[name], config, tensors, d.random() < 0.5, name == "phi" and round % 2 == 1)
    want, got = trace(headlight, plain, folder / "want.safetensors"), trace(headlight, folder / f"{name}.gguf", folder / "got.safetensors")
    assert set(got) >= {k for k in want if k != "logits"}, sorted(set(want) - set(got))
    return max(float(np.abs(got[k] - want[k]).max()) for k in got if want[k].dtype.kind == "f")


def main():
    logging.disable(logging.INFO)
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    a = p.parse_args()
    print(f"seed {a.seed}")
    worst = 0.0
    for name in ARCHITECTURES:
        error = 0.0
        for i in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                error = max(error, compare(a.headlight.resolve(), name, random.Random(f"{name} {a.seed + i}"), i, Path(folder)))
        print(f"{name}: largest difference between GGUF and safetensors {error:.1e}")
        worst = max(worst, error)
    print(f"{len(ARCHITECTURES)} GGUF architectures, largest difference {worst:.1e}")
    return worst > 1e-5


if __name__ == "__main__":
    sys.exit(main())
