"""The tensors of transformers' models where a trace of Headlight has a hook, by the trace's names,
and rows of another run put in place there. Used by changes.py inside changed_attention.changed, so
that hooked values are changed already."""

import contextlib

from changed_attention import concerns, span


def stacks_of(model):
    inner = getattr(model, "model", None) or model.transformer
    if hasattr(inner, "encoder"):
        return {"encoder": inner.encoder.layers, "decoder": inner.decoder.layers}
    return {"blocks": getattr(inner, "layers", None) or inner.h}


def first(out):
    return out[0] if isinstance(out, tuple) else out


class Place:
    """A module, and whether its input or its output is meant."""

    def __init__(self, kind, layer, module, before):
        self.kind, self.layer, self.module, self.before = kind, layer, module, before

    def hook(self, change):
        """change(tensor [n, d]) gives None or what stands there from now on."""

        def entering(_, inputs):
            new = change(inputs[0][0])
            return None if new is None else (new[None], *inputs[1:])

        def leaving(_, __, out):
            new = change(first(out)[0])
            return (
                None
                if new is None
                else (new[None], *out[1:])
                if isinstance(out, tuple)
                else new[None]
            )

        return (
            self.module.register_forward_pre_hook(entering)
            if self.before
            else self.module.register_forward_hook(leaving)
        )


def places_of(model):
    """Places by the trace's names."""
    out = {}
    for stack, layers in stacks_of(model).items():
        for i, layer in enumerate(layers):
            at, attention = f"{stack}.{i}.", getattr(layer, "self_attn", None) or layer.attn
            add = lambda name, module, before, kind=stack: out.__setitem__(
                at + name, Place(kind, i, module, before)
            )
            project = next(
                getattr(attention, n)
                for n in ("c_proj", "o_proj", "out_proj", "dense")
                if hasattr(attention, n)
            )
            add("hook_resid_pre", layer, True)
            add("attn.hook_z", project, True)
            add("hook_attn_out", attention, False)
            if stack == "decoder":
                add("cross_attn.hook_z", layer.encoder_attn.out_proj, True, "cross")
                add("hook_cross_attn_out", layer.encoder_attn, False, "cross")
            if stack != "blocks":  # normalized after each block
                add(
                    "hook_resid_mid",
                    layer.encoder_attn_layer_norm
                    if stack == "decoder"
                    else layer.self_attn_layer_norm,
                    False,
                )
            elif hasattr(layer, "ln_2") or hasattr(layer, "post_attention_layernorm"):
                add(
                    "hook_resid_mid",
                    getattr(layer, "ln_2", None) or layer.post_attention_layernorm,
                    True,
                )
            add("hook_mlp_out", layer.mlp if stack == "blocks" else layer.fc2, False)
            add("hook_resid_post", layer, False)
    return out


PARTS = {
    "patch-resid": ("hook_resid_pre",),
    "patch-attention": ("hook_attn_out", "hook_cross_attn_out"),
    "patch-mlp": ("hook_mlp_out",),
    "patch-head": ("attn.hook_z", "cross_attn.hook_z"),
}


def puts(changes, natural, noise):
    """For each change that puts rows in place: the tensor's place and kind, head, positions,
    values."""
    for name, rest in changes.of(*PARTS, "noise"):
        if name == "noise":
            where = next(iter(noise))
            yield where, None, rest.partition("=")[0], noise[where]
            continue
        positions, _, place = rest.partition("@")
        for where, values in natural.items():
            stack, layer, part = where.split(".", 2)
            kind = "cross" if "cross" in part else stack
            heads = (
                range(values.shape[1]) if name == "patch-head" and part in PARTS[name] else [None]
            )
            for head in heads:
                if part in PARTS[name] and concerns(place, kind, int(layer), head, False):
                    yield where, head, positions, values


@contextlib.contextmanager
def hooked(model, changes, natural=None, noise=None):
    """Give a dictionary that a pass within it fills. natural: what a pass without changes has
    filled; noise: [n, d] by the name of where it stands."""
    places, handles, seen = places_of(model), [], {}

    def putting(head, positions, values):
        def change(x):
            x, rows = x.clone(), list(span(positions, x.shape[0]))
            if head is None:
                x[rows] = values[rows]
            else:
                d = values.shape[2]
                x[rows, head * d : (head + 1) * d] = values[rows, head]
            return x

        return change

    def keeping(name):
        return lambda x: seen.__setitem__(name, x.detach().clone())

    for where, *what in puts(changes, natural or {}, noise or {}):
        handles.append(places[where].hook(putting(*what)))
    handles += [place.hook(keeping(name)) for name, place in places.items()]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
    for name in [n for n in seen if n.endswith("hook_z")]:
        stack, layer, _ = name.split(".", 2)
        heads = changes.patterns["cross" if "cross" in name else stack, int(layer)].shape[0]
        seen[name] = seen[name].reshape(seen[name].shape[0], heads, -1)
    for (kind, layer), pattern in changes.patterns.items():
        seen[
            f"decoder.{layer}.cross_attn.hook_pattern"
            if kind == "cross"
            else f"{kind}.{layer}.attn.hook_pattern"
        ] = pattern
