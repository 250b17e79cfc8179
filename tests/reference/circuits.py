#!/usr/bin/env python3
"""Circuits of the story model against a few lines of numpy that form each matrix whole, in float64;
and where scores come from against hooks' values of random tiny models: the head's share of a score
from its own output in transformers, and the sum of all shares from q·k.

    circuits.py build/headlight [--seed N]
"""

import argparse
import functools
import json
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
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parents[2]
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Stories:
    """The story model's matrices of each head, with the gain of the norm that reads the stream in
    those that read."""

    def __init__(self):
        self.w = {
            k.removeprefix("transformer."): v.astype(np.float64)
            for k, v in load_file(ROOT / "models/stories/model.safetensors").items()
        }
        c = json.loads((ROOT / "models/stories/config.json").read_text())
        self.layers, self.heads, self.d = c["n_layer"], c["n_head"], c["n_embd"]
        self.width, self.eps = self.d // self.heads, c["layer_norm_epsilon"]

    def head(self, layer, head, biases=False):
        """W_Q, W_K, W_V [d, width] and W_O [width, d]; or b_Q, b_K."""
        at = slice(head * self.width, (head + 1) * self.width)
        if biases:
            return [b[at] for b in np.split(self.w[f"h.{layer}.attn.c_attn.bias"], 3)[:2]]
        q, k, v = (m[:, at] for m in np.split(self.w[f"h.{layer}.attn.c_attn.weight"], 3, axis=1))
        return q, k, v, self.w[f"h.{layer}.attn.c_proj.weight"][at]

    def norm(self, x, name, bias=False, scale=True):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) if scale else x
        return x * self.w[name + ".weight"] + (self.w[name + ".bias"] if bias else 0)

    def circuits(self, layer, head):
        """QK [vocab, vocab] and OV [vocab, vocab], each less the mean of its row."""
        q, k, v, o = self.head(layer, head)
        e = self.norm(self.w["wte.weight"], f"h.{layer}.ln_1")
        qk = (e @ q) @ (e @ k).T / np.sqrt(self.width)
        ov = (e @ v) @ self.norm(o, "ln_f", scale=False) @ self.w["wte.weight"].T
        return [m - m.mean(1, keepdims=True) for m in (qk, ov)]

    def previous(self, layer, head, n=64):
        (q, k, _, _), (bq, bk) = self.head(layer, head), self.head(layer, head, True)
        x = self.norm(
            self.w["wte.weight"].mean(0) + self.w["wpe.weight"][:n], f"h.{layer}.ln_1", bias=True
        )
        scores = (x @ q + bq) @ (x @ k + bk).T / np.sqrt(self.width)
        scores[np.triu_indices(n, 1)] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return np.diagonal(weights / weights.sum(1, keepdims=True), -1).mean()

    @functools.cache  # noqa: B019, lives as long as the process
    def joined(self, layer, head):
        """W_Q W_Kᵀ and W_V W_O, whole."""
        read = lambda m: self.norm(m.T, f"h.{layer}.ln_1", scale=False).T
        q, k, v, o = self.head(layer, head)
        return read(q) @ read(k).T, read(v) @ o

    def composition(self, writer, reader):
        (_, ov), (qk, next_ov) = self.joined(*writer), self.joined(*reader)
        return [
            np.linalg.norm(ov @ m) / (np.linalg.norm(ov) * np.linalg.norm(m))
            for m in (qk, qk.T, next_ov)
        ]


def greedy(m, count):
    """(row, column, value) from the largest down, each row and column once."""
    m, out = m.copy(), []
    for _ in range(count):
        row, column = np.unravel_index(m.argmax(), m.shape)
        out.append((int(row), int(column), m[row, column]))
        m[row], m[:, column] = -np.inf, -np.inf
    return out


def check_stories(program):
    s, worst = Stories(), 0.0
    for layer, head in ((0, 3), (1, 2)):
        found = json.loads(
            run(
                program, "circuits", "--head", f"{layer}.{head}", "--json", "--pairs", 12, "--quiet"
            )
        )
        circuits = s.circuits(layer, head)
        for key, want, (left, right) in zip(
            ("qk", "ov"), circuits, (("query", "key"), ("attended", "promoted"))
        ):
            pairs = greedy(want, 12)
            assert [(p[left + "_id"], p[right + "_id"]) for p in found[key]["pairs"]] == [
                p[:2] for p in pairs
            ], (key, found[key]["pairs"][:3], pairs[:3])
            worst = max(
                [worst]
                + [abs(p["value"] - w[2]) / abs(w[2]) for p, w in zip(found[key]["pairs"], pairs)]
            )
        qk, ov = circuits
        values = np.linalg.eigvals(
            s.norm(s.w["wte.weight"], f"h.{layer}.ln_1").T
            @ (s.w["wte.weight"] - s.w["wte.weight"].mean(0))
            @ (s.head(layer, head)[2] @ s.norm(s.head(layer, head)[3], "ln_f", scale=False)).T
        )
        want = {
            "copying": values.real.sum() / np.abs(values).sum(),
            "previous_token": s.previous(layer, head),
            "duplicate_token": (np.diagonal(qk) / qk.std(1)).mean(),
        }
        for name, value in want.items():
            worst = max(worst, abs(found["scores"][name] - value) / max(abs(value), 0.1))
        for row in found["composition"]["reads"]:
            writer = tuple(map(int, row["head"].split(".")))
            worst = max(
                [worst]
                + [
                    abs(row[kind] - value) / value
                    for kind, value in zip("QKV", s.composition(writer, (layer, head)))
                ]
            )
        assert len(found["composition"]["reads"]) == layer * s.heads
        assert len(found["composition"]["is_read_by"]) == (s.layers - 1 - layer) * s.heads
    strongest = json.loads(
        run(program, "circuits", "--composition", "--json", "--pairs", 1, "--quiet")
    )["pairs"][0]
    all_pairs = [
        (value, kind, (lw, hw), (lr, hr))
        for lr in range(s.layers)
        for lw in range(lr)
        for hw in range(s.heads)
        for hr in range(s.heads)
        for kind, value in zip("QKV", s.composition((lw, hw), (lr, hr)))
    ]
    value, kind, writer, reader = max(all_pairs)
    assert (strongest["kind"], strongest["writes"], strongest["reads"]) == (
        kind,
        "{}.{}".format(*writer),
        "{}.{}".format(*reader),
    ), (strongest, max(all_pairs))
    return max(worst, abs(strongest["value"] - value) / value)


# Of each family: the layers, the attention module and the output matrix of a layer, and the norm
# before its attention.
PLACES = {
    "gpt2": (lambda m: m.transformer.h, lambda b: b.attn.c_proj, lambda b: b.ln_1),
    "llama": (lambda m: m.model.layers, lambda b: b.self_attn.o_proj, lambda b: b.input_layernorm),
}


def head_share(kind, model, ids, query, key, head):
    """Head 0.`head`'s share of the score of head 1.0, on the query's side: of q·k / √d with q made
    of that head's output alone, in float64."""
    layers, out_matrix, norm = (f for f in PLACES[kind])
    blocks, held = list(layers(model)), {}
    handles = [
        out_matrix(blocks[0]).register_forward_pre_hook(
            lambda m, x: held.update(z=x[0][0].clone())
        ),
        norm(blocks[1]).register_forward_pre_hook(lambda m, x: held.update(x=x[0][0].clone())),
        norm(blocks[1]).register_forward_hook(lambda m, x, y: held.update(read=y[0].clone())),
    ]
    model(torch.tensor([ids]), use_cache=False)
    for handle in handles:
        handle.remove()
    c, block = model.config, blocks[1]
    width = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    scale = 1 / np.sqrt(width)
    o = out_matrix(blocks[0]).weight.T if kind == "llama" else out_matrix(blocks[0]).weight
    at = slice(head * width, (head + 1) * width)
    added, x = held["z"][query, at] @ o[at], held["x"][query]
    if kind == "gpt2":
        scale = (scale if c.scale_attn_weights else 1) / (
            2 if c.scale_attn_by_inverse_layer_idx else 1
        )
        seen = (
            (added - added.mean())
            / torch.sqrt(x.var(unbiased=False) + c.layer_norm_epsilon)
            * norm(block).weight
        )
        q, k = (
            seen @ block.attn.c_attn.weight[:, :width],
            held["read"][key] @ block.attn.c_attn.weight[:, c.hidden_size : c.hidden_size + width]
            + block.attn.c_attn.bias[c.hidden_size : c.hidden_size + width],
        )
    else:
        seen = added / torch.sqrt((x * x).mean() + c.rms_norm_eps) * norm(block).weight
        a = block.self_attn
        q, k = (
            (v @ m.weight.T)[:width]
            + (m.bias[:width] if m.bias is not None and m is a.k_proj else 0)
            for v, m in ((seen, a.q_proj), (held["read"][key], a.k_proj))
        )
        cos, sin = (
            t[0].double()
            for t in model.model.rotary_emb(held["x"][None], torch.arange(len(ids))[None])
        )
        half = width // 2
        turn = lambda v, at: v * cos[at] + torch.cat((-v[half:], v[:half])) * sin[at]
        q, k = turn(q, query), turn(k, key)
    return (q @ k).item() * scale


def check_origins(program, kind, seed, folder):
    d = Draw(f"{kind} origins {seed}")
    d.long = False
    config, head_class = getattr(random_families, "make_" + kind)(d)
    config._attn_implementation = "eager"
    torch.manual_seed(d.randrange(1 << 30))
    model = head_class(config).eval()
    randomize(model, torch.Generator().manual_seed(d.randrange(1 << 30)))
    model.save_pretrained(folder)
    ids = [d.randrange(4, 90) for _ in range(9)]
    out = folder / "origins.json"
    run(
        program,
        "render",
        "--model",
        folder,
        "--ids",
        ",".join(map(str, ids)),
        "--view",
        "origins",
        "--layer",
        1,
        "--head",
        0,
        "--cell",
        "7,3",
        "-o",
        out,
        "--quiet",
    )
    tables = json.loads(out.read_text())["tables"]
    rows, values = tables[0]["rows"], np.array(tables[0]["values"], dtype=np.float64)
    total, scaled = tables[1]["values"][0][0], tables[1]["values"][1][0]
    size = np.abs(values).sum()
    worst = abs(values.sum() - scaled) / size
    assert abs(total - values.sum()) < 1e-5 * size
    model.double()
    for head in range(config.num_attention_heads):
        worst = max(
            worst,
            abs(values[rows.index(f"0.{head}")].sum() - head_share(kind, model, ids, 7, 3, head))
            / size,
        )
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=7)
    o = parser.parse_args()
    circuits = check_stories(o.program)
    print(f"circuits of the story model: largest relative error {circuits:.1e}")
    origins = 0.0
    with torch.no_grad():
        for kind in PLACES:
            with tempfile.TemporaryDirectory() as folder:
                origins = max(origins, check_origins(o.program, kind, o.seed, Path(folder)))
    print(f"shares of scores: largest error {origins:.1e} of what is summed")
    return 0 if circuits < 1e-3 and origins < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
