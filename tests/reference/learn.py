#!/usr/bin/env python3
"""Learn's computations against numpy and torch: scores, normalizers, masks, local windows, the
softmax's gradient, sampled variances, singular values, the worked example.

    learn.py HEADLIGHT_TESTS [--seed N]

Writes random cases with what the libraries make of them; the unit test "learn reference"
compares."""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


def tensor(rng, *shape, scale=1.0):
    """Random numbers that float32 holds exactly."""
    return torch.tensor((rng.standard_normal(shape) * scale).astype(np.float32).astype(np.float64))


def listed(value):
    """Matrices as JSON: rows of numbers, null for NaN."""
    rows = (
        torch.as_tensor(value).reshape(-1, torch.as_tensor(value).shape[-1])
        if torch.as_tensor(value).ndim
        else torch.as_tensor(value).reshape(1, 1)
    )
    return [[None if math.isnan(x) else x for x in row] for row in rows.tolist()]


def scores(rng):
    n, m, d = 3, int(rng.integers(1, 9)), int(rng.integers(1, 40))
    q, k, w, w1, w2, v, place = (
        tensor(rng, *s) for s in ((n, d), (m, d), (d, d), (d, d), (d, d), (1, d), (m, d))
    )
    sharpness, width = 4.0, 2.5
    made = {
        "dot": q @ k.T,
        "scaled_dot": q @ k.T / math.sqrt(d),
        "general": q @ w @ k.T / math.sqrt(d),
        "additive": torch.tanh((q @ w1.T)[:, None] + (k @ w2.T)[None]) @ v[0],
        "location": q @ place.T,
        "cosine": sharpness * torch.nn.functional.cosine_similarity(q[:, None], k[None], dim=-1),
        "kernel": -(torch.cdist(q, k) ** 2) / (2 * width**2),
    }
    inputs = {
        "q": listed(q),
        "k": listed(k),
        "general": listed(w),
        "of_query": listed(w1),
        "of_key": listed(w2),
        "additive": listed(v),
        "location": listed(place),
        "sharpness": sharpness,
        "width": width,
    }
    return [
        dict(function="scores", name=name, expected=listed(value), **inputs)
        for name, value in made.items()
    ]


def sparsemax(s):
    """τ by bisection: the same point by another way than sorting."""
    low, high = s.max() - 1, s.max()
    for _ in range(200):
        middle = (low + high) / 2
        if torch.clamp(s - middle, min=0).sum() > 1:
            low = middle
        else:
            high = middle
    return torch.clamp(s - high, min=0)


def normalizers(rng):
    s = tensor(rng, int(rng.integers(1, 30)), scale=float(rng.choice([0.1, 1, 5])))
    made = {
        "softmax": torch.softmax(s, 0),
        "sum": s / s.sum(),
        "sparsemax": sparsemax(s),
        "hard": torch.nn.functional.one_hot(s.argmax(), len(s)).double(),
    }
    if abs(float(s.sum())) < 0.05 * float(s.abs().sum()):
        del made["sum"]  # a quotient of nearly nothing
    return [
        dict(function="normalizer", name=name, s=listed(s), expected=listed(value))
        for name, value in made.items()
    ]


def masks(rng):
    s, allowed = tensor(rng, 12).float(), torch.tensor(rng.random(12) < rng.choice([0, 0.5, 1]))
    made = {
        "none": torch.softmax(s, 0),
        "infinity_before": torch.softmax(s.masked_fill(~allowed, -math.inf), 0),
        "zero_after": torch.softmax(s, 0).masked_fill(~allowed, 0),
        "large_before": torch.softmax(s.masked_fill(~allowed, -1e9), 0),
    }
    return [
        dict(function="mask", way=i, s=listed(s), allowed=allowed.tolist(), expected=listed(value))
        for i, value in enumerate(made.values())
    ]


def local(rng):
    s, center, half = (
        tensor(rng, 20),
        float(np.float32(rng.uniform(0, 20))),
        int(rng.integers(1, 6)),
    )
    apart = torch.arange(20) - center
    weights = torch.softmax(s.masked_fill(apart.abs() > half, -math.inf), 0)
    weights = torch.nan_to_num(weights, nan=0.0)  # no key within the window
    bell = torch.exp(-(apart**2) / (2 * (half / 2) ** 2))
    return [
        dict(
            function="local",
            s=listed(s),
            center=center,
            half=half,
            gaussian=g,
            expected=listed(weights * bell if g else weights),
        )
        for g in (False, True)
    ]


def gradient(rng):
    s = tensor(rng, int(rng.integers(2, 20)), scale=2)
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), s)
    a = torch.softmax(s, 0)
    return [
        dict(
            function="softness",
            s=listed(s),
            expected=[[float(-(a * a.log2()).sum()), float(jacobian.norm())]],
        )
    ]


def draws(seed, count):
    """Draws of core/base/draws.h, by numpy's Mersenne twister."""
    bits = np.random.RandomState(seed).randint(0, 2**32, 2 * count, dtype=np.uint32)
    u = (bits.astype(np.float64) + 0.5) / 2**32
    return np.sqrt(-2 * np.log(u[0::2])) * np.cos(2 * np.pi * u[1::2])


def variance(rng):
    d, count, seed = int(rng.choice([1, 3, 16, 64])), 500, int(rng.integers(0, 1000))
    pairs = draws(seed, 2 * d * count).reshape(count, d, 2)
    products = (pairs[..., 0] * pairs[..., 1]).sum(1)
    s2, m4 = products.var(ddof=1), ((products - products.mean()) ** 4).mean()
    error = math.sqrt((m4 - s2**2 * (count - 3) / (count - 1)) / count)
    # Draws of another kind.
    other = rng.standard_normal((20000, d)) * rng.standard_normal((20000, d))
    scatter = other.sum(1).var(ddof=1)
    return [
        dict(
            function="spread", d=d, draws=count, seed=seed, expected=[[products.mean(), s2, error]]
        ),
        dict(
            function="near",
            d=d,
            seed=seed,
            variance=scatter,
            error=float(scatter * math.sqrt(8 / 20000)),
            expected=[[1]],
        ),
    ]


def singular(rng):
    d, h = int(rng.integers(8, 60)), int(rng.integers(1, 8))
    down, up = tensor(rng, d, h), tensor(rng, h, d)
    return [
        dict(
            function="singular",
            down=listed(down),
            up=listed(up),
            expected=listed(torch.linalg.svdvals(down @ up)[:h]),
        )
    ]


def worked(rng):
    x, q, k, v = tensor(rng, 3, 3), tensor(rng, 3, 2), tensor(rng, 3, 2), tensor(rng, 3, 2)
    y = torch.nn.functional.scaled_dot_product_attention(
        (x @ q)[None], (x @ k)[None], (x @ v)[None]
    )[0]
    return [
        dict(
            function="worked",
            words=listed(x),
            m_q=listed(q),
            m_k=listed(k),
            m_v=listed(v),
            query=i,
            expected=listed(y[i]),
        )
        for i in range(3)
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    rng = np.random.default_rng(args.seed)
    cases = [
        case
        for _ in range(12)
        for make in (scores, normalizers, masks, local, gradient, variance, singular, worked)
        for case in make(rng)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(cases, file)
        run = subprocess.run(
            [args.program, "--test-case=learn reference*", "--success=false"],
            env={**os.environ, "HEADLIGHT_LEARN": path},
            capture_output=True,
            text=True,
        )
    print(run.stdout[-4000:], run.stderr[-2000:])
    return run.returncode or f"{len(cases)} cases of Learn" not in run.stdout


if __name__ == "__main__":
    sys.exit(main())
