#!/usr/bin/env python3
"""Train a small vision transformer that names the largest of several shapes: "red circle".

    python models/scenes/train.py --out models/scenes --minutes 4

The pictures are drawn anew for each step (scenes.py), so there is no training set; held out are
those of another seed. The folder written loads with transformers (ViTForImageClassification,
ViTImageProcessor) and with Headlight.

Needs torch, numpy and transformers.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import scenes
import torch
import torch.nn.functional as F
from transformers import ViTConfig, ViTForImageClassification

PATCH, WIDTH, LAYERS, HEADS, INNER = 8, 64, 3, 4, 192


def make_model():
    names = dict(enumerate(scenes.CLASSES))
    return ViTForImageClassification(
        ViTConfig(
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=INNER,
            image_size=scenes.SIDE,
            patch_size=PATCH,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.05,
            id2label=names,
            label2id={v: k for k, v in names.items()},
        )
    )


def tensors(scene):
    pixels = torch.from_numpy(scene.pixels).permute(0, 3, 1, 2).float() / 127.5 - 1
    return pixels, torch.from_numpy(scene.answers)


@torch.no_grad()
def accuracy(model, seed=10_000, rows=1000):
    """Whole answers, colors and shapes right, on held-out scenes."""
    model.eval()
    x, y = tensors(scenes.draw(np.random.default_rng(seed), rows))
    found = torch.cat([model(x[i : i + 100]).logits.argmax(1) for i in range(0, rows, 100)])
    model.train()
    shapes = len(scenes.SHAPES)
    return [
        (a == b).float().mean().item()
        for a, b in ((found, y), (found // shapes, y // shapes), (found % shapes, y % shapes))
    ]


@torch.no_grad()
def looks(model, seed=10_000, rows=200):
    """[layers, heads]: the class token's mean weight on the patches of the largest shape, and the
    share of all patches that those are."""
    model.eval()
    model.set_attn_implementation("eager")
    scene = scenes.draw(np.random.default_rng(seed), rows)
    out = model(tensors(scene)[0], output_attentions=True)
    model.set_attn_implementation("sdpa")
    model.train()
    n = scenes.SIDE // PATCH
    inside = torch.from_numpy(scene.largest).view(rows, n, PATCH, n, PATCH)
    inside = inside.float().mean((2, 4)).flatten(1) >= 0.25  # a patch counts from a quarter on
    table = torch.stack(
        [(a[:, :, 0, 1:] * inside[:, None]).sum(-1).mean(0) for a in out.attentions]
    )
    return table, inside.float().mean().item()


def save(model, out):
    out.mkdir(parents=True, exist_ok=True)
    half = make_model()
    half.load_state_dict(model.state_dict())
    half.half().save_pretrained(out)
    half_of_range = [0.5, 0.5, 0.5]
    processor = dict(
        do_normalize=True,
        do_rescale=True,
        do_resize=True,
        image_mean=half_of_range,
        image_std=half_of_range,
        image_processor_type="ViTImageProcessor",
        resample=2,
        rescale_factor=1 / 255,
        size=dict(height=scenes.SIDE, width=scenes.SIDE),
    )
    (out / "preprocessor_config.json").write_text(json.dumps(processor, indent=1) + "\n")


def report(model, minutes, step, losses):
    table, share = looks(model)
    at = int(table.argmax())
    right = " ".join(f"{v:.3f}" for v in accuracy(model))
    print(
        f"{minutes:.1f} min step {step} loss {np.mean(losses[-100:]):.3f}; held out: "
        f"answer, color, shape {right}; the class token's weight on the largest shape "
        f"{table.max():.2f} "
        f"(head {at // HEADS}.{at % HEADS}; its patches are {share:.2f} of all)",
        flush=True,
    )


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--minutes", type=float, default=4, help="processor minutes")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--every", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    rng, model = np.random.default_rng(a.seed), make_model().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.lr, betas=(0.9, 0.98), weight_decay=0.01)
    print(f"{sum(p.numel() for p in model.parameters())} weights", flush=True)
    start, step, losses = time.process_time(), 0, []
    while (minutes := (time.process_time() - start) / 60) < a.minutes:
        factor = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * minutes / a.minutes))
        for group in optimizer.param_groups:
            group["lr"] = a.lr * factor * min(1, (step + 1) / 100)
        x, y = tensors(scenes.draw(rng, a.batch))
        loss = F.cross_entropy(model(x).logits, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        step += 1
        if step % a.every == 0:
            report(model, minutes, step, losses)
            save(model, a.out)
    report(model, minutes, step, losses)
    save(model, a.out)


if __name__ == "__main__":
    main()
