"""Random small configurations of Gemma 3n and 4, for random_families.py."""

import torch
import transformers
from random_draw import llama_like
from transformers.models.gemma3n import modeling_gemma3n


def ropes(d):
    """Rotations of both kinds of layers."""
    full = d.choice([d.rope(1e6), {"rope_type": "proportional", "rope_theta": 700.0}])
    if full["rope_type"] == "proportional":
        full["partial_rotary_factor"] = d.choice([0.25, 0.3, 0.5, 1.0])
        if d.flag():
            full["factor"] = 2.5
    return {
        "full_attention": full,
        "sliding_attention": {"rope_type": "default", "rope_theta": 900.0},
    }


def layer_types(d, layers):
    """Both kinds, the last one full; of each kind one among the first two."""
    first = d.sample(["sliding_attention", "full_attention"], 2)
    more = [d.choice(["sliding_attention", "full_attention"]) for _ in range(layers - 3)]
    return [*first, *more, "full_attention"]


def make_gemma4_text(d):
    layers, experts = d.choice([4, 5, 6]), d.random() < 0.4
    heads_apart = (
        dict(
            global_head_dim=d.choice([8, 12, 20]), num_global_key_value_heads=d.choice([None, 1, 4])
        )
        if d.flag()
        else dict(global_head_dim=16)
    )
    return llama_like(
        d,
        transformers.Gemma4TextConfig,
        transformers.Gemma4ForCausalLM,
        hidden_size=40,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=d.choice([8, 10]),
        **heads_apart,
        num_hidden_layers=layers,
        layer_types=layer_types(d, layers),
        rope_parameters=ropes(d),
        tie_word_embeddings=True,
        sliding_window=d.window(4, 9),
        final_logit_softcapping=d.choice([None, 5.0]),
        attention_bias=d.flag(),
        attention_k_eq_v=d.flag(),
        num_kv_shared_layers=d.choice([0, 1, layers - 2]),
        use_double_wide_mlp=d.flag(),
        hidden_size_per_layer_input=d.choice([0, 6, 9]),
        vocab_size_per_layer_input=d.choice([130, 140]),
        use_bidirectional_attention=d.choice([None, None, "all", "vision"]),
        enable_moe_block=experts,
        num_experts=5 if experts else None,
        top_k_experts=d.choice([1, 2, 3]) if experts else None,
        moe_intermediate_size=24 if experts else None,
    )


def make_gemma4(d):
    text, _ = make_gemma4_text(d)
    vision = dict(
        hidden_size=24,
        intermediate_size=30,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=12,
        patch_size=8,
        position_embedding_size=64,
    )
    config = transformers.Gemma4Config(text_config=text, vision_config=vision)
    return config, transformers.Gemma4ForConditionalGeneration


def make_gemma3n_text(d):
    layers, streams = d.choice([4, 5, 6]), d.choice([2, 3, 4])
    widths, cut = d.choice([96, 128, 160]), d.choice([[0.0], [0.3, 0.5, 0.9, 0.95]])
    full = d.rope(1e6)
    if full["rope_type"] == "dynamic":
        full["rope_type"] = "linear"
    return llama_like(
        d,
        transformers.Gemma3nTextConfig,
        transformers.Gemma3nForCausalLM,
        hidden_size=40,
        num_attention_heads=4,
        num_key_value_heads=d.choice([1, 2, 4]),
        head_dim=d.choice([8, 10]),
        intermediate_size=d.choice([widths, [widths + 4 * i for i in range(layers)]]),
        activation_sparsity_pattern=[d.choice(cut) for _ in range(layers)],
        num_hidden_layers=layers,
        layer_types=layer_types(d, layers),
        rope_parameters={
            "full_attention": full,
            "sliding_attention": {"rope_type": "default", "rope_theta": 900.0},
        },
        sliding_window=d.window(4, 9),
        final_logit_softcapping=d.choice([5.0, 30.0]),
        hidden_activation=d.choice(["gelu_pytorch_tanh", "silu"]),
        attention_bias=d.flag(),
        num_kv_shared_layers=d.choice([0, 1, layers - 2]),
        hidden_size_per_layer_input=d.choice([6, 9]),
        vocab_size_per_layer_input=d.choice([50, 130, 140]),
        altup_num_inputs=streams,
        altup_active_idx=d.choice([0, 0, streams - 1]),
        altup_correct_scale=d.flag(),
        laurel_rank=d.choice([3, 8]),
    )


class Gemma3nWithoutTimm(transformers.Gemma3nForConditionalGeneration):
    """The whole model, with a matrix for its vision tower, which another package makes."""

    def __init__(self, config):
        made = modeling_gemma3n.AutoModel.from_config
        modeling_gemma3n.AutoModel.from_config = lambda of: (
            torch.nn.Linear(2, 2) if of is config.vision_config else made(of)
        )
        try:
            super().__init__(config)
        finally:
            modeling_gemma3n.AutoModel.from_config = made


def make_gemma3n(d):
    text, _ = make_gemma3n_text(d)
    vision = dict(hidden_size=24, vocab_offset=200, vocab_size=3)
    audio = dict(
        hidden_size=24,
        vocab_offset=203,
        vocab_size=3,
        input_feat_size=16,
        sscp_conv_channel_size=[4, 4],
        conf_num_attention_heads=2,
        conf_num_hidden_layers=1,
    )
    config = transformers.Gemma3nConfig(text_config=text, vision_config=vision, audio_config=audio)
    config.tie_word_embeddings = text.tie_word_embeddings
    return config, Gemma3nWithoutTimm
