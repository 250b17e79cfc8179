#!/usr/bin/env python3
"""The files that `cmake --install` puts into a prefix run from there, wherever it is moved, without
the source folder: test_install.py BUILD"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

build = Path(sys.argv[1]).resolve()
source = Path(__file__).resolve().parents[2]
folder = Path(tempfile.mkdtemp(prefix="headlight install é "))
subprocess.run(
    ["cmake", "--install", build, "--prefix", folder / "first"], check=True, capture_output=True
)
assert "-march=native" not in (build / "compile_commands.json").read_text(), (
    "what is installed would run on processors like this one alone"
)
prefix = (folder / "first").rename(folder / "moved")
program = prefix / "bin/headlight"


def run(*arguments):
    """In a mount namespace of its own, where it can be had, the source folder is empty."""
    command = [str(program), *arguments]
    hide = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        'mount -t tmpfs none "$0" && exec "$@"',
        str(source / "models"),
    ]
    hidden = subprocess.run([*hide, "true"], capture_output=True).returncode == 0
    done = subprocess.run(
        [*hide, *command] if hidden else command,
        capture_output=True,
        text=True,
        cwd=folder,
        env=dict(os.environ, HOME=str(folder)),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, hidden


out, hidden = run("generate", "--text", "Once upon a time", "--tokens", "5")
assert out.startswith("Once upon a time"), out
run("generate", "--model", "translator", "--text", "The cat sat.")
run("render", "--text", "The cat sat.", "-o", str(folder / "heads.svg"))
assert (folder / "heads.svg").stat().st_size > 10000
listed, _ = run("models")
assert str(prefix) in listed or "built in" in listed, listed
assert (prefix / "share/man/man1/headlight.1").read_text().startswith(".TH")
assert (prefix / "share/headlight/capture_trace.py").exists()
if build == source / "build":  # ./run takes what is built, at once and in silence
    done = subprocess.run([source / "run", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, run("--version")[0], ""), done
shutil.rmtree(folder)
print(
    "ok   the installed program runs from a moved prefix"
    + ("" if hidden else " (the source folder could not be hidden)")
)
