"""Model files that change or are cut while a command reads them."""

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from program import FOLDER, MODELS, PROGRAM, SANITIZED, TESTS, run


def a_model_that_changes_on_the_disk_is_said():
    """Cut at several points of its run: one sentence and status 1, no signal."""
    folder = FOLDER / "cut"
    shutil.copytree(TESTS.parent / "models/stories", folder)
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    tokens = "30" if SANITIZED else "120"  # long enough to be cut in the middle
    command = [
        str(PROGRAM),
        "generate",
        "--model",
        str(folder),
        "--text",
        "Lily had a red ball.",
        "--tokens",
        tokens,
        "--beams",
        "8",
    ]
    begin = time.time()
    subprocess.run(command, check=True, capture_output=True)
    run_time = time.time() - begin
    said = 0
    for share in (0.2, 0.35, 0.5, 0.65, 0.8):
        weights.write_bytes(whole)
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(share * run_time)
        os.truncate(weights, 4096)
        message = p.communicate()[1].decode()
        assert p.returncode in (0, 1), (p.returncode, message)
        said += "changed on the disk; open it again." in message
    assert said, "never cut in the middle"


def cut_while_it_waits(file, *command, say=b"The cat sat on the mat."):
    """The message of a command that has mapped a file, waits for its standard input, and finds the
    file cut when it goes on."""
    p = subprocess.Popen(
        [str(PROGRAM), *map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=FOLDER,
    )
    while p.poll() is None and file.name not in Path(f"/proc/{p.pid}/maps").read_text():
        time.sleep(0.005)
    assert p.poll() is None, p.stderr.read()
    os.truncate(file, 4096)
    printed, message = p.communicate(say, timeout=120)
    return p.returncode, printed, message.decode().splitlines()


def a_file_that_is_cut_while_a_verb_reads_it_is_said():
    """A model, and a trace; whatever the verb and its way of writing: one sentence and status 1, no
    signal, and the old output stays."""
    folder, weights = FOLDER / "cut model", FOLDER / "cut model/model.safetensors"
    shutil.copytree(MODELS / "gpt2", folder)
    data, out = weights.read_bytes(), FOLDER / "old output"
    typed = ["--model", folder, "--text-file", "-"]
    for verb in (
        ["trace", *typed, "-o", out],
        ["report", *typed, "-o", out],
        ["heads", *typed],
        ["heads", *typed, "--json"],
        ["generate", *typed],
        ["attribute", *typed, "-o", out.with_suffix(".csv")],
        ["attribute", *typed, "--json"],
        ["compare", *typed, "--text-b", "The dog sat."],
        ["heads", "--model", folder, "--corpus", "-", "-o", out.with_suffix(".html")],
        ["heads", "--model", folder, "--corpus", "-", "-o", out.with_suffix(".json")],
        ["heads", "--model", folder, "--corpus", "-"],
    ):
        weights.write_bytes(data)
        written = Path(verb[-1]) if "-o" in verb else out
        written.write_bytes(b"old")
        status, printed, said = cut_while_it_waits(weights, *verb)
        assert status == 1, (verb, status, said)
        assert not printed, (verb, status, said)
        assert said == [f"headlight: {weights} changed on the disk; open it again."], (
            verb,
            status,
            said,
        )
        assert written.read_bytes() == b"old", verb
    weights.write_bytes(data)
    trace = FOLDER / "cut trace.safetensors"
    run("trace", "--model", folder, "--text", "The cat sat on the mat. " * 5, "-o", trace)
    status, printed, said = cut_while_it_waits(
        trace, "compare", "--trace", trace, "--model", folder, "--text-file", "-"
    )
    assert status == 1, (status, said)
    assert not printed, (status, said)
    assert said == [f"headlight: {trace} changed on the disk; open it again."], (status, said)
    shutil.rmtree(folder)


def a_figure_that_is_drawn_of_a_file_that_was_cut_fails():
    """Before a pipe that is not read yet a command waits with all that it needs mapped."""
    trace, pipe = FOLDER / "drawn trace.safetensors", FOLDER / "pipe.png"
    run("trace", "--text", "The cat sat on the mat. " * 5, "-o", trace)
    os.mkfifo(pipe)
    p = subprocess.Popen(
        [str(PROGRAM), "render", "--trace", str(trace), "--view", "head", "-o", str(pipe)],
        stderr=subprocess.PIPE,
    )
    while p.poll() is None and trace.name not in Path(f"/proc/{p.pid}/maps").read_text():
        time.sleep(0.005)
    os.truncate(trace, 4096)
    # It may have failed before it opened the pipe.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    while p.poll() is None:
        time.sleep(0.005)
        with contextlib.suppress(BlockingIOError):
            os.read(reader, 65536)
    os.close(reader)
    assert p.wait(60) == 1
    assert p.stderr.read().decode() == f"headlight: {trace} changed on the disk; open it again.\n"
