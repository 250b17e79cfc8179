"""Compare pictures, with the browser itself to read them, and write small ones."""

import base64
import struct
import time
import zlib
from collections import Counter
from pathlib import Path

FAR = 24  # of 255: a block whose mean color is as far off is another block
PARTS = 0.002  # of all blocks may be: letters of another rasterizer are a little elsewhere
HELPER = Path(__file__).with_name("pictures.html")


def helped(browser):
    """A page in which the functions above are."""
    browser.open(HELPER)
    return browser


def pixels(browser, picture):
    """(width, height, RGBA) of a PNG file."""
    code = f"bytes('{base64.b64encode(picture.read_bytes()).decode()}')"
    wide, high, data = helped(browser).run(code)
    return wide, high, base64.b64decode(data)


def difference(browser, golden, picture):
    """(share of blocks that are far off, the sentence that says so, the marked picture)."""
    a, b = (base64.b64encode(path.read_bytes()).decode() for path in (golden, picture))
    found = helped(browser).run(f"apart('{a}', '{b}', {FAR})")
    if "sizes" in found:
        return 1, f"width and height before and now: {found['sizes']}", b""
    far = sum(value > FAR for value in found["off"])
    share = far / len(found["off"])
    worst = max(found["off"])
    said = f"{far} of {len(found['off'])} blocks are far off, the worst by {worst:.0f} of 255"
    return share, said, base64.b64decode(found["marked"])


def still(browser, path, seconds=20):
    """Take the picture once the page no longer changes."""
    end, before, same = time.monotonic() + seconds, b"", 0
    while same < 2:
        assert time.monotonic() < end, "the page never stands still"
        browser.frame()
        browser.picture(path)
        now = path.read_bytes()
        same = same + 1 if now == before else 0
        before = now
        time.sleep(0.1)
    return path


def palette_of(colors, most=256):
    """The commonest colors, and for each color the number of the nearest of them."""
    chosen = [color for color, _ in Counter(colors).most_common(most)]
    number = {color: i for i, color in enumerate(chosen)}
    for color in set(colors) - set(number):
        number[color] = min(
            range(len(chosen)), key=lambda i: sum((a - b) ** 2 for a, b in zip(chosen[i], color))
        )
    return chosen, number


def write_small(path, wide, high, rgba):
    """Write a PNG of at most 256 colors, each within 4 of 255 where these suffice."""
    near = [min(255, (value + 4) // 8 * 8) for value in range(256)]
    colors = [(near[rgba[i]], near[rgba[i + 1]], near[rgba[i + 2]]) for i in range(0, len(rgba), 4)]
    chosen, number = palette_of(colors)
    rows = bytes(number[color] for color in colors)
    lines = b"".join(b"\0" + rows[y * wide : (y + 1) * wide] for y in range(high))

    def part(kind, data):
        sum_of = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + sum_of

    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0))
        + part(b"PLTE", bytes(value for color in chosen for value in color))
        + part(b"IDAT", zlib.compress(lines, 9))
        + part(b"IEND", b"")
    )
