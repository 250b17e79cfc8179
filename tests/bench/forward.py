#!/usr/bin/env python3
"""Headlight's forward pass beside PyTorch eager and ONNX Runtime, in one run.

    python3 tests/bench/forward.py [build/headlight_bench]
        python3 tests/bench/forward.py --inside PROGRAM        (with a Python that has torch and the
        rest)

Makes a virtual environment in .venv-bench (torch's CPU wheel, transformers, onnxruntime) and a
GPT-2-small-shaped model with random weights, then times all three in turn with 2 threads, and
Headlight again while another program keeps one core busy. All give every pattern of every head and
the logits of every position ("everything"); Headlight's "window" row is what a key press computes:
the trace, thumbnails and statistics of all heads, and the next token. Beside these, in the same
run: the roofline, max(operations / peak, bytes of weights / reading speed) with the logits of the
last row, both speeds measured here; weights stored [out, in] (OPT's layout, and a GGUF file) beside
GPT-2's [in, out]; and a token typed at the end, beside reading the weights. Medians, then the
fastest; a line for each bar.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bars import THREADS, Machine, bar, bench, row

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv-bench"
LENGTHS = (8, 64, 256, 1024)
FEW = (9, 16, 32)  # more rows than meet weights where they lie, fewer than fill the processor
ROUNDS = 2
BARS = {
    "roofline": (1.3, 1.3, 1.3, 1.3),
    "onnx": (0.75, 0.75, 0.85, 0.7),
    "pytorch": (0.5, 0.5, 0.65, 0.6),
}


def inside_venv():
    """Install the packages it needs and run this script again with it."""
    os.execv(bench_python(), [str(bench_python()), __file__, "--inside", *sys.argv[1:]])


def bench_python():
    """The Python of the environment, which is made where there is none."""
    python = VENV / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "torch==2.13.0",
                "numpy",
                "transformers",
                "onnx",
                "onnxruntime",
                "gguf",
            ],
            check=True,
        )
    return python


def times_ms(call, seconds=1.5, least=3):
    call()
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


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
                q, k, v = (block.ln_1(x) @ block.attn.c_attn.weight + block.attn.c_attn.bias).split(
                    config.n_embd, -1
                )
                q, k, v = (t.reshape(1, n, heads, width).transpose(1, 2) for t in (q, k, v))
                p = torch.softmax(q @ k.transpose(-1, -2) / width**0.5 + hidden, -1)
                patterns.append(p)
                x = (
                    x
                    + (p @ v).transpose(1, 2).reshape(1, n, -1) @ block.attn.c_proj.weight
                    + block.attn.c_proj.bias
                )
                h = torch.nn.functional.gelu(
                    block.ln_2(x) @ block.mlp.c_fc.weight + block.mlp.c_fc.bias, approximate="tanh"
                )
                x = x + h @ block.mlp.c_proj.weight + block.mlp.c_proj.bias
            return self.model.lm_head(body.ln_f(x)), *patterns

    return Plain().eval()


def block_weights(config):
    return 12 * config.n_layer * config.n_embd**2


def reading_ms(machine, config):
    return 4e3 * (block_weights(config) + config.vocab_size * config.n_embd) / machine.read


def roofline_ms(machine, config, n):
    # q·k and pattern · v of what a causal mask allows
    scores = 2 * config.n_layer * config.n_embd * n * (n + 1) / 2
    flops = 2 * (block_weights(config) * n + scores + config.vocab_size * config.n_embd)
    return max(1e3 * flops / machine.flops, reading_ms(machine, config))


def opt_like(config):
    """A model of the same shape whose weights are stored [out, in]."""
    from transformers import OPTConfig, OPTForCausalLM

    return OPTForCausalLM(
        OPTConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.n_embd,
            word_embed_proj_dim=config.n_embd,
            num_hidden_layers=config.n_layer,
            num_attention_heads=config.n_head,
            ffn_dim=4 * config.n_embd,
            max_position_embeddings=config.n_positions,
        )
    )


class Times:
    """Times in ms by what was measured."""

    def __init__(self):
        self.of = {}

    def add(self, name, times):
        self.of.setdefault(name, []).extend(times)

    def add_rows(self, program, model, rows, prefix="", **short):
        for name, times in bench(program, model, rows, **short)[0].items():
            self.add(prefix + name, times)

    def median(self, name):
        return statistics.median(self.of[name])

    def ratios(self, a, b):
        """Of medians, and of the fastest."""
        return self.median(a) / self.median(b), min(self.of[a]) / min(self.of[b])


def measure_peers(times, machine, program, folder, model, torch):
    """PyTorch, ONNX Runtime and Headlight in turn at each length."""
    import onnxruntime

    plain = plain_gpt2(torch, model)
    for n in LENGTHS:
        ids = torch.tensor([[(7919 * i + 13) % 50257 for i in range(n)]])
        file = folder / f"{n}.onnx"
        torch.onnx.export(plain, (ids,), str(file), dynamo=False, input_names=["ids"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        feed = {"ids": ids.numpy()}
        ours = session.run(None, feed)[0]
        assert abs(ours - model(ids).logits.numpy()).max() < 1e-2, (
            "the exported model computes something else"
        )
        for _ in range(ROUNDS):
            times.add(
                f"pytorch/{n}",
                times_ms(lambda: model(ids, output_attentions=True, use_cache=False)),
            )
            times.add(f"onnx/{n}", times_ms(lambda: session.run(None, feed)))
            times.add_rows(program, folder / "gpt2", [f"window_update/{n}", f"everything/{n}"])
            machine.measure(program, folder / "gpt2")
        file.unlink()


def measure_layouts(times, program, folder, model):
    """The same shape as [in, out], as [out, in], and as [out, in] of a GGUF file, in turn."""
    opt_like(model.config).save_pretrained(folder / "opt")
    layouts = {"in_out": folder / "gpt2", "OPT": folder / "opt"}
    try:
        from gguf_file import write_f32

        layouts["GGUF"] = write_f32(folder / "gpt2.gguf")
    except ImportError:
        print("no GGUF file: the gguf package is missing")
    rows = [f"window_update/{n}" for n in (*FEW, *LENGTHS)]
    for _ in range(ROUNDS):
        for name, path in layouts.items():
            times.add_rows(program, path, rows, name + "/", seconds=0.1, repetitions=6)
    return [name for name in layouts if name != "in_out"]


def measure_busy(times, program, folder):
    """While another program keeps one core."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        times.add_rows(program, folder / "gpt2", [f"window_update/{n}" for n in LENGTHS], "busy/")
    finally:
        busy.kill()
        busy.wait()


def print_table(times, machine, config):
    print(
        f"GPT-2 small's shape, random weights, {THREADS} threads, medians in ms, then the fastest"
    )
    print(
        f"{'tokens':>7} {'PyTorch':>9} {'ONNX RT':>9} {'window':>9} {'everything':>11} | PyTorch "
        "/ window, everything | ONNX / window, everything | one core busy | / roofline | [out, "
        "in] / [in, out] | fastest: PyTorch, ONNX RT, window, everything"
    )
    for n in LENGTHS:
        names = [f"{what}/{n}" for what in ("pytorch", "onnx", "window_update", "everything")]
        p, o, w, e = (times.median(name) for name in names)
        busy, least = (
            times.median(f"busy/window_update/{n}"),
            [min(times.of[name]) for name in names],
        )
        print(
            f"{n:>7} {p:>9.1f} {o:>9.1f} {w:>9.1f} {e:>11.1f} | {p / w:>15.2f} {p / e:>11.2f}  | "
            f"{o / w:>12.2f} {o / e:>11.2f}  | {busy:>7.1f} = {busy / w:.2f} x"
            f" | {w / roofline_ms(machine, config, n):>10.2f} | "
            f"{times.ratios(f'OPT/window_update/{n}', f'in_out/window_update/{n}')[0]:.2f} | "
            + " ".join(f"{t:.1f}" for t in least)
        )
        row(
            f"{n:,}",
            {
                "PyTorch eager": f"{p:,.1f}",
                "ONNX Runtime": f"{o:,.1f}",
                "window": f"{w:,.1f}",
                "everything": f"{e:,.1f}",
                "everything ÷ PyTorch": f"{e / p:.2f}",
                "everything ÷ ONNX": f"{e / o:.2f}",
                "window ÷ roofline": f"{w / roofline_ms(machine, config, n):.2f}",
                "window, one core busy": f"× {busy / w:.2f}",
            },
        )


def print_bars(times, machine, config, layouts):
    for i, n in enumerate(LENGTHS):
        roofline = roofline_ms(machine, config, n)
        bar(
            f"window ÷ roofline, {n} tokens",
            times.median(f"window_update/{n}") / roofline,
            BARS["roofline"][i],
            min(times.of[f"window_update/{n}"]) / roofline,
        )
    for peer, name in (("onnx", "ONNX Runtime"), ("pytorch", "PyTorch eager")):
        for i, n in enumerate(LENGTHS):
            median, least = times.ratios(f"everything/{n}", f"{peer}/{n}")
            bar(f"everything ÷ {name}, {n} tokens", median, BARS[peer][i], least)
    for layout in layouts:
        for n in (*FEW, *LENGTHS):
            median, least = times.ratios(f"{layout}/window_update/{n}", f"in_out/window_update/{n}")
            bar(f"[out, in] of {layout} ÷ GPT-2's layout, {n} tokens", median, 1.05, least)
    for n in LENGTHS:
        median, least = times.ratios(f"busy/window_update/{n}", f"window_update/{n}")
        bar(f"one of two cores busy ÷ quiet, {n} tokens", median, 2.0, least)


def main():
    program = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/headlight_bench")
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    times, machine = Times(), Machine()
    with tempfile.TemporaryDirectory(prefix="headlight-bench-") as name, torch.no_grad():
        folder = Path(name)
        GPT2LMHeadModel(GPT2Config()).save_pretrained(folder / "gpt2")
        model = GPT2LMHeadModel.from_pretrained(folder / "gpt2", attn_implementation="eager").eval()
        measure_peers(times, machine, program, folder, model, torch)
        times.add_rows(program, folder / "gpt2", [f"typed_token_in_window/{n}" for n in (64, 1024)])
        layouts = measure_layouts(times, program, folder, model)
        measure_busy(times, program, folder)

    print_table(times, machine, model.config)
    reading = reading_ms(machine, model.config)
    for n in (64, 1024):
        t = times.median(f"typed_token_in_window/{n}")
        print(
            f"a token typed at the end of {n - 1}, heads' summaries and next token included: "
            f"{t:.1f} ms, {t / reading:.2f} x reading the weights"
        )
    print(machine)
    print_bars(times, machine, model.config, layouts)


if __name__ == "__main__":
    if "--inside" not in sys.argv:
        inside_venv()
    main()
