"""What transformers computes of decoders some of whose layers are recurrences."""

import re

import torch
from random_hybrids import mixers


def names_of_mixer(config, i, kind):
    """What a layer adds by its attention or its recurrence, and what a gate of the latter reads."""
    if kind == "conv":
        return rf"layers\.{i}\.conv$", None
    if kind == "linear_attention":
        return (rf"layers\.{i}\.(linear_attn|mamba|mixer)$", rf"layers\.{i}\.\w+\.(o_)?norm$")
    out = "post_attention_layernorm" if config.model_type == "olmo_hybrid" else "(self_attn|mixer)"
    return rf"layers\.{i}\.{out}$", None


def expected_of_both(model, inputs, watch):
    """Tensors of Falcon-H1, in each of whose layers attention and a recurrence are side by side."""
    c, attended, mixed, z = model.config, [], [], []
    watch(model, r"self_attn$", attended)
    watch(model, r"layers\.\d+\.mamba$", mixed)
    for name, module in model.named_modules():
        if re.search(r"mamba\.norm$", name):  # what is normed is z, before its gate
            module.register_forward_hook(lambda m, x, y: z.append(x[0].detach().numpy()))
    with torch.no_grad():
        out = model(**inputs, output_attentions=True, output_hidden_states=True, use_cache=False)
    want, n = {"logits": out.logits[0].numpy()}, inputs["input_ids"].shape[1]
    for i in range(c.num_hidden_layers):
        want[f"blocks.{i}.attn.hook_pattern"] = out.attentions[i][0].numpy()
        want[f"blocks.{i}.hook_attn_out"] = c.attention_out_multiplier * attended[i]
        want[f"blocks.{i}.hook_mamba_out"] = c.ssm_out_multiplier * mixed[i]
        want[f"blocks.{i}.hook_resid_pre"] = out.hidden_states[i][0].numpy()
        if c.mamba_rms_norm:
            want[f"blocks.{i}.mamba.hook_z"] = z[i].reshape(n, -1)
    want["ln_final.hook_normalized"] = out.hidden_states[-1][0].numpy()
    return want


def expected_of_hybrid(model, inputs, watch):
    """Tensors of a decoder some of whose layers are recurrences: their z are mixing matrices times
    values. watch(model, names, into): collects outputs of modules."""
    if model.config.model_type == "falcon_h1":
        return expected_of_both(model, inputs, watch)
    layers, added, mixed = mixers(model.config), {}, {}
    for i, (at, kind) in enumerate(layers):
        out, gate = names_of_mixer(model.config, at, kind)
        watch(model, out, added.setdefault(i, []))
        for name, module in model.named_modules():
            if gate and re.search(gate, name):
                module.register_forward_hook(
                    lambda m, x, y, i=i: mixed.__setitem__(i, x[0].detach().numpy())
                )
    with torch.no_grad():
        alone = model.config.model_type in ("mamba2", "mamba", "falcon_mamba")
        asked = {} if alone else {"output_attentions": True}
        out = model(**inputs, **asked, output_hidden_states=True, use_cache=False)
    attentions = [p for p in getattr(out, "attentions", None) or [] if p is not None]
    want = {"logits": out.logits[0].numpy()}
    scale = getattr(model.config, "residual_multiplier", 1.0)
    n = inputs["input_ids"].shape[1]
    for i, (at, kind) in enumerate(layers):
        if i in mixed:
            want[f"blocks.{i}.attn.hook_z"] = mixed[i].reshape(n, -1)
        elif kind.endswith("full_attention") or kind == "attention":
            want[f"blocks.{i}.attn.hook_pattern"] = attentions.pop(0)[0].numpy()
        want[f"blocks.{i}.hook_attn_out"] = scale * added[i][0]
        before = at - 1 if alone else at  # they leave out embeddings
        if before >= 0:
            want[f"blocks.{i}.hook_resid_pre"] = out.hidden_states[before][0].numpy()
    want["ln_final.hook_normalized"] = out.hidden_states[-1][0].numpy()
    return want
