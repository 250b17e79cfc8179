#!/usr/bin/env python3
"""What newer structures cost, in one run: 1,024 tokens of a model of Qwen3.5-0.8B's shape (three of
four layers gated delta nets) beside transformers, and a token typed into a mixture of 16 experts, 2
of them chosen, beside reading the weights of those chosen.

    python3 tests/bench/structures.py [build/headlight_bench] [--only qwen3.5,experts]

Needs torch and transformers. Random weights in float32, two threads, taking turns; medians, then
the fastest. Headlight gives the trace and the next token, for the typed one the statistics and
thumbnails of all heads too; transformers the logits of the last position.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch
import transformers
from bars import THREADS, Machine, bar, bench, row

ROOT = Path(__file__).resolve().parents[2]
TOKENS, TYPED = 1024, 64


def qwen3_5():
    return transformers.Qwen3_5ForCausalLM(
        transformers.Qwen3_5TextConfig(
            vocab_size=248320,
            hidden_size=1024,
            intermediate_size=3584,
            num_hidden_layers=24,
            num_attention_heads=8,
            num_key_value_heads=2,
            head_dim=256,
            linear_num_key_heads=16,
            linear_num_value_heads=16,
            linear_key_head_dim=128,
            linear_value_head_dim=128,
            tie_word_embeddings=True,
        )
    )


EXPERTS = transformers.MixtralConfig(
    vocab_size=32000,
    hidden_size=512,
    intermediate_size=1536,
    num_hidden_layers=6,
    num_attention_heads=8,
    num_key_value_heads=8,
    num_local_experts=16,
    num_experts_per_tok=2,
    tie_word_embeddings=True,
)


def saved(model, folder):
    model.eval().save_pretrained(folder)
    return model


def times_ms(call, least):
    call()
    times = []
    for _ in range(least):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def measure_qwen(program, folder, rounds=2):
    model = saved(qwen3_5(), folder)
    ids = torch.tensor([[(7919 * i + 13) % model.config.vocab_size for i in range(TOKENS)]])
    ours, theirs = [], []
    with torch.no_grad():
        for _ in range(rounds):
            ours += bench(program, folder, [f"trace_and_next/{TOKENS}"], 0.05, 3)[0][
                f"trace_and_next/{TOKENS}"
            ]
            theirs += times_ms(lambda: model(ids, use_cache=False, logits_to_keep=1), 2)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(
        f"Qwen3.5-0.8B's shape, {TOKENS} tokens: {statistics.median(ours):.0f} ms, transformers "
        f"{statistics.median(theirs):.0f} ms",
        flush=True,
    )
    row("Qwen3.5-0.8B's shape", {f"{TOKENS:,}: ÷ transformers": f"{ratio:.2f}"})
    bar(
        f"{TOKENS} tokens, Qwen3.5-0.8B's shape ÷ transformers", ratio, 0.5, min(ours) / min(theirs)
    )


def chosen_bytes(c):
    """Of the weights that one token reads: the chosen experts, routers, attention, unembedding."""
    d, used = c.hidden_size, c.num_experts_per_tok
    layer = 3 * used * d * c.intermediate_size + d * c.num_local_experts + 4 * d * d
    return 4 * (c.num_hidden_layers * layer + c.vocab_size * d)


def measure_experts(program, folder, rounds=3):
    saved(transformers.MixtralForCausalLM(EXPERTS), folder)
    machine, times, name = Machine(), [], f"typed_token_in_window/{TYPED}"
    for _ in range(rounds):
        times += bench(program, folder, [name], 0.05, 10)[0][name]
        machine.measure(program, folder)
    reading = 1e3 * chosen_bytes(EXPERTS) / machine.read
    ratio = statistics.median(times) / reading
    print(
        f"16 experts, 2 chosen: a token typed after {TYPED - 1}: {statistics.median(times):.1f} "
        f"ms, reading what it needs {reading:.1f} ms ({chosen_bytes(EXPERTS) / 1e6:.0f} MB)",
        flush=True,
    )
    row("16 experts, 2 chosen", {"typed: ÷ reading": f"{ratio:.2f}"})
    bar("typed token, 16 experts × 2 ÷ reading the chosen ones", ratio, 1.3, min(times) / reading)
    print(machine)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program", nargs="?", type=Path, default=ROOT / "build/headlight_bench")
    p.add_argument("--only", default="qwen3.5,experts")
    a = p.parse_args()
    torch.set_num_threads(THREADS)
    for name, measure in (("qwen3.5", measure_qwen), ("experts", measure_experts)):
        if name in a.only.split(","):
            with tempfile.TemporaryDirectory() as folder:
                measure(a.program.resolve(), Path(folder))


if __name__ == "__main__":
    main()
