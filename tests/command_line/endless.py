"""Inputs without an end and texts in other encodings: a pipe in the place of a file, a text that
goes on, Latin-1, control characters."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from program import FOLDER, MODELS, PROGRAM, refused, run

LILY = "Lily had a red ball."
HOSTILE = (
    "Tom \x1b[31mred\x07 \x9b31m \u202eball\u2066."  # ESC, BEL, a C1 control, a text turned around
)


def _with_pipe(name, at="gpt2"):
    """A copy of a model's folder with a pipe without a writer in the place of one of its files."""
    folder = FOLDER / f"{at} {name}"
    shutil.copytree(MODELS / at, folder)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    return folder


def no_pipe_is_waited_for_in_the_place_of_a_file():
    pipe, endless = FOLDER / "pipe", FOLDER / "endless"
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    for name in ("config.json", "tokenizer.json", "model.safetensors", "generation_config.json"):
        refused(name, "heads", "--text", LILY, "--model", _with_pipe(name))
    gguf = FOLDER / "pipe.gguf"
    os.mkfifo(gguf)
    words = ("render", "--text", LILY, "-o", FOLDER / "x.png")
    for other in (pipe, endless):
        for command in (
            (*words, "--mask", f"file:{other}"),
            (*words, "--preset", other),
            (
                "render",
                "--text",
                LILY,
                "--view",
                "corpus",
                "--corpus",
                other,
                "-o",
                FOLDER / "x.png",
            ),
            ("render", "--model", MODELS / "vit", "--image", other, "-o", FOLDER / "x.png"),
            ("heads", "--trace", other),
        ):
            refused("regular file", *command)
        run("info", "--model", other, status=1)
    run("info", "--model", gguf, status=1)
    for command in (
        ("render", "--text-file", pipe, "-o", FOLDER / "x.png"),
        ("heads", "--corpus", pipe, "-o", FOLDER / "x.csv"),
    ):
        refused("named pipe", *command)


def no_pipe_is_waited_for_in_the_cache_of_the_hub():
    home = FOLDER / "hf pipes"
    for at, name in enumerate(("models--tiny--pipe", "models--tiny--endless")):
        snapshot = home / "hub" / name / "snapshots" / "abc"
        shutil.copytree(MODELS / "gpt2", snapshot)
        refs = home / "hub" / name / "refs"
        refs.mkdir()
        (refs / "main").symlink_to("/dev/zero") if at else os.mkfifo(refs / "main")
    os.mkfifo(home / "token")
    environment = dict(os.environ, HF_HOME=str(home), HF_ENDPOINT="http://127.0.0.1:9")
    call = lambda *words: subprocess.run(
        [PROGRAM, *words], env=environment, capture_output=True, text=True, timeout=60
    )
    found = call("models", "--json")
    assert found.returncode == 0, found.stderr
    assert "tiny/pipe" in found.stdout, found.stderr
    assert "tiny/endless" in found.stdout, found.stderr
    asked = call("fetch", "tiny/pipe")
    assert asked.returncode == 1 and "127.0.0.1:9" in asked.stderr, asked.stderr


def texts_come_through_pipes():
    plain = run("heads", "--text", LILY).out
    assert run("heads --text-file -", text_in=LILY.encode()).out == plain
    assert run("heads --text-file /dev/stdin", text_in=LILY.encode()).out == plain
    corpus = FOLDER / "piped.txt"
    corpus.write_text(f"{LILY}\n\nTom had a blue ball.\n")
    rows = run("heads", "--corpus", corpus).out
    for substituted in (
        f"heads --text-file <(printf %s '{LILY}')",
        f"heads --corpus <(cat '{corpus}')",
    ):
        done = subprocess.run(
            ["bash", "-c", f"'{PROGRAM}' {substituted}"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.stdout == (plain if "text-file" in substituted else rows), done.stderr


def a_corpus_is_read_as_it_comes():
    """An error in a line is said while the pipe is still open: no more of it than a line is
    kept."""
    with subprocess.Popen(
        [PROGRAM, "heads", "--corpus", "-.jsonl", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(json.dumps(LILY).encode() + b'\n{"words": 1}\n')
        process.stdin.flush()
        assert process.wait(100) == 1
        assert b"Line 2 of standard input" in process.stderr.read()


def a_text_that_goes_on_is_given_up():
    refused("64 million bytes", "heads --text-file -", text_in=b"word " * 13_000_000)
    refused("million bytes", "heads --corpus -", text_in=b"x" * 2_000_000)
    refused("8 million bytes", "tokenize", text_in=b"x" * 9_000_000)


def a_text_in_another_encoding_is_refused():
    latin = FOLDER / "latin.txt"
    latin.write_bytes(b"One line.\ncaf\xe9 au lait\n")
    for command, place in (
        (("heads", "--text-file", latin), "line 2, byte 4: 0xE9"),
        (("heads", "--corpus", latin), "byte 4: 0xE9"),
        (("render", "--text-file", latin, "-o", FOLDER / "x.png"), "line 2, byte 4"),
    ):
        said = run(*command, status=1).err
        assert place in said and "iconv" in said, said
    refused("byte 1: 0xE9", "heads --text-file -", text_in=b"\xe9t\xe9")
    refused("Line 1 of standard input", "heads --corpus -", text_in=b"\xe9t\xe9\nfine")


def no_control_character_of_a_text_is_written():
    corpus = FOLDER / "hostile.txt"
    corpus.write_text(f"{HOSTILE}\n{LILY}\n", encoding="utf-8")
    for name in ("sheet.html", "sheet.json", "sheet.csv"):
        run("heads", "--corpus", corpus, "-o", FOLDER / name)
    run("report -o report.html", "--text", HOSTILE)
    for name in ("head.csv", "head.tsv", "head.json"):
        run("render --view head", "--text", HOSTILE, "-o", FOLDER / name)
    written = {
        name: (FOLDER / name).read_text(encoding="utf-8")
        for name in (
            "sheet.html",
            "sheet.json",
            "sheet.csv",
            "report.html",
            "head.csv",
            "head.tsv",
            "head.json",
        )
    }
    written |= {
        "heads": run("heads --json", "--text", HOSTILE).out,
        "tokens": run("tokenize", text_in=json.dumps({"text": HOSTILE}).encode()).out,
    }
    for name, text in written.items():
        raw = {
            c
            for c in text
            if (ord(c) < 0x20 and c not in "\n\t")
            or 0x7F <= ord(c) < 0xA0
            or 0x202A <= ord(c) <= 0x202E
            or 0x2066 <= ord(c) <= 0x2069
        }
        assert not raw, f"{name}: {sorted(map(hex, map(ord, raw)))}"
    assert any(
        HOSTILE in pair["text"]
        for head in json.loads(written["sheet.json"])["heads"]
        for pair in head["strongest"]
    ), "JSON loses nothing"


def a_pipe_or_device_takes_the_format_that_is_named_beside_it():
    pipe = FOLDER / "figure"
    os.mkfifo(pipe)
    for verb in (["render", "--text", "The cat sat"], ["learn", "--station", "positions"]):
        p = subprocess.Popen([str(PROGRAM), *verb, "--format", "png", "-o", str(pipe)])
        with open(pipe, "rb") as end:
            assert end.read().startswith(b"\x89PNG"), verb
        assert p.wait(timeout=60) == 0 and not Path(f"{pipe}.png").exists()
        refused("/dev/full cannot", *verb, "--format", "png", "-o", "/dev/full")
        full = subprocess.run(
            [str(PROGRAM), *verb, "-o", "-"], stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE
        )
        assert full.returncode == 1 and b"Standard output" in full.stderr, full.stderr
