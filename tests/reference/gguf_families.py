#!/usr/bin/env python3
"""Write random models of the families that open from GGUF as llama.cpp's converter does,
and compare what Headlight computes from them with what it computes from the Hugging Face folders
(which random_models.py holds against transformers).

    gguf_families.py build/headlight [--seed N] [--rounds R] [--only olmo2,phi3]

Needs gguf, torch and transformers.
"""

import argparse
import json
import logging
import random
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import random_families
import torch
import transformers
from gguf_mixers import MIXERS
from gguf_models import trace
from gguf_writing import LATENT, sizes, write
from random_families import Draw
from random_models import randomize
from safetensors.numpy import load_file, save_file

# Family: GGUF's name.
ARCHITECTURES = {
    "gemma3_text": "gemma3",
    "gemma3n_text": "gemma3n",
    "gemma4_text": "gemma4",
    "olmo2": "olmo2",
    "olmo3": "olmo2",
    "exaone4": "exaone4",
    "granite": "granite",
    "smollm3": "smollm3",
    "seed_oss": "seed_oss",
    "arcee": "arcee",
    "glm4": "glm4",
    "ernie4_5": "ernie4_5",
    "phi3": "phi3",
    "cohere": "command-r",
    "cohere2": "cohere2",
    "hunyuan_v1_dense": "hunyuan-dense",
    "falcon": "falcon",
    "starcoder2": "starcoder2",
    "nemotron": "nemotron",
    "stablelm": "stablelm",
    "olmo": "olmo",
    "mpt": "mpt",
    "gpt_neox": "gptneox",
    "bloom": "bloom",
    "gpt_bigcode": "starcoder",
    "mixtral": "llama",
    "qwen2_moe": "qwen2moe",
    "qwen3_moe": "qwen3moe",
    "olmoe": "olmoe",
    "gpt_oss": "gpt-oss",
    "granitemoe": "granitemoe",
    "granitemoeshared": "granitemoe",
    "glm4_moe": "glm4moe",
    "dots1": "dots1",
    "ernie4_5_moe": "ernie4_5-moe",
    "hunyuan_v1_moe": "hunyuan-moe",
    "minimax_m2": "minimax-m2",
    "deepseek_v2": "deepseek2",
    "deepseek_v3": "deepseek2",
    "glm4_moe_lite": "deepseek2",
    "nomic_bert": "nomic-bert",
    "eurobert": "eurobert",
    "modernbert": "modern-bert",
    "t5": "t5",
    "umt5": "t5",
    "gemma_embedding": "gemma-embedding",
    "llama4_text": "llama4",
    "phimoe": "phimoe",
    "jais2": "jais2",
    "afmoe": "afmoe",
    "qwen3_next": "qwen3next",
    "qwen3_5_text": "qwen35",
    "qwen3_5_moe_text": "qwen35moe",
    "mamba2": "mamba2",
    "granitemoehybrid": "granitehybrid",
    "nemotron_h": "nemotron_h",
    "falcon_h1": "falcon-h1",
    "mamba": "mamba",
    "falcon_mamba": "mamba",
    "jamba": "jamba",
    "lfm2": "lfm2",
    "lfm2_moe": "lfm2moe",
}
# Architectures without an unembedding of their own: decoders whose embeddings serve, encoders.
HEADLESS = {"cohere": True, "cohere2": True}
HEADLESS |= {"nomic_bert": False, "eurobert": False, "modernbert": False}
# Qwen's layers: GGUF has how many of them are attention.
ONE_OF_TWO = {
    "full_attention_interval": 2,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}
# What models are made of where GGUF cannot say it.
MADE = {
    "qwen2_moe": {"mlp_only_layers": [], "decoder_sparse_step": 1},
    "qwen3_moe": {"mlp_only_layers": []},
    "ernie4_5_moe": {"moe_layer_end_index": 3},
    "deepseek_v2": {"attention_bias": False, "mlp_bias": False},
    "deepseek_v3": {"attention_bias": False},
    "modernbert": {"norm_bias": False, "attention_bias": False, "mlp_bias": False},
    "gemma3_text": {"use_bidirectional_attention": False},
    "gemma3n_text": {
        "attention_bias": False,
        "altup_correct_scale": True,
        "hidden_activation": "gelu_pytorch_tanh",
    },
    "gemma4_text": {"use_bidirectional_attention": None, "attention_bias": False},
    "llama4_text": {
        "no_rope_layers": [1, 1, 1, 0],
        "layer_types": [*["chunked_attention"] * 3, "full_attention"],
        "attention_chunk_size": 8192,
        "use_qk_norm": True,
        "floor_scale": 8192,
        "attn_scale": 0.1,
        "attn_temperature_tuning": True,
    },
    "phimoe": {"sliding_window": None, "router_jitter_noise": 0.01},
    "nomic_bert": {"hidden_act": "silu"},
    "afmoe": {"mup_enabled": True},
    "qwen3_next": {"mlp_only_layers": [], "decoder_sparse_step": 1, **ONE_OF_TWO},
    "qwen3_5_text": ONE_OF_TWO,
    "qwen3_5_moe_text": ONE_OF_TWO,
    "mamba2": {"time_step_limit": (0.0, float("inf"))},
    "mamba": {"use_bias": False},
    "falcon_mamba": {"use_bias": False, "layer_norm_epsilon": 1e-5, "mixer_rms_eps": 1e-5},
    "jamba": {"mamba_proj_bias": False},
    "granitemoehybrid": {"time_step_limit": (0.0, float("inf")), "mamba_proj_bias": False},
    # llama.cpp multiplies no tied logits, and biases as the matrices.
    "falcon_h1": {
        "time_step_limit": (0.0, float("inf")),
        "tie_word_embeddings": False,
        "attention_bias": False,
        "mlp_bias": False,
        "projectors_bias": False,
        "mamba_proj_bias": False,
        "mamba_norm_before_gate": False,
    },
    "nemotron_h": {"mlp_hidden_act": "relu2", "use_bias": False, "topk_group": 1, "n_group": 1},
    "lfm2": {"conv_bias": False, "block_auto_adjust_ff_dim": False},
    "lfm2_moe": {
        "conv_bias": False,
        "norm_topk_prob": True,
        "use_expert_bias": True,
        "tie_word_embeddings": True,
    },
    "jais2": {"hidden_act": "relu2"},
    "glm4_moe_lite": {"attention_bias": False, "mlp_layer_types": ["dense", "sparse", "sparse"]},
}
# What GGUF does not carry, as llama.cpp has it.
FIXED = {
    "arcee": {"hidden_act": "relu2"},
    "falcon": {"activation": "gelu"},
    "gpt_neox": {"hidden_act": "gelu"},
    "starcoder2": {"hidden_act": "gelu_pytorch_tanh", "sliding_window": None},
    "gpt_bigcode": {"activation_function": "gelu_pytorch_tanh", "scale_attn_weights": True},
    "gemma3_text": {"use_bidirectional_attention": False},
    "mixtral": {"sliding_window": None},
    "qwen2_moe": {"norm_topk_prob": False},
    "qwen3_moe": {"norm_topk_prob": True},
    "qwen3_next": {"norm_topk_prob": True},
    "olmoe": {"norm_topk_prob": False, "clip_qkv": None, "rms_norm_eps": 1e-5},
    "gpt_oss": {"swiglu_limit": 7.0, "swiglu_alpha": 1.702, "layer_types": None},
    "dots1": {"sliding_window": None, "layer_types": None},
    "ernie4_5_moe": {"moe_norm_min": 1e-12},
    "deepseek_v3": {"rope_interleave": True},
    "glm4_moe_lite": {"rope_interleave": True},
    "smollm3": {
        "use_sliding_window": False,
        "no_rope_layers": None,
        "no_rope_layer_interval": 4,
        "layer_types": None,
    },
}


def simplify(config, d):
    """Leave what GGUF carries: rotations that are not stretched, or by one factor."""
    if "layers_block_type" in config:
        config["num_hidden_layers"] = len(config["layers_block_type"])
        if "moe" not in config["layers_block_type"]:
            for key in [k for k in config if re.match("n_routed|n_shared|num_experts|moe_", k)]:
                del config[key]
    d_head = sizes(config)[0]
    rope = config.get("rope_parameters") or {}
    full = rope.get("full_attention", rope)
    if config["model_type"] in ("gpt_oss", *LATENT) and d.flag():
        full.clear()
        full.update(rope_type="yarn", rope_theta=500.0, factor=d.choice([2.0, 3.5]))
        full.update(original_max_position_embeddings=16, beta_fast=30.0, beta_slow=2.0)
        if config["model_type"] == "gpt_oss":
            full["truncate"] = False
        elif d.flag():
            full["mscale"] = full["mscale_all_dim"] = d.choice([0.7, 1.0])
    elif config["model_type"] == "gemma4_text":
        full.pop("factor", None)
    elif full.get("rope_type") != "longrope":
        kept = {k: full[k] for k in ("rope_theta", "partial_rotary_factor") if k in full}
        full.clear()
        full.update(kept, rope_type="default")
        plain = ("cohere", "cohere2", "phi3", "modernbert", "phimoe")
        if config["model_type"] not in plain and d.flag():
            full.update(rope_type="linear", factor=2.0)
        if config["model_type"] == "gpt_neox":  # an odd share turns other pairs
            full["partial_rotary_factor"] = d.choice([0.25, 0.5, 1.0]) if d_head % 8 == 0 else 1.0
    config.update(FIXED.get(config["model_type"], {}))
    if config["model_type"] == "gemma3_text":
        config["query_pre_attn_scalar"] = config["head_dim"]
    if config["model_type"] == "mpt":
        config["attn_config"]["softmax_scale"] = None
    if "short_mscale" in full:
        original = full["original_max_position_embeddings"]
        longer = np.log(config["max_position_embeddings"] / original)
        full["short_mscale"] = full["long_mscale"] = float(np.sqrt(1 + longer / np.log(original)))
    if config["model_type"] in ("t5", "umt5"):
        config["dense_act_fn"] = "gelu_new" if config["is_gated_act"] else "relu"
        config["relative_attention_max_distance"] = 128
        config.pop("scale_decoder_outputs", None)
    if config["model_type"] == "gemma3n_text":
        rope["sliding_attention"]["rope_theta"] = 10000.0
    if config["model_type"] == "olmo3":
        rope["sliding_attention"]["rope_theta"] = full["rope_theta"]


def storable(config):
    """Whether the architecture has what the configuration asks for."""
    if config.model_type == "hunyuan_v1_moe":
        return isinstance(config.moe_topk, int)
    if config.model_type == "llama4_text":
        step = config.interleave_moe_layer_step
        return config.moe_layers == list(range(step - 1, config.num_hidden_layers, step))
    if config.model_type == "deepseek_v2":
        return (config.topk_method == "greedy") == (config.n_group == 1)
    if config.model_type == "gemma4_text":
        turns = config.rope_parameters["full_attention"]["rope_type"] == "proportional"
        return turns and config.use_bidirectional_attention != "all"
    if config.model_type == "falcon":
        return config.parallel_attn and not config.alibi
    return config.model_type != "gpt_bigcode" or config.multi_query


def compare(headlight, kind, seed, folder):
    d = Draw(f"gguf {kind} {seed}")
    d.long = False
    embedding = kind == "gemma_embedding"  # Gemma 3 that reads both ways
    make = getattr(random_families, "make_" + ("gemma3_text" if embedding else kind))
    config, head = make(d)
    while not storable(config):
        config, head = make(d)
    for key, value in MADE.get(kind, {}).items():
        listed = isinstance(value, list)
        setattr(config, key, value[: config.num_hidden_layers] if listed else value)
    torch.manual_seed(seed)
    model = head(config)
    randomize(model, torch.Generator().manual_seed(seed))
    plain = folder / "plain"
    model.save_pretrained(plain)
    config = json.loads((plain / "config.json").read_text())
    tensors = load_file(plain / "model.safetensors")
    simplify(config, d)
    config.update({"use_bidirectional_attention": True} if embedding else {})
    if kind in HEADLESS:
        config["tie_word_embeddings"] = HEADLESS[kind]
        head = re.compile(r"(lm_head|cls|head|decoder)\.")
        tensors = {k: v for k, v in tensors.items() if not head.match(k)}
        save_file(tensors, plain / "model.safetensors")
    (plain / "config.json").write_text(json.dumps(config))
    name = ARCHITECTURES[kind]
    name += "_moe" if "moe" in (config.get("layers_block_type") or ()) else ""  # Nemotron-H's
    write(folder / "model.gguf", name, config, tensors, d)
    more = ("--target-ids", "0,9,20,5,31") if ARCHITECTURES[kind] == "t5" else ()
    want = trace(headlight, plain, folder / "want.safetensors", *more)
    got = trace(headlight, folder / "model.gguf", folder / "got.safetensors", *more)
    assert set(got) >= set(want), sorted(set(want) - set(got))
    return max(
        float(np.abs(got[k] - want[k]).max() / max(1, np.abs(want[k]).max() / 8))
        for k in want
        if want[k].dtype.kind == "f"
    )


def main():
    logging.disable(logging.INFO)
    transformers.logging.set_verbosity_error()
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--only", default="")
    a = p.parse_args()
    print(f"seed {a.seed}")
    worst = 0.0
    for kind in ARCHITECTURES:
        if a.only and kind not in a.only.split(","):
            continue
        error = 0.0
        for i in range(a.rounds):
            with tempfile.TemporaryDirectory() as folder:
                error = max(error, compare(a.headlight.resolve(), kind, a.seed + i, Path(folder)))
        print(f"{kind}: largest difference between GGUF and safetensors {error:.1e}")
        # A recurrence magnifies rounding: GGUF has −e^A where folders have A.
        worst = max(worst, error / (5 if kind in MIXERS else 1))
    print(f"GGUF families: largest difference {worst:.1e}")
    return worst > 2e-5


if __name__ == "__main__":
    sys.exit(main())
