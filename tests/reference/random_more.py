"""A random small configuration of decoders that come alone, of text parts of models that also see
or hear, and of a few others, for random_families.py."""

import transformers
from random_draw import llama_like
from random_encoders import bert_like
from random_seq2seq import bart_like


def decoder_alone(d, config, head, **more):
    made, _ = bart_like(d, config, head, **more)
    made.encoder_layers = 3  # as many as the cache of these classes has layers
    return made, head


def make_bart_decoder(d):
    return decoder_alone(d, transformers.BartConfig, transformers.BartForCausalLM)


def make_mbart_decoder(d):
    return decoder_alone(d, transformers.MBartConfig, transformers.MBartForCausalLM)


def make_plbart_decoder(d):
    return decoder_alone(d, transformers.PLBartConfig, transformers.PLBartForCausalLM)


def make_mvp_decoder(d):
    return decoder_alone(d, transformers.MvpConfig, transformers.MvpForCausalLM)


def make_marian_decoder(d):
    return decoder_alone(
        d, transformers.MarianConfig, transformers.MarianForCausalLM, pad_token_id=109
    )


def make_pegasus_decoder(d):
    return decoder_alone(d, transformers.PegasusConfig, transformers.PegasusForCausalLM)


def make_blenderbot_decoder(d):
    return decoder_alone(d, transformers.BlenderbotConfig, transformers.BlenderbotForCausalLM)


def make_blenderbot_small_decoder(d):
    return decoder_alone(
        d, transformers.BlenderbotSmallConfig, transformers.BlenderbotSmallForCausalLM
    )


def make_bigbird_pegasus_decoder(d):
    return decoder_alone(
        d,
        transformers.BigBirdPegasusConfig,
        transformers.BigBirdPegasusForCausalLM,
        use_bias=d.flag(),
        attention_type="original_full",
    )


def make_trocr(d):
    heads = d.choice([2, 4])
    return transformers.TrOCRConfig(
        d_model=heads * 12,
        decoder_attention_heads=heads,
        decoder_layers=d.choice([2, 3]),
        decoder_ffn_dim=70,
        vocab_size=110,
        max_position_embeddings=d.context(),
        scale_embedding=d.flag(),
        layernorm_embedding=d.flag(),
        activation_function=d.choice(["gelu", "relu"]),
        pad_token_id=d.choice([1, 3]),
    ), transformers.TrOCRForCausalLM


def make_whisper(d):
    heads = d.choice([2, 4])
    return transformers.WhisperConfig(
        d_model=heads * 12,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_layers=1,
        decoder_layers=d.choice([2, 3]),
        decoder_ffn_dim=70,
        vocab_size=110,
        max_target_positions=d.context(),
        scale_embedding=d.flag(),
        activation_function=d.choice(["gelu", "relu"]),
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    ), transformers.WhisperForCausalLM


def make_emu3_text(d):
    return llama_like(d, transformers.Emu3TextConfig, transformers.Emu3ForCausalLM, **d.ids)


def make_exaone(d):
    from transformers.models.exaone.configuration_exaone import ExaoneConfig

    return llama_like(
        d,
        ExaoneConfig,
        transformers.AutoModelForCausalLM.from_config,
        head_dim=None,
        attention_bias=False,
        mlp_bias=False,
        **d.ids,
    )


def make_mllama_text(d):
    heads, _, shared = d.sizes(kv=True)
    return transformers.MllamaTextConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        num_hidden_layers=4,
        intermediate_size=60,
        vocab_size=d.choice([97, 130]),
        max_position_embeddings=d.context(),
        rms_norm_eps=d.choice([1e-6, 1e-3]),
        rope_parameters=d.rope(),
        cross_attention_layers=d.choice([[1], [0, 2], [3]]),
        **d.ids,
    ), transformers.MllamaForCausalLM


def make_phi4_multimodal(d):
    heads, _, shared = d.sizes(kv=True)
    return transformers.Phi4MultimodalConfig(
        hidden_size=heads * 16,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        num_hidden_layers=2,
        intermediate_size=60,
        vocab_size=99,
        max_position_embeddings=d.context(),
        sliding_window=d.choice([None, d.window(4, 9)]),
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 500.0,
            "partial_rotary_factor": d.choice([0.5, 0.75, 1.0]),
        },
        vision_config={
            "hidden_size": 24,
            "intermediate_size": 30,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
        },
        audio_config={
            "hidden_size": 24,
            "intermediate_size": 30,
            "num_blocks": 1,
            "num_attention_heads": 2,
            "ext_pw_out_channel": 32,
            "depthwise_separable_out_channel": 32,
            "nemo_conv_channels": 32,
        },
        **d.ids,
    ), transformers.Phi4MultimodalForCausalLM


def make_moshi(d):
    heads, d_head, shared = d.sizes(kv=True)
    return transformers.MoshiConfig(
        hidden_size=heads * 12,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        head_dim=d_head,
        num_hidden_layers=2,
        ffn_dim=d.choice([40, 100]),
        vocab_size=99,
        max_position_embeddings=d.context(),
        rms_norm_eps=d.choice([1e-8, 1e-3]),
        rope_parameters=d.rope(),
        sliding_window=d.context(),
        tie_word_embeddings=False,
    ), transformers.MoshiForCausalLM


def make_fuyu(d):
    heads = d.choice([2, 4])
    text = {
        "model_type": "persimmon",
        "hidden_size": heads * 16,
        "num_attention_heads": heads,
        "num_hidden_layers": 2,
        "intermediate_size": 60,
        "vocab_size": 99,
        "max_position_embeddings": d.context(),
        "qk_layernorm": d.flag(),
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 700.0,
            "partial_rotary_factor": d.choice([0.25, 0.5]),
        },
    }
    return transformers.FuyuConfig(
        text_config=text, image_size=32, patch_size=8
    ), transformers.FuyuForCausalLM


def make_got_ocr2(d):
    heads, _, shared = d.sizes(kv=True)
    text = {
        "model_type": "qwen2",
        "hidden_size": heads * 12,
        "num_attention_heads": heads,
        "num_key_value_heads": shared,
        "num_hidden_layers": 2,
        "intermediate_size": 60,
        "vocab_size": 99,
        "max_position_embeddings": d.context(),
    }
    vision = {
        "hidden_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
        "mlp_dim": 30,
        "global_attn_indexes": [0],
        "output_channels": 16,
    }
    return transformers.GotOcr2Config(
        text_config=text, vision_config=vision, tie_word_embeddings=d.flag()
    ), transformers.GotOcr2ForConditionalGeneration


def make_git(d):
    config, _ = bert_like(
        d,
        transformers.GitConfig,
        None,
        vision_config={
            "hidden_size": 24,
            "intermediate_size": 30,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
        },
        tie_word_embeddings=d.flag(),
        **d.ids,
    )
    config.type_vocab_size = 0
    return config, transformers.GitForCausalLM


def make_gpt_neox_japanese(d):
    heads = d.choice([2, 4])
    return transformers.GPTNeoXJapaneseConfig(
        hidden_size=heads * d.choice([8, 12]),
        num_attention_heads=heads,
        num_hidden_layers=d.choice([2, 3]),
        intermediate_multiple_size=d.choice([2, 4]),
        vocab_size=99,
        max_position_embeddings=d.context(),
        layer_norm_eps=d.choice([1e-5, 1e-3]),
        hidden_act=d.choice(["gelu", "relu"]),
        tie_word_embeddings=d.flag(),
        rope_parameters={
            "rope_type": "default",
            "rope_theta": d.choice([10000.0, 500.0]),
            "partial_rotary_factor": d.choice([0.5, 1.0]),
        },
        **d.ids,
    ), transformers.GPTNeoXJapaneseForCausalLM


def make_apertus(d):
    return llama_like(
        d,
        transformers.ApertusConfig,
        transformers.ApertusForCausalLM,
        attention_bias=d.flag(),
        **d.ids,
    )


def make_layoutlm(d):
    return bert_like(
        d,
        transformers.LayoutLMConfig,
        transformers.LayoutLMForMaskedLM,
        max_2d_position_embeddings=30,
    )


def make_tapas(d):
    config, head = bert_like(
        d,
        transformers.TapasConfig,
        transformers.TapasForMaskedLM,
        type_vocab_sizes=[3, 9, 8, 2, 7, 6, 5],
        reset_position_index_per_cell=d.flag(),
    )
    config.type_vocab_size = 0  # it takes seven types for each token
    return config, head


def make_roc_bert(d):
    return bert_like(
        d,
        transformers.RoCBertConfig,
        transformers.RoCBertForMaskedLM,
        concat_input=d.flag(),
        shape_vocab_size=20,
        shape_embed_dim=14,
        pronunciation_vocab_size=15,
        pronunciation_embed_dim=10,
    )
