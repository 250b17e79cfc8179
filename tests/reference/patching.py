#!/usr/bin/env python3
"""Activation patching against hooks in transformers, as TransformerLens patches, and its estimates
against autograd: each cell of each map, on random tiny models of three families, with the same seed
in every run. The reference is in float64; what is allowed is five times transformers' own float32
noise.

    patching.py build/headlight [--seed N]
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import random_families
import torch
import transformers
from random_families import Draw
from random_models import randomize

NOISES = 5
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

# Of each family: its layers; of a layer the modules whose output is what attention and the MLP add,
# the one that reads z, and the one that reads the residual stream between attention and MLP.
PLACES = {
    "gpt2": (
        lambda m: m.transformer.h,
        lambda b: b.attn,
        lambda b: b.mlp,
        lambda b: b.attn.c_proj,
        lambda b: b.ln_2,
    ),
    "llama": (
        lambda m: m.model.layers,
        lambda b: b.self_attn,
        lambda b: b.mlp,
        lambda b: b.self_attn.o_proj,
        lambda b: b.post_attention_layernorm,
    ),
    "gemma2": (
        lambda m: m.model.layers,
        lambda b: b.post_attention_layernorm,
        lambda b: b.post_feedforward_layernorm,
        lambda b: b.self_attn.o_proj,
        lambda b: b.pre_feedforward_layernorm,
    ),
}


void = lambda _: None
MEETING = []  # what sees the tensors of attention in the pass that runs


def seen_attention(module, query, key, value, mask, **more):
    """The family's eager attention, whose q, k, v and patterns meet what MEETING holds, as each
    head has them: keys and values that heads share are repeated first."""
    meet, layer = MEETING[-1], module.layer_idx
    groups = query.shape[1] // key.shape[1]
    heads = [query, key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)]
    q, k, v = (met(meet, name, layer, x) for name, x in zip("qkv", heads))
    own = sys.modules[type(module).__module__].eager_attention_forward
    had, module.num_key_value_groups = getattr(module, "num_key_value_groups", 1), 1
    try:
        _, weights = own(module, q, k, v, mask, **more)
    finally:
        module.num_key_value_groups = had
    weights = met(meet, "pattern", layer, weights)
    return (weights @ v).transpose(1, 2), weights


def met(meet, name, layer, x):
    """x [1, head, row, width], as meet has it: [1, row, head · width]."""
    flat = meet(name, layer, x.transpose(1, 2).flatten(2))
    return flat.unflatten(2, (x.shape[1], x.shape[3])).transpose(1, 2)


transformers.AttentionInterface.register("seen", seen_attention)
transformers.AttentionMaskInterface.register(
    "seen", transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS["eager"]
)


class Hooked:
    """A model whose activations are kept in one pass and put into another."""

    def __init__(self, kind, model):
        self.model = model
        layers, self.attention, self.mlp, self.reads_z, self.reads_mid = PLACES[kind]
        self.blocks = list(layers(model))
        c = model.config
        self.heads, self.layers = c.num_attention_heads, len(self.blocks)

    def run(self, ids, cache=None, patch=None, tape=None):
        """Logits [n, vocab]. Fills `cache`, or `tape` with what keeps its gradient, or puts the
        columns and rows of patch (part, layer, rows, columns, values) in place."""
        handles = []

        def meet(part, layer, x):
            if cache is not None:
                cache[part, layer] = x[0].clone()
            if tape is not None:
                tape[part, layer] = x = x.clone().requires_grad_()
                x.retain_grad()
            if patch is None or (part, layer) != patch[:2]:
                return x
            x = x.clone()
            x[0, patch[2], patch[3]] = patch[4][patch[2], patch[3]]
            return x

        def passing(part, layer):
            """The layer adds to the same tensor later, so it is changed in place."""
            return lambda module, inputs: void(inputs[0].copy_(meet(part, layer, inputs[0])))

        def entering(part, layer):
            return lambda module, inputs: (meet(part, layer, inputs[0]), *inputs[1:])

        def leaving(part, layer):
            return lambda module, inputs, out: (
                (meet(part, layer, out[0]), *out[1:])
                if isinstance(out, tuple)
                else meet(part, layer, out)
            )

        for layer, block in enumerate(self.blocks):
            handles += [
                block.register_forward_pre_hook(entering("resid_pre", layer)),
                self.attention(block).register_forward_hook(leaving("attn_out", layer)),
                self.mlp(block).register_forward_hook(leaving("mlp_out", layer)),
                self.reads_z(block).register_forward_pre_hook(entering("z", layer)),
            ]
            if tape is None:
                reads = self.reads_mid(block)
                handles.append(reads.register_forward_pre_hook(passing("resid_mid", layer)))
        MEETING.append(meet if tape is None else lambda part, layer, x: x)
        try:
            return self.model(torch.tensor([ids]), use_cache=False).logits[0]
        finally:
            MEETING.pop()
            for handle in handles:
                handle.remove()


def divergence(clean, logits):
    """D(clean ‖ run) in bits."""
    p, q = torch.log_softmax(clean, -1), torch.log_softmax(logits, -1)
    return (p.exp() * (p - q)).sum() / math.log(2)


BY_HEAD = ("heads", "q", "k", "v", "pattern")
ESTIMATED = ("resid_pre", "attn_out", "mlp_out", "heads", "head", "heads-by-position")
PARTS = (*ESTIMATED, "resid_mid", "q", "k", "v", "pattern")


def every_head(hooked):
    return [(layer, h) for layer in range(hooked.layers) for h in range(hooked.heads)]


def expected(hooked, clean, corrupted, part, head, metric):
    """The map, cell by cell: 0 corrupted, 1 clean."""
    cache = {}
    at_end = hooked.run(clean, cache)[-1]
    value = lambda logits: metric(at_end, logits[-1]).item()
    low, high = value(hooked.run(corrupted)), metric(at_end, at_end).item()
    every, n = slice(None), len(clean)
    held = {"heads": "z", "heads-by-position": "z", "head": "z"}.get(part, part)
    d_head = cache[held, 0].shape[1] // hooked.heads
    columns = lambda h: slice(h * d_head, (h + 1) * d_head)
    if part in BY_HEAD:
        cells = [
            [(held, layer, every, columns(h)) for h in range(hooked.heads)]
            for layer in range(hooked.layers)
        ]
    elif held == "z":
        named = [head] if part == "head" else every_head(hooked)
        cells = [[("z", at, slice(i, i + 1), columns(h)) for i in range(n)] for at, h in named]
    else:
        cells = [
            [(part, layer, slice(i, i + 1), every) for i in range(n)]
            for layer in range(hooked.layers)
        ]
    return np.array(
        [
            [
                (value(hooked.run(corrupted, patch=(*cell, cache[cell[:2]]))) - low) / (high - low)
                for cell in row
            ]
            for row in cells
        ]
    )


def estimated(hooked, clean, corrupted, part, head, metric):
    """The map to first order: (clean − corrupted value) · autograd's gradient in the corrupted
    run."""
    cache, tape = {}, {}
    at_end = hooked.run(clean, cache)[-1]
    with torch.enable_grad():
        low = metric(at_end, hooked.run(corrupted, tape=tape)[-1])
        low.backward()
    between = metric(at_end, at_end) - low.item()
    by_place = lambda at: ((cache[at] - tape[at][0].detach()) * tape[at].grad[0] / between).double()
    d_head = cache["z", 0].shape[1] // hooked.heads
    if part == "heads":
        return torch.stack(
            [
                by_place(("z", layer)).reshape(len(clean), hooked.heads, d_head).sum((0, 2))
                for layer in range(hooked.layers)
            ]
        ).numpy()
    if part in ("head", "heads-by-position"):
        of_head = lambda layer, h: (
            by_place(("z", layer)).reshape(len(clean), hooked.heads, d_head)[:, h].sum(1)
        )
        named = [head] if part == "head" else every_head(hooked)
        return torch.stack([of_head(*one) for one in named]).numpy()
    return torch.stack([by_place((part, layer)).sum(1) for layer in range(hooked.layers)]).numpy()


def ours(program, folder, clean, corrupted, part, head, metric, out, *more):
    what = ["--head", f"{head[0]}.{head[1]}"] if part == "head" else ["--what", part]
    done = subprocess.run(
        list(
            map(
                str,
                [
                    program,
                    "patch",
                    "--model",
                    folder,
                    "--clean-ids",
                    ",".join(map(str, clean)),
                    "--corrupted-ids",
                    ",".join(map(str, corrupted)),
                    *what,
                    "--metric",
                    metric,
                    "-o",
                    out,
                    "--quiet",
                    *more,
                ],
            )
        ),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return np.load(out).astype(np.float64).reshape(-1, np.load(out).shape[-1])


def check(program, kind, seed, folder):
    """The largest error of the family's maps, the noise it is held against, and how many cells
    there were."""
    d = Draw(f"{kind} {seed}")
    d.long = False
    config, head_class = getattr(random_families, "make_" + kind)(d)
    config._attn_implementation = "seen"
    torch.manual_seed(d.randrange(1 << 30))
    model = head_class(config).eval()
    randomize(model, torch.Generator().manual_seed(d.randrange(1 << 30)))
    model.save_pretrained(folder)
    clean = [d.randrange(4, 90) for _ in range(9)]
    corrupted = list(clean)
    corrupted[2], corrupted[5] = (clean[2] + 7) % 90, (clean[5] + 11) % 90
    ends = [Hooked(kind, model).run(ids)[-1] for ids in (clean, corrupted)]
    # Where the two runs differ most.
    a, b = (int((ends[0] - ends[1]).argmax()), int((ends[0] - ends[1]).argmin()))
    metrics = {
        f"#{a} - #{b}": lambda own, logits: logits[a] - logits[b],
        f"logit #{a}": lambda own, logits: logits[a],
        "kl": divergence,
    }
    head = (1, 1)
    maps = [(part, f"#{a} - #{b}") for part in PARTS] + [("heads", f"logit #{a}")]
    if divergence(*ends) > 0.01:  # Gemma 2's random model is sure of one token in both
        maps.append(("attn_out", "kl"))
    worst, cells, largest_noise = 0.0, 0, 0.0
    for reference, more in ((expected, ()), (estimated, ("--estimate",))):
        if more:
            maps = [m for m in maps if m[0] in ESTIMATED]
        single, double = (
            {
                m: reference(
                    Hooked(kind, model.to(dtype)), clean, corrupted, m[0], head, metrics[m[1]]
                )
                for m in maps
            }
            for dtype in (torch.float32, torch.float64)
        )
        noise = max(np.abs(single[m] - double[m]).max() for m in maps)
        for m in maps:
            got = ours(
                program, folder, clean, corrupted, m[0], head, m[1], folder / "map.npy", *more
            )
            assert got.shape == double[m].shape, (
                f"{kind} {m}: {got.shape} instead of {double[m].shape}"
            )
            assert np.abs(double[m]).max() > 100 * noise, f"{kind} {m}: nothing is at stake"
            error = np.abs(got - double[m]).max()
            if not error <= NOISES * noise:
                raise AssertionError(
                    f"{kind} {m} {more}: off by {error:.1e}, float32 noise {noise:.1e}"
                )
            worst, cells, largest_noise = (
                max(worst, error),
                cells + got.size,
                max(largest_noise, noise),
            )
    return worst, largest_noise, cells


@torch.no_grad()
def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=20)
    a = p.parse_args()
    torch.set_num_threads(1)
    failed = 0
    for kind in PLACES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst, noise, cells = check(a.headlight.resolve(), kind, a.seed, Path(folder))
                print(
                    f"{kind}: {cells} patched cells equal transformers' hooks and autograd, "
                    f"largest error {worst:.1e} (its float32 noise: {noise:.1e})"
                )
            except AssertionError as problem:
                failed += 1
                print(f"FAIL {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
