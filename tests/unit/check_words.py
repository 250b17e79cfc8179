#!/usr/bin/env python3
"""The window and its messages speak the field's words: each row names words that were replaced, and what stands in their place.

    check_words.py ROOT

Reads the string literals of core/ and app/, neighbors joined as the compiler joins them, and README.md."""
import re
import sys
from pathlib import Path

WORDS = [  # what must not come back, what must be there
    ('^Next$', '^Prediction$'),
    ('^Align$', '^Alignment$'),
    ('^(Change|Write)$', '^Intervene$'),
    (r'most probable$|best of drafts|^Drafts$', '^beam search$'),
    ('Where the logit of', 'Direct logit attribution'),
    ('Nothing is changed|taken away', 'No interventions'),
    (r'strongest \d+ %|all but the faintest', ' % of each row'),
    ('^Keep( at|$)|^Draw( all|$)', 'Filter: at most'),
    ('switches a head|Heads that carry', 'Click toggles a head, double-click isolates it'),
    ('Bring it back|as it is|only this one|^neither$', 'keep only this head'),
    (r'^(own|window:\d|global:\d:\d) ', 'sliding window #'),
    ('^block rectangle$|Allow this cell', 'Unmask this cell'),
    ('turns it round', r'Shift\+drag inverts'),
    ('to all keys alike', 'falls back to uniform attention'),
    (r'let go of|leave the sentence|lets go', 'unlock the cell; leave the text field'),
    ('step back|Undo ties|^Beside$|^Count$|^in all$', 'Reset alignment'),
    ('Labels lean|where they must|pixels an inch', 'Rotate labels'),
    ('comes round|one in a hundred', '1 % of values exceed this'),
    ('No straight path', 'No direct path to the logits'),
    ('not turned|to its own largest|^[Oo]ne scale', '1 = direction unchanged'),
    ('^raises$|^lowers$|[Mm]oved (most )?by', '^suppresses$'),
    ('Where .* looks|What it adds', r'Head output \(ΔE\)'),
    ('Recorded elsewhere|cannot be typed into', r'Trace \(read-only\): open its model to edit the text'),
    (r'(?<!There )\b(is|are) no (mask|object|list|text|trace|preset|number|pair|name|regular|size|power|token|Headlight|SentencePiece|whole)', 'has no unk token'),
    ('holds no weights;|numbers that are none', 'an integer type'),
    ('was saved by a later', 'was saved by a newer version of Headlight'),
    ('lists what can be asked', 'see `headlight --help`'),
    (r'[Cc]olour|\b[Cc]entre\b|\bgrey (map|and)|[Nn]eighbour|behaviour|ormalis|[Mm]illimetre|uantis', '[Cc]olors'),
]


DAMAGED = "damaged|cut off|is empty|stopped early|too short"  # what fetching a file once more can mend


def literals(text):
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    for run in re.findall(r'(?:(?<!\w)"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))


root, bad = Path(sys.argv[1]), []
found = [(file.relative_to(root), text) for room in ("core", "app") for file in sorted((root / room).rglob("*.cpp")) for text in literals(file.read_text(encoding="utf-8"))]
for old, new in WORDS:
    bad += [f'{file} says "{text[:80]}" ({old})' for file, text in found if re.search(old, text)]
    if not any(re.search(new, text) for _, text in found):
        bad.append(f"nothing says {new}")
bad += [f'{file} says "{text[:80]}" of a file that is not damaged' for file, text in found if re.search(r"download\b[^;]*\bagain", text) and not re.search(DAMAGED, text)]
print(*bad, sep="\n")
print(f"{len(found)} texts, {len(WORDS)} rows of words, {len(bad)} against them")
sys.exit(bool(bad) or len(found) < 1000)
