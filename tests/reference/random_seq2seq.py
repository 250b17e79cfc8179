"""A random small configuration of every encoder–decoder family, for random_families.py."""

import transformers


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


def make_plbart(d):
    return bart_like(d, transformers.PLBartConfig, transformers.PLBartForConditionalGeneration)


def make_mvp(d):
    return bart_like(d, transformers.MvpConfig, transformers.MvpForConditionalGeneration)


def make_mbart(d):
    return bart_like(d, transformers.MBartConfig, transformers.MBartForConditionalGeneration)


def make_m2m_100(d):
    return bart_like(
        d,
        transformers.M2M100Config,
        transformers.M2M100ForConditionalGeneration,
        pad_token_id=d.choice([1, 3]),
    )


def make_pegasus(d):
    return bart_like(d, transformers.PegasusConfig, transformers.PegasusForConditionalGeneration)


def make_bigbird_pegasus(d):
    return bart_like(
        d,
        transformers.BigBirdPegasusConfig,
        transformers.BigBirdPegasusForConditionalGeneration,
        use_bias=d.flag(),
        attention_type="original_full",
    )


def make_blenderbot(d):
    return bart_like(
        d, transformers.BlenderbotConfig, transformers.BlenderbotForConditionalGeneration
    )


def make_blenderbot_small(d):
    return bart_like(
        d, transformers.BlenderbotSmallConfig, transformers.BlenderbotSmallForConditionalGeneration
    )


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


def t5_like(d, config, head, **more):
    return config(
        d_model=40,
        d_kv=d.choice([8, 16]),
        num_heads=d.choice([2, 4]),
        d_ff=60,
        vocab_size=110,
        tie_word_embeddings=d.flag(),
        **{"num_layers": d.choice([1, 2]), "num_decoder_layers": 2, **more},
    ), head


def make_t5(d):
    return t5_like(
        d,
        transformers.T5Config,
        transformers.T5ForConditionalGeneration,
        feed_forward_proj=d.choice(["relu", "gated-gelu", "gated-silu"]),
        relative_attention_num_buckets=d.choice([8, 32]),
        relative_attention_max_distance=d.choice([40, 128]),
    )


def make_mt5(d):
    return t5_like(
        d,
        transformers.MT5Config,
        transformers.MT5ForConditionalGeneration,
        feed_forward_proj=d.choice(["relu", "gated-gelu"]),
    )


def make_umt5(d):
    return t5_like(
        d,
        transformers.UMT5Config,
        transformers.UMT5ForConditionalGeneration,
        feed_forward_proj=d.choice(["relu", "gated-gelu"]),
        relative_attention_num_buckets=d.choice([8, 32]),
    )
