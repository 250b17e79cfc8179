"""Random small configurations of the families with experts, for random_families.py."""

import transformers
from random_draw import llama_like


def experts(d, *, count="num_experts", normalizes=True):
    """How many experts there are, and how many a token goes to."""
    out = {count: d.choice([4, 6]), "num_experts_per_tok": d.choice([1, 2, 3])}
    if normalizes:
        out["norm_topk_prob"] = d.flag()
    return out


def deepseek_experts(d):
    """Experts chosen by DeepSeek V3's router, from groups."""
    return {
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_group": d.choice([1, 2, 4]),
        "topk_group": 1 if d.flag() else 2,
        "moe_intermediate_size": d.choice([24, 40]),
        "n_shared_experts": d.choice([1, 2]),
        "first_k_dense_replace": d.choice([0, 1]),
        "routed_scaling_factor": d.choice([1.0, 2.5]),
        "norm_topk_prob": d.flag(),
    }


def make_mixtral(d):
    return llama_like(
        d,
        transformers.MixtralConfig,
        transformers.MixtralForCausalLM,
        sliding_window=d.choice([None, d.window(4, 9)]),
        **experts(d, count="num_local_experts", normalizes=False),
    )


def make_qwen2_moe(d):
    return llama_like(
        d,
        transformers.Qwen2MoeConfig,
        transformers.Qwen2MoeForCausalLM,
        head_dim=None,
        num_key_value_heads=1,
        num_hidden_layers=3,
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        decoder_sparse_step=d.choice([1, 2]),
        mlp_only_layers=d.choice([[], [0]]),
        qkv_bias=d.flag(),
        **experts(d),
    )


def make_qwen3_moe(d):
    return llama_like(
        d,
        transformers.Qwen3MoeConfig,
        transformers.Qwen3MoeForCausalLM,
        moe_intermediate_size=d.choice([24, 40]),
        mlp_only_layers=d.choice([[], [1]]),
        attention_bias=d.flag(),
        **experts(d),
    )


def make_olmoe(d):
    return llama_like(
        d,
        transformers.OlmoeConfig,
        transformers.OlmoeForCausalLM,
        head_dim=None,
        num_key_value_heads=1,
        attention_bias=d.flag(),
        clip_qkv=d.choice([None, 0.6]),
        **experts(d),
    )


def make_glm4_moe(d):
    config = deepseek_experts(d)
    config["topk_group"] = min(config["topk_group"], config["n_group"])
    return llama_like(
        d,
        transformers.Glm4MoeConfig,
        transformers.Glm4MoeForCausalLM,
        head_dim=16,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 900.0,
            "partial_rotary_factor": d.choice([0.5, 1.0]),
        },
        attention_bias=d.flag(),
        use_qk_norm=d.flag(),
        **config,
    )


def make_dots1(d):
    config = deepseek_experts(d)
    config["topk_group"] = min(config["topk_group"], config["n_group"])
    return llama_like(
        d,
        transformers.Dots1Config,
        transformers.Dots1ForCausalLM,
        num_hidden_layers=3,
        attention_bias=d.flag(),
        sliding_window=d.window(4, 9),
        max_window_layers=d.choice([1, 3]),
        **config,
    )


def make_minimax_m2(d):
    return llama_like(
        d,
        transformers.MiniMaxM2Config,
        transformers.MiniMaxM2ForCausalLM,
        **experts(d, count="num_local_experts", normalizes=False),
    )
