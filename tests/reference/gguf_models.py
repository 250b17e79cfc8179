#!/usr/bin/env python3
"""Write reference models as GGUF, with tensor names from the gguf package's own table, and compare
what Headlight computes from them with what it computes from the Hugging Face folders (which other
tests hold against transformers).

    gguf_models.py build/headlight [--seed N]

q, k and v lie apart or as one matrix. What a configuration says beside shapes (share of a head that
turns, base of the rotation and its stretching under its older and newer keys, windows, caps,
whether key_length is written) is drawn from the seed, which is printed, so that no number can come
from a default; so are biases that only some layers have, an unembedding of its own, float64, and
parts. A tensor that nothing reads must be refused. Needs gguf, numpy and safetensors.
"""

import argparse
import json
import logging
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file, save_file

MODELS = Path(__file__).with_name("models")
# Reference folder: GGUF's name.
ARCHITECTURES = {
    "llama": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma2": "gemma2",
    "phi": "phi2",
    "bert": "bert",
}
# Projections that may have biases, which the folders' own configurations can say.
BIASED = {"llama": "qkvoudg", "qwen3": "qkvo"}
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
    if "rope_parameters" in out and out["model_type"] != "phi":
        if d.random() < 0.5:
            out["rope_parameters"].update(rope_type="linear", factor=d.choice([2.0, 3.5]))
        else:
            out["rope_parameters"]["rope_type"] = "default"
    if out["model_type"] == "gemma2":
        out.update(
            sliding_window=d.choice([3, 5, 8]),
            attn_logit_softcapping=d.choice([4.0, 20.0]),
            final_logit_softcapping=d.choice([5.0, 12.0]),
        )
    return out


def biased(d, name, config, tensors):
    """Some of the biases that the converter's tensors may have; transformers has all of a kind or
    none, so the others are zeros."""
    if name not in BIASED or d.random() < 0.3:
        return tensors, tensors
    config.update(attention_bias=True, **({"mlp_bias": True} if name == "llama" else {}))
    noise, full, some = np.random.default_rng(d.randrange(1 << 30)), dict(tensors), dict(tensors)
    for key, value in tensors.items():
        part = key.removesuffix("_proj.weight")
        if part != key and part[-1] in "qkvo" or ".mlp." in key and name == "llama":
            full[key.replace(".weight", ".bias")] = np.zeros(len(value), np.float32)
            if d.random() < 0.6:
                full[key.replace(".weight", ".bias")] = some[key.replace(".weight", ".bias")] = (
                    0.5 * noise.standard_normal(len(value))
                ).astype(np.float32)
    return full, some


def turned(value, heads):
    """Rows of q or k in the order in which GGUF's llama turns them: neighbors in place of
    halves."""
    return (
        value.reshape(heads, 2, len(value) // heads // 2, *value.shape[1:])
        .swapaxes(1, 2)
        .reshape(value.shape)
    )


def joined(tensors):
    """q, k and v of each layer as one matrix, which llama.cpp reads of every architecture."""
    out = dict(tensors)
    for parts, whole in (
        (("q_proj", "k_proj", "v_proj"), "qkv_proj"),
        (("query", "key", "value"), "qkv"),
    ):
        for key in [k for k in tensors if f".{parts[0]}.weight" in k]:
            before = key.removesuffix(f"{parts[0]}.weight")
            weights = [out.pop(f"{before}{p}.weight") for p in parts]
            biases = [out.pop(f"{before}{p}.bias", None) for p in parts]
            out[f"{before}{whole}.weight"] = np.concatenate(weights)
            if any(b is not None for b in biases):
                out[f"{before}{whole}.bias"] = np.concatenate(
                    [
                        np.zeros(len(w), np.float32) if b is None else b
                        for b, w in zip(biases, weights)
                    ]
                )
    return out


def write(path, name, config, tensors, d, fused, parts=1, unread=None):
    w = gguf.GGUFWriter(path, name, split_max_tensors=-(-len(tensors) // parts) if parts > 1 else 0)
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
        if rope["rope_theta"] != 10000.0 or d.random() < 0.5:
            w.add_rope_freq_base(rope["rope_theta"])
        add_scaling(w, name, rope, d)
        w.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1) * d_head))
    # Converters leave out what follows from the other sizes.
    if d.random() < 0.5 or d_head != width // heads:
        w.add_key_length(d_head)
        w.add_value_length(d_head)
    if name == "gemma2":
        w.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        w.add_final_logit_softcapping(config["final_logit_softcapping"])
        w.add_sliding_window(config["sliding_window"])
    if name == "llama":
        shared = {"q": heads, "k": config["num_key_value_heads"]}
        tensors = {
            k: turned(v, shared[k.split(".")[4][0]]) if re.search(r"\.[qk]_proj\.", k) else v
            for k, v in tensors.items()
        }
    if fused:
        tensors = joined(tensors)
    names = gguf.get_tensor_name_map(
        next(a for a, n in gguf.MODEL_ARCH_NAMES.items() if n == name), config["num_hidden_layers"]
    )
    for key, value in tensors.items():
        stored = names.get_name(
            key.removeprefix("bert."), try_suffixes=(".weight", ".bias")
        ) or gguf_qkv(key)
        value = value + 1 if name == "gemma2" and key.endswith("norm.weight") else value
        w.add_tensor(stored, value.astype(np.float64) if d.random() < 0.2 else value)
    if unread:
        w.add_tensor(unread, np.ones(4, np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def add_scaling(w, name, rope, d):
    """A factor without a type is linear; older files call it rope.scale_linear."""
    if rope.get("rope_type") != "linear":
        return
    if d.random() < 0.5:
        w.add_float32(f"{name}.rope.scale_linear", rope["factor"])
        return
    w.add_rope_scaling_factor(rope["factor"])
    if d.random() < 0.5:
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)


def gguf_qkv(key):
    layer = next(part for part in key.split(".") if part.isdigit())
    return f"blk.{layer}.attn_qkv.{key.rsplit('.', 1)[1]}"


def trace(headlight, model, out, *more):
    command = [headlight, "trace", "--model", model, "--ids", IDS, "-o", out, "--quiet", *more]
    subprocess.run(command, check=True)
    return load_file(out)


def refuses_unread(headlight, path, name, config, tensors, d):
    unread = d.choice(
        [
            "blk.0.attn_output_norm_2.weight",
            "blk.1.ffn_gate_inp_2.weight",
            "blk.0.attn_norm.bias_2",
            "surprise.weight",
        ]
    )
    write(path, ARCHITECTURES[name], config, tensors, d, False, unread=unread)
    done = subprocess.run(
        [headlight, "trace", "--model", path, "--ids", IDS, "-o", path.with_suffix(".safetensors")],
        capture_output=True,
        text=True,
    )
    refused = done.returncode == 1 and f"the tensor {unread} " in done.stderr
    assert refused, f"{name}: {unread} is read in silence: {done.stderr}"


def compare(headlight, name, d, round, folder):
    config = draw(d, json.loads((MODELS / name / "config.json").read_text()))
    tensors = {
        k: v
        for k, v in load_file(MODELS / name / "model.safetensors").items()
        if not k.startswith("cls.")
    }
    if name == "gemma2":
        # GGUF does not carry it: it is the head's width
        config["query_pre_attn_scalar"] = config["head_dim"]
    if name in ("qwen2", "qwen3") and d.random() < 0.5:
        tensors["lm_head.weight"] = np.ascontiguousarray(tensors["model.embed_tokens.weight"][::-1])
    if name == "bert" and d.random() < 0.3:  # llama.cpp reads a file without kinds of tokens too
        types = "bert.embeddings.token_type_embeddings.weight"
        tensors[types] = np.zeros_like(tensors[types])
        full, tensors = dict(tensors), {k: v for k, v in tensors.items() if k != types}
    else:
        full, tensors = biased(d, name, config, tensors)
    plain = folder / "plain"
    plain.mkdir()
    (plain / "config.json").write_text(json.dumps(config))
    save_file(full, plain / "model.safetensors")
    parts, fused = d.choice([1, 1, 3]), name != "gemma2" and round % 2 == 1
    write(folder / f"{name}.gguf", ARCHITECTURES[name], config, tensors, d, fused, parts)
    want = trace(headlight, plain, folder / "want.safetensors")
    got = trace(headlight, d.choice(sorted(folder.glob("*.gguf"))), folder / "got.safetensors")
    refuses_unread(headlight, folder / "unread.gguf", name, config, tensors, d)
    assert set(got) >= {k for k in want if k != "logits"}, sorted(set(want) - set(got))
    return max(
        float(np.abs(got[k] - want[k]).max() / max(1, np.abs(want[k]).max() / 8))
        for k in got
        if want[k].dtype.kind == "f"
    )


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
                error = max(
                    error,
                    compare(
                        a.headlight.resolve(),
                        name,
                        random.Random(f"{name} {a.seed + i}"),
                        i,
                        Path(folder),
                    ),
                )
        print(f"{name}: largest difference between GGUF and safetensors {error:.1e}")
        worst = max(worst, error)
    print(f"{len(ARCHITECTURES)} GGUF architectures, largest difference {worst:.1e}")
    return worst > 2e-5  # llama turns neighbors in place of halves: sums in another order


if __name__ == "__main__":
    sys.exit(main())
