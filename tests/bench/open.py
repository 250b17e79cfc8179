#!/usr/bin/env python3
"""How long a mapped 500 MB model takes to open, and what the process grows by.

    open.py build/headlight_bench

Writes a GPT-2 of 124 M parameters in float32 to a temporary folder, reads it once so that the system has it in its
cache, and opens it five times.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

LAYERS, WIDTH, VOCAB, CONTEXT = 12, 768, 50257, 1024


def tensors():
    yield "wte.weight", (VOCAB, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    for l in range(LAYERS):
        for name, shape in (("ln_1", (WIDTH,)), ("attn.c_attn", (WIDTH, 3 * WIDTH)), ("attn.c_proj", (WIDTH, WIDTH)), ("ln_2", (WIDTH,)), ("mlp.c_fc", (WIDTH, 4 * WIDTH)), ("mlp.c_proj", (4 * WIDTH, WIDTH))):
            yield f"h.{l}.{name}.weight", shape
            yield f"h.{l}.{name}.bias", shape[-1:]
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def write(folder):
    header, at = {}, 0
    for name, shape in tensors():
        size = 4
        for d in shape:
            size *= d
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for start in range(0, at, 1 << 24):
            f.write(os.urandom(1 << 12) * ((min(1 << 24, at - start) + 4095) // 4096))
        f.truncate(8 + len(text) + at)
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    return 8 + len(text) + at


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size = write(folder)
        (folder / "model.safetensors").read_bytes()
        run = subprocess.run([sys.argv[1], "--benchmark_filter=open_model", "--benchmark_format=json"], env=dict(os.environ, HEADLIGHT_BENCH_MODEL=str(folder)), capture_output=True, text=True, check=True)
        b = json.loads(run.stdout)["benchmarks"][0]
        print(f"{size / 1e6:.0f} MB open in {b['real_time']:.2f} ms; the process grows by {b['grown_MB']:.2f} MB")


if __name__ == "__main__":
    main()
