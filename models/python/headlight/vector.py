"""SVG for panels: texts, maps of cells, color bars; and SVG made into PDF and PNG."""

from __future__ import annotations

import base64
import importlib.util
import shutil
import struct
import subprocess
import unicodedata
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np

from .errors import HeadlightError
from .optional import optional

INK, QUIET = "#111827", "#4b5563"
CRISP = 32  # rows up to which cells are shapes with gaps; an image beyond
SHARP = 600  # pixels per inch of such an image
SERIF = ("times", "roman", "serif", "garamond", "palatino", "georgia", "libertin", "charter")
MONO = ("mono", "courier", "consol", "typewriter")
NARROW, WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%—−")


def family_of(font: str) -> str:
    """The font with the generic one that takes its place where it is missing."""
    name = font.lower()
    serif = any(one in name for one in SERIF) and "sans" not in name
    generic = (
        "monospace" if any(one in name for one in MONO) else "serif" if serif else "sans-serif"
    )
    return f"'{font}', {generic}" if font not in ("serif", "sans-serif", "monospace") else font


def width_of(text: str, size: float) -> float:
    """About how wide a text is, a little more rather than less."""

    def part(char: str) -> float:
        if unicodedata.combining(char):
            return 0.0
        if unicodedata.east_asian_width(char) in "WF":
            return 1.0
        return 0.34 if char in NARROW else 0.9 if char in WIDE else 0.7 if char.isupper() else 0.55

    return size * sum(map(part, text))


def text(
    x: float,
    y: float,
    said: str,
    size: float,
    *,
    anchor: str = "start",
    turn: float = 0,
    color: str = INK,
    bold: str = "",
) -> str:
    """A text on its baseline, turned about its anchor; bold stands before it."""
    turned = f' transform="rotate({turn:g} {x:.2f} {y:.2f})"' if turn else ""
    before = f'<tspan font-weight="bold">{escape(bold)}</tspan>' if bold else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:.2f}" text-anchor="{anchor}" '
        f'fill="{color}"{turned}>{before}{escape(" " + said if bold and said else said)}</text>'
    )


def hexed(color: Sequence[int]) -> str:
    return "#" + bytes(int(part) for part in color).hex()


def cells(x: float, y: float, wide: float, high: float, colors: np.ndarray) -> str:
    """A map of colors [row, column, 3]."""
    rows, columns = colors.shape[:2]
    if max(rows, columns) > CRISP:
        times = max(1, round(SHARP / 72 * wide / columns))
        image = base64.b64encode(png(colors.repeat(times, 0).repeat(times, 1))).decode()
        return (
            f'<image x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" '
            f'preserveAspectRatio="none" href="data:image/png;base64,{image}"/>'
        )
    across, down = wide / columns, high / rows
    gap = min(0.4, 0.05 * min(across, down))
    return "".join(
        f'<rect x="{x + k * across + gap / 2:.3f}" y="{y + q * down + gap / 2:.3f}" '
        f'width="{across - gap:.3f}" height="{down - gap:.3f}" fill="{hexed(colors[q, k])}"/>'
        for q in range(rows)
        for k in range(columns)
    )


def frame(x: float, y: float, wide: float, high: float) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" fill="none" '
        f'stroke="#9ca3af" stroke-width="0.5"/>'
    )


def gradient(x: float, y: float, wide: float, high: float, colors: np.ndarray) -> str:
    """A bar of colors from its foot to its top."""
    name = f"bar-{x:.0f}-{y:.0f}"
    stops = "".join(
        f'<stop offset="{i / (len(colors) - 1):.4f}" stop-color="{hexed(colors[i])}"/>'
        for i in sorted({*range(0, len(colors), 4), len(colors) - 1})
    )
    return (
        f'<linearGradient id="{name}" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient>'
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" '
        f'fill="url(#{name})"/>'
    )


def png(colors: np.ndarray) -> bytes:
    """A PNG of colors, uint8 [row, column, 3]."""
    rows, columns = colors.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), "u1"), colors.reshape(rows, -1)], 1)

    def chunk(name: bytes, data: bytes) -> bytes:
        sum_of = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", sum_of)

    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )


def ticks(most: float, limit: int) -> tuple[float, list[float]]:
    """A round step, and its multiples from 0 to at most this, no more than the limit beside 0."""
    power = 10.0 ** np.floor(np.log10(most))
    steps = (power * one for one in (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10))
    step = float(next(one for one in steps if most / one < limit + 1e-6 + 1))
    return step, [step * i for i in range(int(most / step + 1e-6) + 1)]


def converted(svg: str, kind: str, dpi: float) -> bytes:
    """The SVG as "pdf" or "png", by CairoSVG or rsvg-convert."""
    if importlib.util.find_spec("cairosvg") is not None:
        library = optional("cairosvg", "PDF and PNG")
        make = library.svg2pdf if kind == "pdf" else library.svg2png
        return make(bytestring=svg.encode(), **({} if kind == "pdf" else {"scale": dpi / 96}))
    if program := shutil.which("rsvg-convert"):
        size = [] if kind == "pdf" else ["--zoom", f"{dpi / 96:g}"]
        done = subprocess.run(
            [program, "--format", kind, *size], input=svg.encode(), capture_output=True
        )
        if done.returncode == 0:
            return done.stdout
        raise HeadlightError(
            f"rsvg-convert makes no {kind} of the panel "
            f"({done.stderr.decode(errors='replace').strip().splitlines()[-1:]}); save it as .svg."
        )
    raise HeadlightError(
        f"A panel becomes a .{kind} by CairoSVG or rsvg-convert, and neither is here: pip install "
        "cairosvg, or save it as .svg."
    )


def missing_font(font: str) -> str | None:
    """The font that takes this one's place on this computer, None where it is there or none can
    say."""
    program = shutil.which("fc-match")
    if program is None:
        return None
    done = subprocess.run([program, "-f", "%{family}", font], capture_output=True, text=True)
    found = done.stdout.split(",")
    known = font.lower() in (name.lower() for name in found)
    return None if known or font in ("serif", "sans-serif", "monospace") else found[0]
