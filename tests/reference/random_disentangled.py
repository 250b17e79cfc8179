"""A random small configuration of every family with disentangled attention, and of encoders beside
BERT's, for random_families.py."""

import math

import transformers
from random_encoders import bert_like


def disentangled(d, config, head, **more):
    """Distances reach less far than the text; with neither term, or without distances, the scale of
    the scores still counts the terms that are named."""
    heads = d.choice([2, 3, 4])
    made, head = bert_like(
        d,
        config,
        head,
        hidden_size=heads * 12,
        num_attention_heads=heads,
        type_vocab_size=d.choice([0, 2]),
        hidden_act=d.choice(["gelu", "relu"]),
        relative_attention=d.random() < 0.9,
        max_relative_positions=d.choice([-1, 11, 40]),
        position_biased_input=d.flag(),
        pos_att_type=d.choice(["c2p|p2c", "p2c|c2p", ["c2p", "p2c"], ["c2p"], "p2c", None]),
        legacy=d.flag(),
        pad_token_id=0,
        **more,
    )
    if made.legacy and d.flag():
        made.embedding_size = d.choice([20, 40])
    return made, head


def make_deberta(d):
    return disentangled(d, transformers.DebertaConfig, transformers.DebertaForMaskedLM)


def make_deberta_v2(d):
    return disentangled(
        d,
        transformers.DebertaV2Config,
        transformers.DebertaV2ForMaskedLM,
        position_buckets=d.choice([-1, 6, 9, 16]),
        share_att_key=d.flag(),
        norm_rel_ebd=d.choice(["none", "layer_norm"]),
        conv_kernel_size=d.choice([0, 3, 5]),
        conv_groups=d.choice([1, 2]),
        conv_act=d.choice(["gelu", "relu"]),
    )


def xlm_like(d, config, head):
    heads = d.choice([2, 3, 4])
    return config(
        emb_dim=heads * 12,
        n_heads=heads,
        n_layers=d.choice([2, 3]),
        vocab_size=120,
        max_position_embeddings=d.context(),
        gelu_activation=d.flag(),
        layer_norm_eps=d.choice([1e-12, 1e-3]),
        n_langs=d.choice([1, 3]),
        tie_word_embeddings=d.flag(),
    ), head


def make_xlm(d):
    return xlm_like(d, transformers.XLMConfig, transformers.XLMWithLMHeadModel)


def make_flaubert(d):
    return xlm_like(d, transformers.FlaubertConfig, transformers.FlaubertWithLMHeadModel)


def make_luke(d):
    return bert_like(
        d,
        transformers.LukeConfig,
        transformers.LukeForMaskedLM,
        pad_token_id=d.choice([1, 3]),
        entity_vocab_size=30,
        entity_emb_size=d.choice([16, 24]),
        use_entity_aware_attention=d.flag(),
    )


def make_esmc(d):
    heads, layers = d.choice([2, 3, 4]), d.choice([2, 3])
    made = transformers.EsmcConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=70,
        vocab_size=120,
        max_position_embeddings=d.context(),
        attention_bias=d.flag(),
        mlp_bias=d.flag(),
        rope_parameters=d.rope(),
    )
    made.residual_multiplier = 1 / math.sqrt(layers / 36)  # for the test: of what blocks add
    return made, transformers.EsmcForMaskedLM


def dinov2(d, config, head, **more):
    heads, patch = d.choice([2, 4]), d.choice([4, 8])
    return config(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_hidden_layers=2,
        mlp_ratio=d.choice([2, 3]),
        image_size=patch * d.choice([3, 4]),
        patch_size=patch,
        num_labels=5,
        qkv_bias=d.flag(),
        use_swiglu_ffn=d.flag(),
        hidden_act=d.choice(["gelu", "relu"]),
        **more,
    ), head


def make_dinov2(d):
    return dinov2(d, transformers.Dinov2Config, transformers.Dinov2ForImageClassification)


def make_dinov2_registers(d):
    return dinov2(
        d,
        transformers.Dinov2WithRegistersConfig,
        transformers.Dinov2WithRegistersForImageClassification,
        num_register_tokens=d.choice([1, 4]),
    )
