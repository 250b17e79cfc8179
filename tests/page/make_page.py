"""Put other data into a page that the program wrote.

make_page.py FOLDER writes the sample pages of test_page.py into FOLDER.
"""

import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from array import array
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "assets" / "page"
PROGRAM = Path(os.environ.get("HEADLIGHT_PROGRAM") or ROOT / "build/headlight")


@cache
def template():
    """A page that the program wrote: what stands before its data, and behind them."""
    with tempfile.TemporaryDirectory(prefix="headlight-page-") as folder:
        path = Path(folder) / "x.html"
        command = [PROGRAM, "render", "--quiet", "--view", "head", "--text", "a", "-o", path]
        subprocess.run(command, check=True)
        begin, _, rest = path.read_text(encoding="utf-8").partition('id="headlight">')
    return begin + 'id="headlight">', rest[rest.index("</script>") :]


def page(data):
    """The program's page with other data."""
    begin, end = template()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return begin + text + end


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
