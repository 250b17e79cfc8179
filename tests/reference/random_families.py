"""A random small configuration of every family: make_NAME(draw) gives it, and the class of its
model with a head."""

import random

import transformers


class Draw(random.Random):
    """The random draws that configurations share."""

    def sizes(self, kv=False):
        heads = self.choice([2, 3, 4, 6])
        d_head = self.choice([8, 10, 16])
        shared = self.choice([n for n in (1, 2, 3, 6) if heads % n == 0]) if kv else heads
        return heads, d_head, shared

    def rope(self, theta=10000.0):
        kind = self.choice(["default", "default", "linear", "dynamic", "llama3", "yarn"])
        p = {"rope_type": kind, "rope_theta": self.choice([theta, 500.0, 1e6])}
        if kind != "default":
            p["factor"] = self.choice([2.0, 4.0, 3.5])
        if kind == "llama3":
            p.update(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
        if kind == "yarn":
            p.update(original_max_position_embeddings=16)
        return p

    def flag(self):
        return self.random() < 0.5

    def window(self, *usual):
        """The width of a sliding window; over several blocks of queries where the text is long."""
        return 70 if self.long else self.choice(usual)

    def context(self, usual=64):
        return 320 if self.long else usual


def llama_like(d, config, head, **more):
    heads, d_head, shared = d.sizes(kv=True)
    base = dict(
        hidden_size=heads * d.choice([8, 12]),
        num_attention_heads=heads,
        num_key_value_heads=shared,
        head_dim=d_head,
        num_hidden_layers=d.choice([2, 3]),
        intermediate_size=d.choice([40, 64, 100]),
        vocab_size=d.choice([97, 130]),
        max_position_embeddings=d.context(),
        rms_norm_eps=d.choice([1e-6, 1e-3]),
        tie_word_embeddings=d.flag(),
        rope_parameters=d.rope(),
    )
    merged = {**base, **more}
    if merged["head_dim"] is None:
        del merged["head_dim"]
    return config(**merged), head


def make_llama(d):
    return llama_like(
        d,
        transformers.LlamaConfig,
        transformers.LlamaForCausalLM,
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
    )


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


def bert_like(d, config, head, **more):
    heads = d.choice([2, 3, 4])
    base = dict(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=d.choice([2, 3]),
        intermediate_size=70,
        vocab_size=120,
        max_position_embeddings=d.context(),
        type_vocab_size=d.choice([1, 2]),
        hidden_act=d.choice(["gelu", "relu", "gelu_new"]),
        layer_norm_eps=d.choice([1e-12, 1e-3]),
    )
    return config(**{**base, **more}), head


def make_bert(d):
    return bert_like(d, transformers.BertConfig, transformers.BertForMaskedLM)


def make_roberta(d):
    return bert_like(
        d,
        transformers.RobertaConfig,
        transformers.RobertaForMaskedLM,
        pad_token_id=d.choice([1, 3]),
    )


def make_xlm_roberta(d):
    return bert_like(
        d, transformers.XLMRobertaConfig, transformers.XLMRobertaForMaskedLM, pad_token_id=1
    )


def make_camembert(d):
    return bert_like(
        d, transformers.CamembertConfig, transformers.CamembertForMaskedLM, pad_token_id=1
    )


def make_electra(d):
    return bert_like(
        d,
        transformers.ElectraConfig,
        transformers.ElectraForMaskedLM,
        embedding_size=d.choice([20, 36]),
    )


def make_albert(d):
    layers = d.choice([2, 4])
    return bert_like(
        d,
        transformers.AlbertConfig,
        transformers.AlbertForMaskedLM,
        embedding_size=d.choice([16, 24]),
        num_hidden_layers=layers,
        num_hidden_groups=d.choice([1, 2]),
    )


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


def bart_like(d, config, head, **more):
    # The decoder's heads need not be as many as the encoder's.
    heads, others = d.choice([(2, 4), (4, 2), (3, 6), (4, 4)])
    return config(
        d_model=max(heads, others) * 12,
        encoder_attention_heads=heads,
        decoder_attention_heads=others,
        encoder_layers=d.choice([1, 2]),
        decoder_layers=d.choice([2, 3]),
        encoder_ffn_dim=50,
        decoder_ffn_dim=70,
        vocab_size=110,
        max_position_embeddings=d.context(),
        scale_embedding=d.flag(),
        activation_function=d.choice(["gelu", "swish", "relu"]),
        **more,
    ), head


def make_bart(d):
    return bart_like(d, transformers.BartConfig, transformers.BartForConditionalGeneration)


def make_marian(d):
    return bart_like(
        d,
        transformers.MarianConfig,
        transformers.MarianMTModel,
        pad_token_id=109,
        decoder_start_token_id=109,
        eos_token_id=0,
        forced_eos_token_id=0,
    )


def make_t5(d):
    return transformers.T5Config(
        d_model=40,
        d_kv=d.choice([8, 16]),
        num_heads=d.choice([2, 4]),
        num_layers=d.choice([1, 2]),
        num_decoder_layers=2,
        d_ff=60,
        vocab_size=110,
        feed_forward_proj=d.choice(["relu", "gated-gelu", "gated-silu"]),
        tie_word_embeddings=d.flag(),
        relative_attention_num_buckets=d.choice([8, 32]),
        relative_attention_max_distance=d.choice([40, 128]),
    ), transformers.T5ForConditionalGeneration


def make_mt5(d):
    return transformers.MT5Config(
        d_model=40,
        d_kv=d.choice([8, 16]),
        num_heads=d.choice([2, 4]),
        num_layers=d.choice([1, 2]),
        num_decoder_layers=2,
        d_ff=60,
        vocab_size=110,
        feed_forward_proj=d.choice(["relu", "gated-gelu"]),
        tie_word_embeddings=d.flag(),
    ), transformers.MT5ForConditionalGeneration


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
