"""Frames of every view beside Dear ImGui's demo window, and memory, on a model of GPT-2 small's
shape. Mesa software rendering, 1600 x 1000. A frame while the pointer enters another cell in each,
one in which nothing changed, and one that is drawn as a whole, as when another view is opened. Each
row is the median of five runs of the view, each beside a run of the demo before and after it, so
that a busy machine slows both; 16 tokens are the stations of Learn, 256 and 1024 the views:

    python3 tests/bench/views.py [build] [16|256|1024|VIEW|layers=48 …]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/window"))
sys.path.insert(0, str(ROOT / "tests/bench"))
from bars import bar, row
from drive import Display, views
from large_model import write_large_model

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
TOKENS = [int(word) for word in sys.argv[2:] if word.isdigit()] or [16, 256, 1024]
LAYERS = next((int(word[7:]) for word in sys.argv[2:] if word.startswith("layers=")), 12)
VIEWS = [word for word in sys.argv[2:] if word.isalpha()]  # none: all
RUNS = 5
MOST = 3  # times the demo
# Stations that show nothing of a model that does not.
TRANSLATES = ("learn seq2seq", "learn three-uses")
WORDS = (
    "Lily had a red ball and Tom had a blue ball so they went to the park to play with the big "
    "dog . "
).split()
# Its map of so many tokens takes minutes: it stays empty.
UNMEASURED = {"influence": ["--do", "influence measure off"]}


def main():
    display = Display()
    environment = dict(
        os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME="/nonexistent"
    )
    with tempfile.TemporaryDirectory() as folder:
        model = write_large_model(Path(folder) / "gpt2-small-shaped", LAYERS)
        size = (model / "model.safetensors").stat().st_size / 2**20

        def bare():
            return json.loads(
                subprocess.run(
                    [BUILD / "bare_window"],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )

        offered = views(BUILD / "headlight", "--model", model)
        learned = subprocess.run(
            [BUILD / "headlight", "learn", "--list"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        stations = ["learn " + line.split()[0] for line in learned]
        for tokens, shown in ((16, stations), (256, offered), (1024, offered)):
            if tokens not in TOKENS:
                continue
            text = " ".join((WORDS * 60)[: tokens + 200])
            print(
                f"{tokens} tokens, {LAYERS} x 12 heads: frame in ms and its 95th percentile, a "
                f"multiple of Dear ImGui's demo's (bar: {MOST}), while the pointer moves; at "
                "rest; drawn as a whole; "
                f"peak memory beyond the model ({size:.0f} MB) and a bare window"
            )
            for view in shown:
                if VIEWS and view not in VIEWS:
                    continue
                open_it = (
                    ["--do", view]
                    if view in stations
                    else ["--view", view, *UNMEASURED.get(view, [])]
                )
                opened = "translator" if view in TRANSLATES else model
                text_now = cut(opened, text, tokens)
                demos, answers = [bare()], []
                for _ in range(RUNS):
                    run = subprocess.run(
                        [
                            BUILD / "headlight",
                            "--size",
                            "1600x1000",
                            "--scale",
                            "1",
                            "--frames",
                            "60",
                            *open_it,
                            "--model",
                            opened,
                            "--text",
                            text_now,
                        ],
                        env=environment,
                        capture_output=True,
                        text=True,
                    )
                    if not run.stdout:
                        sys.exit(f"{view}: {run.stderr.strip()}")
                    answers.append(json.loads(run.stdout))
                    demos.append(bare())
                median = lambda key: statistics.median(a[key] for a in answers)
                times = lambda key, of="frame_ms": statistics.median(
                    2 * a[key] / (b[of] + c[of]) for a, b, c in zip(answers, demos, demos[1:])
                )
                held = (
                    size
                    if opened == model
                    else (ROOT / "models/translator/model.safetensors").stat().st_size / 2**20
                )
                moving, late = times("moving_ms"), times("moving_p95_ms", "frame_p95_ms")
                bar(
                    f"frame of {view} under a moving pointer, {tokens} tokens ÷ Dear ImGui's demo",
                    moving,
                    MOST,
                )
                bar(f"the same, 95th percentiles: {view}, {tokens} tokens", late, MOST)
                if tokens > 16:
                    row(
                        view,
                        {
                            f"{tokens:,} tokens": f"{median('moving_ms'):.1f} ms",
                            f"{tokens:,}: ×": f"{moving:.1f}",
                            f"{tokens:,}: p95 ×": f"{late:.1f}",
                            f"{tokens:,}: whole ×": f"{times('frame_ms'):.1f}",
                        },
                    )
                print(
                    f"  {view:22} {median('moving_ms'):7.2f} {median('moving_p95_ms'):7.2f} "
                    f"{moving:6.2f} x {late:6.2f} x   {median('rest_ms'):7.2f} "
                    f"{median('rest_p95_ms'):7.2f} {times('rest_ms'):6.2f} x   "
                    f"{median('frame_ms'):7.2f} {times('frame_ms'):6.2f} x "
                    f"{median('peak_mb') - held - demos[0]['peak_mb']:8.0f} MB",
                    flush=True,
                )
    display.close()


def cut(model, text, tokens):
    """The longest beginning of the text, word by word, that has no more tokens than asked."""
    lines = json.dumps({"text": text})
    out = subprocess.run(
        [BUILD / "headlight", "tokenize", "--model", model],
        input=lines + "\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    offsets = json.loads(out)["offsets"]
    return text[: offsets[min(tokens, len(offsets)) - 1][1]]


if __name__ == "__main__":
    main()
