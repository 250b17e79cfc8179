"""Random small configurations of the families with Llama's layers, for random_families.py."""

import transformers
from random_draw import llama_like


def make_gemma3_text(d):
    ropes = {
        "full_attention": d.rope(1e6),
        "sliding_attention": {"rope_type": "default", "rope_theta": 900.0},
    }
    return llama_like(
        d,
        transformers.Gemma3TextConfig,
        transformers.Gemma3ForCausalLM,
        hidden_size=48,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_hidden_layers=3,
        sliding_window_pattern=d.choice([2, 6]),
        rope_parameters=ropes,
        tie_word_embeddings=True,
        query_pre_attn_scalar=d.choice([8, 20]),
        sliding_window=d.window(4, 9),
        final_logit_softcapping=d.choice([None, 5.0]),
        attention_bias=d.flag(),
        use_bidirectional_attention=d.random() < 0.2,
    )


def make_gemma3(d):
    text, _ = make_gemma3_text(d)
    text.use_bidirectional_attention = False
    vision = dict(
        hidden_size=24,
        intermediate_size=30,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=16,
        patch_size=8,
    )
    config = transformers.Gemma3Config(
        text_config=text, vision_config=vision, mm_tokens_per_image=4, image_token_id=96
    )
    return config, transformers.Gemma3ForConditionalGeneration


def make_vaultgemma(d):
    return llama_like(
        d,
        transformers.VaultGemmaConfig,
        transformers.VaultGemmaForCausalLM,
        tie_word_embeddings=True,
        query_pre_attn_scalar=d.choice([8, 20]),
        sliding_window=d.window(4, 9),
        attn_logit_softcapping=d.choice([None, 6.0]),
        final_logit_softcapping=d.choice([None, 5.0]),
        attention_bias=d.flag(),
    )


def make_olmo2(d):
    return llama_like(
        d, transformers.Olmo2Config, transformers.Olmo2ForCausalLM, attention_bias=d.flag(), **d.ids
    )


def make_olmo3(d):
    ropes = {
        "full_attention": d.rope(5e5),
        "sliding_attention": {"rope_type": "default", "rope_theta": 700.0},
    }
    return llama_like(
        d,
        transformers.Olmo3Config,
        transformers.Olmo3ForCausalLM,
        num_hidden_layers=d.choice([2, 5]),
        sliding_window=d.window(4, 9),
        attention_bias=d.flag(),
        rope_parameters=ropes,
        **d.ids,
    )


def make_exaone4(d):
    layers = d.choice([2, 5])
    kinds = (
        {}
        if d.long or d.flag()
        else dict(layer_types=["full_attention"] * layers, sliding_window=None)
    )
    return llama_like(
        d,
        transformers.Exaone4Config,
        transformers.Exaone4ForCausalLM,
        num_hidden_layers=layers,
        **{"sliding_window": d.window(4, 9), **kinds},
    )


def multipliers(d):
    return dict(
        embedding_multiplier=d.choice([1.0, 3.0]),
        residual_multiplier=d.choice([0.6, 1.3]),
        attention_multiplier=d.choice([0.1, 0.31]),
        logits_scaling=d.choice([0.4, 2.5]),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def make_granite(d):
    return llama_like(
        d, transformers.GraniteConfig, transformers.GraniteForCausalLM, **multipliers(d)
    )


def make_hyperclovax(d):
    return llama_like(
        d,
        transformers.HyperCLOVAXConfig,
        transformers.HyperCLOVAXForCausalLM,
        use_post_norm=d.flag(),
        **multipliers(d),
    )


def make_smollm3(d):
    layers = d.choice([2, 5])
    return llama_like(
        d,
        transformers.SmolLM3Config,
        transformers.SmolLM3ForCausalLM,
        num_hidden_layers=layers,
        no_rope_layers=d.choice([None, [i % 2 for i in range(layers)]]),
        no_rope_layer_interval=d.choice([2, 4]),
        use_sliding_window=d.flag(),
        sliding_window=d.window(4, 9),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        **d.ids,
    )


def make_seed_oss(d):
    return llama_like(
        d,
        transformers.SeedOssConfig,
        transformers.SeedOssForCausalLM,
        attention_bias=d.flag(),
        attention_out_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def make_internlm3(d):
    bias = d.flag()
    return llama_like(
        d,
        transformers.InternLM3Config,
        transformers.LlamaForCausalLM,
        attention_bias=bias,
        mlp_bias=bias,
    )


def make_iquestcoder(d):
    return llama_like(
        d,
        transformers.IQuestCoderConfig,
        transformers.LlamaForCausalLM,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def make_arcee(d):
    return llama_like(
        d,
        transformers.ArceeConfig,
        transformers.ArceeForCausalLM,
        hidden_act=d.choice(["relu2", "gelu"]),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        **d.ids,
    )


def partly(d):
    return {**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.5, 0.75])}


def make_glm(d):
    return llama_like(
        d,
        transformers.GlmConfig,
        transformers.GlmForCausalLM,
        head_dim=16,
        rope_parameters=partly(d),
        attention_bias=d.flag(),
        **d.ids,
    )


def make_glm4(d):
    return llama_like(
        d,
        transformers.Glm4Config,
        transformers.Glm4ForCausalLM,
        head_dim=16,
        rope_parameters=partly(d),
        attention_bias=d.flag(),
        **d.ids,
    )


def make_helium(d):
    heads = d.choice([2, 4])
    return llama_like(
        d,
        transformers.HeliumConfig,
        transformers.HeliumForCausalLM,
        hidden_size=heads * 10,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([1, 2]),
        head_dim=10,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def make_ernie4_5(d):
    return llama_like(
        d, transformers.Ernie4_5Config, transformers.Ernie4_5ForCausalLM, use_bias=d.flag()
    )


def make_phi3(d):
    heads = d.choice([2, 4])
    rope = {"rope_type": "default", "rope_theta": 900.0}
    if d.long or d.flag():
        rope = {
            "rope_type": "longrope",
            "rope_theta": 900.0,
            "short_factor": [1.0 + 0.1 * i for i in range(6)],
            "long_factor": [2.0 + 0.3 * i for i in range(6)],
        }
    return llama_like(
        d,
        transformers.Phi3Config,
        transformers.Phi3ForCausalLM,
        hidden_size=heads * 16,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([1, 2]),
        head_dim=None,
        original_max_position_embeddings=d.choice([16, 40]),
        sliding_window=d.window(None, 5),
        rope_parameters={**rope, "partial_rotary_factor": 0.75},
        **d.ids,
    )


def make_ministral(d):
    return llama_like(
        d,
        transformers.MinistralConfig,
        transformers.MinistralForCausalLM,
        num_hidden_layers=2,
        layer_types=d.choice([None, ["full_attention", "sliding_attention"]]),
        sliding_window=d.window(3, 7),
    )


def make_ministral3(d):
    rope = {
        "rope_type": "yarn",
        "rope_theta": d.choice([500.0, 1e6]),
        "factor": 4.0,
        "original_max_position_embeddings": d.choice([4, 16]),
        "mscale": 1.0,
        "mscale_all_dim": d.choice([0.6, 1.0]),
        "llama_4_scaling_beta": d.choice([0.1, 0.3]),
    }
    return llama_like(
        d,
        transformers.Ministral3Config,
        transformers.Ministral3ForCausalLM,
        rope_parameters=rope,
        sliding_window=d.window(None, 7),
    )


def make_hunyuan_v1_dense(d):
    rope = d.choice(
        [d.rope(), {"rope_type": "dynamic", "rope_theta": 900.0, "alpha": 50.0, "factor": 1.0}]
    )
    return llama_like(
        d,
        transformers.HunYuanDenseV1Config,
        transformers.HunYuanDenseV1ForCausalLM,
        attention_bias=d.flag(),
        rope_parameters=rope,
    )


def make_nanochat(d):
    return llama_like(
        d,
        transformers.NanoChatConfig,
        transformers.NanoChatForCausalLM,
        attention_bias=d.flag(),
        final_logit_softcapping=d.choice([None, 5.0]),
    )


def make_cwm(d):
    return llama_like(
        d,
        transformers.CwmConfig,
        transformers.CwmForCausalLM,
        hidden_size=48,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_hidden_layers=d.choice([2, 5]),
        rope_parameters=d.choice([None, d.rope()]),
        sliding_window=d.window(4, 9),
    )


def cohere_like(d, config, head, **more):
    heads = d.choice([2, 4])
    return llama_like(
        d,
        config,
        head,
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([1, 2]),
        head_dim=None,
        layer_norm_eps=d.choice([1e-5, 1e-3]),
        logit_scale=d.choice([0.25, 2.0]),
        attention_bias=d.flag(),
        **d.ids,
        **more,
    )


def make_cohere(d):
    return cohere_like(
        d, transformers.CohereConfig, transformers.CohereForCausalLM, use_qk_norm=d.flag()
    )


def make_cohere2(d):
    return cohere_like(
        d,
        transformers.Cohere2Config,
        transformers.Cohere2ForCausalLM,
        num_hidden_layers=d.choice([2, 5]),
        sliding_window=d.window(4, 9),
    )
