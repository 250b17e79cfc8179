"""Data of sample pages: the story model where it is built, and made-up weights."""

import json
import math
import random
import struct
import subprocess
import tempfile
from array import array
from functools import cache
from pathlib import Path

from make_page import PROGRAM, block, data, deflate, maps

SENTENCE = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
WORDS = SENTENCE.replace(".", " .").split()
TOKENS = [w if i == 0 or w == "." else " " + w for i, w in enumerate(WORDS)]


def softmax(scores):
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    total = sum(weights)
    return [w / total for w in weights]


def random_heads(heads, queries, keys=None, seed=1, causal=True):
    draw = random.Random(seed)

    def row(q):
        return softmax([draw.gauss(0, 2) for _ in range(q + 1 if causal else keys)])

    return [[row(q) for q in range(queries)] for _ in range(heads)]


@cache
def trace(text):
    """Patterns [layer][head][query][key] and tokens of a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.safetensors"
        capture = ["--capture", "*hook_pattern"]
        command = [
            PROGRAM,
            "trace",
            "--quiet",
            "--threads",
            "1",
            "--text",
            text,
            *capture,
            "-o",
            path,
        ]
        subprocess.run(command, check=True)
        raw = path.read_bytes()
    size = struct.unpack_from("<Q", raw)[0]
    header = json.loads(raw[8 : 8 + size])
    layers = []
    for layer in range(64):
        entry = header.get(f"blocks.{layer}.attn.hook_pattern")
        if not entry:
            break
        heads, n, _ = entry["shape"]
        first, last = (8 + size + at for at in entry["data_offsets"])
        values = array("f", raw[first:last])
        layers.append(
            [
                [list(values[(h * n + q) * n : (h * n + q) * n + q + 1]) for q in range(n)]
                for h in range(heads)
            ]
        )
    return layers, json.loads(header["__metadata__"]["labels"])


def lens(tokens, layers=5):
    """A made-up logit lens: the next word of the sentence, surer with every layer."""
    draw = random.Random(7)
    after = list(range(len(tokens)))

    def cell(layer, position):
        guess = (
            tokens[(position + 1) % len(tokens)]
            if layer > 1
            else tokens[draw.randrange(len(tokens))]
        )
        share = draw.random() ** (layers - layer)
        rest = draw.sample(tokens, 4)
        return [[guess, share]] + [[t, (1 - share) / (3 + i)] for i, t in enumerate(rest)]

    names = ["embedding"] + [str(i) for i in range(layers - 1)]
    rows = [{"label": name, "top": [cell(i, p) for p in after]} for i, name in enumerate(names)]
    return {"tokens_after": after, "layers": rows}


def stories(**more):
    layers, tokens = trace(SENTENCE)
    blocks = [block(str(i), heads) for i, heads in enumerate(layers)]
    values = {
        "caption": "“red” attends to the first “ball”, the word that followed “red” before.",
        "model": "stories · GPT-2, 4 layers, 8 heads",
        "block": 1,
        "head": 2,
        "names": {"1.2": "induction", "0.0": "itself"},
        "next": [[" ball", 0.994], [" and", 0.002], [".", 0.001]],
        "lens": lens(tokens),
    }
    return data("Where “red” finds its ball", blocks, [("text", tokens)], **(values | more))


def compare():
    page = stories(view="compare")
    other = [block(str(i), random_heads(8, 17, seed=40 + i)) for i in range(4)]
    return page | {"compare": {"a": "stories", "b": "stories, ablated 1.1", "blocks_b": other}}


def synthetic_block(label, heads, n, seed):
    """A causal block made fast, as large in the file as real weights: low bytes are noise."""
    draw = random.Random(seed)
    high = bytearray()
    for head in range(heads):
        sharp = bytes(int(40 * draw.random() ** 9) for _ in range(997 + n))
        for q in range(n):
            start = (q * 7 * (head + 3)) % 997
            row = bytearray(sharp[start : start + q + 1])
            row[max(0, q - 1)] = 80
            row[0] = 150 if q else 255
            high += row
    planes = draw.randbytes(len(high)) + bytes(high)
    return {
        "label": label, "kind": "softmax", "heads": heads, "queries": n, "keys": n,
        "query_tokens": 0, "key_tokens": 0, "sink": False, "encoding": "u16", "scale": 1.0,
        "rows": "lower", "data": deflate(planes), "hidden": [], "max": 1.0,
    }  # fmt: skip


def many(n):
    tokens = (TOKENS * (n // len(TOKENS) + 1))[:n]
    blocks = [synthetic_block(str(i), 12, n, i) for i in range(12)]
    return data(f"{n} tokens, 144 heads", blocks, [("text", tokens)], block=5, head=1,
                model="gpt2 · GPT-2, 12 layers, 12 heads")  # fmt: skip


HOSTILE = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202eevil\u202c",
    "x" * 300,
    "👩‍👩‍👧‍👦", "\n", "\t", " ", "   ", "", "שלום", " مرحبا", "你好世界",
    "日本語のとても長いトークンです",
    "\u200b", "{{script}}", "<!--", "&amp;", "a\u0000b", "\ufeff", "한국어", "é\u0301\u0302\u0303",
]  # fmt: skip


def hostile():
    heads = random_heads(3, len(HOSTILE), seed=5)
    title = "</title><script>alert(2)</script> \u202ereversed"
    return data(title, [block("0", heads), block("<b>1</b>", heads)], [("<i>text</i>", HOSTILE)],
                caption="<img src=x onerror=alert(3)> & “quotes”", model="<b>model</b>",
                names={"0.1": "<u>role</u>"}, next=[["<img src=y>", 0.5], ["\n", 0.25]],
                lens=lens(HOSTILE))  # fmt: skip


def one():
    return data("One token", [block("0", [[[1.0]]])], [("text", ["Hello"])], error=0)


def mixing_heads():
    draw = random.Random(3)
    return [
        [[draw.gauss(0, 0.4) * 0.9 ** (q - k) for k in range(q + 1)] for q in range(24)]
        for _ in range(4)
    ]


def mixing():
    """A layer of mixing matrices, and one whose heads have a sink and see eight tokens back."""
    sunk = [[[0.7 * w for w in row] for row in head] for head in random_heads(4, 24, seed=9)]
    window = [(q, 0, q - 8) for q in range(8, 24)]
    blocks = [block("0", mixing_heads(), kind="mixing"), block("1", sunk, sink=True, hidden=window)]
    tokens = (TOKENS + TOKENS)[:24]
    model = "hybrid · 2 layers, 4 heads"
    return data("Mixing matrices and sinks", blocks, [("text", tokens)], model=model)


def maps_of(name):
    joined = maps()[name]
    return [joined[i : i + 7] for i in range(0, len(joined), 7)]


def translation():
    source = ["The", " house", " is", " old", " and", " beautiful", ".", "</s>"]
    target = [
        "<pad>",
        "Das",
        " Haus",
        " ist",
        " alt",
        " und",
        " wunder",
        "schön",
        ".",
        "</s>",
        " !",
    ]
    n, m = len(target), len(source)
    blocks = [
        block("encoder 0", random_heads(8, m, m, 1, False), rows="full", tokens=(0, 0)),
        block("decoder 0", random_heads(8, n, seed=2), tokens=(1, 1)),
        block(
            "cross 0", random_heads(8, n, m, 3, False), rows="full", encoding="f32", tokens=(1, 0)
        ),
    ]
    return data("Das Haus ist alt", blocks, [("source", source), ("target", target)],
                block=2, head=3, locked=2, error=0,
                model="translator · T5, 1 layer, 8 heads")  # fmt: skip


SAMPLES = {
    "stories": stories,
    "compare": compare,
    "many64": lambda: many(64),
    "many512": lambda: many(512),
    "hostile": hostile,
    "one": one,
    "mixing": mixing,
    "translation": translation,
    "auto": lambda: stories(theme="auto", view="text"),
}
