"""Learn: what a station opens on, and what it hides of the open model."""

import time

from drive import Window
from learning import BARK, LILY, OPEN, _learns
from places import PROGRAM, TESTS


def learn_never_opens_empty(display):
    with Window(PROGRAM, display, "--text", "", "--do", "learn guessing off; learn positions") as w:
        _learns(w, "positions")
        assert w.report()["text"] == BARK, "the station's own sentence"
    with Window(PROGRAM, display, "--text", "") as w:
        w.settled()
        w.key("ctrl+e")
        w.wait(lambda r: r["view"] == "Learn" and r["text"])


def predictions_of_another_model_are_hidden(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", OPEN + "; learn masks") as w:
        _learns(w, "masks")
        assert "next/0" in w.report()["widgets"]
        w.click("learn/formation")
        _learns(w, "formation")
        assert "next/0" not in w.report()["widgets"]


def a_picture_is_dropped_on_its_station(display):
    picture = TESTS / "golden" / "head.png"
    with Window(
        PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn pictures"
    ) as w:
        _learns(w, "pictures")
        before = w.picture()
        w.drop(picture)
        w.wait(lambda r: r["learn_set"] == [f"pictures picture={picture}"] and not r["busy"])
        time.sleep(0.3)
        assert w.picture() != before and w.report()["text"] == BARK
        w.key("Escape", "ctrl+z")
        w.wait(lambda r: not r["learn_set"])


def a_control_shows_no_layer_that_the_model_lacks(display):
    """ "The last layer" of any model stood as 63 beside a page of layer 3."""
    with Window(
        PROGRAM,
        display,
        "--view",
        "learn",
        "--do",
        "learn guessing off; learn implicit",
        "--text",
        "Lily had a red ball.",
        "--report-texts",
    ) as w:
        r = w.wait(lambda r: not r["busy"] and "What moves the output" in r.get("texts", []))
        assert "63" not in r["texts"] and "3" in r["texts"], r["texts"]


def what_takes_formulas_is_folded_until_it_is_asked_for(display):
    """One fold for all stations: who opened it sees every later page whole."""
    with Window(
        PROGRAM,
        display,
        "--text",
        BARK,
        "--do",
        "learn guessing off; learn masks",
        size="1600x2000",
    ) as w:
        blocks = lambda r: {p.split("/")[2] for p in r["widgets"] if p.startswith("learn/block/")}
        assert blocks(_learns(w, "masks")) == {"0"}
        w.click("fold/learn/details")
        w.wait(lambda r: "3" in blocks(r))
        w.click("learn/scale")
        _learns(w, "scale")
        w.click("learn/masks")
        _learns(w, "masks")
        w.wait(lambda r: "3" in blocks(r))
