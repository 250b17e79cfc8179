#!/usr/bin/env python3
"""No function of std::filesystem that throws is called: each call ends in a std::error_code, and
folders are read by folder_entries.

check_paths.py ROOT"""

import re
import sys
from pathlib import Path

ASKING = (
    "absolute|canonical|copy|copy_file|create_director(?:y|ies)|create_(?:hard_link|symlink)|"
    "current_path|equivalent|exists|file_size|hard_link_count|is_\\w+|last_write_time|"
    "permissions|proximate|read_symlink|relative|remove|remove_all|rename|resize_file|space|"
    "status|symlink_status|temp_directory_path|weakly_canonical"
)
OF_ENTRY = (
    r"(?:->|\.)(?:is_(?:regular_file|directory|symlink|fifo|other|socket)|file_size|"
    r"last_write_time|symlink_status|hard_link_count)\(\)"
)


def arguments(source, start):
    """The text between the parenthesis at `start` and the one that closes it."""
    depth = 0
    for i in range(start, len(source)):
        depth += {"(": 1, ")": -1}.get(source[i], 0)
        if depth == 0:
            return source[start + 1 : i]
    return source[start + 1 :]


def throwing(source):
    """(offset, call) of each call that may throw."""
    source = re.sub(r"//[^\n]*", lambda m: " " * len(m.group(0)), source)
    codes = set(re.findall(r"\w+", " ".join(re.findall(r"std::error_code&? ([\w, ]+)", source))))
    for m in re.finditer(rf"\b(?:fs|filesystem)::({ASKING})\(", source):
        given = arguments(source, m.end() - 1)
        last = re.split(r"[,(]", given)[-1].strip(" )\n")
        if last not in codes:
            yield m.start(), m.group(0) + given + ")"
    for m in re.finditer(
        rf"{OF_ENTRY}|for \([^;)]*: *(?:std::filesystem|fs)::\w*directory_iterator", source
    ):
        yield m.start(), m.group(0)


root, bad, seen = Path(sys.argv[1]), [], 0
for file in sorted(
    f for room in ("core", "app") for f in (root / room).rglob("*") if f.suffix in (".cpp", ".h")
):
    source = file.read_text(encoding="utf-8")
    seen += len(re.findall(r"\b(?:fs|filesystem)::", source))
    bad += [
        (
            f"{file.relative_to(root)}:{source.count(chr(10), 0, at) + 1}: "
            f"{' '.join(call.split())} "
            "may throw; give it a std::error_code"
        )
        for at, call in throwing(source)
    ]
assert [
    c
    for _, c in throwing(
        "auto p = fs::exists(x); for (const auto& e : fs::directory_iterator(x, ignored)) "
        "e.is_directory();"
    )
], "the check finds nothing"
print(*bad, sep="\n")
print(f"{seen} uses of std::filesystem, {len(bad)} that may throw")
sys.exit(bool(bad) or seen < 100)
