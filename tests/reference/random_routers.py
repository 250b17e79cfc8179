"""Random small configurations of families whose routers or shared experts have keys of their own,
for random_families.py."""

import transformers
from random_draw import llama_like
from random_experts import deepseek_experts, experts
from random_sinks import sliding


def grouped_experts(d, count="n_routed_experts", shared="n_shared_experts"):
    """DeepSeek V3's experts under a class's own keys."""
    config = deepseek_experts(d)
    config["topk_group"] = min(config["topk_group"], config["n_group"])
    config[count] = config.pop("n_routed_experts")
    config[shared] = config.pop("n_shared_experts")
    return config


def make_exaone_moe(d):
    return llama_like(
        d,
        transformers.ExaoneMoeConfig,
        transformers.ExaoneMoeForCausalLM,
        num_hidden_layers=4,
        sliding_window=d.window(3, 7),
        sliding_window_pattern=d.choice([2, 4]),
        layer_types=sliding(d, 4),
        mlp_layer_types=d.choice([None, ["sparse", "dense", "sparse", "sparse"]]),
        **grouped_experts(d, "num_experts", "num_shared_experts"),
    )


def make_solar_open(d):
    config = grouped_experts(d)
    del config["first_k_dense_replace"]
    return llama_like(
        d,
        transformers.SolarOpenConfig,
        transformers.SolarOpenForCausalLM,
        attention_bias=d.flag(),
        **config,
    )


def make_sarvam_moe(d):
    return llama_like(
        d,
        transformers.SarvamMoEConfig,
        transformers.Glm4MoeForCausalLM,
        head_dim=16,
        num_hidden_layers=3,
        attention_bias=d.flag(),
        use_qk_norm=d.flag(),
        **grouped_experts(d),
    )


def make_hy_v3(d):
    return llama_like(
        d,
        transformers.HYV3Config,
        transformers.HYV3ForCausalLM,
        num_hidden_layers=3,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        mlp_layer_types=d.choice([None, ["sparse", "dense", "sparse"]]),
        num_shared_experts=d.choice([1, 2]),
        moe_intermediate_size=d.choice([24, 40]),
        router_scaling_factor=d.choice([1.0, 2.826]),
        **experts(d, normalizes=False),
    )


def make_ernie4_5_moe(d):
    return llama_like(
        d,
        transformers.Ernie4_5_MoeConfig,
        transformers.Ernie4_5_MoeForCausalLM,
        head_dim=None,
        num_hidden_layers=4,
        use_bias=d.flag(),
        moe_num_experts=d.choice([4, 6]),
        moe_k=d.choice([1, 2, 3]),
        moe_intermediate_size=d.choice([24, 40]),
        moe_num_shared_experts=d.choice([0, 1, 2]),
        moe_layer_start_index=d.choice([0, 1]),
        moe_layer_end_index=d.choice([-1, 2]),
        moe_layer_interval=d.choice([1, 2]),
        moe_norm_min=d.choice([1e-12, 0.6]),
    )


def make_flex_olmo(d):
    return llama_like(
        d,
        transformers.FlexOlmoConfig,
        transformers.FlexOlmoForCausalLM,
        head_dim=None,
        attention_bias=d.flag(),
        pad_token_id=0,
        **experts(d),
    )


def make_aria_text(d):
    return llama_like(
        d,
        transformers.AriaTextConfig,
        transformers.AriaTextForCausalLM,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        moe_num_experts=d.choice([4, 6]),
        moe_topk=d.choice([1, 2, 3]),
        moe_num_shared_experts=d.choice([1, 2]),
    )


def make_kolibri1(d):
    return llama_like(
        d,
        transformers.Kolibri1Config,
        transformers.Kolibri1ForCausalLM,
        num_hidden_layers=5,
        layer_types=sliding(d, 5),
        sliding_window=d.window(3, 7),
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        **experts(d),
    )


def make_hunyuan_v1_moe(d):
    count = d.choice([4, 6])
    return llama_like(
        d,
        transformers.HunYuanMoEV1Config,
        transformers.HunYuanMoEV1ForCausalLM,
        num_hidden_layers=3,
        attention_bias=d.flag(),
        num_experts=count,
        moe_topk=d.choice([1, 2, [1, 3, 2]]),
        pad_token_id=0,
    )


def make_cohere2_moe(d):
    first = d.choice([0, 1, 2])
    config = dict(first_k_dense_replace=first) if d.flag() else {}
    eps = d.choice([None, 1e-3])
    return llama_like(
        d,
        transformers.Cohere2MoeConfig,
        transformers.Cohere2MoeForCausalLM,
        num_hidden_layers=4,
        attention_bias=d.flag(),
        layer_norm_eps=d.choice([1e-6, 1e-3]),
        rms_norm_eps=eps,
        logit_scale=d.choice([0.0625, 0.5]),
        sliding_window=d.window(3, 7),
        sliding_window_pattern=d.choice([2, 4]),
        prefix_dense_sliding_window_pattern=d.choice([1, 2]),
        prefix_dense_intermediate_size=d.choice([None, 48]),
        num_shared_experts=d.choice([0, 1, 2]),
        shared_expert_combination_strategy=d.choice(["average", "sum"]),
        expert_selection_fn=d.choice(["softmax", "sigmoid"]),
        **config,
        **experts(d),
    )


def make_phimoe(d):
    half = 8
    rope = {"rope_type": "default", "rope_theta": d.choice([500.0, 1e6])}
    if d.flag():
        factors = lambda: [d.choice([1.0, 1.3, 2.5]) for _ in range(half)]
        rope.update(
            rope_type="longrope",
            short_factor=factors(),
            long_factor=factors(),
            short_mscale=1.2,
            long_mscale=0.8,
            original_max_position_embeddings=32,
        )
    return llama_like(
        d,
        transformers.PhimoeConfig,
        transformers.PhimoeForCausalLM,
        head_dim=2 * half,
        num_local_experts=d.choice([4, 6]),
        router_jitter_noise=d.choice([0.01, 0.3]),
        attention_bias=d.flag(),
        lm_head_bias=d.flag(),
        sliding_window=d.choice([None, d.window(4, 9)]),
        rope_parameters=rope,
    )
