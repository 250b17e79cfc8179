#!/usr/bin/env python3
"""Draw the sample pictures for vision models, ball.png, shapes.png and scene.png: flat shapes, four
samples a pixel. Ours (CC0). Run: python3 assets/samples/make.py"""

import struct
import zlib
from pathlib import Path

SIDE, FINE = 224, 4


def inside_triangle(x, y, a, b, c):
    side = lambda p, q: (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
    signs = [side(a, b) > 0, side(b, c) > 0, side(c, a) > 0]
    return all(signs) or not any(signs)


def disc(x, y, cx, cy, radius, flat=1.0):
    return (x - cx) ** 2 + ((y - cy) / flat) ** 2 < radius**2


def ball(x, y):
    """A red ball with a white band, on grass under a blue sky."""
    if disc(x, y, 112, 124, 62):
        if disc(x, y, 90, 98, 11):
            return 255, 225, 220
        return (245, 240, 232) if abs(y - 124 - 0.0016 * (x - 112) ** 2) < 9 else (206, 44, 46)
    if disc(x, y, 118, 190, 66, 0.2):
        return 58, 110, 52
    return (88, 150, 70) if y > 150 else (150, 196, 232)


def shapes(x, y):
    """Two yellow triangles, two blue squares and two red discs: each has one of its like."""
    for cx, cy in ((52, 56), (172, 168)):
        if inside_triangle(x, y, (cx, cy - 34), (cx - 36, cy + 28), (cx + 36, cy + 28)):
            return 236, 196, 58
    for cx, cy in ((172, 56), (112, 112)):
        if abs(x - cx) < 26 and abs(y - cy) < 26:
            return 52, 92, 186
    for cx, cy in ((44, 156), (100, 190)):
        if disc(x, y, cx, cy, 27):
            return 206, 44, 46
    return 228, 228, 224


def scene(x, y):
    """A large red triangle among small shapes, as models/scenes learned them."""
    if inside_triangle(x, y, (98, 76), (35, 177), (161, 177)):
        return 206, 44, 46
    if disc(x, y, 182, 56, 24):
        return 52, 92, 186
    if max(abs(x - 46), abs(y - 46)) < 20:
        return 236, 196, 58
    if max(abs(x - 190), abs(y - 150)) < 24 and min(abs(x - 190), abs(y - 150)) < 8:
        return 70, 150, 72
    return 222, 222, 218


def picture(color):
    rows = []
    for row in range(SIDE):
        line = bytearray([0])  # filter: none
        for column in range(SIDE):
            fine = [
                color(column + (i % 2 + 0.5) / 2, row + (i // 2 + 0.5) / 2) for i in range(FINE)
            ]
            line += bytes(sum(c[k] for c in fine) // FINE for k in range(3))
        rows.append(bytes(line))
    return b"".join(rows)


def png(raw):
    chunk = lambda kind, data: (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    )
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(raw, 9))
        + chunk(b"IEND", b"")
    )


for draw in (ball, shapes, scene):
    (Path(__file__).parent / f"{draw.__name__}.png").write_bytes(png(picture(draw)))
