"""Panels for papers: what stands in them, that it is the numbers, and what is refused."""

import re
import shutil
import struct
import tempfile
import warnings
import xml.etree.ElementTree as xml
from functools import cache
from pathlib import Path

import headlight
import numpy as np
from given_arrays import WORDS, causal_patterns, sentence_of, skipped
from headlight.colors import HIDDEN, painted, sequential, signed
from headlight.panel import letter
from headlight.vector import ticks

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\"'"


@cache
def heads(count=4):
    patterns = causal_patterns(2, count, 5)
    return [
        [headlight.figure(patterns=patterns, tokens=WORDS, head=(layer, h)) for h in range(count)]
        for layer in range(2)
    ]


def texts(panel):
    return ["".join(one.itertext()) for one in xml.fromstring(panel.svg).iter(SVG + "text")]


def a_panel_has_letters_titles_labels_and_one_bar():
    said = texts(headlight.panel(heads()))
    assert [one for one in said if one.startswith("(")] == [
        f"{letter(4 * layer + head)} Head {layer}.{head}" for layer in range(2) for head in range(4)
    ]
    assert said.count("attention weight") == 1
    assert said.count("query") == 2 and said.count("key") == 4, "at the outer cells alone"
    assert said.count("cat") == 2 + 4, "rows are labeled at the left, columns at the foot"
    several = texts(headlight.panel(heads(), shared_bar=False, letters=False, labels=False))
    assert "attention weight" not in several and not any(one.startswith("(") for one in several)
    bars = lambda panel: panel.svg.count("<linearGradient")
    assert bars(headlight.panel(heads())) == 1
    assert bars(headlight.panel(heads(), shared_bar=False)) == 8


def colors_are_the_program_s_at_one_scale():
    patterns = np.zeros((1, 2, 2, 2), np.float32)
    patterns[0, 0], patterns[0, 1] = [[1, 0], [0.5, 0.5]], [[0.25, 0.75], [1, 0]]
    pair = [headlight.figure(patterns=patterns, head=(0, head)) for head in (0, 1)]
    fills = lambda panel: re.findall(r'<rect [^>]*fill="(#[0-9a-f]{6})"/>', panel.svg)[1:]
    one = headlight.panel([pair], colormap="viridis")
    wanted = lambda most, *values: [
        "#" + bytes(painted(np.array([[v]]), most, sequential("viridis"), False)[0, 0]).hex()
        for v in values
    ]
    assert fills(one) == wanted(1.0, 1, 0, 0.5, 0.5, 0.25, 0.75, 1, 0)
    half = headlight.panel([pair], colormap="viridis", scale=2)
    assert fills(half) == wanted(2.0, 1, 0, 0.5, 0.5, 0.25, 0.75, 1, 0)
    program = headlight.figure(patterns=patterns, head=(0, 1), colormap="viridis").svg
    drawn = (
        np.array(re.findall(r"fill:rgb\(([\d.]+)%,([\d.]+)%,([\d.]+)%\)", program), float) * 2.55
    )
    for fill in fills(one)[4:]:
        distance = np.abs(drawn - list(bytes.fromhex(fill[1:]))).max(1).min()
        assert distance < 1.6, "cells have the program's own colors, up to rounding"
    assert (painted(np.array([[np.nan]]), 1, signed(), True) == HIDDEN).all()
    assert len(signed()) == 256 and (signed()[0] != signed()[-1]).any()


def a_panel_is_as_wide_as_the_paper_s_columns():
    for options, wide in (({"columns": 1}, 85), ({}, 178), ({"width_mm": 120}, 120)):
        root = xml.fromstring(headlight.panel([heads()[0][:2]], **options).svg)
        assert abs(float(root.get("width")[:-2]) * 25.4 / 72 - wide) < 0.1, options


def a_panel_is_saved_as_svg_pdf_and_png():
    panel = headlight.panel(heads(), font="DejaVu Serif", columns=1, dpi=200)
    assert "font-family=\"'DejaVu Serif', serif\"" in panel.svg
    assert panel._repr_mimebundle_(include=["image/svg+xml"]) == {"image/svg+xml": panel.svg}
    with tempfile.TemporaryDirectory() as folder:
        at = lambda ending: panel.save(Path(folder) / f"x{ending}").read_bytes()
        assert at(".svg").decode() == panel.svg
        assert ".pdf" in sentence_of(lambda: at(".eps"))
        try:
            import cairosvg  # noqa: F401
        except ImportError:
            if shutil.which("rsvg-convert") is None:
                assert "pip install" in sentence_of(lambda: at(".pdf"))
                return skipped("neither CairoSVG nor rsvg-convert is installed here")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert at(".pdf").startswith(b"%PDF")
            wide, _ = struct.unpack(">II", at(".png")[16:24])
        assert abs(wide - 85 / 25.4 * 200) <= 1


def a_font_that_is_missing_is_said():
    if shutil.which("fc-match") is None:
        return skipped("fontconfig is not installed here")
    panel = headlight.panel([heads()[0][:1]], font="No Such Font")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            assert panel.png
        except headlight.HeadlightError:
            print("     nothing draws a PNG here")
    assert "No Such Font" in str(said[0].message)


def other_views_results_and_arrays_are_cells():
    text = "Lily had a red ball. Lily had"
    lines = headlight.figure("stories", text=text, view="lines", head=(1, 2))
    table = headlight.heads("stories", text=text)
    signs = np.array([[1.0, -2.0], [0.5, 0.25]])
    panel = headlight.panel([[lines, lines], [table, signs], [None, table]], shared_bar=False)
    root = xml.fromstring(panel.svg)
    names = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(set(names)) == len(names), "two views of the program share no names"
    said = texts(panel)
    assert "layer" in said and "head" in said and "(e) entropy" in said
    assert any(one.startswith("−") for one in said), "the bar of values of both signs"
    wide = headlight.panel(
        [[headlight.figure(patterns=causal_patterns(1, 1, 80), head=(0, 0))]], columns=1
    )
    assert wide.svg.count("<image") == 1 and len(wide.svg) < 1e6
    assert "20" in texts(wide) and "21" not in texts(wide), "positions where labels do not fit"


def titles_and_tokens_are_data():
    patterns = causal_patterns(1, 1, 2)
    figure = headlight.figure(patterns=patterns, tokens=[HOSTILE, "b"], head=(0, 0))
    panel = headlight.panel([figure], labels=[HOSTILE])
    assert "<script" not in panel.svg
    assert f"(a) {HOSTILE}" in texts(panel)
    assert not list(xml.fromstring(panel.svg).iter(SVG + "script"))


def what_no_panel_can_be_is_said():
    one = heads()[0][0]
    for call, words in (
        (lambda: headlight.panel([]), "list of rows"),
        (lambda: headlight.panel([[None]]), "needs a figure"),
        (lambda: headlight.panel([[one, 3]]), "type int"),
        (lambda: headlight.panel([[one], one]), "every row"),
        (lambda: headlight.panel([[one, one]], labels=["a"]), "1 titles for 2"),
        (lambda: headlight.panel([[one]], columns=3), "columns="),
        (lambda: headlight.panel([[one]], size_pt=0), "size_pt="),
        (lambda: headlight.panel([[one] * 60]), "fewer"),
        (lambda: headlight.panel([[one]], font='"><script>'), "font="),
        (lambda: headlight.panel([[np.zeros((2, 2, 2))]]), "shape"),
    ):
        assert words in sentence_of(call), sentence_of(call)


def letters_and_ticks_go_on():
    assert [letter(at) for at in (0, 25, 26, 51, 52)] == ["(a)", "(z)", "(aa)", "(az)", "(ba)"]
    for most in (1, 0.99, 0.013, 250, 3, 7e-6):
        step, values = ticks(most, 5)
        assert values[0] == 0 and values[-1] <= most < values[-1] + step + 1e-9
        assert 2 <= len(values) <= 7, (most, values)
