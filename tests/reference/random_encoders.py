"""A random small configuration of every family with BERT's layers, for random_families.py."""

import transformers


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


def make_ernie(d):
    return bert_like(
        d, transformers.ErnieConfig, transformers.ErnieForMaskedLM, use_task_id=d.flag()
    )


def roberta_like(d, config, head, **more):
    return bert_like(d, config, head, pad_token_id=d.choice([1, 3]), **more)


def make_data2vec_text(d):
    return roberta_like(d, transformers.Data2VecTextConfig, transformers.Data2VecTextForMaskedLM)


def make_ibert(d):
    return roberta_like(
        d, transformers.IBertConfig, transformers.IBertForMaskedLM, hidden_act="gelu"
    )


def make_roberta_prelayernorm(d):
    return roberta_like(
        d, transformers.RobertaPreLayerNormConfig, transformers.RobertaPreLayerNormForMaskedLM
    )


def make_xlm_roberta_xl(d):
    return roberta_like(d, transformers.XLMRobertaXLConfig, transformers.XLMRobertaXLForMaskedLM)


def make_megatron_bert(d):
    return bert_like(d, transformers.MegatronBertConfig, transformers.MegatronBertForMaskedLM)


def make_rembert(d):
    return bert_like(
        d,
        transformers.RemBertConfig,
        transformers.RemBertForMaskedLM,
        input_embedding_size=d.choice([20, 36]),
        output_embedding_size=d.choice([28, 50]),
    )


def make_roformer(d):
    return bert_like(
        d,
        transformers.RoFormerConfig,
        transformers.RoFormerForMaskedLM,
        embedding_size=d.choice([20, None]),
    )


def make_mpnet(d):
    return bert_like(d, transformers.MPNetConfig, transformers.MPNetForMaskedLM, type_vocab_size=1)


def make_big_bird(d):
    return bert_like(
        d,
        transformers.BigBirdConfig,
        transformers.BigBirdForMaskedLM,
        attention_type="original_full",
        use_bias=d.flag(),
        rescale_embeddings=d.flag(),
    )


def make_squeezebert(d):
    width = d.choice([24, 48])
    return bert_like(
        d,
        transformers.SqueezeBertConfig,
        transformers.SqueezeBertForMaskedLM,
        hidden_size=width,
        embedding_size=width,
        num_attention_heads=d.choice([2, 4]),
        intermediate_size=72,
        layer_norm_eps=1e-12,
        q_groups=d.choice([1, 2, 4]),
        v_groups=d.choice([2, 3]),
        intermediate_groups=d.choice([1, 4]),
        output_groups=d.choice([2, 3]),
    )


def rotary_bert(d, config, head, **more):
    heads = d.choice([2, 3, 4])
    return bert_like(
        d,
        config,
        head,
        hidden_size=heads * 12,
        num_attention_heads=heads,
        head_dim=d.choice([8, 12]),
        rope_parameters=d.rope(),
        **more,
    )


def make_nomic_bert(d):
    return rotary_bert(d, transformers.NomicBertConfig, transformers.NomicBertForMaskedLM)


def make_jina_embeddings_v3(d):
    return rotary_bert(
        d, transformers.JinaEmbeddingsV3Config, transformers.JinaEmbeddingsV3ForMaskedLM
    )


def make_gte(d):
    return rotary_bert(
        d, transformers.GteConfig, transformers.GteForMaskedLM, type_vocab_size=d.choice([0, 1, 2])
    )


def make_esm(d):
    return bert_like(
        d,
        transformers.EsmConfig,
        transformers.EsmForMaskedLM,
        hidden_act="gelu",
        type_vocab_size=1,
        pad_token_id=1,
        mask_token_id=d.choice([20, 40]),
        position_embedding_type=d.choice(["absolute", "rotary"]),
        emb_layer_norm_before=d.flag(),
        token_dropout=d.flag(),
    )
