"""Patching of a model in memory, beside loops of hooks written by hand."""

from contextlib import ExitStack
from functools import cache

import headlight
import numpy as np
from given_arrays import sentence_of
from given_runs import CLEAN, CORRUPTED, in_memory, says

IDS = {"clean": [5, 9, 14, 22, 31, 9], "corrupted": [5, 9, 40, 22, 7, 9]}
LAYERS, HEADS, WIDTH = 3, 4, 8
BAR = 1e-5


def metric(logits):
    return logits[-1, 5] - logits[-1, 7] + logits[2].logsumexp(-1)


@cache
def tiny():
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(3)
    size = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": HEADS * WIDTH}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, **size)).eval()
    for name, weight in model.named_parameters():
        weight.data.mul_(12 if "attn.c_" in name else 4 if weight.dim() == 2 else 1)
    return model


@cache
def grouped():
    """Two heads share each key and value."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(4)
    size = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    size |= {"hidden_size": 32, "intermediate_size": 48, "vocab_size": 64}
    return LlamaForCausalLM(LlamaConfig(max_position_embeddings=32, **size)).eval()


def ran(model, name, hooks=()):
    """Logits [position, vocabulary] under hooks: (module, function of what it returns), or
    (module, function of what it reads, "in")."""
    import torch

    with ExitStack() as held, torch.no_grad():
        for module, change, *side in hooks:
            if side:
                hook = module.register_forward_pre_hook(lambda _, given, f=change: (f(given[0]),))
            else:
                hook = module.register_forward_hook(lambda _, __, out, f=change: f(out))
            held.callback(hook.remove)
        return model(torch.tensor([IDS[name]])).logits[0]


def seen(model, name, modules, side=()):
    """What modules return, or read, in a run without changes."""
    kept = {}
    keep = lambda at: lambda tensor: kept.setdefault(at, tensor.clone())
    ran(model, name, [(module, keep(at), *side) for at, module in enumerate(modules)])
    return kept


def put(values, at):
    """A function that puts values at an index of what it is given."""

    def change(tensor):
        tensor = tensor.clone()
        tensor[at] = values[at]
        return tensor

    return change


@cache
def both_runs(model):
    return [float(metric(ran(model, name))) for name in IDS]


def share(model, logits):
    clean, corrupted = both_runs(model)
    return (float(metric(logits)) - corrupted) / (clean - corrupted)


def patch(model, **options):
    given = {f"{name}_ids": ids for name, ids in IDS.items()}
    return headlight.patch(model, metric=metric, **given, **options)


def near(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.abs(want).max() > 1e-2, "nothing to compare"
    error = np.abs(got - want).max() / max(1, np.abs(want).max())
    assert error <= BAR, error


def of_head(head):
    return slice(head * WIDTH, (head + 1) * WIDTH)


def a_metric_may_be_a_function():
    """The same as a loop of hooks, for each place of a tiny GPT-2."""
    model = tiny()
    blocks = list(model.transformer.h)
    every, here = slice(None), range(len(IDS["clean"]))
    for what, modules, side in (
        ("resid_pre", blocks, ("in",)),
        ("attn_out", [block.attn.c_proj for block in blocks], ()),
        ("mlp_out", [block.mlp for block in blocks], ()),
    ):
        clean = seen(model, "clean", modules, side)
        loop = [
            [
                share(model, ran(model, "corrupted", [(m, put(clean[i], (0, at)), *side)]))
                for at in here
            ]
            for i, m in enumerate(modules)
        ]
        found = patch(model, what=what)
        near(found.values, loop)
        assert found.dims == ("layer", "position")
        assert found.metric == "metric"
    reads = [block.attn.c_proj for block in blocks]
    clean = seen(model, "clean", reads, ("in",))
    by_position = [
        [
            [
                share(
                    model, ran(model, "corrupted", [(m, put(clean[i], (0, at, of_head(h))), "in")])
                )
                for at in here
            ]
            for h in range(HEADS)
        ]
        for i, m in enumerate(reads)
    ]
    found = patch(model, what="heads-by-position")
    near(found.values, by_position)
    assert found.dims == ("layer", "head", "position")
    assert found.arrays()["heads-by-position"].shape == (LAYERS * HEADS, len(here))
    near(patch(model, head=(1, 2)).values, [by_position[1][2]])
    heads = [
        [
            share(
                model, ran(model, "corrupted", [(m, put(clean[i], (0, every, of_head(h))), "in")])
            )
            for h in range(HEADS)
        ]
        for i, m in enumerate(reads)
    ]
    near(patch(model, what="heads").values, heads)


def what_a_head_reads_is_patched():
    """q, k and v of GPT-2 by its c_attn, and of a model whose heads share keys by the sum of those
    that share."""
    model, every = tiny(), slice(None)
    modules = [block.attn.c_attn for block in model.transformer.h]
    clean = seen(model, "clean", modules)
    for third, part in enumerate("qkv"):
        at = lambda h, t=third: slice(
            t * HEADS * WIDTH + h * WIDTH, t * HEADS * WIDTH + (h + 1) * WIDTH
        )
        loop = [
            [
                share(model, ran(model, "corrupted", [(m, put(clean[i], (0, every, at(h))))]))
                for h in range(HEADS)
            ]
            for i, m in enumerate(modules)
        ]
        near(patch(model, what=part).values, loop)
    model = grouped()
    modules = [layer.self_attn.q_proj for layer in model.model.layers]
    clean = seen(model, "clean", modules)
    loop = [
        [
            share(model, ran(model, "corrupted", [(m, put(clean[i], (0, every, of_head(h))))]))
            for h in range(4)
        ]
        for i, m in enumerate(modules)
    ]
    near(patch(model, what="q").values, loop)
    both = {part: patch(model, what=part).values for part in ("k", "v", "pattern")}
    assert all(held.shape == (2, 4) for held in both.values())
    assert np.abs(both["k"] - both["v"]).max() > 1e-4
    assert np.abs(both["k"][0, 0] - both["k"][0, 1]) > 1e-7, "they share keys, and read them apart"


def in_memory_is_as_the_program():
    """Every place, and the same metric in words."""
    import torch

    model, tokenizer = in_memory()
    first = int(headlight.run("stories", CLEAN).logits[-1].argmax())
    own = lambda logits: logits[-1].log_softmax(-1)[first]
    both = {"clean": CLEAN, "corrupted": CORRUPTED}
    for (
        what
    ) in "resid_pre resid_mid attn_out mlp_out heads heads-by-position q k v pattern".split():
        want = headlight.patch("stories", what=what, **both)
        got = headlight.patch(model, tokenizer, what=what, metric=own, **both)
        assert np.abs(got.values - want.values).max() < 1e-4, what
        named = lambda held: (held.dims, held.layers, held.columns)
        assert named(got) == named(want), (named(got), named(want))
        assert abs(got.clean - want.clean) < 1e-4
        assert want.figure().svg.startswith("<?xml")
    run = headlight.run(model, tokenizer, CLEAN)
    want = headlight.patch("stories", what="heads", metric="cat - dog", **both).values
    ids = [tokenizer.encode(word)[0] for word in (" cat", " dog")]
    difference = lambda logits: logits[-1, ids[0]] - logits[-1, ids[1]]
    got = run.patch(CORRUPTED, what="heads", metric=difference).values
    assert np.abs(got - want).max() < 1e-4
    assert torch.is_grad_enabled()


def paths_are_those_of_a_hand_written_loop():
    """Wang et al. 2022: every head but the sender frozen, MLPs computed again, then what the
    receivers read."""
    model, every = tiny(), slice(None)
    blocks = model.transformer.h
    z = {name: seen(model, name, [block.attn.c_proj for block in blocks], ("in",)) for name in IDS}

    def frozen(layer, head):
        out = []
        for i, block in enumerate(blocks):
            held = z["corrupted"][i].clone()
            if i == layer:
                held[0, :, of_head(head)] = z["clean"][i][0, :, of_head(head)]
            out.append((block.attn.c_proj, lambda _, held=held: held, "in"))
        return out

    direct = [
        [share(model, ran(model, "corrupted", frozen(i, h))) for h in range(HEADS)]
        for i in range(LAYERS)
    ]
    near(patch(model, receivers="logits").values, direct)
    got = patch(model, sender=(1, 2)).values
    assert got.shape == (1, 1), got
    assert abs(got[0, 0] - direct[1][2]) < BAR
    ends = [(1, 3), (2, 0), (2, 1)]
    for third, part in enumerate("qkv"):
        loop = np.zeros((LAYERS, HEADS))
        for i, h in np.ndindex(LAYERS, HEADS):
            reads, keep = {}, []
            for layer in {end[0] for end in ends}:
                note = lambda out, at=layer: reads.setdefault(at, out.clone())
                keep.append((blocks[layer].attn.c_attn, note))
            ran(model, "corrupted", [*frozen(i, h), *keep])
            changes = []
            for layer, head in ends:
                begin = third * HEADS * WIDTH + head * WIDTH
                at = (0, every, slice(begin, begin + WIDTH))
                changes.append((blocks[layer].attn.c_attn, put(reads[layer], at)))
            loop[i, h] = share(model, ran(model, "corrupted", changes))
        near(patch(model, receivers=ends, part=part).values, loop)
    assert not loop[2].any(), "a head sends to no head of its own layer"


def what_cannot_be_patched_is_said():
    model, tokenizer = in_memory()
    both = {"clean": CLEAN, "corrupted": CORRUPTED}
    in_words = lambda logits: logits[-1, 3]
    says("model in memory", lambda: headlight.patch("stories", metric=in_words, **both))
    says("one of transformers", lambda: headlight.patch("stories", sender=(1, 2), **both))
    ask = lambda **more: sentence_of(
        lambda: headlight.patch(model, tokenizer, **{**both, "metric": in_words, **more})
    )
    assert "one number" in ask(metric=lambda logits: logits[-1])
    assert "the same number" in ask(corrupted="Lily saw a dog and")
    assert "there is nothing to restore" in ask(corrupted=CLEAN)
    assert "There is no head 9.9" in ask(head=(9, 9))
    assert "noise=" in ask(noise="1")
    assert 'not "z"' in ask(what="z")
    assert "leave what and head out" in ask(sender=(1, 2), what="heads")
    assert "give one" in ask(receivers=[(2, 1)])
    assert "leave it out" in ask(sender=(1, 2), part="q")
    assert "belongs to receivers" in ask(part="q")
    assert "tokens of this tokenizer" in ask(sender=(1, 2), metric="Constantinople")
    assert "cannot be read" in ask(sender=(1, 2), metric="kl of what - - -")
    model = tiny()
    assert "tokenizer" in sentence_of(lambda: headlight.patch(model, **{**both, "metric": metric}))


def what_own_passes_compute_is_drawn():
    """As a panel of its numbers: no view of the program shows them."""
    model = tiny()
    for found in (
        patch(model, what="resid_pre"),
        patch(model, what="heads-by-position"),
        patch(model, sender=(1, 2)),
        headlight.attribute(model, ids=IDS["clean"], metric=metric),
    ):
        drawn = found.figure(title="By its own passes", colormap="viridis", width_mm=85)
        assert "By its own passes" in drawn.svg and found.unit in drawn.svg, found
        assert "image/svg+xml" in drawn._repr_mimebundle_()
    assert "resid_pre" in patch(model, what="resid_pre").figure().svg
    says("no page", lambda: headlight.view(found))
    says("leave values= out", lambda: found.figure(values=True))
    says("leave head= out", lambda: found.figure((1, 2)))
