"""Where texts stand: in windows of all sizes none is drawn over another, and none is cut without a
sign of it."""

import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

from drawn import drawn
from places import LILY, PROGRAM, REFERENCE, SENTENCE

SLACK = 2  # points that texts may share


def _cut_at(corners, side, limit, keep):
    """Cuts a convex polygon at one side of a rectangle: keeps what lies on the side `keep`."""
    out = []
    for i, now in enumerate(corners):
        before = corners[i - 1]
        inside, was = (now[side] - limit) * keep >= 0, (before[side] - limit) * keep >= 0
        if inside != was:
            t = (limit - before[side]) / (now[side] - before[side])
            out.append(tuple(p + t * (q - p) for p, q in zip(before, now, strict=True)))
        if inside:
            out.append(now)
    return out


def _corners(text):
    """The part of a text that can be seen: its box, turned about the left end of its middle."""
    left, top, right, bottom = text["box"]
    x, y = left, (top + bottom) / 2
    cos, sin = math.cos(text["angle"]), math.sin(text["angle"])
    corners = [
        (x + (px - x) * cos - (py - y) * sin, y + (px - x) * sin + (py - y) * cos)
        for px, py in ((left, top), (right, top), (right, bottom), (left, bottom))
    ]
    a, b, c, d = text["seen"]
    for side, limit, keep in ((0, a, 1), (0, c, -1), (1, b, 1), (1, d, -1)):
        corners = _cut_at(corners, side, limit, keep)
    return corners


def _depth(a, b):
    """How far two convex polygons reach into each other along the axis where that is least
    (separating axes)."""
    least = math.inf
    for corners in (a, b):
        for i, (x0, y0) in enumerate(corners):
            ex, ey = y0 - corners[i - 1][1], corners[i - 1][0] - x0
            length = math.hypot(ex, ey)
            if length == 0:
                continue
            along = [[(x * ex + y * ey) / length for x, y in of] for of in (a, b)]
            least = min(
                least, min(max(along[0]), max(along[1])) - max(min(along[0]), min(along[1]))
            )
    return least


def _faults(texts, scale):
    """Pairs of texts of a layer over one another, and texts of which a part cannot be seen."""
    seen = []
    for t in texts:
        left, top, right, bottom = t["box"]
        a, b, c, d = t["seen"]
        corners = _corners(t) if t["text"].strip() and c > a and d > b else []
        if len(corners) < 3:
            continue
        seen.append((t, corners))
        if t["covered"]:
            yield "covered", t["text"], ""
        if t["angle"] == 0 and (left < a - SLACK * scale or right > c + SLACK * scale):
            yield "cut", t["text"], ""
    for i, (t, at) in enumerate(seen):
        for u, other in seen[:i]:
            if t["layer"] == u["layer"] and _depth(at, other) > SLACK * scale:
                yield "over", u["text"], t["text"]


def _listed(display, size, scale, *arguments):
    """The text after each command."""
    with tempfile.TemporaryDirectory(prefix="headlight-standing-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        environment = dict(
            os.environ, DISPLAY=display.name, XDG_CONFIG_HOME=str(home), LIBGL_ALWAYS_SOFTWARE="1"
        )
        listed = Path(folder) / "texts"
        done = subprocess.run(
            [
                str(PROGRAM),
                "--screenshot",
                str(Path(folder) / "x.png"),
                "--list-texts",
                str(listed),
                "--size",
                size,
                "--scale",
                str(scale),
                *arguments,
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"status {done.returncode} at {size}: {done.stderr[-3000:]}"
        return [json.loads(line) for line in listed.read_text(encoding="utf-8").splitlines()]


def _rows(*arguments):
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, check=True
    ).stdout.splitlines()


WINDOWS = [
    ("1280x800", 1, ""),
    ("800x500", 1, ""),
    ("640x480", 1, ""),
    ("360x500", 1, ""),
    ("1024x640", 2, "text size 150; "),
]
# Of other models, or of a station.
UNANSWERED = (
    "view picture",
    "view alignment",
    "view chat",
    "view contacts",
    "view experts",
    "view learn",
    "view compare base",
)


def _shown():
    views = [row.split("  ")[0] for row in _rows("--commands") if row.startswith("view ")]
    return (
        [view for view in views if view not in UNANSWERED]
        + ["view steps; steps show block", "steps show heads; steps show attention"]
        + [f"learn {row.split()[0]}" for row in _rows("learn", "--list")]
    )


def _found(display, size, scale, before, shown):
    found = {}
    for line in _listed(
        display, size, scale, "--text", SENTENCE, "--lock", "5,2", "--do", before + "; ".join(shown)
    ):
        for fault in _faults(line["texts"], scale):
            found.setdefault(line["command"], []).append(fault)
    return found


def no_text_stands_over_another(display):
    for size, scale, before in drawn(WINDOWS, 0.2):
        found = _found(display, size, scale, before, _shown())
        assert not found, f"{size} at {scale}, {before}: " + "; ".join(
            f"{command}: {some[:4]}" for command, some in found.items()
        )


MODELS = {  # options of the window, and views that are another model's
    "stories": (["--text", LILY, "--head", "1.2", "--lock", "16,4"], {"picture", "alignment"}),
    "translator": (["--model", "translator", "--text", "The cat sat."], {"picture"}),
    "vit": (
        ["--model", str(REFERENCE / "vit"), "--text", str(REFERENCE / "vit/gradient_rgb.png")],
        {"alignment", "corpus", "explain", "generate", "graph", "influence", "lines", "patch"}
        | {"positions", "prompts", "text", "compare"},
    ),
    "bert": (
        ["--model", str(REFERENCE / "bert"), "--text", "the [MASK] sat on the mat"],
        {"picture", "alignment", "generate"},
    ),
}


def _is_long_by_itself(text, given):
    """A token, a name or a path of the user's, which no window can promise to hold."""
    begin = text.removesuffix("…").strip("“” ")
    return any(begin in long for long in given)


def no_text_is_cut(display):
    """In no view of any kind of model a text leaves its box or is shortened for lack of room, in
    the smallest and in the usual window; lines that scroll may be cut at the ends of their area,
    and what the user typed may be shortened."""
    windows = [(model, size) for model in MODELS for size in ("1024x700", "1600x1000")]
    for model, size in drawn(windows, 0.2):
        options, foreign = MODELS[model]
        shown = [view for view in _shown() if view.split(";")[0].split()[1] not in foreign]
        if model != "stories":
            shown = [view for view in shown if not view.startswith("learn")]
        found = {}
        for line in _listed(display, size, 1, *options, "--do", "; ".join(shown)):
            cut = {
                t["text"]
                for t in line["texts"]
                if t["cut"] or (t["shortened"] and not _is_long_by_itself(t["text"], options))
            }
            if cut:
                found[line["command"]] = sorted(cut)[:8]
        assert not found, f"{model} at {size}: {found}"
