"""A random small configuration of every family: make_NAME(draw) gives it, and the class of its
model with a head."""

import transformers
from random_decoders import *  # noqa: F403
from random_disentangled import *  # noqa: F403
from random_draw import Draw, llama_like  # noqa: F401
from random_encoders import *  # noqa: F403
from random_experts import *  # noqa: F403
from random_gemma import *  # noqa: F403
from random_hybrids import *  # noqa: F403
from random_latent import *  # noqa: F403
from random_llamas import *  # noqa: F403  # noqa: F403
from random_more import *  # noqa: F403
from random_pairs import *  # noqa: F403
from random_routers import *  # noqa: F403
from random_seq2seq import *  # noqa: F403  # noqa: F403
from random_sinks import *  # noqa: F403


def kinds(only="", sample=0, seed=0):
    """The families to try: those named; else `sample` of them, drawn from the seed; 0: all."""
    every = [name[5:] for name in globals() if name.startswith("make_")]
    if only:
        return [kind for kind in every if kind in only.split(",")]
    return sorted(Draw(f"kinds {seed}").sample(every, sample)) if sample else every


def make_llama(d):
    return llama_like(
        d,
        transformers.LlamaConfig,
        transformers.LlamaForCausalLM,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def make_eurobert(d):
    config, _ = llama_like(
        d,
        transformers.EuroBertConfig,
        None,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        mask_token_id=3,
    )
    return config, transformers.EuroBertForMaskedLM


def make_mistral(d):
    return llama_like(
        d,
        transformers.MistralConfig,
        transformers.MistralForCausalLM,
        sliding_window=d.window(None, 3, 7),
    )


def make_qwen2(d):
    heads = d.choice([2, 4])
    layers = d.choice([2, 3])
    window = (
        dict(use_sliding_window=True, sliding_window=d.window(5), max_window_layers=1)
        if d.long or d.flag()
        else {}
    )
    return llama_like(
        d,
        transformers.Qwen2Config,
        transformers.Qwen2ForCausalLM,
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([1, 2]),
        head_dim=None,
        num_hidden_layers=layers,
        **window,
    )


def make_qwen3(d):
    return llama_like(
        d, transformers.Qwen3Config, transformers.Qwen3ForCausalLM, attention_bias=d.flag()
    )


def make_gemma(d):
    return llama_like(
        d, transformers.GemmaConfig, transformers.GemmaForCausalLM, attention_bias=d.flag()
    )


def make_gemma2(d):
    return llama_like(
        d,
        transformers.Gemma2Config,
        transformers.Gemma2ForCausalLM,
        tie_word_embeddings=True,
        query_pre_attn_scalar=d.choice([8, 20]),
        sliding_window=d.window(4, 9),
        attn_logit_softcapping=d.choice([None, 6.0]),
        final_logit_softcapping=d.choice([None, 5.0]),
        attention_bias=d.flag(),
    )


def make_gpt2(d):
    heads = d.choice([2, 3, 4])
    return transformers.GPT2Config(
        n_embd=heads * d.choice([8, 10]),
        n_head=heads,
        n_layer=d.choice([2, 3]),
        n_inner=d.choice([None, 50]),
        n_positions=d.context(),
        vocab_size=113,
        activation_function=d.choice(["gelu_new", "gelu", "relu", "silu"]),
        scale_attn_by_inverse_layer_idx=d.flag(),
        scale_attn_weights=d.flag(),
        tie_word_embeddings=d.flag(),
    ), transformers.GPT2LMHeadModel


def make_gpt_neox(d):
    heads, rope = d.choice([2, 3]), d.rope()
    # Shares of a head may be odd, but where the class cannot compute them.
    d_head = 16 if rope["rope_type"] in ("yarn", "dynamic") else d.choice([12, 14, 16, 20])
    return transformers.GPTNeoXConfig(
        hidden_size=heads * d_head,
        num_attention_heads=heads,
        num_hidden_layers=2,
        intermediate_size=70,
        vocab_size=101,
        max_position_embeddings=d.context(),
        use_parallel_residual=d.flag(),
        attention_bias=d.flag(),
        tie_word_embeddings=d.flag(),
        hidden_act=d.choice(["gelu", "gelu_new"]),
        rope_parameters={**rope, "partial_rotary_factor": d.choice([0.25, 0.375, 0.75, 1.0])},
    ), transformers.GPTNeoXForCausalLM


def make_phi(d):
    heads = d.choice([2, 4])
    return transformers.PhiConfig(
        hidden_size=heads * 16,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([1, heads]),
        num_hidden_layers=2,
        intermediate_size=70,
        vocab_size=99,
        max_position_embeddings=d.context(),
        qk_layernorm=d.flag(),
        tie_word_embeddings=False,
        rope_parameters={**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.375, 0.75, 1.0])},
    ), transformers.PhiForCausalLM


def make_opt(d):
    heads = d.choice([2, 4])
    width = heads * 12
    return transformers.OPTConfig(
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=2,
        ffn_dim=70,
        vocab_size=99,
        max_position_embeddings=d.context(),
        do_layer_norm_before=d.flag(),
        word_embed_proj_dim=d.choice([width, 20]),
        enable_bias=d.choice([True, True, False]),
        activation_function=d.choice(["relu", "gelu"]),
    ), transformers.OPTForCausalLM


def make_bloom(d):
    heads = d.choice([2, 3, 4, 6])
    return transformers.BloomConfig(
        hidden_size=heads * 8, n_head=heads, n_layer=d.choice([2, 3]), vocab_size=99
    ), transformers.BloomForCausalLM


def make_distilbert(d):
    heads = d.choice([2, 4])
    return transformers.DistilBertConfig(
        dim=heads * 12,
        n_heads=heads,
        n_layers=2,
        hidden_dim=70,
        vocab_size=120,
        max_position_embeddings=d.context(),
        sinusoidal_pos_embds=d.flag(),
        activation=d.choice(["gelu", "relu"]),
    ), transformers.DistilBertForMaskedLM


def make_modernbert(d):
    heads = d.choice([2, 4])
    return transformers.ModernBertConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=4,
        intermediate_size=50,
        vocab_size=120,
        max_position_embeddings=d.context(),
        local_attention=2 * d.window(2, 4),
        norm_bias=d.flag(),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        decoder_bias=d.flag(),
        classifier_bias=d.flag(),
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        cls_token_id=1,
        sep_token_id=2,
    ), transformers.ModernBertForMaskedLM


def make_vit(d):
    heads = d.choice([2, 4])
    patch = d.choice([4, 8])
    return transformers.ViTConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=2,
        intermediate_size=60,
        image_size=patch * d.choice([3, 4]),
        patch_size=patch,
        num_labels=5,
        qkv_bias=d.flag(),
        hidden_act=d.choice(["gelu", "quick_gelu"]),
    ), transformers.ViTForImageClassification
