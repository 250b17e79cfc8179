#!/usr/bin/env python3
"""What torch computes with models/recurrent: states, probabilities and gradients through time, for
tests/unit/learn_recurrent_test.cpp.

    recurrent.py > recurrent.json
"""

import json
import math
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/recurrent"))
from train import SENTENCE, WIDTH, Repeater, words_of  # noqa: E402

words = json.loads((ROOT / "models/recurrent/network.json").read_text())["words"]
stored = load_file(ROOT / "models/recurrent/model.safetensors")
models = {name: Repeater(name == "attention").eval() for name in ("without", "attention")}
for name, model in models.items():
    model.load_state_dict(
        {k.removeprefix(name + "."): v.float() for k, v in stored.items() if k.startswith(name)}
    )


def gradients(model, x):
    """‖∂h_T/∂h_t‖ / √width, by autograd: each state is a leaf from which the rest is run again."""
    out = []
    with torch.no_grad():
        states = model.encoder(model.embedding(x))[0][0]
    for t in range(x.shape[1] - 1):
        rest = model.embedding(x[:, t + 1 :]).detach()
        end = lambda h: model.encoder(rest, h[None, None])[1][0, 0]
        out.append(
            torch.autograd.functional.jacobian(end, states[t]).norm().item() / math.sqrt(WIDTH)
        )
    return [*out, 1.0]


rows = []
for text in (
    "The old man gave the ball to a girl.",
    "Lily had a zzyzx",
    " ".join(SENTENCE.split()[:20]),
):
    x = torch.tensor([[words.index(w) if w in words[2:] else 1 for w in words_of(text)]])
    row = dict(text=text)
    with torch.no_grad():
        row["end"] = models["without"].encoder(models["without"].embedding(x))[1][0, 0].tolist()
        for name, model in models.items():
            row[name] = model(x).softmax(2).gather(2, x[..., None])[0, :, 0].tolist()
    row["gradient"] = gradients(models["without"], x)
    rows.append(row)
json.dump(rows, sys.stdout)
print()
