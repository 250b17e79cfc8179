"""Texts longer than what the system hands to a program (128 KiB), wherever a text may stand."""

import os
import tempfile
import warnings
from pathlib import Path

import headlight
import numpy as np
from given_arrays import sentence_of
from headlight import program

LONG = "The cat sat on the mat.\n" * 9000
SHORT = LONG[:3000]  # as far as the built-in models read, and farther
assert len(LONG) > 1 << 17
PEEK = """#!/bin/sh
# Tells what it is given, and who may read the file.
stat -c %a "${2#@}"
echo "$1"
cat "${2#@}"
"""


def same(ask):
    assert np.array_equal(ask(LONG), ask(SHORT), equal_nan=True)


def other(text):
    return text.replace("cat", "dog", 1)


def long_texts_are_read_whole():
    assert headlight.trace("stories", LONG).tokens == headlight.trace("stories", SHORT).tokens
    picture = lambda text: headlight.figure("stories", text=text, head=(1, 1)).png
    assert picture(LONG) == picture(SHORT)
    same(lambda text: headlight.heads("stories", text=text)["entropy"])
    assert headlight.generate("stories", text=LONG, only_tokens=1).ids == []


def every_option_takes_a_long_text():
    """It meets no limit of the system: it is read as its beginning is, or refused in a sentence."""
    same(lambda text: headlight.compare("stories", text="a", text_b=text, ablate="1.2").distance)
    same(lambda text: headlight.compare("stories", text=text, text_b="a " + text).distance)
    beside = lambda text: {"text": text, "text_b": other(text), "view": "compare"}
    picture = lambda text: headlight.figure("stories", **beside(text), head=(1, 1)).png
    assert picture(LONG) == picture(SHORT)
    both = lambda text: {"clean": text, "corrupted": other(text)}
    same(lambda text: headlight.patch("stories", **both(text), what="heads").values)
    estimated = {"method": "attribution-patching"}
    same(lambda text: headlight.attribute("stories", **both(text), **estimated).scores)
    target = lambda text: headlight.trace("translator", text="a", target=text)
    assert target(LONG).target_tokens == target(SHORT).target_tokens
    pair = lambda text: headlight.trace("stories", "a", pair=text).tokens
    assert pair(LONG) == pair(SHORT)
    start = {"method": "integrated-gradients", "steps": 1}
    begun = lambda text: headlight.attribute(
        "stories", text=text, baseline=f"text:{other(text)}", **start
    )
    same(lambda text: begun(text).scores)
    for call, why in (
        (lambda: headlight.figure("stories", text="a", title=LONG), "2000 bytes"),
        (lambda: headlight.attribute("stories", text="a", metric=LONG), "72000 tokens"),
        (lambda: headlight.trace("stories", ids=[5] * 60000), "60000 ids"),
        (lambda: headlight.show("stories", text=LONG, block=False), "64 KiB"),
    ):
        assert why in sentence_of(call), sentence_of(call)


def long_arguments_are_listed_in_a_file_of_ones_own():
    """Which nobody else reads, and nothing is left of; bytes that are no text become U+FFFD."""
    before = os.environ["HEADLIGHT_PROGRAM"]
    with tempfile.TemporaryDirectory() as folder:
        peek = Path(folder) / "headlight"
        peek.write_text(PEEK)
        peek.chmod(0o755)
        os.environ["HEADLIGHT_PROGRAM"] = str(peek)
        try:
            mode, verb, listed = program.run(["heads", "--text", LONG + '"é\udcff']).split(b"\n", 2)
        finally:
            os.environ["HEADLIGHT_PROGRAM"] = before
    assert (mode, verb) == (b"600", b"heads")
    assert listed.decode() == '["--text", "' + LONG.replace("\n", "\\n") + '\\"é\ufffd"]'
    assert not list(Path(tempfile.gettempdir()).glob("headlight-*/arguments.json"))


def characters_that_no_argument_holds_are_read():
    """NUL, and half of a pair of UTF-16: as from a file."""
    tokens = headlight.trace("stories", text="a\0b").tokens
    assert "".join(tokens).startswith("a") and len(tokens) > 1, tokens
    assert headlight.trace("stories", text="a\ud800b").tokens
    assert headlight.compare("stories", text="a b", text_b="a\0b").figure


def a_text_that_is_cut_is_said():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        headlight.heads("stories", text=LONG)
    assert any("reads the first 256" in str(one.message) for one in said), said
