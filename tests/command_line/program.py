"""The program that is tested, and how a test runs it."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
TESTS = Path(__file__).parents[1]
MODELS, MALFORMED = TESTS / "reference/models", TESTS / "reference/malformed"
FOLDER = Path(tempfile.mkdtemp(prefix="headlight cli ümläut "))
SANITIZED = b"__asan_init" in PROGRAM.read_bytes()


def words_of(command, arguments):
    """The words of a command, of which MODELS/… names a reference model, and its arguments."""
    return [
        *(word.replace("MODELS/", f"{MODELS}/") for word in command.split()),
        *map(str, arguments),
    ]


def run(command, *arguments, status=0, text_in=None, limit_mb=None, **more):
    """Run a command, whose words have no blanks, with arguments that may have some."""

    def limit():
        if limit_mb and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (limit_mb << 20, limit_mb << 20))

    words = words_of(command, arguments)
    without_display = {
        k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    r = subprocess.run(
        [str(PROGRAM), *words],
        input=text_in,
        capture_output=True,
        timeout=120,
        env=without_display,
        preexec_fn=limit,
        cwd=FOLDER,
        **more,
    )
    r.err, r.out = r.stderr.decode(errors="replace"), r.stdout.decode(errors="replace")
    assert r.returncode == status, f"status {r.returncode} for {words}: {r.err[:500]}"
    if status:
        assert r.err.startswith("headlight: "), r.err
        assert len(r.err.splitlines()) == 1, r.err
        assert len(r.err) > 30, r.err
        assert r.out == ""
    return r


def run_json(command, *arguments, **more):
    answer = json.loads(run(command, *arguments, **more).out)
    assert answer["version"] == 1, command
    return answer


def refused(words, command, *arguments, status=1, **more):
    """Run a command that must fail with a sentence that holds these words."""
    err = run(command, *arguments, status=status, **more).err
    assert words in err, f"{words!r} is not in the answer to {command} {arguments}: {err}"


def view_keys():
    """The views of render, as it lists them where it is given another."""
    err = run("render -o none.png --view ?", status=2).err
    return err.split(" is not one of ")[1].split(" (see")[0].split(", ")


def pdf_text(path):
    return subprocess.run(["pdftotext", FOLDER / path, "-"], capture_output=True, text=True).stdout


def header_of(path):
    """The header of a .safetensors file."""
    data = path.read_bytes()
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
