#!/usr/bin/env python3
"""One decoding step of the built-in translator at 30 source tokens beside transformers' cached
step, in one run.

    python3 tests/bench/generation.py [build/headlight_bench]      (torch, transformers)

Both read a given next token with everything before it cached and give the probabilities of the one
after it; two threads.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from bars import row
from transformers import MarianMTModel

ROOT = Path(__file__).resolve().parents[2]
SOURCE, STEPS, THREADS = 30, 20, 2


@torch.no_grad()
def transformers_step_ms(attention):
    model = MarianMTModel.from_pretrained(
        ROOT / "models/translator", dtype=torch.float32, attn_implementation=attention
    ).eval()
    source = torch.tensor([[10 + 7 * i for i in range(SOURCE - 1)] + [0]])
    encoded = model.get_encoder()(source)
    times = []
    for _ in range(60):
        cache, token = None, model.config.decoder_start_token_id
        begin = time.perf_counter()
        for i in range(STEPS):
            out = model(
                encoder_outputs=encoded,
                decoder_input_ids=torch.tensor([[token]]),
                past_key_values=cache,
                use_cache=True,
                output_attentions=attention == "eager",
            )
            out.logits[0, -1].softmax(-1).topk(9)
            cache, token = out.past_key_values, 40 + i
        times.append((time.perf_counter() - begin) / STEPS * 1e3)
    return statistics.median(times)


def headlight_step_ms(program):
    environment = dict(os.environ, HEADLIGHT_BENCH_THREADS=str(THREADS))
    out = subprocess.run(
        [program, "--benchmark_format=json", "--benchmark_filter=decoding_step"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    median = next(b for b in json.loads(out)["benchmarks"] if b["aggregate_name"] == "median")
    return 1e3 / median["items_per_second"]


def main():
    torch.set_num_threads(THREADS)
    ours = headlight_step_ms(
        Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/headlight_bench").resolve()
    )
    for attention, what in (
        ("sdpa", "logits alone"),
        ("eager", "with the attentions, which Headlight has too"),
    ):
        theirs = transformers_step_ms(attention)
        row(
            what.split(",")[0],
            {
                "Headlight": f"{ours:.1f} ms",
                "transformers": f"{theirs:.1f} ms",
                "Headlight ÷ transformers": f"{ours / theirs:.2f}",
            },
        )
        print(
            f"one step at {SOURCE} source tokens: Headlight {ours:.2f} ms, transformers ({what}) "
            f"{theirs:.2f} ms, ratio {ours / theirs:.2f}"
        )


if __name__ == "__main__":
    main()
