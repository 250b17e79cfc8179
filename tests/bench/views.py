#!/usr/bin/env python3
"""A full frame of every view beside Dear ImGui's demo window, and memory, on a model of GPT-2 small's shape. Mesa software
rendering, 1600 x 1000, in one run:

    python3 tests/bench/views.py [build]
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/window"))
sys.path.insert(0, str(ROOT / "tests/bench"))
from drive import Display, views  # noqa: E402
from large_model import write_large_model  # noqa: E402

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
WORDS = "Lily had a red ball and Tom had a blue ball so they went to the park to play with the big dog . ".split()


def main():
    display = Display()
    environment = dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME="/nonexistent")
    with tempfile.TemporaryDirectory() as folder:
        model = write_large_model(Path(folder) / "gpt2-small-shaped")
        size = (model / "model.safetensors").stat().st_size / 2**20

        def bare():
            return json.loads(subprocess.run([BUILD / "bare_window"], env=environment, capture_output=True, text=True, check=True).stdout)

        offered = views(BUILD / "headlight", "--model", model)
        learned = subprocess.run([BUILD / "headlight", "learn", "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
        stations = ["learn " + line.split()[0] for line in learned]
        for tokens, bar, shown in ((16, 3, stations), (256, 4, offered), (1024, 5, offered)):
            text = " ".join((WORDS * 60)[:tokens + 200])
            print(f"{tokens} tokens, 12 x 12 heads: frame in ms, times Dear ImGui's demo (bar: {bar}), peak memory beyond the model ({size:.0f} MB) and a bare window")
            for view in shown:
                open_it = ["--do", view] if view in stations else ["--view", view]
                demo = bare()
                run = subprocess.Popen([BUILD / "headlight", "--size", "1600x1000", "--scale", "1", "--frames", "60", *open_it, "--model", model, "--text", cut(model, text, tokens)],
                                       env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                out, error = run.communicate()
                if not out:
                    print(f"  {view:22} {error.strip()}")
                    continue
                answer = json.loads(out)
                print(f"  {view:22} {answer['frame_ms']:7.2f} {answer['frame_ms'] / demo['frame_ms']:6.2f} x {answer['peak_mb'] - size - demo['peak_mb']:8.0f} MB")
    display.close()


def cut(model, text, tokens):
    """The longest beginning of the text, word by word, that has no more tokens than asked."""
    lines = json.dumps({"text": text})
    out = subprocess.run([BUILD / "headlight", "tokenize", "--model", model], input=lines + "\n", capture_output=True, text=True, check=True).stdout
    offsets = json.loads(out)["offsets"]
    return text[:offsets[min(tokens, len(offsets)) - 1][1]]


if __name__ == "__main__":
    main()
