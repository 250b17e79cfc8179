#!/usr/bin/env python3
"""Measure the picture model on scenes of another seed: what it names, and where its heads look.

    python models/scenes/evaluate.py models/scenes

Needs torch, numpy and transformers.
"""

import argparse
from pathlib import Path

import torch
from train import accuracy, looks
from transformers import ViTForImageClassification


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder", type=Path)
    p.add_argument("--data", type=Path, help="not needed: the scenes are drawn")
    a = p.parse_args()
    torch.set_num_threads(1)
    model = ViTForImageClassification.from_pretrained(a.folder, dtype=torch.float32)
    right, color, shape = accuracy(model, seed=30_000, rows=2000)
    print(f"right, 2,000 scenes: {right:.1%} (color {color:.1%}, shape {shape:.1%})")
    table, share = looks(model, seed=30_000, rows=500)
    print(f"the largest shape's patches: {share:.0%} of all; the class token's weight on them:")
    for layer, row in enumerate(table):
        print("  " + "  ".join(f"{layer}.{head} {w:.2f}" for head, w in enumerate(row.tolist())))


if __name__ == "__main__":
    main()
