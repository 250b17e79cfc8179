"""Every kind of change, laid over transformers' own models: their attention is computed here, in
the open, and all else by transformers. Used by changes.py."""

import contextlib
import importlib

import numpy as np
import torch

LOWEST = torch.finfo(torch.float32).min


def span(text, n):
    """Rows or columns: "16", "3-5", "16..", "*"."""
    if text == "*":
        return range(n)
    if text.endswith(".."):
        return range(int(text[:-2]), n)
    first, _, last = text.partition("-")
    return range(int(first), min(n, int(last or first) + 1))


def concerns(place, kind, layer, head, usual):
    """Whether a place ("", "*", "cross", "cross.0", "cross.0.1", "0.1") names a head of a block."""
    if place in ("", "*"):
        return place == "*" or usual
    parts = place.split(".")
    if parts[0].isdigit() and kind in ("blocks", "decoder"):
        parts.insert(0, kind)
    return (
        parts[0] == kind
        and (len(parts) < 2 or int(parts[1]) == layer)
        and (len(parts) < 3 or int(parts[2]) == head)
    )


def order_of(seed, n):
    """0 … n − 1 shuffled as base/draws.h does it: std::mt19937, built up from the first number
    on."""
    numbers, order = np.random.RandomState(seed)._bit_generator, []
    for i in range(n):
        order.append(i)
        j = min(i, int((numbers.random_raw() + 0.5) / 2**32 * (i + 1)))
        order[i], order[j] = order[j], order[i]
    return order


def moved(changes, kind):
    """A hook on what knows positions, whose output is [.., n, d] or such a pair of cosines and
    sines; None: nothing to change."""
    words = [rest.partition("@") for _, rest in changes.of("positions")]
    words = [what for what, _, place in words if place in ("", "*", kind)]
    if not words:
        return None
    off = words[-1] == "off"

    def hook(_, __, out):
        if isinstance(out, tuple):
            cosine, sine = out
            return (
                (torch.ones_like(cosine), torch.zeros_like(sine))
                if off
                else tuple(
                    t[..., order_of(int(words[-1].split(":")[1]), t.shape[-2]), :] for t in out
                )
            )
        return (
            torch.zeros_like(out)
            if off
            else out[..., order_of(int(words[-1].split(":")[1]), out.shape[-2]), :]
        )

    return hook


def positions_of(model):
    """The modules that give positions, with the stack that reads them."""
    inner = getattr(model, "model", None) or model.transformer
    if hasattr(inner, "encoder"):
        yield from (
            ("encoder", inner.encoder.embed_positions),
            ("decoder", inner.decoder.embed_positions),
        )
    else:
        yield "blocks", inner.wpe if hasattr(inner, "wpe") else inner.rotary_emb


class Changes:
    """The changes of a pass, as Headlight spells them; `frozen`: pattern by head path."""

    def __init__(self, texts, frozen=None):
        self.texts, self.frozen, self.patterns = texts, frozen or {}, {}

    def of(self, *names):
        for text in self.texts:
            name, _, rest = text.partition(":")
            if name in names:
                yield name, rest

    def attention(self, kind, layer, scores, mask, values):
        """scores, mask (0 or the lowest float; or None): [head, query, key]; values: [head, key,
        d]."""
        heads, n, keys = scores.shape
        allowed = (
            torch.ones(heads, n, keys, dtype=torch.bool)
            if mask is None
            else (mask >= 0).expand(heads, n, keys).clone()
        )
        scores, temperature, z_kind = scores.clone(), [1.0] * heads, ["kept"] * heads
        for name, rest in self.of("mask", "unmask", "score", "temperature", "ablate"):
            rest, _, value = rest.partition("=")
            for head in range(heads):
                if name == "ablate":
                    place, _, how = rest.partition(":")
                    mine = concerns(place, kind, layer, head, False)
                    if how == "keep":
                        if (
                            concerns(place.rpartition(".")[0], kind, layer, head, False)
                            and not mine
                        ):
                            z_kind[head] = "zero"
                    elif mine:
                        temperature[head] = {"uniform": float("inf"), "hard": 0.0}.get(
                            how, temperature[head]
                        )
                        z_kind[head] = (
                            how or "zero" if how in ("", "zero", "mean") else z_kind[head]
                        )
                    continue
                what, _, place = rest.partition("@")
                if not concerns(place, kind, layer, head, name == "temperature" or kind != "cross"):
                    continue
                if name == "temperature":
                    temperature[head] = float(what)
                    continue
                queries, columns = (
                    span(part, size) for part, size in zip(what.split(">"), (n, keys))
                )
                for q in queries:
                    for k in columns:
                        if name == "score" and q < n and k < keys:
                            scores[head, q, k] = float(value)
                        elif name != "score" and q < n and k < keys:
                            allowed[head, q, k] = name == "unmask"
        for head, t in enumerate(temperature):
            scores[head] = (
                torch.zeros_like(scores[head])
                if t == float("inf")
                else scores[head] / t
                if t
                else scores[head]
            )
        pattern = torch.softmax(scores.masked_fill(~allowed, LOWEST), dim=-1)
        for head, t in enumerate(temperature):
            if t == 0:
                pattern[head] = torch.nn.functional.one_hot(pattern[head].argmax(-1), keys).float()
            pattern[head] = self.frozen.get(f"{kind}.{layer}.{head}", pattern[head])
        self.patterns[kind, layer] = pattern
        z = pattern @ values
        for head, how in enumerate(z_kind):
            if how == "zero":
                z[head] = 0
            if how == "mean":
                z[head] = z[head].mean(0, keepdim=True)
        return z, pattern


def blocks_of(model):
    """Attention modules with their kind and layer; and for each layer what adds its attention and
    its MLP."""
    inner = getattr(model, "model", None) or model.transformer
    if hasattr(inner, "encoder"):
        for kind, stack in (("encoder", inner.encoder), ("decoder", inner.decoder)):
            for number, layer in enumerate(stack.layers):
                yield kind, number, layer.self_attn, layer.fc2
                if kind == "decoder":
                    yield "cross", number, layer.encoder_attn, None
    else:
        for number, layer in enumerate(getattr(inner, "layers", None) or inner.h):
            yield "blocks", number, getattr(layer, "self_attn", None) or layer.attn, layer.mlp


@contextlib.contextmanager
def changed(model, changes):
    """Within it the model runs with the changes."""
    modeling = importlib.import_module(type(model).__module__)
    own, handles, places = modeling.eager_attention_forward, [], {}

    def silent(_, __, out):
        return (
            (torch.zeros_like(out[0]), *out[1:])
            if isinstance(out, tuple)
            else torch.zeros_like(out)
        )

    for kind, layer, attention, mlp in blocks_of(model):
        places[id(attention)] = kind, layer
        for name, rest in changes.of("skip-attention", "skip-mlp"):
            skipped = attention if name == "skip-attention" else mlp
            if skipped is not None and concerns(rest, kind, layer, None, False):
                handles.append(skipped.register_forward_hook(silent))

    for kind, module in positions_of(model):
        if hook := moved(changes, kind):
            handles.append(module.register_forward_hook(hook))

    def attention(module, query, key, value, attention_mask, scaling=None, **_):
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = (query @ key.transpose(-1, -2)) * (
            scaling if scaling is not None else query.shape[-1] ** -0.5
        )
        mask = None if attention_mask is None else attention_mask[0, :, :, : key.shape[-2]]
        if mask is not None and mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape).masked_fill(~mask, LOWEST)
        z, pattern = changes.attention(*places[id(module)], scores[0], mask, value[0])
        return z[None].transpose(1, 2).contiguous(), pattern[None]

    modeling.eager_attention_forward = attention
    try:
        yield changes
    finally:
        modeling.eager_attention_forward = own
        for handle in handles:
            handle.remove()
