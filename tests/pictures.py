"""Read and write PNG, and measure how far apart two pictures are, so that a test notices visible
changes and not how another computer smooths an edge: both are averaged over squares of BLOCK pixels
first."""

import struct
import zlib
from itertools import accumulate
from pathlib import Path

BLOCK = 8
MEAN, WORST = 1.5, 24.0  # of 255: of all squares together, of any one


def chunks(png):
    """(name, data) of each chunk."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, out = 8, []
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data = png[at + 8 : at + 8 + length]
        assert zlib.crc32(name + data) == int.from_bytes(
            png[at + 8 + length : at + 12 + length], "big"
        ), name
        out.append((name.decode(), data))
        at += length + 12
    return out


def pixels(png):
    """Width, height, channels and the rows of a PNG of 8 bits a channel, its filters undone."""
    parts = chunks(png)
    width, height, depth, kind = struct.unpack(">IIBB", parts[0][1][:10])
    assert depth == 8, depth
    channels = {0: 1, 2: 3, 6: 4}[kind]
    raw = zlib.decompress(b"".join(data for name, data in parts if name == "IDAT"))
    rows, before, stride = [], bytes(width * channels), width * channels
    for y in range(height):
        filter_, row = (
            raw[y * (stride + 1)],
            bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)]),
        )
        if filter_ == 1:
            for c in range(channels):
                row[c::channels] = bytes(v & 255 for v in accumulate(row[c::channels]))
        elif filter_ == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, before))
        elif filter_:
            for i in range(stride):
                left, up, corner = (
                    row[i - channels] if i >= channels else 0,
                    before[i],
                    before[i - channels] if i >= channels else 0,
                )
                nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
                row[i] = (row[i] + ((left + up) // 2 if filter_ == 3 else nearest)) & 255
        rows.append(row)
        before = row
    return width, height, channels, rows


def png_of(rows, channels):
    """A PNG of rows of 8 bits a channel."""

    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(
        ">IIBBBBB", len(rows[0]) // channels, len(rows), 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0
    )
    before, raw = bytes(len(rows[0])), b""
    for row in rows:
        raw += b"\x02" + bytes((a - b) & 255 for a, b in zip(row, before))
        before = row
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(raw, 9))
        + chunk(b"IEND", b"")
    )


def averaged(png, block=BLOCK, blank=()):
    """Rows of red, green, blue, each the mean of a square of the picture; what `blank` (x, y,
    width, height) names is black."""
    width, height, channels, rows = pixels(png)
    for x, y, w, h in blank:
        for row in rows[y : y + h]:
            row[x * channels : (x + w) * channels] = bytes(w * channels)
    out = []
    for y in range(0, height - block + 1, block):
        row = bytearray()
        for x in range(0, width - block + 1, block):
            for c in range(3):
                row.append(
                    sum(
                        sum(r[x * channels + c : (x + block) * channels : channels])
                        for r in rows[y : y + block]
                    )
                    // (block * block)
                )
        out.append(row)
    return out


def difference(one, other):
    """Mean and largest difference of two averaged pictures, of 255, and where the largest is, in
    squares."""
    sizes = [f"{len(rows[0]) // 3} x {len(rows)} squares" for rows in (one, other)]
    assert sizes[0] == sizes[1], " in place of ".join(sizes)
    total, worst, at = 0, 0, (0, 0)
    for y, (a, b) in enumerate(zip(one, other)):
        off = [abs(v - w) for v, w in zip(a, b)]
        total += sum(off)
        if max(off) > worst:
            worst, at = max(off), (off.index(max(off)) // 3, y)
    return total / (len(one) * len(one[0])), worst, at


def check_golden(name, png, golden, write, block=BLOCK, blank=()):
    """Compare a picture with its golden one; `write` writes the golden one."""
    now = averaged(png, block, blank)
    if write:
        golden.write_bytes(png_of(now, 3))
        return
    _, _, channels, then = pixels(Path(golden).read_bytes())
    assert channels == 3, golden
    mean, worst, (x, y) = difference(now, then)
    assert mean < MEAN and worst < WORST, (
        f"{name} looks different: mean {mean:.2f}, at most {worst} of 255 around pixel "
        f"{x * block}, {y * block}"
    )
