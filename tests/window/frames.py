"""A frame draws the parts that differ from the last one alone, and looks as if the whole window
were drawn."""

import time

from drive import PILLS, Window
from places import LILY, PROGRAM


def _seen(w, condition=lambda r: True):
    """The report of a frame after all that was done before, once nothing is computed."""
    frame = w.report()["frame"]
    time.sleep(0.15)
    r = w.wait(lambda r: not r["busy"] and condition(r))
    assert r["wrong_pixels"] == 0, (
        f"{r['wrong_pixels']} pixels since the start, at frame {r['frame']}, {frame} before"
    )
    return r


def only_what_changed_is_drawn(display):
    """In every view: under the pointer, after it left, in the other theme, at another text size, in
    a larger window."""
    with Window(
        PROGRAM, display, "--text", LILY, "--head", "1.2", "--check-frames", size="1280x800"
    ) as w:
        w.settled()
        assert max(_seen(w)["redrawn"]) == 1
        shown = set()
        for name in sum(PILLS.values(), []):
            if name in ("Image", "Alignment", "Contacts", "Experts"):  # not of this model
                continue
            w.show(name)
            shown.add(_seen(w)["view"])
            for x, y in ((0.3, 0.5), (0.12, 0.45)):
                w.point("center", x, y)
                _seen(w)
        assert len(shown) > 12, shown
        w.show("Heat map")
        _seen(w)
        w.point("map", 0.3, 0.7)
        _seen(w, lambda r: r["hovered"])
        before = len(_seen(w)["redrawn"])
        w.point("map", 0.4, 0.8)
        drawn = _seen(w, lambda r: r["hovered"] and any(r["redrawn"][before:]))["redrawn"][before:]
        assert max(drawn) < 0.6, drawn
        w.tool("mousemove_relative", "1", "0")
        after = before + len(drawn)
        drawn = _seen(w, lambda r: len(r["redrawn"]) > after)["redrawn"][after:]
        assert max(drawn) == 0, f"the same cell: {drawn}"
        w.key("ctrl+d")
        _seen(w, lambda r: not r["dark"])
        w.resize(1400, 900)
        _seen(w, lambda r: r["size"] == [1400, 900])
        w.type(" ball")
        _seen(w, lambda r: r["shown_text"] == LILY + " ball")
        w.key("ctrl+k")
        w.type("text size 125")
        w.key("Return")
        _seen(w, lambda r: r["scale"] == 1.25)
