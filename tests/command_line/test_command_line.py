#!/usr/bin/env python3
"""The program as a person types it: exit statuses, messages, files. PROGRAM [test…]. Ends with 'N passed, N failed'."""
import csv
import json
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
TESTS = Path(__file__).parents[1]
MODELS, MALFORMED = TESTS / "reference/models", TESTS / "reference/malformed"
FOLDER = Path(tempfile.mkdtemp(prefix="headlight cli ümläut "))
SANITIZED = b"__asan_init" in PROGRAM.read_bytes()


def run(*arguments, status=0, text_in=None, limit_mb=None, **more):
    def limit():
        if limit_mb and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (limit_mb << 20, limit_mb << 20))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    r = subprocess.run([str(PROGRAM), *map(str, arguments)], input=text_in, capture_output=True, timeout=120, env=environment, preexec_fn=limit, cwd=FOLDER, **more)
    r.err, r.out = r.stderr.decode(errors="replace"), r.stdout.decode(errors="replace")
    assert r.returncode == status, f"status {r.returncode} for {arguments}: {r.err[:500]}"
    if status:
        assert r.err.startswith("headlight: ") and len(r.err.splitlines()) == 1 and len(r.err) > 30, r.err
        assert r.out == ""
    return r


def malformed_files_get_one_sentence():
    cases = json.loads((MALFORMED / "manifest.json").read_text())["cases"]
    slowest, largest = 0, 0
    for c in cases:
        words = {"tokenizer": ["--text", "hello world"], "gguf": ["--ids", "0,1,2"], "png": ["--image", MALFORMED / c["path"]]}.get(c["kind"], ["--ids", "1,2,3"])
        begin = time.time()
        expect = c["expect"]
        out = FOLDER / "m.safetensors"
        command = ["trace", "--model", MODELS / "vit" if c["kind"] == "png" else MALFORMED / c["path"], *words, "-o", out, "--quiet"]
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
        used = subprocess.run(["/usr/bin/time", "-f", "%M", str(PROGRAM), *map(str, command)], capture_output=True, text=True).stderr.split()[-1] if Path("/usr/bin/time").exists() else "0"
        largest = max(largest, int(used))
        out.unlink(missing_ok=True)
    print(f"     {len(cases)} files: the slowest took {slowest:.2f} s, the largest {largest / 1024:.0f} MB")
    assert SANITIZED or (slowest < 1 and largest < 200 * 1024)


def figures_of_every_kind():
    for view in (["--view", "heads"], ["--view", "head", "--layer", "1", "--head", "2"]):
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"a b.{end}", FOLDER / f"c.{end}"
            run("render", "--text", "The cat sat on the mat.", *view, "-o", a)
            run("render", "--text", "The cat sat on the mat.", *view, "-o", b, "--threads", "1")
            assert a.read_bytes() == b.read_bytes() and a.stat().st_size > 1000, f"{end} differs between runs"
    views = ("lines", "steps", "delta", "lens", "graph", "compare", "model")
    for view in views:
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"{view}.{end}", FOLDER / f"{view} again.{end}"
            for file, threads in ((a, 2), (b, 1)):
                run("render", "--text", "Lily saw a cat. Lily saw a dog.", "--view", view, "--layer", "1", "--cell", "5,2", "-o", file, "--threads", threads)
            assert a.read_bytes() == b.read_bytes() and a.stat().st_size > 5000, f"{view}.{end} differs between runs"
    if shutil.which("pdftotext"):
        text = {view: subprocess.run(["pdftotext", FOLDER / f"{view}.pdf", "-"], capture_output=True, text=True).stdout for view in views}
        assert "q·k" in text["steps"] and "softmax" in text["steps"] and "Lily" in text["steps"], text["steps"]
        assert "Embeddings before and after" in text["delta"] and "logit" in text["lens"] and "rollout" in text["graph"], text["delta"]
        assert "Masked self-attention" in text["model"] and "4,273,664" in text["model"], text["model"]
    for model, more in (("bert", ["--pair", "the mat"]), ("marian", ["--target", "Die"]), ("gemma2", []), ("t5", ["--target", "x"])):
        for view in ("lines", "steps", "delta", "graph", "model") + (("lens",) if model != "t5" else ()):
            run("render", "--model", MODELS / model, "--text", "the cat", *more, "--view", view, "-o", FOLDER / "of.svg")
    run("render", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", "--view", "picture", "-o", FOLDER / "of.png")
    assert "does not go with" in run("render", "--text", "x", "--view", "picture", "-o", FOLDER / "no.png", status=1).err
    assert "--cell" in run("render", "--text", "x", "--view", "steps", "--cell", "7,7", "-o", FOLDER / "no.png", status=1).err
    assert not (FOLDER / "no.png").exists()
    pdf = FOLDER / "t.pdf"
    run("render", "--text", "Lily saw 猫 there", "--view", "head", "-o", pdf, "--width-mm", "85", "--title", "Grüße an 猫")
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True).stdout
        assert "Lily" in text and "Grüße an 猫" in text and "there" in text, text
    png = FOLDER / "p.png"
    run("render", "--text", "The cat", "-o", png, "--size", "640x360", "--dpi", "192")
    assert png.read_bytes()[16:24] == (640).to_bytes(4, "big") + (360).to_bytes(4, "big")
    for option in (["--scale", "log"], ["--scale", "row"], ["--queries", "columns"], ["--colormap", "viridis"], ["--no-labels"]):
        run("render", "--text", "The cat", "--view", "head", "-o", FOLDER / "o.png", *option)
        assert (FOLDER / "o.png").read_bytes() != png.read_bytes()


def numbers_of_every_view():
    sentence = ("--text", "Lily saw a cat. Lily saw a dog.")
    head = ("--view", "head", "--layer", "1", "--head", "2")
    rows = list(csv.reader(run("render", *sentence, *head, "-o", "-", "--format", "csv").out.splitlines()))
    tokens = rows[0][1:]
    assert rows[0][0] == "query\\key" and tokens[0] == "Lily" and [r[0] for r in rows[1:]] == tokens
    weights = [[float(v) if v else None for v in r[1:]] for r in rows[1:]]
    for q, row in enumerate(weights):
        assert all((v is None) == (k > q) for k, v in enumerate(row)), "masked cells are empty"
        assert abs(sum(v for v in row if v is not None) - 1) < 1e-5
    table = json.loads(run("render", *sentence, *head, "-o", "-", "--format", "json").out)["tables"][0]
    assert table["columns"] == tokens and table["rows_are"] == "query"
    assert all(a is None and b is None or abs(a - b) < 1e-7 for x, y in zip(table["values"], weights) for a, b in zip(x, y))
    npy = FOLDER / "w.npy"
    run("render", *sentence, *head, "-o", npy)
    data = npy.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = eval(data[10:10 + length])  # the format is a literal
    n = len(tokens)
    assert data[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0 and header == {"descr": "<f4", "fortran_order": False, "shape": (n, n)}, header
    assert abs(struct.unpack("<f", data[10 + length + 4 * n:10 + length + 4 * n + 4])[0] - weights[1][0]) < 1e-7
    for view in ("heads", "lines", "steps", "delta", "lens", "graph"):
        for end in ("csv", "tsv", "json", "safetensors"):
            run("render", *sentence, "--view", view, "-o", FOLDER / f"n.{end}")
            assert (FOLDER / f"n.{end}").stat().st_size > 100
        names = set(header_of(FOLDER / "n.safetensors")) - {"__metadata__"}
        assert names == {t["name"] for t in json.loads((FOLDER / "n.json").read_text())["tables"]}, names
    steps = json.loads(run("render", *sentence, "--view", "steps", "--layer", "1", "--head", "2", "--cell", "5,2", "-o", "-", "--format", "json").out)["tables"][0]
    column = steps["columns"].index("weight")
    assert all(abs(row[column] - (weights[5][k] or 0)) < 1e-6 for k, row in enumerate(steps["values"]))
    assert "no numbers" in run("render", *sentence, "--view", "model", "-o", FOLDER / "no.csv", status=1).err
    assert "different sizes" in run("render", *sentence, "--text-b", "Lily", "--view", "compare", "--show", "next", "-o", FOLDER / "no.npy", status=1).err
    assert not (FOLDER / "no.npy").exists()


def pixels_of(png):
    """Width, height, channels and the rows of a PNG of 8 bits a channel, its filters undone."""
    chunks = chunks_of(png)
    width, height, _, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    channels = {2: 3, 6: 4}[kind]
    raw = zlib.decompress(b"".join(data for name, data in chunks if name == "IDAT"))
    rows, before, stride = [], bytearray(width * channels), width * channels
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left, up, corner = row[i - channels] if i >= channels else 0, before[i], before[i - channels] if i >= channels else 0
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append(row)
        before = row
    return width, height, channels, rows


def cells_of(svg):
    """Colours of what is filled outside the glyphs, in order."""
    return re.findall(r"fill:(rgb\([^)]*\))", svg.split("</defs>")[-1])


GOLDEN = {"head": ["--view", "head", "--layer", "1", "--head", "2"], "dots": ["--view", "head", "--layer", "1", "--head", "2", "--marks", "dots", "--colormap", "viridis"],
          "words": ["--view", "head", "--layer", "1", "--head", "2", "--join-words", "--values", "--grid-lines"], "heads": ["--view", "heads"], "steps": ["--view", "steps", "--layer", "1", "--head", "2", "--cell", "6,1"],
          "compare": ["--view", "compare", "--layer", "1", "--head", "2", "--text-b", "Lily saw a big dog. Lily saw"]}


def golden_figures():
    """Figures as they were when someone looked at them. HEADLIGHT_GOLDEN=write makes them anew; look before you commit."""
    folder, write = TESTS / "golden", os.environ.get("HEADLIGHT_GOLDEN") == "write"
    folder.mkdir(exist_ok=True)
    for name, options in GOLDEN.items():
        out = {end: FOLDER / f"golden.{end}" for end in ("png", "svg", "pdf")}
        for file in out.values():
            run("render", "--text", "Lily saw a cat. Lily saw", *options, *([] if "compare" in options else ["--width-px", "420"]), "-o", file)
        text = subprocess.run(["pdftotext", out["pdf"], "-"], capture_output=True, text=True).stdout.split() if shutil.which("pdftotext") else None
        cells = cells_of(out["svg"].read_text())
        if write:
            shutil.copy(out["png"], folder / f"{name}.png")
            (folder / f"{name}.json").write_text(json.dumps({"text": text, "cells": cells}, ensure_ascii=False))
            continue
        golden = json.loads((folder / f"{name}.json").read_text())
        # another processor rounds a last digit otherwise, which may move a number or a cell to the next colour
        changed = [] if text is None else list(((Counter(text) - Counter(golden["text"])) + (Counter(golden["text"]) - Counter(text))).elements())
        assert len(changed) <= 0.04 * len(golden["text"] or []), f"{name}: the text of the PDF has changed: {changed[:8]}"
        assert abs(len(cells) - len(golden["cells"])) <= max(2, 0.05 * len(golden["cells"])), f"{name}: the filled shapes of the SVG have changed"
        (w, h, channels, mine), (gw, gh, gc, theirs) = pixels_of(out["png"].read_bytes()), pixels_of((folder / f"{name}.png").read_bytes())
        assert (channels, gc) == (3, 3) and abs(w - gw) <= 2 and abs(h - gh) <= 2, f"{name}: {w} x {h} in place of {gw} x {gh}"
        off = [abs(a - b) for x, y in zip(mine, theirs) for a, b in zip(x, y)]
        assert sum(off) / len(off) < 2 and sum(v > 48 for v in off) / len(off) < 0.02, f"{name}: looks different (mean {sum(off) / len(off):.2f} of 255)"


def a_full_disk_leaves_the_old_file():
    target = FOLDER / "kept.png"
    target.write_bytes(b"old")
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    for output, more in ((target, ["--view", "heads"]), (FOLDER / "kept.csv", ["--view", "lines"])):
        r = subprocess.run([str(PROGRAM), "render", "--text", "Lily saw a cat. Lily saw a dog.", *more, "-o", str(output)], capture_output=True, preexec_fn=small, restore_signals=False, cwd=FOLDER, timeout=60)
        assert r.returncode == 1 and r.stderr.startswith(b"headlight: ") and b"free some space" in r.stderr, r.stderr
    assert target.read_bytes() == b"old" and not (FOLDER / "kept.csv").exists() and not list(FOLDER.glob("kept*.part-*"))


def browser(page, more=()):
    """The page after its scripts ran, as a real browser has it."""
    with tempfile.TemporaryDirectory() as home:
        r = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"--user-data-dir={home}", *more, page.as_uri()], capture_output=True, text=True, timeout=110)
    return r.stdout


def reports_are_read_anywhere():
    sentence = "Lily <had> a \"red\" ball & Tom had a blue ball . Lily <had> a"
    page, again = FOLDER / "report é.html", FOLDER / "again.html"
    for file, threads in ((page, 2), (again, 1)):
        run("report", "--text", sentence, "-o", file, "--title", "<A & B>", "--threads", threads)
    html = page.read_text(encoding="utf-8")
    assert page.read_bytes() == again.read_bytes()
    assert html.count("<svg") == html.count("</svg>") == 5 and html.count("<tr>") >= 32 and "&lt;A &amp; B&gt;" in html and "<had>" not in html
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", html) and "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", html), "nothing is fetched"
    names = re.findall(r'id="([^"]+)"', html)
    assert len(names) == len(set(names)) and set(re.findall(r'(?:href="|url\()#([^")]+)', html)) <= set(names), "each figure's parts are its own"
    changed = FOLDER / "changed.html"
    run("report", "--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red", "--heads", "1.2,3.0", "--change", "forbid:16>3-10", "-o", changed)
    html = changed.read_text(encoding="utf-8")
    assert "mask:16&gt;3-10" in html and "before" in html and html.count("<svg") == 3 and "Head 3.0" in html
    run("report", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die", "-o", FOLDER / "marian.html")
    run("report", "--text", "x", "--heads", "9.9", "-o", FOLDER / "no.html", status=1)
    assert not (FOLDER / "no.html").exists()
    if not shutil.which("chromium"):
        print("     chromium is not installed: the page was not opened in a browser")
        return
    probe = FOLDER / "probe.html"
    click = "document.querySelectorAll('th[data-sorts]')[0].click(); document.title = 'sorted ' + [...document.querySelectorAll('th[data-sorts]')[0].closest('table').tBodies[0].rows].map(r => r.cells[1].dataset.value).join(' ') + ' boxes ' + [...document.querySelectorAll('svg')].map(s => Math.round(s.getBoundingClientRect().height)).join(' ')"
    probe.write_text(page.read_text(encoding="utf-8").replace("</body>", f"<script>{click}</script></body>"), encoding="utf-8")
    title = re.search("<title>(.*?)</title>", browser(probe)).group(1)
    values = [float(v) for v in title.split(" boxes ")[0].split()[1:]]
    assert len(values) == 32 and values == sorted(values, reverse=True), title
    assert all(int(h) > 100 for h in title.split(" boxes ")[1].split()), "every figure takes room"


def figures_open_elsewhere():
    svg, png = FOLDER / "f.svg", FOLDER / "f.png"
    for view in (["--view", "head", "--layer", "1", "--head", "2"], ["--view", "heads"], ["--view", "steps"], ["--view", "compare", "--with", "3.2"]):
        run("render", "--text", "Lily saw 猫 there & Tom <ran>", *view, "-o", svg)
        if shutil.which("rsvg-convert"):
            subprocess.run(["rsvg-convert", svg, "-o", png], check=True, timeout=60)
            assert png.stat().st_size > 2000
        if shutil.which("chromium") and view[1] == "head":
            assert "<path" in browser(svg)


def many_pictures_at_once():
    sentences = FOLDER / "sentences.txt"
    sentences.write_text("".join(f"Lily had {i} red balls.\n\n" for i in range(12)))
    for threads in (1, 2):
        (FOLDER / f"many{threads}").mkdir()
        run("render", "--text-file", sentences, "--view", "head", "-o", FOLDER / f"many{threads}/a b.svg", "--threads", threads)
    names = sorted(p.name for p in (FOLDER / "many1").iterdir())
    assert names == [f"a b-{i:02}.svg" for i in range(1, 13)], names
    assert all((FOLDER / "many1" / n).read_bytes() == (FOLDER / "many2" / n).read_bytes() for n in names), "threads change nothing"
    run("render", "--text", "Lily had 4 red balls.", "--view", "head", "-o", FOLDER / "alone.svg")
    assert (FOLDER / "alone.svg").read_bytes() == (FOLDER / "many1/a b-05.svg").read_bytes()
    run("render", "--text-file", "-", "--view", "head", "-o", FOLDER / "stdin.png", text_in=b"one line\n")
    assert (FOLDER / "stdin.png").exists()
    (FOLDER / "each").mkdir()
    run("render", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die", "--view", "head", "--all-heads", "-o", FOLDER / "each/h.png")
    assert len(list((FOLDER / "each").iterdir())) == 24 and (FOLDER / "each/h-cross.0.3.png").exists()
    assert run("render", "--text", "x", "-o", "-").stdout[:4] == b"\x89PNG"
    for bad in (["--text-file", sentences, "-o", "-"], ["--text", "x", "--view", "head", "--all-heads", "-o", "-"]):
        assert "standard output" in run("render", *bad, status=1).err
    long = FOLDER / "long.txt"
    long.write_text("fine\n" + "the cat sat " * 400 + "\nfine\n")
    run("render", "--text-file", long, "-o", FOLDER / "of.png")


def chunks_of(png):
    out, at = [], 8
    while at < len(png):
        length = int.from_bytes(png[at:at + 4], "big")
        kind, data = png[at + 4:at + 8].decode(), png[at + 8:at + 8 + length]
        assert zlib.crc32(png[at + 4:at + 8 + length]) == int.from_bytes(png[at + 8 + length:at + 12 + length], "big"), kind
        out.append((kind, data))
        at += 12 + length
    return out


def animations():
    """Frames, their order and checksums as the format asks; every frame's pixels unpack to the page's size."""
    for more, frames in ((["--animate", "layers"], 4), (["--animate", "tokens"], 4), (["--animate", "tokens", "--generate", "3", "--delay", "250"], 7)):
        png = FOLDER / "animated.png"
        run("render", "--text", "Once upon a time", "--view", "head", "--layer", "1", "--head", "2", *more, "-o", png)
        chunks = chunks_of(png.read_bytes())
        kinds = [kind for kind, _ in chunks]
        assert kinds[:3] == ["IHDR", "acTL", "pHYs"] and kinds[-1] == "IEND" and kinds.count("fcTL") == frames and kinds.count("IDAT") == 1, kinds
        width, height = struct.unpack(">II", chunks[0][1][:8])
        assert struct.unpack(">II", chunks[1][1]) == (frames, 0)
        numbers = [int.from_bytes(data[:4], "big") for kind, data in chunks if kind in ("fcTL", "fdAT")]
        assert numbers == list(range(2 * frames - 1)), numbers
        for kind, data in chunks:
            if kind in ("IDAT", "fdAT"):
                assert len(zlib.decompress(data[4:] if kind == "fdAT" else data)) == height * (1 + 3 * width)
            if kind == "fcTL":
                assert struct.unpack(">II", data[4:12]) == (width, height) and struct.unpack(">HH", data[20:24]) == (250 if "--delay" in more else 700, 1000)
    again = FOLDER / "animated again.png"
    run("render", "--text", "Once upon a time", "--view", "head", "--layer", "1", "--head", "2", *more, "-o", again, "--threads", "1")
    assert again.read_bytes() == png.read_bytes()
    (FOLDER / "frames").mkdir()
    run("render", "--text", "Once upon a time", "--view", "lines", "--animate", "layers", "--numbered", "-o", FOLDER / "frames/f.svg")
    assert sorted(p.name for p in (FOLDER / "frames").iterdir()) == [f"f-{i}.svg" for i in range(1, 5)]
    run("render", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die Katze", "--view", "head", "--layer", "cross.0", "--animate", "tokens", "-o", again)
    run("render", "--text", "x", "--animate", "layers", "-o", FOLDER / "no.svg", status=1)
    run("render", "--model", MODELS / "bert", "--text", "x", "--animate", "tokens", "--generate", "2", "-o", FOLDER / "no.png", status=1)
    assert not (FOLDER / "no.svg").exists() and not (FOLDER / "no.png").exists()


def styles_and_presets():
    head = ("--text", "Lily had an unbelievable catfish.", "--view", "head", "--layer", "1", "--head", "2")
    run("render", *head, "--preset", "column", "-o", FOLDER / "column.png")
    chunks = dict(chunks_of((FOLDER / "column.png").read_bytes()))
    assert struct.unpack(">I", chunks["IHDR"][:4])[0] == round(85 / 25.4 * 300) and struct.unpack(">I", chunks["pHYs"][:4])[0] == round(300 / 0.0254)
    run("render", *head, "--preset", "column", "--width-mm", "40", "-o", FOLDER / "narrow.png")
    assert struct.unpack(">I", dict(chunks_of((FOLDER / "narrow.png").read_bytes()))["IHDR"][:4])[0] == round(40 / 25.4 * 300), "what is said beside a preset wins"
    preset = FOLDER / "mine é.json"
    preset.write_text(json.dumps({"format": "headlight-figure", "version": 1, "join-words": True, "values": True, "title": "", "caption": "Words."}))
    a, b = FOLDER / "a.svg", FOLDER / "b.svg"
    run("render", *head, "--preset", preset, "-o", a)
    run("render", *head, "--join-words", "--values", "--title", "", "--caption", "Words.", "-o", b)
    assert a.read_bytes() == b.read_bytes()
    if shutil.which("pdftotext"):
        run("render", *head, "--preset", preset, "-o", FOLDER / "w.pdf")
        text = subprocess.run(["pdftotext", FOLDER / "w.pdf", "-"], capture_output=True, text=True).stdout
        assert "unbelievable" in text and "Words." in text and "1.00" in text and "Head" not in text, text
    run("render", "--text", "Lily had an unbelievable catfish.", "--view", "heads", "--only-heads", "1.2,3.0", "-o", FOLDER / "two.svg")
    run("render", *head, "--transparent", "-o", FOLDER / "clear.png")
    assert dict(chunks_of((FOLDER / "clear.png").read_bytes()))["IHDR"][9] == 6, "with an alpha channel"
    for bad in (["--preset", "nowhere"], ["--tokens", "99"], ["--tokens", "x"], ["--only-heads", "9.9"]):
        run("render", *head[:2], "--view", "heads" if bad[0] == "--only-heads" else "head", *bad, "-o", FOLDER / "no.png", status=1)
    run("render", *head, "--width-mm", "2", "-o", FOLDER / "no.png", status=2)
    for view in ("steps", "delta", "graph"):
        run("render", *head[:2], "--view", view, "--preset", "double-column", "--caption", "A caption.", "-o", FOLDER / "v.pdf")


def commands_are_listed_and_checked():
    lines = run("--commands").out.splitlines()
    assert len(lines) > 60 and any(line.startswith("view lines ") and "Ctrl+2" in line for line in lines), lines[:3]
    assert all(len(line.split()) > 2 for line in lines)
    for line in ("fly", "view lines; fly", "lock", "undo twice"):
        assert "--commands" in run("--do", line, status=2).err or "leave that out" in run("--do", line, status=2).err


def shells_and_the_manual():
    page = run("man").out
    assert page.startswith(".TH HEADLIGHT 1") and all(f".SH {verb}" in page for verb in ("RENDER", "COMPARE", "TRACE")) and "\\-\\-effect\\-on" in page
    if shutil.which("bash"):
        script = run("completions", "bash").out + 'COMP_WORDS=(headlight render --all); COMP_CWORD=2; _headlight; echo "${COMPREPLY[@]}"; COMP_WORDS=(headlight comp); COMP_CWORD=1; _headlight; echo "${COMPREPLY[@]}"'
        out = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert out.stdout.split("\n")[:2] == ["--all-heads", "compare completions"] and not out.stderr, out
    for shell in ("zsh", "fish"):
        assert "effect-on" in run("completions", shell).out
    run("completions", "tcsh", status=2)


def masks_and_changes():
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    both = json.loads(run("compare", "--text", sentence, "--change", "forbid:16>4", "--change", "forbid:16>10", "--json").out)
    ball = next(t for t in both["next"] if t["token"] == "ball")
    assert ball["a"] > 0.9 and ball["b"] < ball["a"], ball
    assert len(both["heads"]) == 32 and all(0 <= h["distance"] <= 1 for h in both["heads"])
    assert [h["distance"] for h in both["heads"]] == sorted((h["distance"] for h in both["heads"]), reverse=True)
    rows = run("heads", "--text", sentence, "--effect-on", "ball", "--sort", "effect").out.splitlines()
    assert rows[0].endswith(",effect") and len(rows) == 33
    effects = [abs(float(row.split(",")[-1])) for row in rows[1:]]
    assert effects == sorted(effects, reverse=True) and effects[0] > 0
    mask = FOLDER / "mask.json"
    mask.write_text("[[1,0,0],[0,1,0],[1,1,1]]")
    out = FOLDER / "masked.safetensors"
    run("trace", "--ids", "5,6,7", "--mask", f"file:{mask}", "--ablate", "1.2:mean,3.0", "--temperature-attn", "0.5", "-o", out)
    header = json.loads(out.read_bytes()[8:8 + int.from_bytes(out.read_bytes()[:8], "little")])["__metadata__"]
    assert header["mask"] == f"file:{mask}" and json.loads(header["changes"]) == ["ablate:1.2:mean", "ablate:3.0:zero", "temperature:0.5"], header
    for name in ("none", "causal", "window:2", "prefix:2", "global:1:2", "block", "padding"):
        run("trace", "--ids", "5,6,7", "--mask", name, "-o", out)
    for bad in (["--mask", "window"], ["--mask", "file:/nowhere.json"], ["--ablate", "9.9"], ["--ablate", "1.2:loud"], ["--change", "dance"], ["--change", "forbid:9>1"]):
        run("trace", "--ids", "5,6,7", *bad, "-o", FOLDER / "no.safetensors", status=1)
    mask.write_text("[[1,0],[0,1]]")
    run("trace", "--ids", "5,6,7", "--mask", f"file:{mask}", "-o", FOLDER / "no.safetensors", status=1)
    mask.write_text("[[1,0],[0]]")
    run("trace", "--ids", "5,6", "--mask", f"file:{mask}", "-o", FOLDER / "no.safetensors", status=1)
    run("compare", "--text", "a", status=1)
    before = json.loads(run("compare", "--text", sentence, "--change", "freeze:1.2=" + sentence, "--json").out)
    assert all(h["distance"] < 1e-6 for h in before["heads"]), "its own pattern changes nothing"
    patched = json.loads(run("compare", "--text", sentence, "--change", "freeze:1.2=Lily had a big dog. Tom had a blue ball. Lily gave Tom the red", "--json").out)
    assert max(h["distance"] for h in patched["heads"] if h["layer"] == "1") > 1e-3
    keep = json.loads(run("compare", "--text", sentence, "--ablate", "3.2:keep", "--change", "forbid:9-16>3-4@0.0", "--json").out)
    assert keep["heads"][0]["distance"] > 0
    longer = ("--text", "The cat sat on the mat.", "--text-b", "The big cat sat on the mat.", "--json")
    token, position = (json.loads(run("compare", *longer, "--align", how).out) for how in ("token", "position"))
    assert sum(h["distance"] for h in token["heads"]) < sum(h["distance"] for h in position["heads"]), "aligned sentences are nearer"
    same = json.loads(run("compare", "--text", "The cat", "--model-b", "stories", "--json").out)
    assert all(h["distance"] == 0 for h in same["heads"]) and all(t["a"] == t["b"] for t in same["next"])
    for more in (["--text-b", "Lily had a red hat. Tom had a blue hat. Lily gave Tom the red"], ["--model-b", MODELS / "gpt2"], ["--change", "forbid:16>10"], ["--with", "3.2"]):
        for show in ("pattern", "delta", "next"):
            run("render", "--text", sentence, "--view", "compare", "--show", show, *more, "-o", FOLDER / "compare.pdf")
            text = subprocess.run(["pdftotext", FOLDER / "compare.pdf", "-"], capture_output=True, text=True).stdout if shutil.which("pdftotext") else "A − B"
            assert ("A − B" in text or "different layers" in text and show == "delta") and "Reading" not in text, text
    run("render", "--text", sentence, "--view", "head", "--drop-sink", "-o", FOLDER / "sink.pdf")
    for bad in ("freeze:9.9=x", "freeze:1.2=", "forbid:3-1>0", "score:1-2>0@0.0=3"):
        run("trace", "--ids", "5,6,7", "--change", bad, "-o", FOLDER / "no.safetensors", status=1)
    assert "no token" in run("heads", "--text", "a", "--effect-on", "zzzzq", status=1).err.lower()


def what_reads_later_tokens_is_not_taken_over_while_writing():
    """A fully masked row attends to all keys: written one token at a time it must give what a fresh pass gives."""
    ids = [5, 9, 200]
    steps = json.loads(run("generate", "--model", MODELS / "gpt2", "--ids", ",".join(map(str, ids)), "--tokens", "6", "--change", "mask:0>0", "--json").out)["steps"]
    for step in steps:
        fresh = json.loads(run("generate", "--model", MODELS / "gpt2", "--ids", ",".join(map(str, ids)), "--tokens", "1", "--change", "mask:0>0", "--json").out)["steps"][0]
        assert fresh["id"] == step["id"] and abs(fresh["p"] - step["p"]) < 1e-5, (ids, fresh, step)
        ids.append(step["id"])


def rectangles_over_a_long_text_take_no_time():
    ids, open_cells = ",".join(["5"] * 256), "unmask:0-255>0-255"
    took = {}
    for name, more in (("plain", []), ("open", ["--change", open_cells]), ("none", ["--mask", "none"])):
        begin = time.time()
        run("trace", "--ids", ids, *more, "--capture", "logits", "-o", FOLDER / f"{name}.safetensors")
        took[name] = time.time() - begin
    assert took["open"] < took["plain"] + 3, took
    body = lambda path: (lambda b: b[8 + int.from_bytes(b[:8], "little"):])(path.read_bytes())
    assert body(FOLDER / "open.safetensors") == body(FOLDER / "none.safetensors"), "all cells allowed is the mask none"


def rows_still_to_be_written_can_be_masked():
    """The translator looks at its first word no more, in every row that it writes."""
    def written(*change):
        return json.loads(run("generate", "--model", "translator", "--text", "The", "--tokens", "20", "--json", *change).out)["ids"]
    assert written("--change", "mask:*>0@cross") == written("--change", "mask:0..>0@cross") == written("--change", "forbid:0..>0@cross.0", "--change", "forbid:0..>0@cross.1", "--change", "forbid:0..>0@cross.2")
    for bad in ("mask:*>0@cross.9", "mask:9999..>0", "mask:99>0@cross", "mask:*>0@sideways"):
        run("generate", "--model", "translator", "--text", "The", "--change", bad, status=1)
    run("generate", "--text", "The cat", "--tokens", "4", "--change", "mask:*>0@cross", status=1)
    error = run("generate", "--model", "translator", "--text", "The", "--change", "mask:7>0@cross", status=1).err
    assert '"7.."' in error and "still to be written" in error, error
    error = run("generate", "--model", "translator", "--text", "The", "--change", "mask:0>7@cross", status=1).err
    assert '".."' not in error and "correct --change" in error, error


def values_that_would_overflow_are_refused():
    for view in ("delta", "lens", "compare"):
        for change in ("score:1>0@0.0=1e39", "score:1>0@0.0=inf", "score:1>0@0.0=-1e31", "temperature:1e-38", "temperature:1e39"):
            error = run("render", "--text", "The cat sat", "--view", view, "--change", change, "-o", FOLDER / "no.svg", status=1).err
            assert "cannot be used" in error, error
        run("render", "--text", "The cat sat", "--view", view, "--change", "score:1>0@0.0=1e30", "--change", "temperature:1e-6", "-o", FOLDER / "yes.svg")
    for value in ("1e-38", "1e39", "nan", "-1", "x", ""):
        run("render", "--text", "The cat sat", "--temperature-attn", value, "-o", FOLDER / "no.svg", status=2)
    for value in ("0", "inf", "0.5"):
        run("render", "--text", "The cat sat", "--temperature-attn", value, "-o", FOLDER / "yes.svg")


def lists_of_ids_miss_nothing():
    out = FOLDER / "ids.safetensors"
    for bad in ("1,,2", "", ",", "1,", ",1", "1, 2", "1;2", "1.5", "99999999999"):
        run("trace", "--model", MODELS / "gpt2", "--ids", bad, "-o", out, status=2)
        run("trace", "--model", MODELS / "marian", "--ids", "5", "--target-ids", bad, "-o", out, status=2)
        run("trace", "--model", MODELS / "bert", "--ids", "5,6", "--token-types", bad, "-o", out, status=2)
    for bad in ("window:0", "global:1:0"):
        assert "at least 1" in run("trace", "--ids", "1,2", "--mask", bad, "-o", out, status=1).err
    run("trace", "--ids", "1,2", "--ablate", "1.2,,3.0", "-o", out, status=1)


def a_list_of_heads_names_its_own_option():
    for command, option in ((("render", "--view", "heads"), "--only-heads"), (("render", "--view", "compare"), "--with"), (("report",), "--heads")):
        for bad in ("9.9", "1.2:keep"):
            error = run(*command, "--text", "The cat", option, bad, "-o", FOLDER / ("no.html" if command == ("report",) else "no.svg"), status=1).err
            assert f"correct {option}." in error, error


def bad_input_of_every_kind():
    out = FOLDER / "x.png"
    run("render", "--text", "", "-o", out, status=1)
    run("render", "--text", "a", "-o", out)
    run("render", "--text", "a", "--layer", "9", "--view", "head", "-o", out, status=1)
    run("render", "--text", "a", "-o", "/nowhere/x.png", status=1)
    run("render", "--text", "a", "-o", FOLDER, status=1)
    run("render", "--text", "a", "-o", FOLDER / "x.gif", status=1)
    run("render", "--text", "a", "-o", out, "--size", "axb", status=1)
    run("render", "--text", "a", "-o", out, "--size", "30000x30000", "--dpi", "2400", status=1)
    run("render", "--text", "a", status=2)
    run("render", "--text", "a", "--ids", "1", "-o", out, status=2)
    run("render", "--text", "a", "--view", "sideways", "-o", out, status=2)
    run("nonsense", status=2)
    run("trace", "--ids", "1,2,99999", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--ids", "1,x", "-o", FOLDER / "t.safetensors", status=2)
    run("trace", "--ids", "-1", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--text", "a", "--mask", "sideways", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--text", "a", "--capture", "nothing*", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--model", FOLDER, "--text", "a", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--text-file", "/nowhere", "-o", FOLDER / "t.safetensors", status=1)
    run("trace", "--text", "a", "-o", "/dev/full", status=1)
    run("info", "--model", "/nowhere", status=1)
    run(status=1)  # no display
    assert not (FOLDER / "t.safetensors").exists()
    run("trace", "--text", "a\x01b", "-o", FOLDER / "t.safetensors")
    run("trace", "--text", b"a\xffb".decode(errors="surrogateescape"), "-o", FOLDER / "t.safetensors")
    (FOLDER / "t.safetensors").write_text("old")
    run("trace", "--ids", "99999", "-o", FOLDER / "t.safetensors", status=1)
    assert (FOLDER / "t.safetensors").read_text() == "old", "the old file stays"
    r = run("trace", "--text-file", "-", "-o", FOLDER / "t.safetensors", text_in=b"word " * 20_000)
    assert "256" in r.err and len(r.err.splitlines()) == 1


def no_file_speaks_to_the_terminal():
    folder = FOLDER / "speaks\x1b]0;x\x07"
    shutil.copytree(MODELS / "bert", folder)
    described = json.loads((folder / "tokenizer.json").read_text())
    described["normalizer"] = {"type": "\x1b]0;owned\x07"}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    said = run("trace", "--model", folder, "--text", "hello", "-o", FOLDER / "t.safetensors", status=1).err
    assert "␛]0;owned␇" in said and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), said
    table = run("info", "--model", folder).out
    assert "␛]0;x␇" in table and "\x1b" not in table
    raw = run("tokenize", text_in=json.dumps({"text": "a\x1b]0;x\x07\x7f\x9b"}).encode()).out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", raw), raw
    written = FOLDER / "labels.csv"
    run("render", "--text", "a\x1b]0;x\x07 cat", "--view", "head", "--layer", "0", "--head", "0", "-o", written)
    assert "␛" in written.read_text() and "\x1b" not in written.read_text()


def an_error_repeats_little_of_what_it_was_given():
    long = "x" * 20000
    for words in (["render", "--text", "a", "-o", "f.png", "--mask", long], ["render", "--text", "a", "-o", "f.png", "--change", long], ["render", "--text", "a", "-o", "f.png", "--ablate", long],
                  ["render", "--text", "a", "-o", "f.png", "--view", "lens", "--cell", long], ["render", "--text", "a", "-o", "f.png", "--view", "lens", "--layer", long], ["render", "--text", "a", "-o", "f.png", "--preset", long],
                  ["render", "--text", "a", "-o", "f.png", "--tokens", long], ["trace", "--text", "a", "-o", "f.safetensors", "--capture", long], ["heads", "--text", "a", "--effect-on", long],
                  ["info", "--model", long], ["render", "--text", "a", "-o", long], ["render", "--text", "a", "-o", "f.png", "--view", long], [long], ["--size", long], ["render", "--" + long]):
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
    command = [str(PROGRAM), "render", "--text", "The cat sat on the mat. " * 3, "--view", "head", "--all-heads", "-o", str(out)]
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


def a_model_that_changes_on_the_disk_is_said():
    """Cut at several points of its run: one sentence and status 1, no signal."""
    folder = FOLDER / "cut"
    shutil.copytree(TESTS.parent / "models/stories", folder)
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    command = [str(PROGRAM), "generate", "--model", str(folder), "--text", "Lily had a red ball.", "--tokens", "120", "--beams", "8"]
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


def an_unwritable_folder_keeps_the_old_file():
    if os.geteuid() == 0:
        return
    locked = FOLDER / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    run("render", "--text", "a", "-o", locked / "x.png", status=1)


def too_little_memory_is_a_sentence():
    """Whatever the limit: the numbers, or one sentence; never a signal."""
    if SANITIZED:
        return
    def under(megabytes, *command):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return subprocess.run([str(PROGRAM), *command], capture_output=True, text=True, timeout=120, preexec_fn=limit)
    least = next(m for m in range(40, 1000, 10) if under(m, "--version").returncode == 0)
    text = "The cat sat on the mat. " * 400
    refused = 0
    for more in range(0, 120, 8):
        for command in (["heads", "--text", text, "--threads", "16"], ["generate", "--text", text, "--tokens", "2"]):
            r = under(least + more, *command)
            assert r.returncode in (0, 1), (least + more, command[0], r.returncode, r.stderr[:300])
            if r.returncode:
                assert r.stderr.startswith("headlight: ") and len(r.stderr.splitlines()) == 1, r.stderr[:300]
                refused += 1
    assert refused, "at least the smallest limit is too small"


def weights_that_are_not_numbers_are_said():
    folder = FOLDER / "with NaN"
    shutil.copytree(MODELS / "gpt2", folder)
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    size, = struct.unpack("<Q", data[:8])
    begin = json.loads(data[8:8 + size])["transformer.h.1.attn.c_attn.weight"]["data_offsets"][0]
    data[8 + size + begin:12 + size + begin] = struct.pack("<f", float("nan"))
    path.write_bytes(data)
    for view in ("head", "heads", "steps", "lens", "delta", "graph"):
        r = run("render", "--model", folder, "--ids", "1,2,3", "--view", view, "-o", FOLDER / "nan.png", status=1)
        assert "layer 1's queries are not finite" in r.err, r.err
    assert "not finite" in run("generate", "--model", folder, "--ids", "1,2,3", status=1).err
    assert "not finite" in run("trace", "--model", folder, "--ids", "1,2,3", "-o", FOLDER / "nan.safetensors", status=1).err
    assert not (FOLDER / "nan.png").exists() and not (FOLDER / "nan.safetensors").exists()


def tokenize_speaks_json_lines():
    lines = [{"text": "Hello", "special": True}, {"text": "猫 😀"}, {"text": ""}]
    r = run("tokenize", text_in="\n".join(map(json.dumps, lines)).encode())
    answers = [json.loads(line) for line in r.out.splitlines()]
    assert len(answers) == 3 and answers[2] == {"ids": [], "tokens": [], "offsets": []}
    assert answers[1]["offsets"][-1][1] == 3
    run("tokenize", "--model", TESTS / "reference/tokenizers/bbpe_gpt2", text_in=b'{"text": "a"}')
    for bad in (b"{", b"[]", b'{"text": 5}', b'{"txt": "a"}'):
        run("tokenize", text_in=bad, status=1)


def traces_hold_what_they_say():
    path = FOLDER / "trace.safetensors"
    run("trace", "--model", MODELS / "gpt2", "--ids", "1,2,3", "-o", path)
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert header["blocks.2.attn.hook_pattern"]["shape"] == [4, 3, 3] and header["logits"]["shape"] == [3, 420]
    assert header["__metadata__"]["format"] == "headlight-trace" and len(json.loads(header["__metadata__"]["tokens"])) == 3
    run("trace", "--model", MODELS / "gpt2", "--ids", "1,2,3", "-o", path, "--capture", "*hook_q", "--capture", "*attn_scores")
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert len(header) == 7 and header["blocks.0.attn.hook_q"]["shape"] == [3, 4, 12]
    assert header["blocks.0.attn.hook_attn_scores"]["shape"] == [4, 3, 3]


def traces_take_a_models_place():
    sentence = ("--text", "Lily had a red ball. Lily had a")
    live = json.loads(run("render", *sentence, "--view", "head", "--layer", "1", "--head", "2", "-o", "-", "--format", "json").out)
    for name, more in (("usual", []), ("qk", ["--capture", "*hook_q", "--capture", "*hook_k"]), ("patterns", ["--capture", "*hook_pattern", "--capture", "input_ids"])):
        trace = FOLDER / f"{name} é.safetensors"
        run("trace", *sentence, *more, "-o", trace)
        assert json.loads(run("render", "--trace", trace, "--view", "head", "--layer", "1", "--head", "2", "-o", "-", "--format", "json").out) == live, name
        assert run("heads", "--trace", trace).out == run("heads", *sentence).out
        if name == "qk":
            assert "no token ids" in run("compare", "--trace", trace, status=1).err
        else:
            both = json.loads(run("compare", "--trace", trace, "--json").out)
            assert len(both["heads"]) == 32 and all(h["distance"] < 1e-7 for h in both["heads"])
        for view in ("heads", "lines", "graph", "compare"):
            run("render", "--trace", trace, "--view", view, "-o", FOLDER / "t.svg")
        assert "no weights" in run("render", "--trace", trace, "--view", "steps", "-o", FOLDER / "no.png", status=1).err
        assert "the model" in run("render", "--trace", trace, "--ablate", "1.2", "-o", FOLDER / "no.png", status=1).err
    other = json.loads(run("compare", "--trace", trace, "--text", "Tom had a red ball. Tom had a", "--json").out)
    assert max(h["distance"] for h in other["heads"]) > 0.01
    run("report", "--trace", trace, "-o", FOLDER / "t.html")
    run("render", "--trace", trace, "--view", "head", "--animate", "layers", "-o", FOLDER / "t.png")
    for model, more in (("marian", ["--target", "Die"]), ("bert", ["--pair", "the mat"]), ("t5", ["--target", "x"]), ("bloom", []), ("gemma2", [])):
        run("trace", "--model", MODELS / model, "--text", "the cat", *more, "-o", trace)
        assert run("heads", "--trace", trace).out == run("heads", "--model", MODELS / model, "--text", "the cat", *more).out, model
    run("trace", "--model", MODELS / "bloom", "--text", "the cat", "--capture", "*hook_q", "--capture", "*hook_k", "-o", trace)
    assert "hook_pattern" in run("heads", "--trace", trace, status=1).err, "position bias cannot be had from q and k"
    whole = (FOLDER / "usual é.safetensors").read_bytes()
    length = int.from_bytes(whole[:8], "little")
    broken = FOLDER / "broken.safetensors"
    for old, new in ((b'\\"heads\\":8', b'\\"heads\\":7'), (b'\\"layers\\":4', b'\\"layers\\":9'), (b'\\"kv_heads\\":8', b'\\"kv_heads\\":3'), (b"headlight-trace", b"headlight-tracf"), (b'\\"stacks\\"', b'\\"stackz\\"'), (b'"labels":"[', b'"labels":"{'), (b"blocks.2.attn.hook_pattern", b"blocks.2.attn.hook_qattern")):
        header = whole[8:8 + length]
        assert old in header, old
        broken.write_bytes(whole[:8] + header.replace(old, new) + whole[8 + length:])
        if b"labels" in old:
            run("heads", "--trace", broken, status=1)
        else:
            assert "broken.safetensors" in run("heads", "--trace", broken, status=1).err
    run("heads", "--trace", MODELS / "gpt2/model.safetensors", status=1)
    broken.write_bytes(whole[:len(whole) // 2])
    run("heads", "--trace", broken, status=1)


def numbers_are_of_all_positions_and_of_what_a_model_has():
    text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    tables = json.loads(run("render", "--text", text, "--view", "lens", "-o", "-", "--format", "json").out)["tables"]
    tokens = len(json.loads(run("render", "--text", text, "--view", "head", "-o", "-", "--format", "json").out)["tables"][0]["rows"])
    for table in tables:
        assert len(table["columns"]) == tokens > 10 and all(len(row) == tokens for row in table["values"]), (len(table["columns"]), tokens)
    for model, there in (("gpt2", False), ("bloom", True)):
        steps = run("render", "--model", MODELS / model, "--ids", "5,9,17", "--view", "steps", "-o", "-", "--format", "csv").out
        assert ("position bias" in steps) == there and "capped" not in steps and "weight" in steps, steps[:300]


def encoder_and_decoder_may_have_different_numbers_of_heads():
    for name, encoder, decoder in (("bart", 2, 4), ("marian", 4, 2)):
        model = FOLDER / f"{name} apart"
        shutil.copytree(MODELS / name, model)
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, "encoder_attention_heads": encoder, "decoder_attention_heads": decoder}))
        inputs = ("--model", model, "--text", "the cat", "--target", "Die")
        want = [f"{kind}.{layer},{head}" for kind, heads in (("encoder", encoder), ("decoder", decoder), ("cross", decoder)) for layer in range(2) for head in range(heads)]
        rows = run("heads", *inputs).out.splitlines()
        assert [",".join(row.split(",")[:2]) for row in rows[1:]] == want
        trace = FOLDER / f"{name} apart.safetensors"
        run("trace", *inputs, "-o", trace)
        data = trace.read_bytes()
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        assert header["encoder.1.attn.hook_pattern"]["shape"][0] == encoder and header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == decoder
        assert run("heads", "--trace", trace).out.splitlines() == rows
        assert all(h["distance"] < 1e-7 for h in json.loads(run("compare", *inputs[:2], "--trace", trace, "--json").out)["heads"])
        info = json.loads(run("info", "--model", model, "--json").out)
        assert info["heads"] == [encoder, decoder] and info["d_head"] == [48 // encoder, 48 // decoder], info
        assert info["parameters"] == json.loads(run("info", "--model", MODELS / name, "--json").out)["parameters"]
        for view in ("heads", "lines", "steps", "delta", "lens", "graph", "compare", "alignment", "model"):
            run("render", *inputs, "--view", view, "--layer", "cross.1", "-o", FOLDER / "apart.svg")
        run("render", *inputs, "--view", "head", "--layer", f"{'cross' if decoder > encoder else 'encoder'}.1", "--head", "3", "-o", FOLDER / "apart.svg")
        assert "0 … 1" in run("render", *inputs, "--view", "head", "--layer", f"{'encoder' if decoder > encoder else 'cross'}.1", "--head", "3", "-o", FOLDER / "no.svg", status=1).err
        run("report", *inputs, "-o", FOLDER / "apart.html")


def the_story_model_has_its_heads():
    rows = json.loads(run("heads", "--random-repeat", "48", "--sort", "induction", "--json").out)
    assert len(rows) == 32 and rows[0]["induction"] > 0.5, rows[0]
    rows = json.loads(run("heads", "--text", "Once upon a time there was a little girl named Lily. She had a red ball.", "--sort", "previous", "--json").out)
    assert rows[0]["previous"] > 0.8, rows[0]
    csv = run("heads", "--text", "a b c").out.splitlines()
    assert csv[0].startswith("layer,head,entropy,previous") and len(csv) == 33
    text = run("generate", "--text", "Once upon a time", "--tokens", "20").out
    assert text.startswith("Once upon a time") and len(text.split()) > 12 and text == run("generate", "--text", "Once upon a time", "--tokens", "20").out
    sampled = ["generate", "--text", "Once upon a time", "--tokens", "20", "--temperature", "0.9", "--top-k", "50", "--seed", "3"]
    assert run(*sampled).out == run(*sampled, "--threads", "1").out


def header_of(path):
    data = path.read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])


def the_translator_translates():
    for english, german in (("The cat sat on the mat.", "Die Katze saß auf der Matte."), ("I have never seen him.", "Ich habe ihn nie gesehen."), ("She wants to buy a new car.", "Sie will ein neues Auto kaufen.")):
        assert run("generate", "--model", "translator", "--text", english).out.strip() == german
    steps = json.loads(run("generate", "--model", "translator", "--text", "The cat sat on the mat.", "--json").out)
    assert steps["ended"] and steps["text"] == "Die Katze saß auf der Matte." and len(steps["steps"]) == len(steps["ids"]) + 1
    assert all(0 < s["p"] <= 1 and s["alternatives"][0]["p"] >= s["alternatives"][1]["p"] for s in steps["steps"])
    beams = json.loads(run("generate", "--model", "translator", "--text", "I think that she is very tired.", "--beams", "4", "--json").out)
    greedy = json.loads(run("generate", "--model", "translator", "--text", "I think that she is very tired.", "--json").out)
    assert beams["score"] >= greedy["score"] - 1e-4
    run("generate", "--model", "translator", "--text", "x", "--beams", "4", "--temperature", "1", status=2)
    run("generate", "--model", "translator", "--text", "x", "--beams", "99", status=2)
    run("generate", "--model", MODELS / "bert", "--text", "the [MASK]", "--json", status=1)


def an_alignment_is_drawn_and_written():
    table = FOLDER / "alignment.json"
    run("render", "--model", "translator", "--text", "The cat sat on the mat.", "--view", "alignment", "--layer", "cross.2", "--mean", "-o", table)
    tables = json.loads(table.read_text())
    tables = tables if isinstance(tables, list) else tables["tables"]
    first = tables[0]
    assert first["row_labels" if "row_labels" in first else "rows"][:2] == ["Die", "Katze"], first.keys()
    for end, more in (("svg", []), ("pdf", ["--as-lines", "--join-words"]), ("png", ["--hard"])):
        out = FOLDER / f"alignment.{end}"
        run("render", "--model", "translator", "--text", "The cat sat on the mat.", "--view", "alignment", *more, "-o", out)
        assert out.stat().st_size > 2000
    run("render", "--model", "translator", "--text", "The cat sat.", "--target", "Die Katze", "--view", "alignment", "-o", FOLDER / "alignment.csv")
    rows = {line.split(",")[2] for line in (FOLDER / "alignment.csv").read_text().splitlines()[1:]}
    assert "Katze" in rows and len(rows) <= 6, rows
    for family in ("bart", "t5"):
        run("render", "--model", MODELS / family, "--text", "The cat sat.", "--target", "Die Katze", "--view", "alignment", "-o", FOLDER / f"{family}.svg")
    refused = run("render", "--text", "The cat", "--view", "alignment", "-o", FOLDER / "no.svg", status=1)
    assert "encoder and a decoder" in refused.err, refused.err


def positions_of_every_kind_are_drawn():
    for model in ("translator", "stories", MODELS / "llama", MODELS / "bloom", MODELS / "t5", MODELS / "bert"):
        out = FOLDER / "positions.svg"
        run("render", "--model", model, "--text", "The cat", "--view", "positions", "-o", out)
        assert out.stat().st_size > 20_000, model
    run("render", "--model", "translator", "--text", "The cat", "--view", "positions", "-o", FOLDER / "positions.csv")
    first = (FOLDER / "positions.csv").read_text().splitlines()[1].split(",")
    assert first[0] == "positions" and float(first[-1]) == 0, "sin 0"


def every_kind_of_model_by_hand():
    out = FOLDER / "kind.safetensors"
    run("trace", "--model", MODELS / "bert", "--text", "the cat", "--pair", "the mat", "-o", out)
    tokens = json.loads(header_of(out)["__metadata__"]["tokens"])
    assert tokens.count("[SEP]") == 2 and tokens[0] == "[CLS]", tokens
    filled = run("generate", "--model", MODELS / "bert", "--text", "the [MASK] sat").out
    assert "[MASK]" not in filled and filled.strip().endswith("sat"), filled
    run("trace", "--model", MODELS / "marian", "--text", "The cat", "--target", "Die Katze", "-o", out)
    header = header_of(out)
    assert header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == 4 and "encoder.ln_final.hook_normalized" in header
    assert json.loads(header["__metadata__"]["decoder_tokens"])[0] == "<pad>"
    run("generate", "--model", MODELS / "marian", "--text", "The cat", "--tokens", "5")
    run("trace", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", "-o", out)
    assert header_of(out)["logits"]["shape"] == [7]
    gguf = MODELS / "llama_gguf/llama-q4_0.gguf"
    assert "2 key/value heads" in run("info", "--model", gguf).out
    assert json.loads(run("info", "--model", MODELS / "gemma2", "--json").out)["stacks"][0]["windows"] == [8, 0, 8, 0]
    run("generate", "--model", gguf, "--text", "The cat", "--tokens", "3")
    for layer in ("encoder.0", "decoder.1", "cross.1", "1"):
        run("render", "--model", MODELS / "marian", "--text", "The cat sat", "--target", "Die", "--view", "head", "--layer", layer, "-o", FOLDER / "site.svg")
    for model in ("marian", "vit"):
        words = ["--text", "The cat"] if model == "marian" else ["--image", MODELS / "vit/gray.png"]
        run("render", "--model", MODELS / model, *words, "-o", FOLDER / "heads.png")
    rows = json.loads(run("heads", "--model", MODELS / "marian", "--text", "The cat", "--target", "Die", "--json").out)
    assert len(rows) == 24 and rows[-1]["attention"] == "cross" and rows[-1]["previous"] is None and rows[-1]["entropy"] is not None
    answer = json.loads(run("tokenize", "--model", MODELS / "bert", text_in=b'{"text": "the", "pair": "mat"}').out)
    assert answer["tokens"][0] == "[CLS]" and answer["tokens"].count("[SEP]") == 2


def what_a_model_cannot_read_is_said():
    out = FOLDER / "no.safetensors"
    run("trace", "--model", MODELS / "vit", "--text", "a cat", "-o", out, status=1)
    run("trace", "--model", MODELS / "gpt2", "--image", MODELS / "vit/gray.png", "-o", out, status=1)
    run("trace", "--model", MODELS / "gpt2", "--text", "a", "--target", "b", "-o", out, status=1)
    run("trace", "--model", MODELS / "bert", "--ids", "2,5,3", "--token-types", "0,0", "-o", out, status=1)
    run("trace", "--model", MODELS / "bert", "--ids", "2,5,3", "--token-types", "0,0,9", "-o", out, status=1)
    run("trace", "--model", MODELS / "marian", "--ids", "2,5", "--target-ids", "418,999", "-o", out, status=1)
    run("render", "--model", MODELS / "marian", "--text", "a", "--view", "head", "--layer", "cross.7", "-o", FOLDER / "x.png", status=1)
    run("heads", "--model", MODELS / "vit", "--random-repeat", "5", status=1)
    run("generate", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", status=1)
    run("trace", "--model", MODELS / "vit/gray.png", "--text", "a", "-o", out, status=1)
    folder = FOLDER / "pickled"
    folder.mkdir()
    shutil.copy(MODELS / "gpt2/config.json", folder)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    assert "save_pretrained" in run("trace", "--model", folder, "--ids", "1", "-o", out, status=1).err
    assert not out.exists()


def models_are_listed():
    rows = json.loads(run("models", "--json").out)
    assert rows[0]["name"] == "stories" and rows[0]["readable"] and rows[0]["family"] == "GPT-2"
    assert run("models").out.startswith("name")


def info_needs_only_a_config():
    folder = FOLDER / "only config"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2", "n_layer": 96, "n_embd": 12288, "n_head": 96, "n_positions": 2048}')
    table = json.loads(run("info", "--model", folder, "--json").out)
    assert table["parameters"] == 174_604_259_328 + 0 or abs(table["parameters"] / 175e9 - 1) < 0.01, table["parameters"]
    assert "d_model 12288" in run("info", "--model", folder).out


def help_examples_run():
    tried = 0
    for verb in ("render", "trace", "heads", "generate", "tokenize", "info", "models"):
        text = run(verb, "--help").out
        examples = [line.strip() for line in text.split("Examples:")[1].splitlines() if "headlight" in line and "FOLDER" not in line]
        for example in examples:
            command = re.sub(r"\bheadlight\b", shlex.quote(str(PROGRAM)), example, count=1) if not example.startswith("echo") else example.replace("| headlight", "| " + shlex.quote(str(PROGRAM)))
            r = subprocess.run(command, shell=True, cwd=FOLDER, capture_output=True, timeout=120)
            assert r.returncode == 0, (example, r.stderr.decode())
            tried += 1
    assert tried >= 9, tried
    assert "render" in run("--help").out and run("--version").out.startswith("headlight ")


def every_instruction_set_computes_the_same():
    def predicted(name):
        os.environ["HEADLIGHT_KERNELS"] = name
        try:
            run("trace", "--model", MODELS / "gpt2", "--ids", "5,9,200,31,7", "-o", FOLDER / "k.safetensors", "--quiet")
            return header_and_values(FOLDER / "k.safetensors")
        finally:
            del os.environ["HEADLIGHT_KERNELS"]

    base = predicted("base")
    for name in ("v1", "v3", "v4"):
        if name == "v1" or can_run(name):
            for tensor, values in predicted(name).items():
                assert len(values) == len(base[tensor]) and all(abs(a - b) < 1e-4 * max(1, abs(b)) for a, b in zip(values, base[tensor])), (name, tensor)
    for name in ("v9", "", "v4" if not can_run("v4") else "avx"):
        os.environ["HEADLIGHT_KERNELS"] = name
        try:
            assert "HEADLIGHT_KERNELS" in run("models", status=1).err
        finally:
            del os.environ["HEADLIGHT_KERNELS"]


def can_run(instructions):
    flags = next((set(line.split(":")[1].split()) for line in open("/proc/cpuinfo") if line.startswith("flags")), set())
    return {"v3": {"avx2", "fma", "bmi2"}, "v4": {"avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}[instructions] <= flags


def header_and_values(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    return {name: struct.unpack(f"<{(row['data_offsets'][1] - row['data_offsets'][0]) // 4}f", data[8 + length + row["data_offsets"][0]:8 + length + row["data_offsets"][1]])
            for name, row in header.items() if name != "__metadata__" and row["dtype"] == "F32"}


def main():
    tests = [t for name, t in globals().items() if callable(t) and getattr(t, "__module__", "") == "__main__" and name not in ("main", "run", "header_of", "browser", "can_run", "header_and_values", "chunks_of", "pixels_of", "cells_of")]
    tests = [t for t in tests if not sys.argv[2:] or t.__name__ in sys.argv[2:]]
    failed = 0
    for t in tests:
        begin = time.time()
        try:
            t()
            print(f"ok   {t.__name__} ({time.time() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {t.__name__}\n{traceback.format_exc()}", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
