"""A random small configuration of further encoder–decoders, for random_families.py."""

import transformers
from random_seq2seq import bart_like, t5_like


def make_led(d):
    heads = d.choice([2, 4])
    return transformers.LEDConfig(
        d_model=heads * 12,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=50,
        decoder_ffn_dim=70,
        vocab_size=110,
        max_encoder_position_embeddings=400 if d.long else 80,
        max_decoder_position_embeddings=200 if d.long else 30,
        attention_window=d.choice([[8, 4], 6]) if not d.long else [70, 14],
        activation_function=d.choice(["gelu", "relu"]),
    ), transformers.LEDForConditionalGeneration


def make_longt5(d):
    return t5_like(
        d,
        transformers.LongT5Config,
        transformers.LongT5ForConditionalGeneration,
        local_radius=69 if d.long else d.choice([2, 7]),
        feed_forward_proj=d.choice(["relu", "gated-gelu"]),
        relative_attention_num_buckets=d.choice([8, 32]),
        relative_attention_max_distance=d.choice([40, 128]),
    )


def make_switch_transformers(d):
    return t5_like(
        d,
        transformers.SwitchTransformersConfig,
        transformers.SwitchTransformersForConditionalGeneration,
        num_layers=d.choice([2, 3, 4]),
        num_decoder_layers=d.choice([2, 4]),
        num_sparse_encoder_layers=d.choice([0, 1, 2]),
        num_sparse_decoder_layers=d.choice([0, 1, 2]),
        num_experts=d.choice([3, 4]),
        expert_capacity=400,
        dense_act_fn=d.choice(["relu", "gelu_new"]),
    )


def make_t5gemma(d):
    heads, d_head, shared = d.sizes(kv=True)

    def half(**more):
        return dict(
            hidden_size=heads * 8,
            num_attention_heads=heads,
            num_key_value_heads=shared,
            head_dim=d_head,
            intermediate_size=60,
            vocab_size=110,
            max_position_embeddings=d.context(),
            query_pre_attn_scalar=d.choice([8, 20]),
            sliding_window=d.window(4, 9),
            attn_logit_softcapping=d.choice([None, 6.0]),
            final_logit_softcapping=d.choice([None, 5.0]),
            attention_bias=d.flag(),
            pad_token_id=0,
            **more,
        )

    return transformers.T5GemmaConfig(
        encoder=half(num_hidden_layers=d.choice([2, 3])),
        decoder=half(num_hidden_layers=2),
        vocab_size=110,
        tie_word_embeddings=d.flag(),
        pad_token_id=0,
    ), transformers.T5GemmaForConditionalGeneration


def seamless(d, config, head):
    heads = d.choice([2, 4])
    return config(
        hidden_size=heads * 12,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=50,
        decoder_ffn_dim=70,
        vocab_size=110,
        max_position_embeddings=d.context(),
        scale_embedding=d.flag(),
        activation_function=d.choice(["relu", "gelu"]),
        pad_token_id=d.choice([0, 1]),
    ), head


def make_seamless_m4t(d):
    return seamless(d, transformers.SeamlessM4TConfig, transformers.SeamlessM4TForTextToText)


def make_seamless_m4t_v2(d):
    return seamless(d, transformers.SeamlessM4Tv2Config, transformers.SeamlessM4Tv2ForTextToText)


def make_fsmt(d):
    tied = d.flag()
    return bart_like(
        d,
        transformers.FSMTConfig,
        transformers.FSMTForConditionalGeneration,
        src_vocab_size=110 if tied else 100,
        tgt_vocab_size=110,
        tie_word_embeddings=tied,
    )


def make_encoder_decoder(d):
    heads = d.choice([2, 4])

    def half(layers, **more):
        return transformers.BertConfig(
            hidden_size=heads * 12,
            num_attention_heads=heads,
            num_hidden_layers=layers,
            intermediate_size=d.choice([50, 70]),
            vocab_size=d.choice([110, 120]),
            max_position_embeddings=d.context(),
            hidden_act=d.choice(["gelu", "relu"]),
            **more,
        )

    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        half(2), half(d.choice([2, 3])), tie_word_embeddings=False
    )
    config.decoder_start_token_id = 1
    return config, transformers.EncoderDecoderModel
