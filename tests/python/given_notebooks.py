"""What notebooks show: pages in frames, pictures beside them, and figures in matplotlib's Axes."""

import html
import io
import json
import re
import struct
import tempfile
import warnings
from pathlib import Path

import headlight
import numpy as np
from given_arrays import sentence_of, skipped
from headlight import pages

TEXT = "Lily had a red ball. Lily had"
VIEWS = "heads head lines graph text steps delta lens positions origins".split()


def bundle(figure, **asked):
    return figure._repr_mimebundle_(**asked)[0]


def wide_and_high(png):
    return struct.unpack(">II", png[16:24])


def every_view_of_a_model_is_a_page_beside_a_picture():
    for view in VIEWS:
        shown = bundle(headlight.figure("stories", text=TEXT, view=view))
        assert set(shown) == {"text/plain", "text/html", "image/png"}, (view, set(shown))
        frame = shown["text/html"]
        assert 'sandbox="allow-scripts allow-downloads"' in frame and frame.count("<") == 2, view
        page = html.unescape(re.search('srcdoc="([^"]*)"', frame)[1])
        assert page.startswith("<!doctype html>") and "Content-Security-Policy" in page
        assert "http://" not in page and "https://" not in page, view


def a_page_is_saved_and_is_the_one_shown():
    figure = headlight.figure("stories", text=TEXT, layer=1, head=2)
    with tempfile.TemporaryDirectory() as folder:
        saved = figure.save(Path(folder) / "x.html").read_text(encoding="utf-8")
    assert saved == figure.html
    assert html.escape(saved) in bundle(figure)["text/html"]
    opened = json.loads(re.search('id="headlight">(.*?)</script>', saved, re.S)[1])
    assert (opened["view"], opened["block"], opened["head"]) == ("head", 1, 2)


def only_what_is_asked_for_is_drawn():
    figure = headlight.figure("stories", text=TEXT)
    assert set(bundle(figure, include=["image/png"])) == {"image/png"}
    assert "html" not in figure._drawn
    assert set(bundle(figure, exclude=["image/png"])) == {"text/plain", "text/html"}


def a_figure_with_a_look_is_shown_as_its_picture():
    for look in ({"width_mm": 85}, {"colormap": "viridis"}, {"figsize": (3, 2)}, {"format": "png"}):
        shown = bundle(headlight.figure("stories", text=TEXT, head=(1, 2), **look))
        assert "text/html" not in shown and "image/png" in shown, look
    assert "format=" in sentence_of(lambda: headlight.figure("stories", text=TEXT, format="gif"))


def a_page_too_large_for_a_notebook_says_so():
    figure = headlight.figure("stories", text=TEXT)
    before, figure_module = pages.LARGEST, __import__("headlight.figure", fromlist=["LARGEST"])
    figure_module.LARGEST = len(figure.html) - 1
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert set(bundle(figure)) == {"text/plain", "image/png"}
        assert "figure.save" in str(said[0].message)
    finally:
        figure_module.LARGEST = before


def pages_keep_within_their_sizes():
    for tokens, most in ((64, 1e6), (512, 15e6)):
        scores = np.random.default_rng(1).normal(size=(12, 12, tokens, tokens)).astype("f4")
        weights = np.tril(np.exp(2 * scores))
        weights /= weights.sum(-1, keepdims=True)
        size = len(headlight.figure(patterns=weights, view="head").html)
        assert size < most, f"{tokens} tokens: {size / 1e6:.2f} MB"


def heads_are_named_by_layer_and_head():
    both = headlight.figure("stories", text=TEXT, layer=1, head=2)
    assert both.png == headlight.figure("stories", text=TEXT, head=(1, 2)).png
    cross = {"text": "I have never seen him.", "view": "head"}
    one = headlight.figure("translator", layer="cross.1", head=3, **cross)
    assert one.png == headlight.figure("translator", head=("cross", 1, 3), **cross).png
    assert "layer" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, layer=1, head=(1, 2))
    )


def figsize_and_savefig_are_as_in_matplotlib():
    figure = headlight.figure("stories", text=TEXT, head=(1, 2), figsize=(3, 2), dpi=100)
    assert wide_and_high(figure.png) == (300, 200)
    with tempfile.TemporaryDirectory() as folder:
        path = figure.savefig(Path(folder) / "x.png", dpi=50, bbox_inches="tight")
        assert wide_and_high(path.read_bytes()) == (150, 100)
        assert "bbox_inches" in sentence_of(lambda: figure.savefig(path, bbox_inches="loose"))
    assert "width_mm" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, figsize=(3, 2), width_mm=85)
    )
    assert "inches" in sentence_of(lambda: headlight.figure("stories", text=TEXT, figsize=3))


def a_figure_is_drawn_into_an_axes():
    assert "Axes" in sentence_of(lambda: headlight.figure("stories", text=TEXT, ax=3))
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        return skipped("matplotlib is not installed here")
    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(6, 3), dpi=100)
    headlight.figure("stories", text=TEXT, head=(1, 2), ax=left)
    assert "leave" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, width_mm=85, ax=right)
    )
    image = left.get_images()[0].get_array()
    box = left.get_window_extent()
    assert image.shape[:2] == (round(2 * box.height), round(2 * box.width))
    held = io.BytesIO()
    drawn.savefig(held)
    assert wide_and_high(held.getvalue()) == (600, 300)
    pyplot.close(drawn)
