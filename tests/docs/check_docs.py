#!/usr/bin/env python3
"""Check the documents: generated parts are current, links and paths lead somewhere, commands run.

    check_docs.py PROGRAM [--pictures]

--pictures makes the pictures of docs/window again, by the commands of its pages."""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import python_api
import python_options
import python_stub
import sentences

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
import performance  # noqa: E402

MAX_BYTES = {"README.md": 8 << 10, "ARCHITECTURE.md": 9 << 10, "docs/performance.md": 8 << 10}
MAX_PICTURE = 150 << 10
PLACEHOLDER = r"FOLDER|ADDRESS|FILE\b|fetch [^-]|photo\.jpg"  # names in blocks that do not run here
PATH = r"`((?:core|app|tests|assets|models|shaders|docs)/[\w./-]+)`"
CODE_NAME = r"^[A-Z]\w*[a-z]\w*[A-Z]\w*(?:::\w+)?|^[a-z]+(?:_[a-z0-9]+)+(?=\(|$)"
SOURCE = r"(?<![\w/.])((?:\w+/)+\w+\.(?:cpp|h|py))\b"


def pages():
    own = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
    rooms = [page for room in ("core", "app") for page in sorted((ROOT / room).rglob("README.md"))]
    return own + rooms + [ROOT / "models/python/README.md"]


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def stale_pages(program):
    """Pages that differ from what the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copy(ROOT / "README.md", copy)
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("*.png"))
        write = [program, "man", "--markdown", folder]
        done = subprocess.run(write, capture_output=True, text=True)
        if done.returncode:
            return [f"man --markdown: {done.stderr.strip()}"]
        written = [copy / "README.md", *sorted((copy / "docs").rglob("*.md"))]
        names = [page.relative_to(copy) for page in written]
        stale = [n for n in names if not (ROOT / n).exists() or is_other(ROOT / n, copy / n)]
    bad = [f"{name} is not current; run {program.name} man --markdown ." for name in stale]
    if (ROOT / "docs/python/api.md").read_text(encoding="utf-8") != python_api.page(ROOT):
        bad.append("docs/python/api.md is not current; run tests/docs/python_api.py")
    write = "run tests/docs/python_stub.py . --write"
    bad += [f"{name} is not current; {write}" for name in python_stub.stale(ROOT)]
    if python_options.TABLE.read_text(encoding="utf-8") != python_options.current(program):
        bad.append("option_table.py is not current; run tests/docs/python_options.py PROGRAM")
    if performance.PAGE.read_text(encoding="utf-8") != performance.current_page():
        bad.append("docs/performance.md is not current; run tests/bench/performance.py")
    if (ROOT / "assets/en.json").read_text(encoding="utf-8") != sentences.page(ROOT):
        bad.append("assets/en.json is not current; run " + sentences.COMMAND)
    return bad


def is_other(a, b):
    return a.read_bytes() != b.read_bytes()


def missing_targets(page, text):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", without_code(text)):
        if not target.startswith(("http:", "https:", "mailto:")):
            if not (page.parent / target).exists():
                yield f"links to {target}"
    for path in re.findall(PATH, text) + re.findall(SOURCE, text):
        places = (ROOT / path, ROOT / "core" / path, ROOT / "app" / path, page.parent / path)
        if "NAME" not in path and not any(place.exists() for place in places):
            yield f"names {path}"
    for file in re.findall(r"`(\w+\.(?:h|cpp))`", text) if page.name == "README.md" else ():
        if not any(page.parent.rglob(file)):
            yield f"names {file}"


@functools.cache
def source_words():
    places = [(room, end) for room in ("core", "app") for end in ("*.h", "*.cpp")]
    files = [file for room, end in places for file in (ROOT / room).rglob(end)]
    files += [*(ROOT / "models/python").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


def missing_names(page, text):
    """Types and functions that a page about the code names and no source has."""
    if page.name == "structures.md":  # of transformers' code
        return
    about_code = page.name in ("ARCHITECTURE.md", "README.md") or page.parent.name == "dev"
    if not about_code or page.parent == ROOT / "models/python":
        return
    code = re.findall(r"`([^`\n]+)`", text)
    quoted = [name for words in code for name in re.findall(CODE_NAME, words)]
    for name in quoted + re.findall(r"\b[A-Z]\w+::\w+", text):
        yield from (f"names {name}" for word in name.split("::") if word not in source_words())


def wrong_pages():
    for page in pages():
        name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        yield from (f"{name} {what}, which is not there" for what in missing_targets(page, text))
        yield from (f"{name} {what}, which no source has" for what in missing_names(page, text))
        if len(text.encode()) > MAX_BYTES.get(name, 1 << 20):
            yield f"{name} has {len(text.encode())} bytes, more than {MAX_BYTES[name]}"
    shown = {name for page in pages() for name in re.findall(r"/([\w-]+\.png)\)", page.read_text())}
    for picture in sorted((ROOT / "docs/pictures").glob("*.png")):
        if picture.stat().st_size > MAX_PICTURE:
            yield f"{picture.name} has {picture.stat().st_size} bytes, more than {MAX_PICTURE}"
        if picture.name not in shown:
            yield f"no page shows {picture.name}"


def blocks():
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
            if re.search(r"^headlight\b", block, re.M) and not re.search(PLACEHOLDER, block):
                yield page.relative_to(ROOT), block


def outcome(given):
    """Run a block in a folder of its own; return what went wrong, or copy its pictures."""
    page, block, tools, pictures = given
    with tempfile.TemporaryDirectory() as folder:
        paths = f"{tools}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-e"],
            input=block,
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": paths, "XDG_CONFIG_HOME": folder},
        )
        for made in Path(folder).glob("*.png") if pictures else ():
            if (ROOT / "docs/pictures" / made.name).exists():
                shutil.copy(made, ROOT / "docs/pictures")
    return [f"{page}: {done.stderr.strip() or done.returncode}\n{block}"] if done.returncode else []


def wrong_commands(program, pictures):
    with tempfile.TemporaryDirectory() as tools:
        tool = Path(tools) / "headlight"
        size = 'case "$1 $*" in *width-px*) ;; render*) set -- "$@" --width-px 640 ;; esac\n'
        tool.write_text(f'#!/bin/sh\n{size if pictures else ""}exec {str(program)!r} "$@"\n')
        tool.chmod(0o755)
        given = [(page, block, tools, pictures) for page, block in blocks()]
        with ThreadPoolExecutor(2) as pool:
            wrong = [line for lines in pool.map(outcome, given) for line in lines]
    print(f"{len(given)} blocks of commands, {len(wrong)} failed")
    return wrong + (["too few commands are found"] if len(given) < 20 else [])


def main():
    program, pictures = Path(sys.argv[1]).resolve(), "--pictures" in sys.argv
    bad = wrong_commands(program, pictures) + stale_pages(program) + list(wrong_pages())
    print(*bad, sep="\n")
    print(f"{len(pages())} pages, {len(bad)} faults")
    sys.exit(bool(bad))


main()
