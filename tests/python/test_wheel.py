#!/usr/bin/env python3
"""`pip install .` in a fresh virtual environment gives the package, its program and its models: test_wheel.py [WHEEL]

Compiles the program once more (minutes), where no wheel is named."""
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
FIVE_LINES = """
import headlight, numpy, pathlib
print(headlight.program.find_program())
patterns = numpy.tril(numpy.ones((2, 3, 5, 5))) / numpy.arange(1, 6)[:, None]
figure = headlight.figure(patterns=patterns, tokens="The cat sat on it".split(), head=(1, 2))
assert figure.save("figure.svg").stat().st_size > 1000 and "image/png" in figure._repr_mimebundle_()[0]
assert headlight.heads("stories", text="The cat sat.")["entropy"].shape == (4, 8)
try:
    headlight.show(patterns=patterns)
except headlight.HeadlightError as problem:
    print(problem)
"""


def said(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def main():
    folder = Path(tempfile.mkdtemp(prefix="headlight wheel "))
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "HEADLIGHT_PROGRAM", "PYTHONPATH")}
    said(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv/bin/python"
    if not sys.argv[1:]:
        said(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, SOURCE, env=environment)
    (wheel,) = [Path(name) for name in sys.argv[1:]] or folder.glob("headlight_attention-*.whl")
    assert "-py3-none-linux_" in wheel.name, wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert all(any(name.endswith(end) for name in names) for end in ("headlight/bin/headlight", "models/stories/model.safetensors", "licenses/LICENSE", "headlight/py.typed"))
    assert not any(name.endswith(".pyc") or "/tests/" in name or name.endswith("train.py") for name in names)
    said(python, "-m", "pip", "install", "-q", wheel, env=environment)
    out = said(python, "-c", FIVE_LINES, cwd=folder, env=environment)
    program, problem = out.strip().splitlines()
    assert program.startswith(str(folder / "venv")) and "no display" in problem, out
    for command in ([folder / "venv/bin/headlight"], [python, "-m", "headlight"]):
        assert said(*command, "--version", env=environment).strip()
        assert said(*command, "generate", "--text", "Once upon a time", "--tokens", "3", env=environment).startswith("Once upon a time")
    size = wheel.stat().st_size / 1e6
    shutil.rmtree(folder)
    print(f"ok   {wheel.name} ({size:.0f} MB): show, figure and the command run from a fresh environment")


main()
