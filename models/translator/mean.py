#!/usr/bin/env python3
"""Write the weighted mean of translators that were trained on from one beginning (Wortsman et al.
2022, "Model soups").

    python models/translator/mean.py OUT A=0.15 B=0.45 C=0.4

A, B and C are folders; the weights sum to 1. Tokenizer and configuration are the first one's.
"""

import shutil
import sys
from pathlib import Path

import torch
from transformers import MarianMTModel

TOKENIZER = ("source.spm", "target.spm", "vocab.json", "tokenizer.json", "tokenizer_config.json")


def main():
    out, parts = (
        Path(sys.argv[1]),
        [
            (folder, float(share))
            for folder, share in (word.rsplit("=", 1) for word in sys.argv[2:])
        ],
    )
    if abs(sum(share for _, share in parts) - 1) > 1e-6:
        sys.exit("the weights do not sum to 1")
    models = [MarianMTModel.from_pretrained(folder, dtype=torch.float32) for folder, _ in parts]
    tables = [model.state_dict() for model in models]
    models[0].load_state_dict(
        {
            name: sum(share * table[name] for (_, share), table in zip(parts, tables))
            for name in tables[0]
        }
    )
    out.mkdir(exist_ok=True)
    models[0].half().save_pretrained(out)
    for name in TOKENIZER:
        shutil.copy(Path(parts[0][0]) / name, out / name)


if __name__ == "__main__":
    main()
