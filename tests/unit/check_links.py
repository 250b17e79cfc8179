#!/usr/bin/env python3
"""Asks whether what the documents point to is there: links, images, and paths of the source; and whether they are short.

    check_links.py ROOT
"""
import re
import sys
from pathlib import Path

LONGEST = {"ARCHITECTURE.md": 9_000}  # bytes
TOPS = ("core", "app", "tests", "models", "assets", "shaders", "docs")
CORE_ROOMS = ("base", "kernels", "io", "tokenizer", "model", "hub", "trace", "analysis", "learn", "questions", "figure")
APP_ROOMS = ("cli", "session", "gpu", "paint", "parts", "views", "panels", "window")
root, bad, seen = Path(sys.argv[1]), [], 0
pages = sorted(page for page in root.rglob("*.md") if "build" not in page.relative_to(root).parts)


def anchors(text):
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_link(page, target):
    path, _, anchor = target.partition("#")
    there = (page.parent / path) if path else page
    if not there.exists():
        bad.append(f"{page.relative_to(root)} links to {target}, which is not there")
    elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text(encoding="utf-8")):
        bad.append(f"{page.relative_to(root)} links to {target}, which has no such title")


def is_there(name):
    """A path as documents write it: from the root, or from core/ or app/; without an ending, or with two."""
    spelled = re.sub(r"\.\{h,cpp\}$", ".h", name.rstrip("/"))
    for base in (root, root / "core", root / "app"):
        if (base / spelled).exists() or any((base / f"{spelled}{end}").exists() for end in (".h", ".cpp")):
            return True
    return False


for page in pages:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"\w+:", target):
            seen += 1
            check_link(page, target)
    for name in re.findall(r"`((?:%s)/[\w./{},-]+)`" % "|".join(TOPS + CORE_ROOMS + APP_ROOMS), text):
        if not re.search(r"[A-Z]{3}|\*", name):  # NAME stands for any
            seen += 1
            if not is_there(name):
                bad.append(f"{page.relative_to(root)} names {name}, which is not there")
    limit = LONGEST.get(page.name)
    if limit and len(text.encode()) > limit:
        bad.append(f"{page.relative_to(root)} has {len(text.encode()):,} bytes; at most {limit:,}")
print(*bad, sep="\n")
print(f"{seen} links and paths of {len(pages)} documents, {len(bad)} lead nowhere")
sys.exit(bool(bad) or seen < 50)
