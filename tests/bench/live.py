#!/usr/bin/env python3
"""From key press to new numbers over a Python process, beside the bare model there, in one run:

    python3 tests/bench/live.py [build/headlight_bench]

GPT-2 small's shape with random weights, two threads, taking turns: a token typed at the end, whose
rows, statistics, thumbnails and next token the window then has, beside model(ids, use_cache=True)
with the cache of the tokens before; and a fresh pass. Medians of the rounds. Needs torch and
transformers.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers
from bars import THREADS, bar, bench, row

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
from engine_client import Client

TOKENS, ROUNDS = (64, 512), 3
TYPED, FRESH = 1.5, 1.2  # bars


def ids(count, vocabulary):
    """Those that headlight_bench reads."""
    return torch.tensor([[(7919 * i + 13) % vocabulary for i in range(count)]])


def serve(folder):
    """Start a server of a saved model; return it and its address."""
    environment = dict(
        os.environ,
        PYTHONPATH=str(ROOT / "models/python"),
        OMP_NUM_THREADS=str(THREADS),
        HF_HUB_OFFLINE="1",
    )
    command = [sys.executable, "-m", "headlight", "live", str(folder), "--dtype", "float32"]
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return server, server.stdout.readline().strip()


class Bare:
    """Times of the model alone, in ms."""

    def __init__(self, model):
        self.model = model

    def typed(self, count, tries=8):
        """Of the token behind `count` - 1 others."""
        read = ids(count, self.model.config.vocab_size)
        cache = self.model(read[:, :-1], use_cache=True).past_key_values
        times = []
        for _ in range(tries):
            begin = time.perf_counter()
            self.model(read[:, -1:], cache=cache, use_cache=True).logits[0, -1].topk(5)
            times.append(1e3 * (time.perf_counter() - begin))
            cache.crop(-1)
        return times

    def fresh(self, count, tries=4):
        read, times = ids(count, self.model.config.vocab_size), []
        for _ in range(tries):
            begin = time.perf_counter()
            self.model(read, use_cache=True).logits[0, -1].topk(5)
            times.append(1e3 * (time.perf_counter() - begin))
        return times


def crossed(address, count, vocabulary):
    """Bytes that cross for a typed token, and for a fresh pass, by the window's own request."""
    read = ids(count, vocabulary)[0].tolist()
    with Client(address) as client:
        client.ask("run", ids=read[:-1])
        fresh, client.bytes = client.bytes, 0
        client.ask("run", **{"ids": read, "from": count - 1})
        return client.bytes, fresh


def measure(program, address, model):
    bare, vocabulary = Bare(model), model.config.vocab_size
    for count in TOKENS:
        typed, fresh = f"typed_token_in_window/{count}", f"trace_and_next/{count}"
        own, others = {typed: [], fresh: []}, {typed: [], fresh: []}
        for _ in range(ROUNDS):
            for name, times in bench(program, address, [typed, fresh], 0.05, 3)[0].items():
                own[name] += times
            others[typed] += bare.typed(count)
            others[fresh] += bare.fresh(count)
        sizes = dict(zip((typed, fresh), crossed(address, count, vocabulary)))
        for name, said, most in ((typed, "typed token", TYPED), (fresh, "fresh pass", FRESH)):
            mine, theirs = statistics.median(own[name]), statistics.median(others[name])
            print(
                f"{said} at {count}: {mine:.1f} ms, the bare model {theirs:.1f} ms, "
                f"{sizes[name] / 1e3:,.0f} kB cross",
                flush=True,
            )
            row(f"{said}, {count} tokens", {"÷ the bare model": f"{mine / theirs:.2f}"})
            best = min(own[name]) / min(others[name])
            bar(
                f"{said} over a process at {count} tokens ÷ the bare model",
                mine / theirs,
                most,
                best,
            )


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program", nargs="?", type=Path, default=ROOT / "build/headlight_bench")
    a = p.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
        model.save_pretrained(folder)
        server, address = serve(folder)
        try:
            measure(a.program.resolve(), address, model)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
