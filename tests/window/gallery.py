#!/usr/bin/env python3
"""Screenshots of every view in every state, for looking at:

    python3 tests/window/gallery.py OUT [--program build/headlight] [--only steps] [--docs]

Each picture is OUT/VIEW-STATE-THEME-SIZE.png. --docs makes only those of the documents, into
docs/pictures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from drive import Display, views
from large_model import write_large_model

ROOT = Path(__file__).resolve().parents[2]
OTHER = "Lily had a red hat. Tom had a big blue hat. Lily gave Tom the red"
CHANGES = ["mask:16>3", "mask:16>4", "mask:16>10"]
# Besides the one that each view begins with.
STATES = {
    "head": [
        {"marks": 1},
        {"changes": CHANGES, "change_bar": True, "rank": "moved"},
        {"drop_sink": True},
    ],
    "delta": [{"delta_show": 2, "delta_split": 1, "delta_paths": True}],
    "graph": [{"graph_by": 2}],
    "compare": [
        {"compare": 2, "text_b": OTHER},
        {"compare": 2, "compare_show": 1, "text_b": OTHER},
        {"compare": 2, "compare_show": 2, "text_b": OTHER},
        {"compare": 3, "model_b": str(ROOT / "tests/reference/models/gpt2")},
        {"compare": 1, "changes": CHANGES},
        {"compare": 1},
    ],
    "heads": [
        {"heads_layout": 1, "heads_kept": 0.5},
        {"heads_layout": 2},
        {"heads_layout": 3},
        {"heads_layout": 4},
    ],
}
STORY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
BARK = "Bark is very cute and he is a dog"
TEXTS = {"one": "Lily", "story": STORY, "scripts": "猫が好きです مرحبا بالعالم नमस्ते 😀👩‍👩‍👧 naïve"}
LONG = " ".join(["Lily had a red ball and Tom had a blue ball so they went to the park ."] * 56)
SIZES = {"1280x720": 1, "1600x1000": 1, "2560x1440": 2}
DOCS = {  # the pictures of the documents that show the window
    "window": (STORY, ["--head", "1.2", "--lock", "16,4"], "1180x740"),
    "intervene": (STORY, ["--do", "mask 16>4; view lens"], "1180x740"),
    "learn": (BARK, ["--do", "learn guessing off; learn score-functions"], "1000x740"),
}


class Camera:
    def __init__(self, program, display):
        self.program = program
        self.environment = dict(
            os.environ,
            DISPLAY=display.name,
            LIBGL_ALWAYS_SOFTWARE="1",
            XDG_CONFIG_HOME="/nonexistent",
        )
        self.failed = 0

    def take(self, path, view, settings, text, extra=(), theme="dark", size="1600x1000", scale=1):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({**settings, "text": text}, file)  # --text would set the changes aside
            file.flush()
            run = subprocess.run(
                [
                    self.program,
                    "--screenshot",
                    path,
                    "--view",
                    view,
                    "--settings",
                    file.name,
                    "--theme",
                    theme,
                    "--size",
                    size,
                    "--scale",
                    str(scale),
                    *extra,
                ],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
        if run.returncode or run.stderr:
            self.failed += 1
            print(f"{path.name}: {run.stderr.strip() or run.returncode}")


def every_state(camera, out, only, models):
    for view in views(camera.program):
        if only and view != only:
            continue
        for number, settings in enumerate([{}, *STATES.get(view, [])]):
            for theme in ("dark", "light"):
                for size, scale in SIZES.items():
                    for name, text in TEXTS.items():
                        if name != "story" and (size == "2560x1440" or number):
                            continue
                        camera.take(
                            out / f"{view}{number or ''}-{name}-{theme}-{size}.png",
                            view,
                            settings,
                            text,
                            theme=theme,
                            size=size,
                            scale=scale,
                        )
            for name, extra in models.items():
                camera.take(
                    out / f"{view}{number or ''}-{name}-dark-1600x1000.png",
                    view,
                    settings,
                    LONG if name == "long" else "The cat sat on the mat.",
                    extra,
                )


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("out", type=Path, nargs="?", default=ROOT / "docs/pictures")
    options.add_argument("--program", type=Path, default=ROOT / "build/headlight")
    options.add_argument("--only")
    options.add_argument("--docs", action="store_true")
    o = options.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    display = Display("2600x1600")
    camera = Camera(o.program.resolve(), display)
    try:
        if o.docs:
            for name, (text, extra, size) in DOCS.items():
                camera.take(o.out / f"{name}.png", "head", {}, text, extra, "dark", size)
        else:
            with tempfile.TemporaryDirectory() as folder:
                large = write_large_model(Path(folder) / "gpt2-small-shaped")
                reference = ROOT / "tests/reference/models"
                every_state(
                    camera,
                    o.out,
                    o.only,
                    {
                        "long": ["--model", large],
                        "bert": ["--model", reference / "bert"],
                        "marian": ["--model", reference / "marian", "--target", "die Katze"],
                    },
                )
    finally:
        display.close()
    print(f"{len(list(o.out.glob('*.png')))} pictures in {o.out}, {camera.failed} failed")
    sys.exit(bool(camera.failed))


if __name__ == "__main__":
    main()
