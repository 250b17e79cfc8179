#!/usr/bin/env python3
"""The reverse pass beside the forward pass, and how every output answers to every token beside
torch.autograd, in one run.

        python3 tests/bench/influence.py [build/headlight_bench build/headlight]

Needs torch and transformers.

The estimate: GPT-2 small's shape, random weights, 64 tokens, 8 random ±1 directions an output.
Exact: the story model at 32 tokens, as `headlight attribute --method jacobian` writes it, start
included. torch.autograd takes all directions of a row at once (is_grads_batched), two threads; of
its rows every eighth is timed.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from bars import THREADS, bar, bench
from large_model import write_large_model
from transformers import GPT2Model

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = (
    "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red ball and they went to the "
    "park to play with the big dog. They were"
)


def autograd_s(folder, ids, directions):
    """Seconds of ‖∂ last resid_post / ∂E‖ of every pair, in so many directions a row; 0: all."""
    model = GPT2Model.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    kept = {}
    model.h[-1].register_forward_hook(
        lambda module, given, out: kept.update(out=out[0] if isinstance(out, tuple) else out)
    )
    embeddings = model.wte(torch.tensor([ids])).requires_grad_()
    begin = time.perf_counter()
    model(inputs_embeds=embeddings, use_cache=False)
    forward = time.perf_counter() - begin
    out = kept["out"].reshape(len(ids), -1)
    seeds = (
        torch.eye(out.shape[1])
        if not directions
        else torch.randint(0, 2, (directions, out.shape[1])) * 2.0 - 1
    )
    rows = range(0, len(ids), 8)
    begin = time.perf_counter()
    for row in rows:
        (gradient,) = torch.autograd.grad(
            out[row], embeddings, seeds, retain_graph=True, is_grads_batched=True
        )
        gradient.square().sum((0, -1))
    return forward + (time.perf_counter() - begin) / len(rows) * len(ids)


def story_s(program, text):
    begin = time.perf_counter()
    subprocess.run(
        [
            program,
            "attribute",
            "--text",
            text,
            "--method",
            "jacobian",
            "-o",
            Path(tempfile.gettempdir()) / "jacobian.npy",
            "--quiet",
            "--threads",
            str(THREADS),
        ],
        check=True,
    )
    return time.perf_counter() - begin


def main():
    torch.set_num_threads(THREADS)
    rows, program = (
        Path(given).resolve()
        for given in (sys.argv[1:] or [ROOT / "build/headlight_bench", ROOT / "build/headlight"])
    )
    with tempfile.TemporaryDirectory() as folder:
        model = write_large_model(Path(folder) / "gpt2-small-shaped")
        times = bench(
            rows, model, ["trace_and_next/(64|256)", "backward_pass/(64|256)"], repetitions=3
        )[0]
        times |= bench(rows, model, ["jacobian_of_eight_probes/64"], seconds=0.001, repetitions=1)[
            0
        ]
        for n in (64, 256):
            forward, backward = times[f"trace_and_next/{n}"], times[f"backward_pass/{n}"]
            print(
                f"{n} tokens: forward {statistics.median(forward):.1f} ms, reverse "
                f"{statistics.median(backward):.1f} ms"
            )
            bar(
                f"reverse pass ÷ forward pass, {n} tokens",
                statistics.median(backward) / statistics.median(forward),
                2.5,
                min(backward) / min(forward),
            )
        ours, theirs = (
            statistics.median(times["jacobian_of_eight_probes/64"]) / 1e3,
            autograd_s(model, [(7919 * i + 13) % 50257 for i in range(64)], 8),
        )
        print(f"estimate, 8 directions, 64 tokens: {ours:.2f} s, torch.autograd {theirs:.2f} s")
        bar("influence estimated, 64 tokens ÷ torch.autograd", ours / theirs, 0.5)
    ids = list(range(100, 132))
    ours, theirs = story_s(program, SENTENCE), autograd_s(ROOT / "models/stories", ids, 0)
    print(f"exact, story model, 32 tokens: {ours:.2f} s, torch.autograd {theirs:.2f} s")
    bar("influence exact, story model, 32 tokens ÷ torch.autograd", ours / theirs, 0.5)


if __name__ == "__main__":
    main()
