"""Checks that a page draws a head in the colors in which the program draws it."""

import re
from collections import Counter

import pictures
import samples
from check_program import SENTENCE, rendered, weights, written
from steps import FOLDER, check, edge, settle

NEAR = 2  # of 255
POINT = 4 / 3  # pixels of the program's PNG
RECTANGLE = re.compile(r"M (\S+) (\S+) L (\S+) \2 L \3 (\S+) L \1 \4 Z")
FRAME = re.compile(r"fill:none;[^>]* d=\"M (\S+) (\S+) L (\S+) \2 L \3 (\S+) L \1 \4 Z")
# Whether the last head's thumbnail, at the lower right, is painted.
FILLED = (
    "c => c.getContext('2d').getImageData(c.width - 90, c.height - 90, 80, 80)"
    ".data.some((value, i) => i % 4 === 3 && value)"
)
READY = "document.documentElement.dataset.ready !== undefined"


def drawn(browser, view, *given):
    """(SVG, colors of a pixel) that the program draws of a view."""
    asked = ("--view", view, "--text", SENTENCE, *given)
    svg, png = FOLDER / f"drawn-{view}.svg", FOLDER / f"drawn-{view}.png"
    rendered(*asked, "-o", svg)
    rendered(*asked, "-o", png)
    wide, _, data = pictures.pixels(browser, png)

    def at(x, y):
        start = 4 * (int(y) * wide + int(x))
        return tuple(data[start : start + 3])

    return svg.read_text(), at


def in_canvas(browser, selector):
    """The colors of a pixel of a canvas; it is at 1x, a pixel a point."""
    found = browser.run(
        "(c => [c.width, Array.from(c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data)])"
        f"(document.querySelector('{selector}'))"
    )
    wide, data = found

    def at(x, y):
        start = 4 * (int(y) * wide + int(x))
        return tuple(data[start : start + 3])

    return at


def off(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def may_be(weight, error, most):
    """The colors by the square root of what the page's 16 bits stand for."""
    share = lambda w: min(1, max(0, w / most)) ** 0.5
    low, high = (round(255 * share(weight + by)) for by in (-error, error))
    beam = samples.maps_of("beam_light")
    return [tuple(bytes.fromhex(color[1:])) for color in beam[low : high + 1]]


def equal(pairs, known=lambda name: ()):
    """Every color of the page is the program's, or one that its rounded weight may have; and they
    are many: no empty map."""
    far = [
        (name, a, b)
        for name, a, b in pairs
        if off(a, b) > NEAR and not any(off(b, one) <= NEAR for one in known(name))
    ]
    assert not far, (len(far), far[:5])
    assert len({b for _, _, b in pairs}) > 40, "the program draws a map of one color"
    print(f"     {len(pairs)} cells, the largest difference {max(off(a, b) for _, a, b in pairs)}")


@check
def a_head_has_the_colors_of_the_program(browser):
    svg, program = drawn(browser, "head", "--layer", 1, "--head", 2)
    found = [tuple(map(float, one)) for one in RECTANGLE.findall(svg)]
    side = Counter(round(r - x, 1) for x, _, r, _ in found).most_common(1)[0][0]
    cells = [(x, y) for x, y, r, b in found if round(r - x, 1) == side == round(b - y, 1)]
    lefts = sorted({round(x): x for x, _ in cells}.values())
    tops = sorted({round(y): y for _, y in cells}.values())
    n = len(lefts)
    assert n == len(tops) == 17, (lefts, tops)
    path, _ = written(
        "colors-head", "--view", "head", "--layer", 1, "--head", 2, "--text", SENTENCE
    )
    browser.resize(1200, 900)
    browser.open(path)
    settle(browser, READY)
    page = in_canvas(browser, ".figure canvas")
    left, top, wide, high = edge(browser, ".hit")
    x, y, _, _ = edge(browser, ".figure canvas")
    pairs = []
    for q in range(n):
        for k in range(q + 1):
            there = program((lefts[k] + side / 2) * POINT, (tops[q] + side / 2) * POINT)
            here = page(left - x + (k + 0.5) * wide / n, top - y + (q + 0.5) * high / n)
            pairs.append(((q, k), here, there))
    equal(pairs)


@check
def all_heads_have_the_colors_of_the_program(browser):
    # The page shows thumbnails by the square root, and says so.
    svg, program = drawn(browser, "heads", "--contrast", "root")
    frames = Counter(tuple(map(float, one)) for one in FRAME.findall(svg))
    side = Counter(r - x for x, _, r, _ in frames).most_common(1)[0][0]
    frames = sorted((y, x) for x, y, r, _ in frames if r - x == side)
    assert len(frames) == 32, len(frames)
    path, data = written("colors-heads", "--view", "heads", "--text", SENTENCE)
    n = data["blocks"][0]["queries"]
    browser.resize(1200, 900)
    browser.open(path)
    settle(browser, READY)
    settle(browser, f"({FILLED})(document.querySelector('.grid canvas'))")
    page = in_canvas(browser, ".grid canvas")
    _, _, wide, high = edge(browser, ".grid canvas")
    pitch = (high - 26) / 4  # names above, a gap below
    size, left, top = pitch - 4, wide - 8 * pitch, 24
    pairs = []
    for i, (y, x) in enumerate(frames):
        layer, head = divmod(i, 8)
        for q in range(n):
            for k in range(q + 1):
                there = program(x + (k + 0.5) * side / n, y + (q + 0.5) * side / n)
                here = page(left + head * pitch + (k + 0.5) * size / n,
                            top + layer * pitch + (q + 0.5) * size / n)  # fmt: skip
                pairs.append(((layer, head, q, k), here, there))
    held = [weights(block) for block in data["blocks"]]

    def known(name):
        layer, head, q, k = name
        most = data["blocks"][layer]["max"]
        return may_be(held[layer][head][q][k], data["error"], most)

    equal(pairs, known)
