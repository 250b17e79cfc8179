"""Live models of architectures that the program does not open: patterns made of q and k, residual
streams and lenses equal what transformers' eager attention, plain hooks and logits give."""

import headlight
import numpy as np
import torch
from coverage import KINDS, build
from engine_client import Client, pattern

IDS = [5, 9, 14, 22, 31, 40, 9, 14, 60, 7, 33, 21]
TARGET = [1, 9, 14, 22]
BAR = 1e-5
WORST = [0.0]


def tiny(family, kind="causal"):
    """A random model of the family, with weights that make patterns far from uniform."""
    return build(family, KINDS[kind][1])


def plain(model, layers, arguments):
    """Attentions, logits, and what each layer reads and returns, by plain hooks."""
    seen, hooks = {}, []
    first = lambda held: held[0] if isinstance(held, tuple) else held

    def entering(at):
        def hook(_, given, named):
            read = given[0] if given else named["hidden_states"]
            seen.setdefault(at + ".hook_resid_pre", read[0].clone())

        return hook

    def leaving(at):
        def hook(_, __, out):
            seen.setdefault(at + ".hook_resid_post", first(out)[0].clone())

        return hook

    modules = dict(getattr(model, "base_model", model).named_modules())
    for at, name in layers.items():
        hooks.append(modules[name].register_forward_pre_hook(entering(at), with_kwargs=True))
        hooks.append(modules[name].register_forward_hook(leaving(at)))
    with torch.no_grad():
        out = model(**arguments, output_attentions=True, use_cache=False)
    for hook in hooks:
        hook.remove()
    return out, seen


def near(what, got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"{what}: {got.shape} and {want.shape}"
    error = float(np.abs(got - want).max()) / max(1.0, float(np.abs(want).max()))
    WORST[0] = max(WORST[0], error)
    assert error <= BAR, f"{what} differs by {error:.1e}"


def attentions_of(out, pair):
    """By stack and whether it is cross-attention, those that a pass returned."""
    if not pair:
        return {("blocks", False): out.attentions}
    return {
        ("encoder", False): out.encoder_attentions,
        ("decoder", False): out.decoder_attentions,
        ("decoder", True): out.cross_attentions,
    }


def as_hooked(model, family):
    """Compare a served model with its own outputs. Returns what was compared."""
    pair = bool(model.config.is_encoder_decoder)
    arguments = {"input_ids": torch.tensor([IDS])}
    fields = {"ids": IDS, "capture": ["*"]}
    if pair:
        arguments["decoder_input_ids"], fields["target_ids"] = torch.tensor([TARGET]), TARGET
    with headlight.live(model) as server, Client(server.address) as client:
        told, _ = client.ask("describe")
        header, got = client.ask("run", **fields)
        blocks = {block["at"]: block for block in told["blocks"]}
        layers = {
            at.rpartition(".")[0]: block["module"]
            for at, block in blocks.items()
            if block["module"] and not at.endswith("cross_attn")
        }
        if len(set(layers.values())) < len(layers):
            layers = {}  # layers that share a module
        out, seen = plain(model, layers, arguments)
        patterns = _patterns(family, header["rules"], got, attentions_of(out, pair))
        streams = [name for name in seen if name in got]
        for name in streams:
            near(f"{family} {name}", got[name], seen[name])
        _sums(family, got)
        if told["can"]["lens"]:
            _lens(family, client, got["hook_resid_final"], out.logits[0])
    return {"patterns": patterns, "streams": len(streams), "told": told}


def _patterns(family, rules, got, attentions):
    """Patterns that were sent, and those that q and k say, beside transformers'."""
    count = 0
    for (stack, cross), held in attentions.items():
        ats = [at for at in rules if at.startswith(stack) and at.endswith("cross_attn") == cross]
        held = [part for part in held or () if part is not None and part.dim() == 4]
        assert len(held) in (0, len(ats)), f"{family}: {len(held)} of {len(ats)} {stack}"
        for at, want in zip(ats, held):
            want = want[0, ..., : len(got[at + ".hook_pattern"][0, 0])]
            near(f"{family} {at}", got[at + ".hook_pattern"], want)
            for head in range(len(want)) if rules[at]["says"] else ():
                made = pattern(got, rules, at, head)
                near(f"{family} {at}.{head} of q and k", made, want[head])
                count += 1
    return count


def _sums(family, got):
    """resid_pre + attn_out + mlp_out = resid_post, where norms stand before."""
    for name in [n for n in got if n.endswith("hook_mlp_out") and not n.startswith("decoder")]:
        at = name.removesuffix("hook_mlp_out")
        if at + "hook_attn_out" not in got or at + "hook_resid_mid" not in got:
            continue
        mid = got[at + "hook_resid_pre"] + got[at + "hook_attn_out"]
        if np.abs(mid - got[at + "hook_resid_mid"]).max() < 1e-5:
            near(f"{family} {at}", mid + got[name], got[at + "hook_resid_post"])


def _lens(family, client, rows, logits):
    _, found = client.ask("lens", {"rows": rows}, top=5, tokens=[1, 2])
    near(f"{family} lens", found["logits"], logits[:, [1, 2]])
    near(f"{family} lens, top", found["top_logits"], logits.topk(5).values)
    near(f"{family} lens, log p", found["log_p"], logits.log_softmax(-1)[:, [1, 2]])


def served(kind, *families):
    """Serve each; return what describe says of them."""
    return {family: as_hooked(tiny(family, kind), family) for family in families}


def mixtures_and_sinks_are_served():
    held = served("causal", "bitnet", "jetmoe", "mimo_v2_flash", "gpt_oss", "gemma2")
    for family, found in held.items():
        assert found["patterns"] == 12 and found["streams"] == 6, family
        can = found["told"]["can"]
        assert all(can[n] for n in ("reuse", "lens", "positions", "noise", "generate")), family


def hybrids_show_the_layers_that_attend():
    for family, found in served("causal", "lara_mini", "lfm3", "recurrent_gemma").items():
        assert found["patterns"] == 4 and found["told"]["can"]["lens"], family


def streams_of_other_shapes_are_offered_where_they_are_there():
    families = ("beam", "doge", "dory", "gemma3n_text", "hrm_text", "inkling_text", "hy_v4")
    held = served("causal", *families)
    assert held["beam"]["patterns"] == held["gemma3n_text"]["patterns"] == 12
    assert held["hrm_text"]["patterns"] == 96, "layers that run several times"
    assert not held["hy_v4"]["told"]["can"]["attention"], "attention that says more is not changed"
    offered = held["doge"]["told"]["tensors_of_layers"]
    assert "blocks.0.hook_resid_pre" in offered and "blocks.0.hook_attn_out" not in offered


def encoders_are_served():
    held = served("masked", "convbert", "mobilebert", "nystromformer", "ultrabert", "layoutlm")
    assert all(found["streams"] == 6 for found in held.values())
    assert held["ultrabert"]["told"]["kind"] == held["mobilebert"]["told"]["kind"] == "encoder"


def pairs_are_served():
    held = served("seq2seq", "prophetnet", "switch_transformers", "umt5", "m2m_100", "t5gemma")
    assert held["switch_transformers"]["patterns"] == 108, "with a bias by distance"
    assert held["umt5"]["told"]["kind"] == "encoder_decoder" and held["umt5"]["told"]["can"]["lens"]


def zeroed(module, part=None, before=False):
    """A hook that zeroes a module's output, or a part of what it reads."""

    def leaving(_, __, out):
        return (torch.zeros_like(out[0]), *out[1:]) if isinstance(out, tuple) else out * 0

    def entering(_, given):
        held = given[0].clone()
        held[..., part] = 0
        return (held, *given[1:])

    if before:
        return module.register_forward_pre_hook(entering)
    return module.register_forward_hook(leaving)


def changes_are_those_of_hooks():
    """Of an architecture that the program does not open: heads, blocks, and rows of other texts."""
    model = tiny("mimo_v2_flash")
    layer, ids = model.model.layers[1], torch.tensor([IDS])
    width = layer.self_attn.o_proj.weight.shape[1] // model.config.num_attention_heads
    head = slice(2 * width, 3 * width)
    read = lambda: model(ids).logits[0].detach()
    with headlight.live(model) as server, Client(server.address) as client:
        ask = lambda *changes: client.ask("run", ids=IDS, capture=["logits"], changes=changes)[1]
        for change, hook in (
            ("ablate:1.2", lambda: zeroed(layer.self_attn.o_proj, head, before=True)),
            ("skip-attention:1", lambda: zeroed(layer.self_attn)),
            ("skip-mlp:1", lambda: zeroed(layer.mlp)),
        ):
            held = hook()
            want = read()
            held.remove()
            near(change, ask(change)["logits"], want)
        rows = {}
        held = layer.register_forward_pre_hook(lambda _, given: rows.setdefault(0, given[0]) * 1)
        want = read()
        held.remove()
        near("a patch undoes", ask("ablate:0.1", "patch-resid:*@1")["logits"], want)
        near("a mask of no cell", ask("mask:500>0")["logits"], want)


def half_precision_is_sent_as_it_is():
    model = tiny("mimo_v2_flash").to(torch.bfloat16)
    with headlight.live(model) as server, Client(server.address) as client:
        assert client.about["dtype"] == "bfloat16"
        _, got = client.ask("run", ids=IDS)
        with torch.no_grad():
            want = model.model(torch.tensor([IDS]), output_hidden_states=True).hidden_states[1]
        rows = got["blocks.1.hook_resid_pre"]
        assert np.abs(rows - want[0].float().numpy()).max() < 0.02 * np.abs(rows).max()
        assert np.array_equal(torch.tensor(rows).to(torch.bfloat16).float().numpy(), rows)
