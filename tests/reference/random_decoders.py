"""A random small configuration of every family of decoders whose layers are not Llama's, for
random_families.py."""

import torch
import transformers
from random_draw import llama_like
from transformers.models.falcon.modeling_falcon import FalconAttention


def alibi_once(forward=FalconAttention.forward):
    """Falcon's eager attention adds ALiBi to the scores although the mask holds it already."""

    def once(self, hidden_states, alibi, *args, **kwargs):
        alibi = None if alibi is None else torch.zeros_like(alibi)
        return forward(self, hidden_states, alibi, *args, **kwargs)

    FalconAttention.forward = once


alibi_once()


def make_falcon(d):
    heads = d.choice([2, 4, 6])
    order = d.choice(
        [
            dict(new_decoder_architecture=True, num_kv_heads=d.choice([1, 2, None])),
            dict(new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1),
            dict(multi_query=True),
            dict(multi_query=False),
            dict(multi_query=False, parallel_attn=False),
        ]
    )
    return transformers.FalconConfig(
        hidden_size=heads * d.choice([8, 12]),
        num_attention_heads=heads,
        num_hidden_layers=d.choice([2, 3]),
        ffn_hidden_size=d.choice([None, 50]),
        vocab_size=99,
        max_position_embeddings=d.context(),
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        alibi=d.flag(),
        bias=d.flag(),
        activation=d.choice(["gelu", "relu"]),
        tie_word_embeddings=d.flag(),
        rope_parameters=d.rope(),
        **order,
    ), transformers.FalconForCausalLM


def make_gptj(d, config=None, head=None):
    heads = d.choice([4, 8])
    d_head = d.choice([8, 12])
    return (config or transformers.GPTJConfig)(
        n_embd=heads * d_head,
        n_head=heads,
        n_layer=2,
        n_inner=d.choice([None, 50]),
        rotary_dim=d.choice([2, 6, d_head]),
        n_positions=d.context(),
        vocab_size=99,
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        activation_function=d.choice(["gelu_new", "relu"]),
        tie_word_embeddings=d.flag(),
    ), head or transformers.GPTJForCausalLM


def make_codegen(d):
    return make_gptj(d, transformers.CodeGenConfig, transformers.CodeGenForCausalLM)


def make_gpt_neo(d):
    heads = d.choice([2, 3])
    return transformers.GPTNeoConfig(
        hidden_size=heads * 10,
        num_heads=heads,
        num_layers=3,
        attention_types=d.choice([[[["global", "local"], 1], [["local"], 1]], [[["local"], 3]]]),
        window_size=d.window(3, 7),
        intermediate_size=d.choice([None, 50]),
        max_position_embeddings=d.context(),
        vocab_size=99,
        activation_function=d.choice(["gelu_new", "relu"]),
        tie_word_embeddings=d.flag(),
    ), transformers.GPTNeoForCausalLM


def make_gpt_bigcode(d):
    heads = d.choice([2, 4])
    return transformers.GPTBigCodeConfig(
        n_embd=heads * 10,
        n_head=heads,
        n_layer=2,
        n_inner=d.choice([None, 50]),
        n_positions=d.context(),
        vocab_size=99,
        multi_query=d.flag(),
        scale_attn_weights=d.flag(),
        activation_function=d.choice(["gelu_pytorch_tanh", "relu"]),
        tie_word_embeddings=d.flag(),
    ), transformers.GPTBigCodeForCausalLM


def make_openai_gpt(d):
    heads = d.choice([2, 3])
    return transformers.OpenAIGPTConfig(
        n_embd=heads * 10,
        n_head=heads,
        n_layer=d.choice([2, 3]),
        n_positions=d.context(),
        vocab_size=99,
        afn=d.choice(["gelu", "relu", "swish"]),
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        tie_word_embeddings=d.flag(),
    ), transformers.OpenAIGPTLMHeadModel


def make_mpt(d):
    heads = d.choice([2, 3, 4, 6])
    return transformers.MptConfig(
        d_model=heads * 8,
        n_heads=heads,
        n_layers=2,
        max_seq_len=d.context(),
        vocab_size=99,
        layer_norm_epsilon=d.choice([1e-5, 1e-3]),
        attn_config=dict(
            softmax_scale=d.choice([None, 0.2]),
            alibi_bias_max=8,
            clip_qkv=d.choice([None, 0.6]),
            attn_impl="eager",
        ),
        tie_word_embeddings=d.flag(),
    ), transformers.MptForCausalLM


def make_starcoder2(d):
    return llama_like(
        d,
        transformers.Starcoder2Config,
        transformers.Starcoder2ForCausalLM,
        use_bias=d.flag(),
        norm_epsilon=d.choice([1e-5, 1e-3]),
        sliding_window=d.window(None, 3, 7),
        hidden_act=d.choice(["gelu_pytorch_tanh", "relu"]),
    )


def make_nemotron(d):
    return llama_like(
        d,
        transformers.NemotronConfig,
        transformers.NemotronForCausalLM,
        head_dim=16,
        norm_eps=d.choice([1e-5, 1e-3]),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        rope_parameters={**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.5, 1.0])},
    )


def make_jais2(d):
    heads, _, shared = d.sizes(kv=True)
    return llama_like(
        d,
        transformers.Jais2Config,
        transformers.Jais2ForCausalLM,
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_key_value_heads=d.choice([None, shared]),
        layer_norm_eps=d.choice([1e-5, 1e-3]),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


def turned_partly(d, config, head, **more):
    heads, _, shared = d.sizes(kv=True)
    return llama_like(
        d,
        config,
        head,
        hidden_size=heads * 16,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        head_dim=None,
        layer_norm_eps=d.choice([1e-5, 1e-3]),
        rope_parameters={**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.5, 1.0])},
        **more,
    )


def make_persimmon(d):
    return turned_partly(
        d,
        transformers.PersimmonConfig,
        transformers.PersimmonForCausalLM,
        qk_layernorm=d.flag(),
        hidden_act=d.choice(["relu2", "gelu"]),
    )


def make_stablelm(d):
    return turned_partly(
        d,
        transformers.StableLmConfig,
        transformers.StableLmForCausalLM,
        qk_layernorm=d.flag(),
        use_parallel_residual=d.flag(),
        use_qkv_bias=d.flag(),
    )


def make_olmo(d):
    return llama_like(
        d,
        transformers.OlmoConfig,
        transformers.OlmoForCausalLM,
        attention_bias=d.flag(),
        clip_qkv=d.choice([None, 0.6]),
        pad_token_id=0,
    )


def make_biogpt(d):
    heads = d.choice([2, 3])
    return transformers.BioGptConfig(
        hidden_size=heads * 10,
        num_attention_heads=heads,
        num_hidden_layers=2,
        intermediate_size=50,
        max_position_embeddings=d.context(),
        vocab_size=99,
        scale_embedding=d.flag(),
        hidden_act=d.choice(["gelu", "relu"]),
        tie_word_embeddings=d.flag(),
    ), transformers.BioGptForCausalLM


def make_ctrl(d):
    heads = d.choice([2, 3])
    return transformers.CTRLConfig(
        n_embd=heads * 10,
        n_head=heads,
        n_layer=2,
        dff=50,
        n_positions=d.context(),
        vocab_size=99,
        tie_word_embeddings=d.flag(),
    ), transformers.CTRLLMHeadModel


def make_xglm(d):
    heads = d.choice([2, 3])
    return transformers.XGLMConfig(
        d_model=heads * 10,
        attention_heads=heads,
        num_layers=2,
        ffn_dim=50,
        max_position_embeddings=d.context(),
        vocab_size=99,
        scale_embedding=d.flag(),
        activation_function=d.choice(["gelu", "relu"]),
        tie_word_embeddings=d.flag(),
    ), transformers.XGLMForCausalLM


def make_bert_generation(d):
    heads = d.choice([2, 3])
    return transformers.BertGenerationConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=2,
        intermediate_size=50,
        vocab_size=99,
        max_position_embeddings=d.context(),
        layer_norm_eps=d.choice([1e-12, 1e-3]),
        hidden_act=d.choice(["gelu", "relu"]),
        is_decoder=d.flag(),
    ), transformers.BertGenerationDecoder


def make_modernbert_decoder(d):
    heads = d.choice([2, 4])
    return transformers.ModernBertDecoderConfig(
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
    ), transformers.ModernBertDecoderForCausalLM
