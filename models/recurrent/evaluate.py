#!/usr/bin/env python3
"""Measure the two recurrent networks: the probability of a word that they repeat, by length.

    python models/recurrent/evaluate.py models/recurrent --data DIR

DIR holds stories_valid.txt: 64 pieces of each length are of its stories, 64 are words at random.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from train import SENTENCE, UNKNOWN, Repeater, Texts, probability, words_of

LENGTHS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48)


def open_models(folder):
    """The vocabulary and both networks by name."""
    words = json.loads((folder / "network.json").read_text())["words"]
    stored, models = load_file(folder / "model.safetensors"), {}
    for name in ("without", "attention"):
        models[name] = Repeater(name == "attention").eval()
        models[name].load_state_dict(
            {k[len(name) + 1 :]: v.float() for k, v in stored.items() if k.startswith(name + ".")}
        )
    return words, models


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder", type=Path)
    p.add_argument("--data", type=Path, required=True)
    a = p.parse_args()
    torch.set_num_threads(1)
    words, models = open_models(a.folder)
    number = {w: i for i, w in enumerate(words)}
    to_ids = lambda text: np.array([number.get(w, UNKNOWN) for w in words_of(text)])
    told = to_ids((a.data / "stories_valid.txt").read_text().replace("<|endoftext|>", " "))
    held, sentence = Texts(told, np.random.default_rng(5)), torch.from_numpy(to_ids(SENTENCE))[None]
    print("| words | " + " | ".join(f"{n}, of stories | {n}, at random" for n in models) + " |")
    print("|---" * (1 + 2 * len(models)) + "|")
    for n in LENGTHS:
        x = held.batch(128, n)
        cells = [probability(m, part)[0] for m in models.values() for part in (x[:64], x[64:])]
        print(f"| {n} | " + " | ".join(f"{p:.2f}" for p in cells) + " |")
    for name, model in models.items():
        p, first = probability(model, sentence)
        print(
            f"the article's {sentence.shape[1]} words, {name}: p {p:.3f}, first choice {first:.2f}"
        )


if __name__ == "__main__":
    main()
