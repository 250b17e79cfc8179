"""Models of other architectures: what they add to the scores, an encoder beside a decoder,
pictures, layers that differ."""

import headlight
import numpy as np
import torch
import transformers
from given_arrays import sentence_of, shown
from given_models import BAR, IDS, SMALL, TARGET, attentions, made, same, tensors


def biases_windows_and_shared_heads_are_recorded():
    llama = made("Llama", num_key_value_heads=2, **SMALL)
    same(headlight.trace(llama, ids=IDS), attentions(llama, input_ids=tensors(IDS)).attentions)
    gemma = made(
        "Gemma2",
        num_key_value_heads=2,
        head_dim=6,
        sliding_window=3,
        attn_logit_softcapping=5.0,
        query_pre_attn_scalar=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        **SMALL,
    )
    trace = headlight.trace(gemma, ids=IDS)
    same(trace, attentions(gemma, input_ids=tensors(IDS)).attentions)
    assert "blocks.0.attn.hook_q" in trace and trace["pattern", 0][:, 7, :5].max() == 0
    bloom = made("Bloom", hidden_size=24, n_layer=2, n_head=4, vocab_size=300)
    with torch.no_grad():  # it attends by code of its own, which returns patterns as it is
        same(
            headlight.trace(bloom, ids=IDS),
            bloom(input_ids=tensors(IDS), output_attentions=True).attentions,
        )
    sinks = made(
        "GptOss",
        num_key_value_heads=2,
        head_dim=6,
        num_local_experts=2,
        num_experts_per_tok=1,
        sliding_window=4,
        **SMALL,
    )
    trace = headlight.trace(sinks, ids=IDS)
    same(trace, attentions(sinks, input_ids=tensors(IDS)).attentions)
    assert trace["pattern", 0].sum(-1).max() < 1, "what flows into the sink is no token's"


def t5_is_recorded_with_its_three_kinds():
    model = made(
        "T5", wide=1, d_model=24, d_kv=6, d_ff=40, num_layers=2, num_heads=4, vocab_size=300
    )
    trace = headlight.trace(model, ids=IDS, target_ids=TARGET)
    out = attentions(model, input_ids=tensors(IDS), decoder_input_ids=tensors(TARGET))
    same(trace, out.encoder_attentions, "encoder")
    same(trace, out.decoder_attentions, "decoder")
    same(trace, out.cross_attentions, "cross")
    assert (
        np.abs(
            shown(headlight.figure(model, ids=IDS, target_ids=TARGET, head=("cross", 1, 2)))
            - out.cross_attentions[1][0, 2].numpy()
        ).max()
        < BAR
    )
    held = headlight.trace(out)
    assert np.array_equal(held["pattern", 1, "cross"], out.cross_attentions[1][0].numpy())


def a_decoder_of_another_family_is_a_decoder():
    text = {**SMALL, "model_type": "bert"}
    torch.manual_seed(1)
    model = transformers.EncoderDecoderModel(
        transformers.EncoderDecoderConfig(
            encoder=text,
            decoder={**text, "is_decoder": True, "add_cross_attention": True},
            decoder_start_token_id=1,
            pad_token_id=0,
        )
    ).eval()
    inputs = {"input_ids": tensors(IDS), "decoder_input_ids": tensors(TARGET)}
    trace, out = headlight.trace(model, inputs=inputs), attentions(model, **inputs)
    for kind, expected in (
        ("encoder", out.encoder_attentions),
        ("decoder", out.decoder_attentions),
        ("cross", out.cross_attentions),
    ):
        same(trace, expected, kind)
    assert headlight.figure(trace, view="alignment").png
    half = made(
        "LongT5",
        wide=1,
        d_model=24,
        d_kv=6,
        d_ff=40,
        num_layers=2,
        num_heads=4,
        vocab_size=300,
        local_radius=4,
    )
    assert "no attention that could be recorded" in sentence_of(
        lambda: headlight.trace(half, ids=IDS, target_ids=TARGET)
    ), "its encoder attends in pieces"


def pictures_are_recorded_by_position():
    model = made(
        "ViT",
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        image_size=16,
        patch_size=8,
    )
    pixels = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(3))
    trace = headlight.trace(model, inputs={"pixel_values": pixels})
    same(trace, attentions(model, pixel_values=pixels).attentions)
    assert trace.tokens == ["0", "1", "2", "3", "4"]


PICTURE = {
    "hidden_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 40,
    "image_size": 16,
    "patch_size": 8,
}


def of_a_picture_and_a_text_the_text_is_recorded():
    pixels = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(3))
    text = {**SMALL, "num_key_value_heads": 2, "model_type": "llama"}
    torch.manual_seed(1)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(
            text_config=text,
            vision_config={**PICTURE, "model_type": "clip_vision_model"},
            image_token_id=299,
            image_token_index=299,
        )
    ).eval()
    inputs = {"input_ids": tensors([1, 299, 299, 299, 299, 5, 9, 12]), "pixel_values": pixels}
    trace = headlight.trace(model, inputs=inputs)
    same(trace, attentions(model, **inputs).attentions)
    assert headlight.figure(trace, head=(2, 3)).png
    inputs["attention_mask"] = tensors([0] + [1] * 7)  # for which patterns are written
    same(headlight.trace(model, inputs=inputs), attentions(model, **inputs).attentions)
    blip = transformers.BlipForConditionalGeneration(
        transformers.BlipConfig(
            text_config={**SMALL, "encoder_hidden_size": 24}, vision_config=PICTURE
        )
    ).eval()
    assert headlight.figure(
        blip, inputs={"input_ids": tensors(IDS), "pixel_values": pixels}, head=(2, 3)
    ).png, "its text attends to itself and to the picture by turns"


def layers_that_differ_are_recorded_or_said():
    swin = made(
        "Swin",
        image_size=16,
        patch_size=2,
        embed_dim=8,
        depths=[1, 1],
        num_heads=[2, 4],
        window_size=4,
    )
    assert "alike" in sentence_of(
        lambda: headlight.trace(swin, inputs={"pixel_values": torch.rand(1, 3, 16, 16)})
    )
    xlnet = made("XLNet", d_model=24, n_layer=2, n_head=4, d_inner=40, vocab_size=300)
    assert "output_attentions" in sentence_of(lambda: headlight.trace(xlnet, ids=IDS))
    with torch.no_grad():
        out = xlnet(tensors(IDS), output_attentions=True)
    same(headlight.trace(out, tokens=IDS), out.attentions)
