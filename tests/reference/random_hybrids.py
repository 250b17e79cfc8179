"""Random small configurations of decoders some of whose layers are recurrences, for
random_families.py."""

import transformers
from random_draw import llama_like
from random_experts import deepseek_experts, experts
from random_sinks import granite

HYBRIDS = tuple(
    """
    qwen3_next qwen3_5_text qwen3_5_moe_text olmo_hybrid bamba granitemoehybrid mamba2 nemotron_h
    lfm2 lfm2_moe mamba falcon_mamba jamba falcon_h1
""".split()
)


def with_layers(config, attentions):
    """The attentions that transformers returns, each with the number of its layer."""
    attentions = [p for p in attentions if p is not None]
    if config.model_type not in HYBRIDS or config.model_type == "falcon_h1":
        return list(enumerate(attentions))
    layers = [i for i, (_, kind) in enumerate(mixers(config)) if kind == "full_attention"]
    return list(zip(layers, attentions, strict=True))


def mixers(config):
    """The number and the kind of each layer that mixes tokens; Nemotron-H's MLPs are layers too."""
    if config.model_type == "falcon_h1":  # whose layers mix tokens in both ways
        return [(i, "full_attention") for i in range(config.num_hidden_layers)]
    kinds = getattr(config, "layer_types", ["linear_attention"] * config.num_hidden_layers)
    return [
        (i, kind) for i, kind in enumerate(kinds) if kind.endswith("attention") or kind == "conv"
    ]


def kinds_of_layers(d, depth, other="linear_attention"):
    """At least one of each kind."""
    kinds = [d.choice([other, "full_attention"]) for _ in range(depth)]
    kinds[d.randrange(depth)] = other
    if "full_attention" not in kinds:
        kinds[0] = "full_attention"
    return kinds if other in kinds else [other] + kinds[1:]


def delta_net(d):
    """Sizes of a gated delta net, whose heads are not attention's."""
    key_heads = d.choice([1, 2])
    return {
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": key_heads * d.choice([1, 2, 3]),
        "linear_key_head_dim": d.choice([6, 8]),
        "linear_value_head_dim": d.choice([5, 8]),
        "linear_conv_kernel_dim": d.choice([2, 4]),
    }


def partly_rotated(d):
    rope = {"rope_type": "default", "rope_theta": d.choice([1e4, 500.0])}
    rope["partial_rotary_factor"] = d.choice([0.25, 0.5, 1.0])
    return rope


def qwen_hybrid(d, **more):
    return {
        "head_dim": 16,
        "num_hidden_layers": 3,
        "layer_types": kinds_of_layers(d, 3),
        "attention_bias": d.flag(),
        "rope_parameters": partly_rotated(d),
        **delta_net(d),
        **d.ids,
        **more,
    }


def make_qwen3_next(d):
    return llama_like(
        d,
        transformers.Qwen3NextConfig,
        transformers.Qwen3NextForCausalLM,
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        decoder_sparse_step=d.choice([1, 2]),
        mlp_only_layers=d.choice([[], [0]]),
        **experts(d),
        **qwen_hybrid(d),
    )


def make_qwen3_5_text(d):
    return llama_like(
        d, transformers.Qwen3_5TextConfig, transformers.Qwen3_5ForCausalLM, **qwen_hybrid(d)
    )


def make_qwen3_5_moe_text(d):
    return llama_like(
        d,
        transformers.Qwen3_5MoeTextConfig,
        transformers.Qwen3_5MoeForCausalLM,
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        **experts(d, normalizes=False),
        **qwen_hybrid(d),
    )


def make_olmo_hybrid(d):
    rope = {"rope_type": "default", "rope_theta": d.choice([1e4, None])}
    return llama_like(
        d,
        transformers.OlmoHybridConfig,
        transformers.OlmoHybridForCausalLM,
        head_dim=None,
        num_hidden_layers=3,
        layer_types=kinds_of_layers(d, 3),
        attention_bias=d.flag(),
        rope_parameters=rope,
        linear_allow_neg_eigval=d.flag(),
        **delta_net(d),
        **d.ids,
    )


def state_space(d, width):
    """Sizes of a Mamba-2 mixer over a stream of this width."""
    expand = d.choice([1, 2])
    heads = d.choice([n for n in (2, 4) if expand * width % n == 0])
    return {
        "mamba_expand": expand,
        "mamba_n_heads": heads,
        "mamba_d_head": d.choice(["auto", expand * width // heads]),
        "mamba_n_groups": d.choice([1, 2]),
        "mamba_d_state": d.choice([8, 16]),
        "mamba_d_conv": d.choice([2, 4]),
        "mamba_conv_bias": d.flag(),
        "mamba_proj_bias": d.flag(),
        "mamba_chunk_size": d.choice([16, 256]),
        "time_step_limit": d.choice([(0.0, float("inf")), (0.4, 0.9)]),
    }


def make_bamba(d):
    depth = 3
    return llama_like(
        d,
        transformers.BambaConfig,
        transformers.BambaForCausalLM,
        hidden_size=48,
        num_attention_heads=4,
        num_key_value_heads=d.choice([1, 2, 4]),
        head_dim=12,
        num_hidden_layers=depth,
        attn_layer_indices=d.choice([[1], [0, 2]]),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        rope_parameters={"rope_type": "default", "rope_theta": d.choice([1e4, 500.0])},
        z_loss_coefficient=0.0,
        **state_space(d, 48),
        **d.ids,
    )


def factors(d, count):
    return d.choice([None, [d.choice([0.3, 0.7, 1.9]) for _ in range(count)]])


def make_falcon_h1(d):
    heads, inner = d.choice([2, 4]), d.choice([None, 40, 72])
    sizes = state_space(d, 48)
    if inner:
        sizes["mamba_n_heads"] = heads
        sizes["mamba_d_head"] = d.choice(["auto", inner // heads])
    return llama_like(
        d,
        transformers.FalconH1Config,
        transformers.FalconH1ForCausalLM,
        hidden_size=48,
        num_attention_heads=4,
        num_key_value_heads=d.choice([1, 2, 4]),
        head_dim=d.choice([10, 12]),
        num_hidden_layers=3,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        projectors_bias=d.flag(),
        mamba_d_ssm=inner,
        mamba_rms_norm=d.flag(),
        mamba_norm_before_gate=d.flag(),
        mlp_multipliers=factors(d, 2),
        ssm_multipliers=factors(d, 5),
        **{
            f"{name}_multiplier": d.choice([1.0, 0.4, 1.7])
            for name in "embedding lm_head key attention_in attention_out ssm_in ssm_out".split()
        },
        **sizes,
        **d.ids,
    )


def make_mamba2(d):
    sizes = state_space(d, 48)
    return transformers.Mamba2Config(
        hidden_size=48,
        num_hidden_layers=3,
        vocab_size=97,
        expand=sizes["mamba_expand"],
        num_heads=sizes["mamba_n_heads"],
        head_dim=sizes["mamba_expand"] * 48 // sizes["mamba_n_heads"],
        n_groups=sizes["mamba_n_groups"],
        state_size=sizes["mamba_d_state"],
        conv_kernel=sizes["mamba_d_conv"],
        use_conv_bias=d.flag(),
        use_bias=d.flag(),
        chunk_size=sizes["mamba_chunk_size"],
        time_step_limit=sizes["time_step_limit"],
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        tie_word_embeddings=d.flag(),
        **d.ids,
    ), transformers.Mamba2ForCausalLM


def selective(d):
    """Sizes of a selective state space."""
    return {
        "expand": d.choice([1, 2]),
        "state_size": d.choice([4, 8]),
        "conv_kernel": d.choice([2, 4]),
        "time_step_rank": d.choice(["auto", 5]),
        "use_conv_bias": d.flag(),
        "use_bias": d.flag(),
    }


def mamba_like(d, config_class, model_class, **more):
    return config_class(
        hidden_size=24,
        num_hidden_layers=3,
        vocab_size=97,
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        tie_word_embeddings=d.flag(),
        **selective(d),
        **more,
        **d.ids,
    ), model_class


def make_mamba(d):
    return mamba_like(d, transformers.MambaConfig, transformers.MambaForCausalLM)


def make_falcon_mamba(d):
    return mamba_like(
        d,
        transformers.FalconMambaConfig,
        transformers.FalconMambaForCausalLM,
        mixer_rms_eps=d.choice([1e-6, 1e-3]),
    )


def make_jamba(d):
    sizes = selective(d)
    return llama_like(
        d,
        transformers.JambaConfig,
        transformers.JambaForCausalLM,
        hidden_size=24,
        num_attention_heads=4,
        num_key_value_heads=d.choice([1, 2, 4]),
        head_dim=None,
        num_hidden_layers=4,
        attn_layer_period=d.choice([2, 3]),
        attn_layer_offset=d.choice([0, 1]),
        max_position_embeddings=512,
        expert_layer_period=2,
        expert_layer_offset=d.choice([0, 1]),
        num_experts=d.choice([1, 4]),
        num_experts_per_tok=2,
        mamba_expand=sizes["expand"],
        mamba_d_state=sizes["state_size"],
        mamba_d_conv=sizes["conv_kernel"],
        mamba_dt_rank=sizes["time_step_rank"],
        mamba_conv_bias=sizes["use_conv_bias"],
        mamba_proj_bias=sizes["use_bias"],
        **d.ids,
    )


def make_nemotron_h(d):
    mlps, routes = d.choice(["mlp", "moe"]), deepseek_experts(d)
    routes["topk_group"] = min(routes["topk_group"], routes["n_group"])
    return transformers.NemotronHConfig(
        hidden_size=48,
        layers_block_type=d.choice(
            [
                ["linear_attention", mlps, "full_attention", "mlp"],
                ["full_attention", "linear_attention", mlps, "linear_attention"],
            ]
        ),
        num_attention_heads=4,
        num_key_value_heads=d.choice([1, 2]),
        head_dim=d.choice([8, 12]),
        intermediate_size=d.choice([40, 64]),
        vocab_size=97,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        mlp_hidden_act=d.choice(["relu2", "silu"]),
        ssm_state_size=d.choice([8, 16]),
        mamba_num_heads=4,
        mamba_head_dim=d.choice([6, 12]),
        n_groups=d.choice([1, 2]),
        conv_kernel=d.choice([2, 4]),
        use_conv_bias=d.flag(),
        use_bias=d.flag(),
        mamba_proj_bias=d.flag(),
        moe_intermediate_size=24,
        moe_shared_expert_intermediate_size=20,
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        tie_word_embeddings=d.flag(),
        **{
            k: v
            for k, v in routes.items()
            if k not in ("moe_intermediate_size", "n_shared_experts", "first_k_dense_replace")
        },
        **d.ids,
    ), transformers.NemotronHForCausalLM


def make_granitemoehybrid(d):
    count = d.choice([0, 4])
    return llama_like(
        d,
        transformers.GraniteMoeHybridConfig,
        transformers.GraniteMoeHybridForCausalLM,
        **{
            **granite(d, 3),
            "hidden_size": 48,
            "num_attention_heads": 4,
            "num_key_value_heads": d.choice([1, 2]),
            "layer_types": kinds_of_layers(d, 3),
            "position_embedding_type": d.choice([None, "rope"]),
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
            "shared_intermediate_size": d.choice([24, 40]),
            "num_local_experts": count,
            "num_experts_per_tok": 2,
            **state_space(d, 48),
            **d.ids,
        },
    )


def convolutions(d):
    return {
        "head_dim": None,
        "num_hidden_layers": 3,
        "layer_types": kinds_of_layers(d, 3, "conv"),
        "conv_bias": d.flag(),
        "conv_L_cache": d.choice([2, 3, 4]),
        "norm_eps": d.choice([1e-5, 1e-3]),
        "rope_parameters": {"rope_type": "default", "rope_theta": d.choice([1e6, 500.0])},
        **d.ids,
    }


def make_lfm2(d):
    return llama_like(
        d,
        transformers.Lfm2Config,
        transformers.Lfm2ForCausalLM,
        block_auto_adjust_ff_dim=d.flag(),
        block_ffn_dim_multiplier=d.choice([1.0, 1.5]),
        block_multiple_of=d.choice([8, 16]),
        **convolutions(d),
    )


def make_lfm2_moe(d):
    return llama_like(
        d,
        transformers.Lfm2MoeConfig,
        transformers.Lfm2MoeForCausalLM,
        num_dense_layers=d.choice([0, 1]),
        use_expert_bias=d.flag(),
        moe_intermediate_size=d.choice([24, 40]),
        routed_scaling_factor=d.choice([1.0, 2.5]),
        **experts(d),
        **convolutions(d),
    )
