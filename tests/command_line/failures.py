"""Errors of input, files, disk or memory are said in one sentence, and nothing is half written."""

import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

from program import FOLDER, MALFORMED, MODELS, PROGRAM, SANITIZED, refused, run


def malformed_files_get_one_sentence():
    cases = json.loads((MALFORMED / "manifest.json").read_text())["cases"]
    slowest, largest = 0, 0
    for c in cases:
        words = {
            "tokenizer": ["--text", "hello world"],
            "gguf": ["--ids", "0,1,2"],
            "png": ["--image", MALFORMED / c["path"]],
        }.get(c["kind"], ["--ids", "1,2,3"])
        begin = time.time()
        expect = c["expect"]
        out = FOLDER / "m.safetensors"
        command = [
            "trace",
            "--model",
            MODELS / "vit" if c["kind"] == "png" else MALFORMED / c["path"],
            *words,
            "-o",
            out,
            "--quiet",
        ]
        try:
            run(*command, status=0 if expect == "ok" else 1, limit_mb=700)
            if expect == "error":
                assert not out.exists(), "nothing is written"
        except AssertionError:
            if expect == "error_or_ignore" or expect == "no_crash":
                run(*command, status=0, limit_mb=700)
            else:
                raise
        out.unlink(missing_ok=True)
        slowest = max(slowest, time.time() - begin)
        used = (
            subprocess.run(
                ["/usr/bin/time", "-f", "%M", str(PROGRAM), *map(str, command)],
                capture_output=True,
                text=True,
            ).stderr.split()[-1]
            if Path("/usr/bin/time").exists()
            else "0"
        )
        largest = max(largest, int(used))
        out.unlink(missing_ok=True)
    print(
        f"     {len(cases)} files: the slowest took {slowest:.2f} s, the largest "
        f"{largest / 1024:.0f} MB"
    )
    assert SANITIZED or (slowest < 1 and largest < 200 * 1024)


def bad_input_of_every_kind():
    out = FOLDER / "x.png"
    run("render", "--text", "", "-o", out, status=1)
    run("render --text a", "-o", out)
    run("render --text a --layer 9 --view head", "-o", out, status=1)
    run("render --text a -o /nowhere/x.png", status=1)
    run("render --text a", "-o", FOLDER, status=1)
    run("render --text a -o x.gif", status=1)
    run("render --text a --size axb", "-o", out, status=1)
    run("render --text a --size 30000x30000 --dpi 2400", "-o", out, status=1)
    refused("is no head", "render --text a --view head --head 2.x -o", out, status=2)
    refused("names its layer", "render --text a --view head --layer 1 --head 2.0 -o", out, status=2)
    run("render --text a", status=2)
    run("render --text a --ids 1", "-o", out, status=2)
    run("render --text a --view sideways", "-o", out, status=2)
    run("nonsense", status=2)
    run("trace --ids 1,2,99999 -o t.safetensors", status=1)
    run("trace --ids 1,x -o t.safetensors", status=2)
    run("trace --ids -1 -o t.safetensors", status=1)
    run("trace --text a --mask sideways -o t.safetensors", status=1)
    run("trace --text a --capture nothing* -o t.safetensors", status=1)
    run("trace --text a -o t.safetensors", "--model", FOLDER, status=1)
    run("trace --text-file /nowhere -o t.safetensors", status=1)
    run("trace --text a -o /dev/full", status=1)
    run("info --model /nowhere", status=1)
    run("", status=1)  # no display
    assert not (FOLDER / "t.safetensors").exists()
    run("trace --text ab -o t.safetensors")
    run("trace -o t.safetensors", "--text", b"a\xffb".decode(errors="surrogateescape"))
    (FOLDER / "t.safetensors").write_text("old")
    run("trace --ids 99999 -o t.safetensors", status=1)
    assert (FOLDER / "t.safetensors").read_text() == "old", "the old file stays"
    r = run("trace --text-file - -o t.safetensors", text_in=b"word " * 20_000)
    assert "256" in r.err and len(r.err.splitlines()) == 1


def no_file_speaks_to_the_terminal():
    folder = FOLDER / "speaks\x1b]0;x\x07"
    shutil.copytree(MODELS / "bert", folder)
    described = json.loads((folder / "tokenizer.json").read_text())
    described["normalizer"] = {"type": "\x1b]0;owned\x07"}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    said = run("trace --text hello -o t.safetensors", "--model", folder, status=1).err
    assert "␛]0;owned␇" in said and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), said
    table = run("info", "--model", folder).out
    assert "␛]0;x␇" in table and "\x1b" not in table
    raw = run("tokenize", text_in=json.dumps({"text": "a\x1b]0;x\x07\x7f\x9b"}).encode()).out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", raw), raw
    written = FOLDER / "labels.csv"
    run("render --view head --layer 0 --head 0", "--text", "a\x1b]0;x\x07 cat", "-o", written)
    assert "␛" in written.read_text() and "\x1b" not in written.read_text()


def an_error_repeats_little_of_what_it_was_given():
    long = "x" * 20000
    for words in (
        ["render", "--text", "a", "-o", "f.png", "--mask", long],
        ["render", "--text", "a", "-o", "f.png", "--change", long],
        ["render", "--text", "a", "-o", "f.png", "--ablate", long],
        ["render", "--text", "a", "-o", "f.png", "--view", "lens", "--cell", long],
        ["render", "--text", "a", "-o", "f.png", "--view", "lens", "--layer", long],
        ["render", "--text", "a", "-o", "f.png", "--preset", long],
        ["render", "--text", "a", "-o", "f.png", "--tokens", long],
        ["trace", "--text", "a", "-o", "f.safetensors", "--capture", long],
        ["heads", "--text", "a", "--effect-on", long],
        ["info", "--model", long],
        ["render", "--text", "a", "-o", long],
        ["render", "--text", "a", "-o", "f.png", "--view", long],
        [long],
        ["--size", long],
        ["render", "--" + long],
    ):
        for status in (1, 2):
            try:
                said = run(*words, status=status).err
                break
            except AssertionError as e:
                if status == 2 or "status" not in str(e):
                    raise
        assert len(said) < 700 and long[:300] not in said, (words[:4], len(said))


def an_interrupted_save_leaves_nothing_beside_the_file():
    folder = FOLDER / "saves"
    folder.mkdir()
    out = folder / "heads.svg"
    command = [
        str(PROGRAM),
        "render",
        "--text",
        "The cat sat on the mat. " * 3,
        "--view",
        "head",
        "--all-heads",
        "-o",
        str(out),
    ]
    begin = time.time()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.time() - begin
    files = set(os.listdir(folder))
    for i in range(12):
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * (0.3 + 0.06 * i))
        p.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3])
        p.wait()
        assert set(os.listdir(folder)) == files, set(os.listdir(folder)) - files


def a_full_disk_leaves_the_old_file():
    target = FOLDER / "kept.png"
    target.write_bytes(b"old")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    for output, more in ((target, ["--view", "heads"]), (FOLDER / "kept.csv", ["--view", "lines"])):
        r = subprocess.run(
            [
                str(PROGRAM),
                "render",
                "--text",
                "Lily saw a cat. Lily saw a dog.",
                *more,
                "-o",
                str(output),
            ],
            capture_output=True,
            preexec_fn=small,
            restore_signals=False,
            cwd=FOLDER,
            timeout=60,
        )
        assert r.returncode == 1, r.stderr
        assert r.stderr.startswith(b"headlight: "), r.stderr
        assert b"free some space" in r.stderr, r.stderr
    assert target.read_bytes() == b"old"
    assert not (FOLDER / "kept.csv").exists()
    assert not list(FOLDER.glob("kept*.part-*"))


def an_unwritable_folder_keeps_the_old_file():
    if os.geteuid() == 0:
        return
    locked = FOLDER / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    run("render --text a", "-o", locked / "x.png", status=1)


def who_stops_reading_ends_the_program_silently():
    """As `cat` ends where `head` has read enough, by SIGPIPE and without a word; what stood half
    written beside it is gone."""
    folder = FOLDER / "closed"
    folder.mkdir()
    for command in (
        ["man"],
        ["heads", "--text", "a"],
        ["heads", "--text", "a", "--json"],
        ["render", "--help"],
        ["--commands"],
        ["completions", "bash"],
        ["render", "--text", "a", "-o", "-"],
        ["render", "--text", "a", "-o", "-", "--format", "csv"],
        ["trace", "--text", "a", "-o", "-"],
        ["compare", "--text", "a", "--text-b", "b"],
        ["generate", "--text", "a"],
        ["models"],
        ["fetch", "--list"],
    ):
        read, write = os.pipe()
        os.close(read)
        p = subprocess.run(
            [str(PROGRAM), *command], stdout=write, stderr=subprocess.PIPE, cwd=folder
        )
        os.close(write)
        assert p.returncode == -signal.SIGPIPE and not p.stderr, (command, p.returncode, p.stderr)
    assert not list(folder.iterdir())
    read, write = os.pipe()
    os.close(read)
    ignoring = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    p = subprocess.run(
        [str(PROGRAM), "heads", "--text", "a"],
        stdout=write,
        stderr=subprocess.PIPE,
        preexec_fn=ignoring,
        restore_signals=False,
    )
    os.close(write)
    assert p.returncode == 1
    assert b"Standard output cannot be written" in p.stderr, (
        "where whoever started it ignores the signal it is said"
    )


def usage_points_to_the_verb_and_to_what_was_meant():
    for command, said in (
        (
            ["heads", "--josn"],
            "There is no option --josn; did you mean --json? (see `headlight heads --help`)",
        ),
        (["rendr"], 'did you mean "render"? (see `headlight --help`)'),
        (
            ["render", "--text", "a", "-o", "x.png", "--haed", "1,2"],
            "There is no option --haed; did you mean --head? (see `headlight render --help`)",
        ),
        (["heads", "--nonsense"], "There is no option --nonsense (see `headlight heads --help`)"),
        (["heads", "a word"], "a word"),
        (["trace", "--text", "a"], "headlight trace --help"),
        (
            ["heads", "--trace", "t.safetensors", "--text", "a"],
            (
                "--text and --trace cannot be used together; leave one of them out (see `headlight "
                "heads --help`)"
            ),
        ),
        (
            ["circuits", "--tokens", "5"],
            "--tokens goes with --head (see `headlight circuits --help`)",
        ),
    ):
        refused(said, *command, status=2)


def too_little_memory_is_a_sentence():
    """Whatever the limit: the numbers, or one sentence; never a signal."""
    if SANITIZED:
        return

    def under(megabytes, *command):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return subprocess.run(
            [str(PROGRAM), *command], capture_output=True, text=True, timeout=120, preexec_fn=limit
        )

    least = next(m for m in range(40, 1000, 10) if under(m, "--version").returncode == 0)
    text = "The cat sat on the mat. " * 400
    refused = 0
    for more in range(0, 120, 8):
        for command in (
            ["heads", "--text", text, "--threads", "16"],
            ["generate", "--text", text, "--tokens", "2"],
        ):
            r = under(least + more, *command)
            assert r.returncode in (0, 1), (least + more, command[0], r.returncode, r.stderr[:300])
            if r.returncode:
                assert r.stderr.startswith("headlight: "), r.stderr[:300]
                assert len(r.stderr.splitlines()) == 1, r.stderr[:300]
                refused += 1
    assert refused, "at least the smallest limit is too small"


def weights_that_are_not_numbers_are_said():
    folder = FOLDER / "with NaN"
    shutil.copytree(MODELS / "gpt2", folder)
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    begin = json.loads(data[8 : 8 + size])["transformer.h.1.attn.c_attn.weight"]["data_offsets"][0]
    data[8 + size + begin : 12 + size + begin] = struct.pack("<f", float("nan"))
    path.write_bytes(data)
    for view in ("head", "heads", "steps", "lens", "delta", "graph"):
        r = run("render --ids 1,2,3 -o nan.png", "--model", folder, "--view", view, status=1)
        assert "layer 1's queries are not finite" in r.err, r.err
    refused("not finite", "generate --ids 1,2,3", "--model", folder)
    refused("not finite", "trace --ids 1,2,3 -o nan.safetensors", "--model", folder)
    assert not (FOLDER / "nan.png").exists() and not (FOLDER / "nan.safetensors").exists()
