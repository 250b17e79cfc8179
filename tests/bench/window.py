#!/usr/bin/env python3
"""The times that a user feels: key press to picture, start, frames, memory, idle; beside PyTorch
and a bare Dear ImGui window, in one run.

    python3 tests/bench/window.py [build]

Needs Xvfb and xdotool (as ./test installs), and for the PyTorch rows the environment that
forward.py makes.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/window"))
from bars import bar, row
from drive import Display, Window

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
SENTENCE = (
    "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red ball and they went to the "
    "park. "
)
PYTORCH = """
import json, sys, time, torch
from transformers import AutoTokenizer, GPT2LMHeadModel
torch.set_num_threads(2)
how = dict(attn_implementation='eager', dtype=torch.float32)
model = GPT2LMHeadModel.from_pretrained(sys.argv[1], **how).eval()
out = {}
with torch.no_grad():
    for n in (16, 64, 256):
        ids = torch.arange(n)[None] * 31 % 4096
        times = []
        for _ in range(80):
            begin = time.perf_counter()
            model(ids, output_attentions=True, use_cache=False)
            times.append((time.perf_counter() - begin) * 1e3)
        out[n] = sorted(times[20:])[30]
print(json.dumps(out))
"""


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p))]


def typing(display, tokens):
    """Answer and frame times of 80 key presses at about this many tokens."""
    words = (SENTENCE * 12).split(" ")
    text = " ".join(words[:tokens])
    with Window(BUILD / "headlight", display, "--text", text) as w:
        count = len(w.settled()["tokens"])
        while count > tokens and " " in text:
            text = text.rsplit(" ", 1)[0]
            count -= 1
    with Window(BUILD / "headlight", display, "--text", text) as w:
        w.settled()
        before = len(w.report()["latencies"])
        w.tool("key", "--delay", "110", *["x", "BackSpace"] * 40)
        r = w.settled()
        time.sleep(0.5)
        r = w.report()
        memory = (
            int(
                next(
                    line
                    for line in Path(f"/proc/{w.process.pid}/status").read_text().splitlines()
                    if line.startswith("VmHWM")
                ).split()[1]
            )
            / 1024
        )
        return (
            len(r["tokens"]),
            [x * 1e3 for x in r["answers"][before:]],
            [x * 1e3 for x in r["latencies"][before:]],
            memory,
        )


def say_rows(tokens, answers, frames, peer, memory):
    """Print what docs/performance.md says of one length."""
    beside = f"PyTorch eager {peer:.1f} ms" if peer else ""
    for what, values, other in (("new numbers", answers, beside), ("finished frame", frames, "")):
        cells = {
            "Headlight": f"{statistics.median(values):.1f} / {percentile(values, 0.95):.1f} ms"
        }
        row(
            f"key press to {what}, {tokens} tokens, median / p95",
            {**cells, "in the same run": other},
        )
    row(f"peak memory, {tokens} tokens", {"Headlight": f"{memory:.0f} MB"})


def main():
    display = Display()
    environment = dict(
        os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME="/nonexistent"
    )
    python = ROOT / ".venv-bench/bin/python"
    pytorch = (
        json.loads(
            subprocess.run(
                [python, "-c", PYTORCH, ROOT / "models/stories"], capture_output=True, text=True
            ).stdout
            or "{}"
        )
        if python.exists()
        else {}
    )
    print(
        "Key press to picture, story model, ms (answer: numbers ready; frame: drawn, Mesa "
        "software rendering)"
    )
    for n in (16, 64, 256):
        tokens, answers, frames, memory = typing(display, n if n < 256 else 254)
        peer = pytorch.get(str(n))
        ratio = (
            f"PyTorch eager {peer:.1f}, answer p95 is {percentile(answers, 0.95) / peer:.2f} of it"
            if peer
            else "PyTorch not installed"
        )
        say_rows(tokens, answers, frames, peer, memory)
        print(
            f"  {tokens:>4} tokens: answer median {statistics.median(answers):.1f}, p95 "
            f"{percentile(answers, 0.95):.1f}; frame median {statistics.median(frames):.1f}, p95 "
            f"{percentile(frames, 0.95):.1f}; {ratio}; peak {memory:.0f} MB"
        )
    run = lambda *command: json.loads(
        subprocess.run(
            list(map(str, command)), env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
    )
    pairs = [
        (
            run(BUILD / "bare_window"),
            run(
                BUILD / "headlight",
                "--frames",
                100,
                "--size",
                "1600x1000",
                "--scale",
                "1",
                "--text",
                (SENTENCE * 3).strip()[:250],
            ),
        )
        for _ in range(5)
    ]
    for key, what in (
        ("start_ms", "start to first picture"),
        ("frame_ms", "one frame, 1600 × 1000, grid and large head"),
    ):
        b, a = (statistics.median(pair[side][key] for pair in pairs) for side in range(2))
        row(
            what,
            {"Headlight": f"{a:.1f} ms", "in the same run": f"bare Dear ImGui window {b:.1f} ms"},
        )
        print(f"  {what}: {a:.1f} ms, bare Dear ImGui window {b:.1f} ms, ratio {a / b:.2f}")
        if key == "start_ms":
            bar(
                "start to first picture ÷ bare Dear ImGui window",
                a / b,
                1.7,
                min(ours[key] for _, ours in pairs) / min(bare[key] for bare, _ in pairs),
            )
    display.close()


if __name__ == "__main__":
    main()
