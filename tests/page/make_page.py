"""Assemble a page from the template in assets/page and a dict of data, as the program does.

make_page.py FOLDER writes the sample pages of test_page.py into FOLDER.
"""

import base64
import hashlib
import html
import json
import re
import struct
import sys
import zlib
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "assets" / "page"


def sha256(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(style, script):
    """The policy of a page: its own script, style and pictures, nothing else."""
    return (
        f"default-src 'none'; script-src {sha256(script)}; style-src {sha256(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def script():
    parts = [path.read_text() for path in sorted(PAGE.glob("*.js"))]
    return "(() => {\n'use strict';\n" + "".join(parts) + "})();\n"


def page(data):
    """The page as text. The template is split once, so that data may contain placeholders."""
    style, code = (PAGE / "page.css").read_text(), script()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    values = {
        "title": html.escape(data["title"]),
        "csp": policy(style, code),
        "style": style,
        "script": code,
        "data": text,
    }
    parts = re.split(r"\{\{(\w+)\}\}", (PAGE / "page.html").read_text())
    return "".join(values[part] if i % 2 else part for i, part in enumerate(parts))


def maps():
    """The four color maps of the page: of weights and of differences, light and dark."""
    every = json.loads((ROOT / "assets" / "colormaps.json").read_text())
    names = ("beam_light", "beam_dark", "balance_light", "balance_dark")
    return {name: "".join(every[name]) for name in names}


def deflate(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def pack_u16(values, signed=False):
    """(scale, base64) of weights as 16-bit integers, low bytes first."""
    scale = max(map(abs, values), default=1.0) or 1.0
    if signed:
        whole = array("H", (round(v / scale * 32767) + 32768 for v in values))
    else:
        whole = array("H", (round(v / scale * 65535) for v in values))
    if sys.byteorder == "big":
        whole.byteswap()
    raw = whole.tobytes()
    return scale, deflate(raw[0::2] + raw[1::2])


def pack_f32(values):
    return 1, deflate(struct.pack(f"<{len(values)}f", *values))


def block(
    label, heads, rows="lower", kind="softmax", encoding="u16", tokens=(0, 0), hidden=(), **more
):
    """A block from heads[head][query] = weights of the stored keys."""
    flat = [weight for head in heads for row in head for weight in row]
    scale, data = pack_f32(flat) if encoding == "f32" else pack_u16(flat, kind == "mixing")
    keys = len(heads[0][-1])
    return {
        "label": label,
        "kind": kind,
        "heads": len(heads),
        "queries": len(heads[0]),
        "keys": keys,
        "query_tokens": tokens[0],
        "key_tokens": tokens[1],
        "sink": False,
        "encoding": encoding,
        "scale": scale,
        "rows": rows,
        "data": data,
        "hidden": [list(run) for run in hidden],
        "max": max(map(abs, flat), default=1.0),
        **more,
    }


def data(title, blocks, sequences, **more):
    """Data of a page, with the defaults that the program writes."""
    return {
        "format": "headlight-page",
        "version": 1,
        "title": title,
        "caption": "",
        "model": "",
        "program": "Headlight 1.0",
        "view": "head",
        "block": 0,
        "head": 0,
        "locked": -1,
        "theme": "light",
        "blocks": blocks,
        "sequences": [{"name": name, "tokens": tokens} for name, tokens in sequences],
        "error": 0.0005,
        "maps": maps(),
        **more,
    }


def main(folder):
    import samples

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in samples.SAMPLES.items():
        text = page(make())
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
