#!/usr/bin/env python3
"""The wheel that goes to PyPI, in fresh virtual environments: test_wheel.py BUILD [WHEEL]

Makes it, where none is named, as a release does (models/python/distribute.py: the program is
compiled once more, minutes), and keeps it in BUILD/dist. With NumPy alone the package runs and
README's lines on arrays and built-in models work; beside PyTorch, transformers and TransformerLens,
where BUILD/venv has them, all five do. Nothing in it asks for a newer glibc than its tag says."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests/window"), str(SOURCE / "models/python")]
from debian_11 import NEWEST, newest_glibc
from drive import Display

BUILD = Path(sys.argv[1]).resolve()
LARGEST = 40e6  # bytes
ALONE = """
import sys
print(headlight.program.find_program())
print({m.split(".")[0] for m in sys.modules} & {"torch", "transformers", "pandas"})
figure = headlight.figure(patterns=patterns, tokens="The cat sat on it".split(), head=(1, 2))
assert figure.save("figure.svg").stat().st_size > 1000
assert "image/png" in headlight.show(patterns=patterns, inline=True)._repr_mimebundle_()[0]
try:
    headlight.show(patterns=patterns)
except headlight.HeadlightError as problem:
    print(problem)
"""
ARRAYS = """
import headlight, numpy
patterns = numpy.tril(numpy.ones((2, 3, 5, 5))) / numpy.arange(1, 6)[:, None]
attentions, tokens = patterns, ["The", " cat", " sat", " on", " it"]
"""
MODELS = """
import sys, transformers
from transformer_lens.model_bridge import TransformerBridge
sys.ps1 = ">>> "  # as a user types: show returns at once
tokenizer = transformers.AutoTokenizer.from_pretrained(STORIES)
model = transformers.AutoModelForCausalLM.from_pretrained(STORIES)
sizes = dict(n_layer=2, n_head=4, n_embd=32, vocab_size=4096, n_positions=64)
small = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).eval()
hooked_model = TransformerBridge.boot_transformers(
    "gpt2", hf_model=small, tokenizer=tokenizer, device="cpu"
).eval()
"""


def said(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def lines_of_readme():
    """The four lines of README's Python section, without what they are said to give."""
    section = (
        (SOURCE / "README.md").read_text().split("## Four lines of Python")[1].split("\n## ")[0]
    )
    lines = re.findall(r"^    (headlight\..*?)\s*(?:#.*)?$", section, re.M)
    assert len(lines) == 4 and any("hooked_model" in line for line in lines), lines
    return lines


def holds_what_it_should(wheel):
    """A program, its models, fonts, and a licence for each library inside."""
    held = zipfile.ZipFile(wheel)
    names = held.namelist()
    for end in (
        "headlight/bin/headlight",
        "models/stories/model.safetensors",
        "licenses/LICENSE",
        "headlight/py.typed",
        "fonts/Inter-Medium.otf",
        "spare/libX11.so.6",
    ):
        assert any(name.endswith(end) for name in names), end
    assert not any(
        name.endswith((".pyc", "train.py", "distribute.py")) or "/tests/" in name for name in names
    )
    (listed,) = [
        held.read(name).decode() for name in names if name.endswith("licenses/bundled/README")
    ]
    libraries = [
        re.sub(r"-[0-9a-f]{8}(?=\.)", "", name.split("/")[-1])
        for name in names
        if ".libs/lib" in name
    ]
    assert len(libraries) > 15
    assert {name.split(".so")[0] for name in libraries} <= {
        name.split(".so")[0] for name in re.findall(r"lib\S+\.so\S*", listed)
    }
    assert all(
        any(name.endswith(f"bundled/{package}/copyright") for name in names)
        for package in re.findall(r"package (\S+)", listed)
    )
    assert not any(
        re.match(r"lib(c|m|stdc\+\+|gcc_s|GL|EGL|X11)[.-]", name) for name in libraries
    ), "what is the system's"
    return len(libraries)


def runs_where_its_tag_says(folder, wheel):
    """Every program and library inside asks for that glibc at most; C++'s run time is inside."""
    assert wheel.name.endswith("-py3-none-manylinux_2_31_x86_64.whl") and NEWEST == (2, 31), wheel
    zipfile.ZipFile(wheel).extractall(folder)
    files = [f for f in folder.rglob("*") if f.is_file() and f.read_bytes()[:4] == b"\x7fELF"]
    assert len(files) > 15, files
    asked = {file.name: newest_glibc(file) for file in files}
    assert all((2, 0) < newest for newest in asked.values()), asked
    assert not (newer := {n: v for n, v in asked.items() if v > NEWEST}), newer
    for file in files:
        needed = re.findall(r"NEEDED.*\[(\S+)\]", said("readelf", "-d", file))
        assert not any(re.match(r"lib(stdc\+\+|gcc_s)", name) for name in needed), (file, needed)
    return max(asked.values())


def environment(folder, wheel, beside=None):
    """A fresh one with the wheel; beside: another one whose packages it sees."""
    said(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    if beside:
        (site,) = folder.glob("lib/python3*/site-packages")
        (other,) = beside.glob("lib/python3*/site-packages")
        (site / "beside.pth").write_text(f"{other}\n")
    said(python, "-m", "pip", "install", "-q", wheel, *(["--no-deps"] if beside else []))
    return python


def runs_with_numpy_alone(folder, wheel, variables):
    python = environment(folder / "alone", wheel)
    lines = [line for line in lines_of_readme() if "model" not in line]
    assert len(lines) == 2
    out = said(python, "-c", ARRAYS + "\n".join(lines) + ALONE, cwd=folder, env=variables)
    program, imported, problem = out.strip().splitlines()
    assert program.startswith(str(folder)) and imported == "set()" and "no display" in problem, out
    for command in ([folder / "alone/bin/headlight"], [python, "-m", "headlight"]):
        assert said(*command, "--version", env=variables).strip()
        assert said(
            *command, "generate", "--text", "Once upon a time", "--tokens", "3", env=variables
        ).startswith("Once upon a time")
    assert {
        re.split("==| @ ", row)[0] for row in said(python, "-m", "pip", "freeze").splitlines()
    } == {"headlight-attention", "numpy"}


def runs_beside_models(folder, wheel, variables):
    """All four lines, under a display of their own."""
    python = environment(folder / "beside", wheel, BUILD / "venv")
    first, *others = lines_of_readme()
    code = (
        f"STORIES = {str(SOURCE / 'models/stories')!r}\n{ARRAYS}{MODELS}window = {first}\nassert "
        "window.is_open\nwindow.close()\n"
    ) + "\n".join(others)
    display = Display()
    try:
        said(
            python,
            "-c",
            code + "\nimport pathlib; assert pathlib.Path('head.pdf').stat().st_size > 1000",
            cwd=folder,
            env={**variables, "DISPLAY": display.name, "HF_HUB_OFFLINE": "1"},
        )
    finally:
        display.close()


def main():
    folder = Path(tempfile.mkdtemp(prefix="headlight wheel "))
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "HEADLIGHT_PROGRAM", "PYTHONPATH")
    } | {"XDG_CONFIG_HOME": str(folder)}
    if not sys.argv[2:]:
        shutil.rmtree(BUILD / "dist", ignore_errors=True)
        said(
            sys.executable,
            SOURCE / "models/python/distribute.py",
            "--out",
            BUILD / "dist",
            env=variables,
        )
        assert len(list((BUILD / "dist").glob("headlight_attention-*.tar.gz"))) == 1
    (wheel,) = [Path(name).resolve() for name in sys.argv[2:]] or (BUILD / "dist").glob("*.whl")
    newest = runs_where_its_tag_says(folder / "unpacked", wheel)
    libraries = holds_what_it_should(wheel)
    runs_with_numpy_alone(folder, wheel, variables)
    python = BUILD / "venv/bin/python"
    has_models = (
        python.exists()
        and subprocess.run(
            [python, "-c", "import torch, transformers, transformer_lens"], capture_output=True
        ).returncode
        == 0
    )
    if has_models:
        runs_beside_models(folder, wheel, variables)
    shutil.rmtree(folder)
    size = wheel.stat().st_size
    assert size <= LARGEST, f"{size / 1e6:.1f} MB, above {LARGEST / 1e6:.0f}"
    print(
        (
            f"ok   {wheel.name} ({size / 1e6:.0f} MB, {libraries} libraries inside, glibc "
            f"{newest[0]}.{newest[1]}): "
            "README's lines run from a fresh environment"
        )
        + (
            ""
            if has_models
            else " (not those of transformers and TransformerLens, which are not here)"
        )
    )


if __name__ == "__main__":
    main()
