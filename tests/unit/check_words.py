#!/usr/bin/env python3
"""The window and its messages speak the field's words: each row names words that were replaced, and
what stands in their place.

    check_words.py ROOT

Reads the texts that users read: the string literals of core/ and app/, headers too, neighbors
joined as the compiler joins them; the texts of assets/*.json, of which sentences that a model reads
are none; the documents; and the strings of the Python package."""

import ast
import json
import re
import sys
from pathlib import Path

WORDS = [  # words that must not come back, words that must be there
    ("^Next$", "^Prediction$"),
    ("^Align$", "^Alignment$"),
    ("^(Change|Write)$", "^Intervene$"),
    (r"most probable$|best of drafts|^Drafts$", "^beam search$"),
    ("Where the logit of", "Direct logit attribution"),
    ("Nothing is changed|taken away", "No interventions"),
    (r"strongest \d+ %|all but the faintest", " % of each row"),
    ("^Keep( at|$)|^Draw( all|$)", "Filter: at most"),
    ("switches a head|Heads that carry", "Click toggles a head, double-click isolates it"),
    (
        r"Bring it back|as it is(?! computed| open| read| made)|only this one|^neither$",
        "keep only this head",
    ),
    (r"^(own|window:\d|global:\d:\d) ", "sliding window #"),
    ("^block rectangle$|Allow this cell", "Unmask this cell"),
    ("turns it round", r"Shift\+drag inverts"),
    ("to all keys alike", "falls back to uniform attention"),
    (r"let go of|leave the sentence|lets go", "unlock the cell; leave the text field"),
    ("step back|Undo ties|^Beside$|^Count$|^in all$", "Reset alignment"),
    ("Labels lean|where they must|pixels an inch", "Rotate labels"),
    ("comes round|one in a hundred", "1 % of values exceed this"),
    ("No straight path", "No direct path to the logits"),
    ("not turned|to its own largest|^[Oo]ne scale", "1 = direction unchanged"),
    ("^raises$|^lowers$|[Mm]oved (most )?by", "^suppresses$"),
    (r"\bWhere (\w+ ){1,3}looks\b(?! for)|What it adds", r"Head output \(ΔE\)"),
    (
        "Recorded elsewhere|cannot be typed into",
        r"Trace \(read-only\): open its model to edit the text",
    ),
    (
        (
            r"(?<!There )\b(is|are) no "
            r"(mask|object|list|text|trace|preset|number|pair|name|regular|size|power|token|"
            r"Headlight|SentencePiece|whole)"
        ),
        "has no unk token",
    ),
    ("holds no weights;|numbers that are none", "an integer type"),
    ("was saved by a later", "was saved by a newer version of Headlight"),
    ("lists what can be asked", "see `headlight"),
    (
        (
            r"[Cc]olour|\b[Cc]entre\b|\bgrey "
            r"(map|and)|[Nn]eighbour|behaviour|ormalis|[Mm]illimetre|uantis"
        ),
        "[Cc]olors",
    ),
]


DAMAGED = (
    "damaged|cut off|is empty|stopped early|too short"  # faults that fetching a file again can mend
)


def literals(text):
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    for run in re.findall(r'(?:(?<!\w)"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))


def texts_of_json(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of_json(inner)


def texts_of_python(text):
    return [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def paragraphs(text):
    """Of a document, without what stands in code."""
    return [
        re.sub(r"`[^`]*`", "", part)
        for part in re.split(r"\n\s*\n", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
        if not part.startswith("    ")
    ]


READ_BY_MODELS = {"held_out.json", "sentences.json", "tries.json", "colormaps.json"}
ROOMS = [  # which files, and how their texts are read
    (("core/**/*.cpp", "core/**/*.h", "app/**/*.cpp", "app/**/*.h"), literals),
    (("assets/*.json",), lambda text: texts_of_json(json.loads(text))),
    (
        (
            "*.md",
            "docs/**/*.md",
            "core/**/README.md",
            "app/**/README.md",
            "models/python/README.md",
        ),
        paragraphs,
    ),
    (("models/python/headlight/*.py",), texts_of_python),
]

root, bad, found = Path(sys.argv[1]), [], []
for globs, read in ROOMS:
    files = [
        file
        for glob in globs
        for file in sorted(root.glob(glob))
        if file.name not in READ_BY_MODELS
    ]
    texts = [
        (file.relative_to(root), text)
        for file in files
        for text in read(file.read_text(encoding="utf-8"))
    ]
    if len(texts) < 20:
        bad.append(f"nothing is read of {', '.join(globs)}")
    found += texts
for old, new in WORDS:
    for file, text in found:
        if hit := re.search(old, text):
            bad.append(
                f'{file} says "{text[max(0, hit.start() - 30) : hit.end() + 30].strip()}" ({old})'
            )
    if not any(re.search(new, text) for _, text in found):
        bad.append(f"nothing says {new}")
bad += [
    f'{file} says "{text[:80]}" of a file that is not damaged'
    for file, text in found
    if re.search(r"download\b[^;]*\bagain", text) and not re.search(DAMAGED, text)
]
print(*bad, sep="\n")
print(f"{len(found)} texts, {len(WORDS)} rows of words, {len(bad)} against them")
sys.exit(bool(bad) or len(found) < 1000)
