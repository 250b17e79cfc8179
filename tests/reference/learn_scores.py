#!/usr/bin/env python3
"""Scores and normalizers of Learn as torch computes them, for tests/unit/learn_scores_test.cpp.

    learn_scores.py > learn_scores.json

The additive score is written as in its paper, one matrix over [q; k]; sparsemax is found by halving
the interval of τ, not by sorting."""

import json

import torch
import torch.nn.functional as F

QUERIES, KEYS, D, BETA, SIGMA = 3, 6, 8, 5.0, 2.0


def sparsemax(z):
    low, high = z.min() - 1, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (z - middle).clamp(min=0).sum() > 1 else (low, middle)
    return (z - low).clamp(min=0)


torch.manual_seed(17)
draw = lambda *shape: torch.randn(
    *shape, dtype=torch.float32
).double()  # the test reads them as float32
q, k, W, W1, W2, v, location = (
    draw(QUERIES, D),
    draw(KEYS, D),
    draw(D, D),
    draw(D, D),
    draw(D, D),
    draw(D),
    draw(KEYS, D),
)
pairs = torch.cat([q[:, None].expand(-1, KEYS, -1), k[None].expand(QUERIES, -1, -1)], -1)
scores = {
    "dot": torch.einsum("id,jd->ij", q, k),
    "scaled_dot": torch.einsum("id,jd->ij", q, k) / D**0.5,
    "general": torch.einsum("id,de,je->ij", q, W, k) / D**0.5,
    "additive": torch.tanh(pairs @ torch.cat([W1, W2], 1).T) @ v,
    "location": q @ location.T,
    "cosine": BETA * F.cosine_similarity(q[:, None], k[None], dim=-1),
    "kernel": -(torch.cdist(q, k) ** 2) / (2 * SIGMA**2),
}
s = scores["scaled_dot"]
weights = {
    "softmax": torch.softmax(s, -1),
    "sum": s / s.sum(-1, keepdim=True),
    "sparsemax": torch.stack([sparsemax(row) for row in s]),
    "hard": F.one_hot(s.argmax(-1), KEYS).double(),
}
numbers = dict(q=q, k=k, general=W, of_query=W1, of_key=W2, additive=v[:, None], location=location)
print(
    json.dumps(
        {
            "sharpness": BETA,
            "width": SIGMA,
            **{name: x.tolist() for name, x in numbers.items()},
            "scores": {name: x.tolist() for name, x in scores.items()},
            "weights": {name: x.tolist() for name, x in weights.items()},
        },
        indent=None,
    )
)
