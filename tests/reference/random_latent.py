"""Random small configurations of the families with latent attention, for random_families.py."""

import math

import transformers
from random_draw import llama_like
from random_experts import deepseek_experts


def latent(d, config, head, **more):
    """Latent attention of unequal widths, with and without a rank of queries; rotary scalings that
    also scale scores."""
    heads = d.choice([2, 3, 4])
    shared = d.choice([4, 8, 10])
    rope = more.pop("rope_parameters", None) or d.rope()
    if rope["rope_type"] != "default" and d.flag():
        rope["mscale_all_dim"] = d.choice([0.7, 1.0])
        if d.flag():
            rope["mscale"] = d.choice([1.0, 1.3])
    base = dict(
        hidden_size=heads * d.choice([8, 12]),
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=None,
        q_lora_rank=d.choice([None, 9, 16]),
        kv_lora_rank=d.choice([8, 13, 20]),
        qk_rope_head_dim=shared,
        qk_nope_head_dim=d.choice([3, 8, 12]),
        v_head_dim=d.choice([5, 8, 16, 20]),
        attention_bias=d.flag(),
        num_hidden_layers=d.choice([2, 3]),
        rope_parameters=rope,
    )
    return llama_like(d, config, head, **{**base, **more})


def sigmoid_experts(d):
    """DeepSeek V3's experts in groups, of which the classes' usual 8 experts may be chosen too."""
    groups, chosen = d.choice([(1, 1), (2, 1), (2, 2), (4, 2), (4, 3)])
    more = {"n_routed_experts": 16, "n_group": groups, "topk_group": chosen}
    return {**deepseek_experts(d), **more}


def make_deepseek_v3(d):
    return latent(
        d,
        transformers.DeepseekV3Config,
        transformers.DeepseekV3ForCausalLM,
        rope_interleave=d.flag(),
        **sigmoid_experts(d),
    )


def make_deepseek_v2(d):
    # its class reads what it rotates as complex numbers, which must begin at an even place
    groups = d.choice([1, 2, 4])
    return latent(
        d,
        transformers.DeepseekV2Config,
        transformers.DeepseekV2ForCausalLM,
        kv_lora_rank=d.choice([8, 14, 20]),
        qk_nope_head_dim=d.choice([4, 8, 12]),
        mlp_bias=d.flag(),
        n_routed_experts=8,
        num_experts_per_tok=d.choice([1, 2]),
        topk_method=d.choice(["greedy", "group_limited_greedy"]),
        n_group=groups,
        topk_group=min(groups, d.choice([1, 2])),
        moe_intermediate_size=d.choice([24, 40]),
        n_shared_experts=d.choice([1, 2]),
        first_k_dense_replace=d.choice([0, 1]),
        routed_scaling_factor=d.choice([1.0, 2.5]),
    )


def make_glm4_moe_lite(d):
    config = sigmoid_experts(d)
    del config["first_k_dense_replace"]
    layers = d.choice([2, 3])
    kinds = [d.choice(["dense", "sparse"]) for _ in range(layers)]
    made, head = latent(
        d,
        transformers.Glm4MoeLiteConfig,
        transformers.Glm4MoeLiteForCausalLM,
        num_hidden_layers=layers,
        mlp_layer_types=d.choice([None, kinds]),
        rope_interleave=d.flag(),
        **config,
    )
    return made, head


def make_sarvam_mla(d):
    return latent(
        d,
        transformers.SarvamMLAConfig,
        transformers.DeepseekV3ForCausalLM,
        rope_interleave=d.flag(),
        **sigmoid_experts(d),
    )


def make_axk1(d):
    config = sigmoid_experts(d)
    del config["first_k_dense_replace"]
    layers = 3
    kinds = [d.choice(["dense", "sparse"]) for _ in range(layers)]
    return latent(
        d,
        transformers.AXK1Config,
        transformers.AXK1ForCausalLM,
        q_lora_rank=d.choice([9, 16]),
        num_hidden_layers=layers,
        mlp_layer_types=d.choice([None, kinds]),
        rope_interleave=d.flag(),
        **config,
    )


def make_youtu(d):
    return latent(
        d, transformers.YoutuConfig, transformers.YoutuForCausalLM, rope_interleave=d.flag()
    )


def make_minicpm3(d):
    config, head = latent(
        d,
        transformers.MiniCPM3Config,
        transformers.MiniCPM3ForCausalLM,
        v_head_dim=d.choice([None, 5, 20]),
        mlp_bias=d.flag(),
        scale_emb=d.choice([1, 2.5]),
        scale_depth=d.choice([None, 0.9, 1.4]),
        dim_model_base=d.choice([None, 8, 48]),
    )
    # what blocks add, for the comparison
    config.residual_multiplier = config.scale_depth / math.sqrt(config.num_hidden_layers)
    return config, head


def indexed(d, config, head):
    """Models that choose keys in longer texts alone."""
    made = sigmoid_experts(d)
    return latent(
        d,
        config,
        head,
        q_lora_rank=d.choice([9, 16]),
        index_topk=320,
        index_n_heads=2,
        index_head_dim=12,
        **made,
    )


def make_deepseek_v32(d):
    return indexed(d, transformers.DeepseekV32Config, transformers.DeepseekV32ForCausalLM)


def make_glm_moe_dsa(d):
    return indexed(d, transformers.GlmMoeDsaConfig, transformers.GlmMoeDsaForCausalLM)
