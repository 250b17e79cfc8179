#!/usr/bin/env python3
"""Put random adapters on tiny random models with peft, and compare what Headlight computes of base
and adapter at several strengths with what peft computes.

    adapters.py build/headlight [--seed N] [NAME...]
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from peft import LoraConfig, get_peft_model
from peft.tuners.lora import LoraLayer
from safetensors.numpy import load_file

IDS = [5, 9, 20, 31, 44, 7, 5, 9, 60, 71, 12, 13]
STRENGTHS = (-1, 0, 0.5, 1, 2)
LIMIT = 2e-5  # of the largest logit
SMALL = {"vocab_size": 160, "num_hidden_layers": 2, "initializer_range": 0.1}
LLAMA = SMALL | {
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "tie_word_embeddings": False,
}
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def llama(**more):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)), {
        "target_modules": LINEAR,
        **more,
    }


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=160, n_embd=48, n_layer=2, n_head=4, n_positions=128
    )
    return transformers.GPT2LMHeadModel(config), {
        "target_modules": ["c_attn", "c_proj", "c_fc"],
        "fan_in_fan_out": True,
    }


def gpt_neox():
    config = transformers.GPTNeoXConfig(
        **SMALL, hidden_size=48, intermediate_size=80, num_attention_heads=4, rotary_pct=0.5
    )
    names = ["query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h", "embed_out"]
    return transformers.GPTNeoXForCausalLM(config), {"target_modules": names}


def phi3():
    config = transformers.Phi3Config(**LLAMA, pad_token_id=0)
    return transformers.Phi3ForCausalLM(config), {
        "target_modules": ["qkv_proj", "gate_up_proj", "down_proj", "o_proj"]
    }


def qwen3():
    config = transformers.Qwen3Config(**LLAMA, head_dim=16)
    return transformers.Qwen3ForCausalLM(config), {"target_modules": LINEAR}


def bert():
    config = transformers.BertConfig(
        **SMALL, hidden_size=48, intermediate_size=80, num_attention_heads=4
    )
    return transformers.BertForMaskedLM(config), {"target_modules": ["query", "key", "value"]}


def minicpm3():
    config = transformers.MiniCPM3Config(
        **(LLAMA | {"num_key_value_heads": 4}),
        q_lora_rank=24,
        kv_lora_rank=16,
        qk_nope_head_dim=8,
        qk_rope_head_dim=8,
        v_head_dim=12,
    )
    names = ["q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"]
    return transformers.MiniCPM3ForCausalLM(config), {"target_modules": names}


def tied(**more):
    config = transformers.LlamaConfig(**(LLAMA | {"tie_word_embeddings": True}))
    return transformers.LlamaForCausalLM(config), more


def gemma3(**more):
    """Its embeddings are scaled after they are read."""
    config = transformers.Gemma3TextConfig(**LLAMA, head_dim=16, pad_token_id=0)
    return transformers.Gemma3ForCausalLM(config), more


MIXTURE = LLAMA | {"intermediate_size": 40}
EXPERTS = {
    "target_modules": ["q_proj"],
    "target_parameters": ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
}


def mixtral(**more):
    config = transformers.MixtralConfig(**MIXTURE, num_local_experts=4)
    return transformers.MixtralForCausalLM(config), EXPERTS | more


def qwen3_moe(**more):
    config = transformers.Qwen3MoeConfig(
        **MIXTURE, head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24
    )
    return transformers.Qwen3MoeForCausalLM(config), EXPERTS | more


def gpt_oss(**more):
    config = transformers.GptOssConfig(
        **MIXTURE,
        head_dim=16,
        num_local_experts=4,
        num_experts_per_tok=2,
        layer_types=["full_attention", "full_attention"],
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )
    return transformers.GptOssForCausalLM(config), EXPERTS | more


CASES = {
    "llama": llama,
    "rank-stabilized": lambda: llama(use_rslora=True),
    "ranks and alphas by module": lambda: llama(
        rank_pattern={"q_proj": 3, "layers.1.mlp.up_proj": 7}, alpha_pattern={"v_proj": 2.5}
    ),
    "one layer": lambda: llama(layers_to_transform=[1]),
    "DoRA": lambda: llama(use_dora=True),
    "head saved whole": lambda: llama(modules_to_save=["lm_head"]),
    "gpt2": gpt2,
    "gpt2, DoRA": lambda: (gpt2()[0], gpt2()[1] | {"use_dora": True}),
    "gpt_neox": gpt_neox,
    "phi3": phi3,
    "qwen3": qwen3,
    "bert": bert,
    "minicpm3": minicpm3,
    "embedding": lambda: llama(target_modules=["embed_tokens", "q_proj"]),
    "unembedding": lambda: llama(target_modules=["lm_head"]),
    "unembedding, DoRA": lambda: llama(target_modules=["lm_head"], use_dora=True),
    "tied, embedding alone": lambda: tied(target_modules=["embed_tokens"]),
    "tied, unembedding alone": lambda: tied(target_modules=["lm_head"]),
    "tied, both apart": lambda: tied(target_modules=["embed_tokens", "lm_head"]),
    "tied, both tied": lambda: tied(target_modules=["embed_tokens"], ensure_weight_tying=True),
    "tied from the unembedding": lambda: tied(target_modules=["lm_head"], ensure_weight_tying=True),
    "gpt2, tokens and positions": lambda: (gpt2()[0], {"target_modules": ["wte", "wpe"]}),
    "bert, embedding": lambda: (bert()[0], {"target_modules": ["word_embeddings", "query"]}),
    "gemma3, scaled embedding": lambda: gemma3(target_modules=["embed_tokens"]),
    "mixtral, experts": mixtral,
    "mixtral, one parameter": lambda: mixtral(target_parameters=["mlp.experts.down_proj"]),
    "mixtral, ranks and alphas": lambda: mixtral(
        rank_pattern={"experts.gate_up_proj": 3}, alpha_pattern={"experts.down_proj": 2.5}
    ),
    "qwen3_moe, experts": qwen3_moe,
    "gpt_oss, experts": gpt_oss,
    "gpt_oss, router": lambda: gpt_oss(target_parameters=["mlp.router.weight"]),
}


def randomize(model, generator):
    """Values away from those of the start, at which B is 0 and norms are 1."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if "magnitude" in name:
                p.mul_(1 + 0.3 * noise)
            elif "lora_" in name:
                p.copy_(0.15 * noise)
            elif "modules_to_save" in name:
                p.add_(0.1 * noise)


def at_strength(model, strength):
    """What peft computes: the base alone at 0, else its scaling times the strength."""
    ids = torch.tensor([IDS])
    layers = [m for m in model.modules() if isinstance(m, LoraLayer)]
    trained = [layer.scaling["default"] for layer in layers]
    with torch.no_grad():
        for layer, scaling in zip(layers, trained, strict=True):
            layer.scaling["default"] = scaling * strength
            layer.enable_adapters(strength != 0)
        out = model(ids, output_attentions=True)
    for layer, scaling in zip(layers, trained, strict=True):
        layer.scaling["default"] = scaling
    return out


def largest_error(headlight, folder, model, strength):
    out = folder / "trace.safetensors"
    command = [headlight, "trace", "--model", folder / "base", "--ids", ",".join(map(str, IDS))]
    command += ["--adapter", f"{folder / 'adapter'}={strength}", "-o", out, "--quiet"]
    subprocess.run(command, check=True)
    got, want = load_file(out), at_strength(model, strength)
    logits = want.logits[0].numpy()
    error = np.abs(got["logits"] - logits).max() / np.abs(logits).max()
    for layer, pattern in enumerate(want.attentions):
        own = got[f"blocks.{layer}.attn.hook_pattern"].reshape(pattern.shape)
        error = max(error, np.abs(own - pattern.numpy()).max())
    return float(error)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("names", nargs="*")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    a = p.parse_args()
    print(f"seed {a.seed}")
    worst, failed = 0.0, []
    for name, make in CASES.items():
        if a.names and name not in a.names:
            continue
        torch.manual_seed(a.seed)
        generator = torch.Generator().manual_seed(a.seed)
        base, options = make()
        base.set_attn_implementation("eager")
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            base.save_pretrained(folder / "base")
            model = get_peft_model(base, LoraConfig(**{"r": 4, "lora_alpha": 6} | options)).eval()
            randomize(model, generator)
            model.save_pretrained(folder / "adapter")
            whole = bool(options.get("modules_to_save"))
            errors = [
                largest_error(a.headlight.resolve(), folder, model, s)
                for s in ((1,) if whole else STRENGTHS)
            ]
        print(f"{name}: largest error {max(errors):.1e} of logits and patterns", flush=True)
        worst = max(worst, *errors)
        if max(errors) > LIMIT:
            failed.append(name)
    count = len(a.names) or len(CASES)
    print(f"{count} adapters at {len(STRENGTHS)} strengths, largest error {worst:.1e}")
    if failed:
        print("FAIL", *failed, sep="\n  ")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
