#!/usr/bin/env python3
"""Headlight's forward pass beside PyTorch eager and ONNX Runtime, in one run.

    python3 tests/bench/forward.py [build/headlight_bench]

Makes a virtual environment in .venv-bench (torch's CPU wheel, transformers, onnxruntime) and a GPT-2-small-shaped model with
random weights, then times all three with 2 threads on a quiet machine, and Headlight again while another program keeps one
core busy. All give every pattern of every head and the logits of every position ("everything"); Headlight's "window" row is
what a key press computes: the trace, thumbnails and statistics of all heads, and the next token. Beside these, in the same run:
the roofline, max(operations / peak, bytes of weights / reading speed) with the logits of the last row, both speeds measured
here; weights stored [out, in] (OPT's layout) beside GPT-2's [in, out]; and a token typed at the end, beside reading the weights.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv-bench"
LENGTHS = (8, 64, 256, 1024)
THREADS = 2


def inside_venv():
    """Installs what is needed and runs this script again with it."""
    python = VENV / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "torch==2.13.0", "numpy", "transformers", "onnx", "onnxruntime"], check=True)
    os.execv(python, [str(python), __file__, "--inside", *sys.argv[1:]])


def median_ms(call, seconds=4, least=4):
    call()
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def plain_gpt2(torch, model):
    """The same arithmetic as plain PyTorch operations, which the exporter can write down."""
    config = model.config

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids):
            body = self.model.transformer
            n, heads, width = ids.shape[1], config.n_head, config.n_embd // config.n_head
            x = body.wte(ids) + body.wpe(torch.arange(ids.shape[1]))
            hidden = torch.triu(torch.full((n, n), torch.finfo(torch.float32).min), 1)
            patterns = []
            for block in body.h:
                q, k, v = (block.ln_1(x) @ block.attn.c_attn.weight + block.attn.c_attn.bias).split(config.n_embd, -1)
                q, k, v = (t.reshape(1, n, heads, width).transpose(1, 2) for t in (q, k, v))
                p = torch.softmax(q @ k.transpose(-1, -2) / width**0.5 + hidden, -1)
                patterns.append(p)
                x = x + (p @ v).transpose(1, 2).reshape(1, n, -1) @ block.attn.c_proj.weight + block.attn.c_proj.bias
                h = torch.nn.functional.gelu(block.ln_2(x) @ block.mlp.c_fc.weight + block.mlp.c_fc.bias, approximate="tanh")
                x = x + h @ block.mlp.c_proj.weight + block.mlp.c_proj.bias
            return self.model.lm_head(body.ln_f(x)), *patterns

    return Plain().eval()


def bench(program, model, filter_):
    environment = dict(os.environ, HEADLIGHT_BENCH_MODEL=str(model), HEADLIGHT_BENCH_THREADS=str(THREADS))
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_filter=" + filter_], env=environment,
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["benchmarks"]


def headlight(program, model, rows):
    """The medians of rows of forward_bench.cpp in ms, by name and length."""
    times = {}
    for b in bench(program, model, "|".join(f"{r}/({'|'.join(map(str, LENGTHS))})/" for r in rows)):
        if b["aggregate_name"] != "median":
            continue
        name, n = b["name"].split("/")[:2]
        times[name, int(n)] = b["real_time"]
    return times


class Machine:
    """What it can do at most."""

    def __init__(self, program, model):
        row = bench(program, model, "machine")[0]
        self.read, self.flops = row["GB_per_s"] * 1e9, row["GFLOP_per_s"] * 1e9

    def reading_ms(self, config):
        return 4e3 * (block_weights(config) + config.vocab_size * config.n_embd) / self.read

    def roofline_ms(self, config, n):
        scores = 2 * config.n_layer * config.n_embd * n * (n + 1) / 2  # q·k and pattern · v of what a causal mask allows
        flops = 2 * (block_weights(config) * n + scores + config.vocab_size * config.n_embd)
        return max(1e3 * flops / self.flops, self.reading_ms(config))


def block_weights(config):
    return 12 * config.n_layer * config.n_embd**2


def opt_like(config):
    """A model of the same shape whose weights are stored [out, in]."""
    from transformers import OPTConfig, OPTForCausalLM

    return OPTForCausalLM(OPTConfig(
        vocab_size=config.vocab_size, hidden_size=config.n_embd, word_embed_proj_dim=config.n_embd, num_hidden_layers=config.n_layer,
        num_attention_heads=config.n_head, ffn_dim=4 * config.n_embd, max_position_embeddings=config.n_positions))


def main():
    program = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/headlight_bench")
    import onnxruntime
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    folder = Path(tempfile.mkdtemp(prefix="headlight-bench-"))
    GPT2LMHeadModel(GPT2Config()).save_pretrained(folder / "gpt2")
    model = GPT2LMHeadModel.from_pretrained(folder / "gpt2", attn_implementation="eager").eval()
    plain = plain_gpt2(torch, model)
    peers = {}
    with torch.no_grad():
        for n in LENGTHS:
            ids = torch.tensor([[(7919 * i + 13) % 50257 for i in range(n)]])
            peers["pytorch", n] = median_ms(lambda: model(ids, output_attentions=True, use_cache=False))
            file = folder / f"{n}.onnx"
            torch.onnx.export(plain, (ids,), str(file), dynamo=False, input_names=["ids"])
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = THREADS
            session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
            feed = {"ids": ids.numpy()}
            ours = session.run(None, feed)[0]
            assert abs(ours - model(ids).logits.numpy()).max() < 1e-2, "the exported model computes something else"
            peers["onnx", n] = median_ms(lambda: session.run(None, feed))
            file.unlink()
            del session
    opt_like(model.config).save_pretrained(folder / "opt")
    machine = Machine(program, folder / "gpt2")
    quiet = headlight(program, folder / "gpt2", ("window_update", "everything", "typed_token_in_window"))
    out_in = headlight(program, folder / "opt", ("window_update",))
    busy_process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    busy = headlight(program, folder / "gpt2", ("window_update",))
    busy_process.kill()

    print(f"GPT-2 small's shape, random weights, {THREADS} threads, medians in ms")
    print(f"{'tokens':>7} {'PyTorch':>9} {'ONNX RT':>9} {'window':>9} {'everything':>11} | PyTorch / window, everything | ONNX / window, everything | one core busy | / roofline | [out, in] / [in, out]")
    for n in LENGTHS:
        p, o, w, e = peers["pytorch", n], peers["onnx", n], quiet["window_update", n], quiet["everything", n]
        print(f"{n:>7} {p:>9.1f} {o:>9.1f} {w:>9.1f} {e:>11.1f} | {p / w:>15.2f} {p / e:>11.2f}  | {o / w:>12.2f} {o / e:>11.2f}  | {busy['window_update', n]:>7.1f} = {busy['window_update', n] / w:.2f} x"
              f" | {w / machine.roofline_ms(model.config, n):>10.2f} | {out_in['window_update', n] / w:.2f}")
    reading = machine.reading_ms(model.config)
    for n in (64, 1024):
        t = quiet["typed_token_in_window", n]
        print(f"a token typed at the end of {n - 1}, heads' summaries and next token included: {t:.1f} ms, {t / reading:.2f} x reading the weights")
    print(f"this machine reads {machine.read / 1e9:.1f} GB/s and computes {machine.flops / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    if "--inside" not in sys.argv:
        inside_venv()
    main()
