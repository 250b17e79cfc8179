"""What transformers computes of decoders that carry several streams (AltUp)."""

import torch

STREAMS = ("gemma3n", "gemma3n_text")


def decoder_of(model):
    """The part with the layers."""
    return getattr(model.model, "language_model", model.model)


def rows(tensor):
    return tensor[0].detach().numpy()


def expected_of_streams(model, inputs):
    """Tensors by Headlight's names: the stream is the active one, as a layer predicts it, reads it
    before its MLP, and leaves it."""
    want, decoder, handles = {}, decoder_of(model), []
    active = model.config.get_text_config().altup_active_idx

    def keep(name, module, of):
        handles.append(
            module.register_forward_hook(lambda m, x, y: want.__setitem__(name, rows(of(x, y))))
        )

    for i, layer in enumerate(decoder.layers):
        at = f"blocks.{i}."
        keep(at + "hook_resid_pre", layer.input_layernorm, lambda x, y: x[0])
        keep(at + "hook_attn_out", layer.post_attention_layernorm, lambda x, y: y)
        keep(at + "hook_resid_mid", layer.pre_feedforward_layernorm, lambda x, y: x[0])
        keep(at + "hook_mlp_out", layer.post_feedforward_layernorm, lambda x, y: y)
        keep(at + "hook_resid_post", layer, lambda x, y: y[active])
    keep("ln_final.hook_normalized", decoder.norm, lambda x, y: y)
    try:
        with torch.no_grad():
            out = model(**inputs, output_attentions=True, use_cache=False)
    finally:
        for handle in handles:
            handle.remove()
    want["logits"] = out.logits[0].numpy()
    for i, pattern in enumerate(out.attentions):
        want[f"blocks.{i}.attn.hook_pattern"] = pattern[0].numpy()
    return want
