#!/usr/bin/env python3
"""Check lengths: no file of core, app, tests or the Python package has over 400 lines, no function
of core or app over 40, nine of ten have at most 25, no line of Python has over 100 columns.

check_lengths.py ROOT"""

import re
import sys
from pathlib import Path

FILE, FUNCTION, USUAL, SHARE = 400, 40, 25, 0.9
COLUMNS = 100  # of a line of Python
CONTROL = re.compile(r"\b(if|for|while|switch|catch|do|else|return)\b[^;{}]*$")
SIGNATURE = re.compile(
    r"\)\s*(const|noexcept|override|final|mutable|&|->\s*[\w:<>,&* ]+|:\s*\w[^;]*)*\s*$"
)


def without_text(source):
    """The same lines, comments and literals blanked."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(
        r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'',
        blank,
        source,
        flags=re.S,
    )


def functions(source):
    """(first line, lines) of each function and method; lambdas count with the function around
    them."""
    source, begin, inside, out = (
        without_text(re.sub(r"^\s*#.*(\\\n.*)*$", "", source, flags=re.M)),
        0,
        [],
        [],
    )
    for m in re.finditer(r"[{};]", source):
        at, outer = m.start(), all(kind != "function" for kind, _ in inside)
        if m.group() == "{":
            head = source[begin:at] if outer else ""
            kind = (
                "function"
                if outer
                and SIGNATURE.search(head)
                and not CONTROL.search(head)
                and "=" not in head.split("(")[0]
                else "block"
            )
            inside.append((kind, source.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1))
        elif m.group() == "}" and inside:
            kind, first = inside.pop()
            if kind == "function":
                out.append((first, source.count("\n", 0, at) + 2 - first))
        begin = m.end()
    return out


def files_of(root, *rooms, ends=(".cpp", ".h", ".py")):
    files = (f for room in rooms for f in (root / room).rglob("*") if f.suffix in ends)
    return [(f.relative_to(root), f.read_text(encoding="utf-8")) for f in sorted(files)]


root, bad, lengths = Path(sys.argv[1]), [], []
for file, source in files_of(root, "assets", "models", "tests", ends=(".py",)):
    for number, line in enumerate(source.splitlines(), 1):
        if len(line) > COLUMNS:
            bad.append(f"{file}:{number} has {len(line)} columns; break the line")
for file, source in files_of(root, "core", "app", "tests", "models/python"):
    generated = "do not edit" in source[:300]
    if source.count("\n") > FILE and not generated:
        bad.append(f"{file} has {source.count(chr(10))} lines; split it by subject")
    if file.suffix != ".py" and file.parts[0] != "tests":
        lengths += [(lines, f"{file}:{first}") for first, lines in functions(source)]
lengths.sort()
longer = {}
for lines, where in lengths:
    if lines > FUNCTION:
        longer[where.split(":")[0]] = f"{where} has {lines} lines; split it by what it does"
bad += [text for _, text in sorted(longer.items())]
p90 = lengths[int(len(lengths) * SHARE)][0]
if p90 > USUAL:
    bad.append(f"one function of ten has more than {USUAL} lines")
print(*bad, sep="\n")
print(f"{len(lengths)} functions, nine of ten within {p90} lines; {len(bad)} against the lengths")
if "-v" in sys.argv:
    print(*(f"{lines} {where}" for lines, where in lengths[int(len(lengths) * SHARE) :]), sep="\n")
sys.exit(bool(bad) or len(lengths) < 1000)
