"""The first ten seconds: the story, the hints, the card of things to try, and what everything says
of itself."""

import time

from drawn import drawn
from drive import Display, Window
from places import PROGRAM, REFERENCE

LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def _overlap(a, b):
    return (
        min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]) > 1
        and min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]) > 1
    )


def _covered(r):
    """The widgets that a hint, or the number that points, lies over."""
    hints = {
        p: place for p, place in r["widgets"].items() if p.startswith("hint/") and p != "hint/done"
    }
    others = {
        p: place for p, place in r["widgets"].items() if not p.startswith("hint/") and p != "center"
    }
    return [
        (hint, other) for hint, a in hints.items() for other, b in others.items() if _overlap(a, b)
    ]


def hints_cover_nothing(display):
    """At the sizes of small and usual windows, and twice as fine."""
    large = Display("3300x2100")
    try:
        for size, scale in (("1024x700", 1), ("1600x1000", 1), ("2048x1400", 2), ("3200x2000", 2)):
            with Window(PROGRAM, large, "--scale", scale, size=size) as w:
                r = w.wait(lambda r: r["hints"] and "hint/3" in r["widgets"] and not r["busy"])
                assert not _covered(r), (size, _covered(r))
                wide, high = map(int, size.split("x"))
                for path in ("hint/1", "hint/2", "hint/3", "hint/done"):
                    x, y, dx, dy = r["widgets"][path]
                    assert x >= 0
                    assert x + dx <= wide
                    assert y + dy <= high, (size, path, r["widgets"][path])
    finally:
        large.close()


def the_first_click_does_what_it_says(display):
    """While the hints are shown, and they stay until they are done with."""
    with Window(PROGRAM, display) as w:
        w.wait(lambda r: r["hints"] and not r["busy"])
        w.click("grid/2.3")
        w.wait(lambda r: (r["layer"], r["head"]) == (2, 3) and r["hints"])
    with Window(PROGRAM, display) as w:
        w.wait(lambda r: r["hints"] and not r["busy"])
        w.show("Lines")
        w.wait(lambda r: r["view"] == "Lines" and r["hints"])
        w.show("Mask and ablate")
        w.wait(lambda r: any(p.startswith("mask") for p in r["widgets"]) or "brush" in r["widgets"])


def a_first_start_shows_a_story(display):
    with Window(PROGRAM, display) as w:
        w.tool("mousemove", "800", "990")
        r = w.wait(
            lambda r: r["locked"] == [16, 4] and r["shown_head"] == [1, 2] and r["weight"] > 0.5
        )
        assert r["text"] == LILY and r["rank"] == "cell", "ranked by the weight of the cell"
        w.click("hint/done")
        w.wait(lambda r: r["tries"] and not r["hints"] and "tries/5" in r["widgets"])
        assert w.report()["locked"] == [16, 4], "what was a click on the guide stays there"


def each_thing_to_try_is_done_and_undone(display):
    with Window(PROGRAM, display, "--text", "The cat sat on the mat", "--do", "guide on") as w:
        before = w.wait(lambda r: "tries/5" in r["widgets"] and not r["busy"])
        w.click("tries/1")
        r = w.wait(
            lambda r: (
                r["shown_text"] == LILY
                and r["shown_head"] == [0, 0]
                and r["locked"] == [16, 15]
                and r["weight"] > 0.5
            )
        )
        assert r["trial"], "it is lit"
        w.click("tries/2")
        w.wait(
            lambda r: (
                r["shown_head"] == [1, 2]
                and r["locked"] == [16, 4]
                and r["weight"] > 0.5
                and r["text"] == LILY
            )
        )
        w.click("tries/3")
        r = w.wait(
            lambda r: (
                r["changes"] >= 1
                and "effect" in r
                and r["shown_text"].startswith("Mia")
                and not r["busy"]
            )
        )
        token, own, now = r["effect"]
        assert token.strip() == "ball" and now < own / 2, r["effect"]
        w.click("tries/4")
        w.wait(
            lambda r: (
                r["changes"] == 0 and r["text"] == LILY and r["sweeping"] and r["swept"] == "ended"
            ),
            60,
        )
        w.click("tries/5")
        r = w.wait(
            lambda r: (
                r.get("model") == "translator"
                and r.get("written")
                and r["view"] == "Alignment"
                and not r["sweeping"]
            ),
            60,
        )
        assert r["written"]["text"], "it is translated"
        w.click("tries/6")
        r = w.wait(
            lambda r: (
                r.get("model") == "stories"
                and r["view"] == "Patch"
                and r.get("patched", [0, 1])[:2] == [32, 32]
                and r["metric"] == '" ball" - " car"'
            ),
            60,
        )
        assert r["text_b"].startswith("Mia had a red ball")
        w.click("tries/6")
        r = w.wait(
            lambda r: (
                r.get("model") == "stories" and r["shown_text"] == before["text"] and not r["busy"]
            ),
            60,
        )
        assert not r["trial"]
        assert r["view"] == before["view"]
        assert r["rank"] == before["rank"]
        assert r["changes"] == 0
        assert (r["layer"], r["head"]) == (before["layer"], before["head"])
        w.click("tries/close")
        w.wait(lambda r: not r["tries"])
        w.click("learn")
        w.click("learn/tries")
        w.wait(lambda r: r["tries"] and r["view"] != "Learn" and "tries/1" in r["widgets"])


def everything_explains_itself(display):
    """Each control, number and column of each view says in a sentence what it is; pictures have
    their inspector."""
    views = [
        ("--view", view, "--text", LILY, "--do", "intervene on")
        for view in tuple(
            """
            head lines steps delta lens graph compare heads model positions origins circuits corpus
            learn
        """.split()
        )
    ]
    views += [
        ("--view", "head", "--text", LILY, "--do", commands)
        for commands in (
            "mask 16>4; sweep on",
            "generate on; decoding sampling",
            "generate on; decoding beams",
            "settings",
            "save figure",
            "open",
            "guide on",
        )
    ]
    views += [
        ("--view", "heads", "--text", LILY, "--do", "heads layout table"),
        ("--view", "head", "--text", ""),
        ("--view", "compare", "--text", LILY, "--do", "ablate 1.2; compare changes"),
        ("--view", "alignment", "--model", "translator", "--text", "The cat sat."),
        (
            "--view",
            "picture",
            "--model",
            REFERENCE / "vit",
            "--text",
            REFERENCE / "vit/gradient_rgb.png",
        ),
    ]
    silent = {}
    for options in drawn(views, 0.5):
        with Window(PROGRAM, display, *options) as w:
            w.wait(lambda r: not r["busy"])
            time.sleep(0.5)
            silent |= {path: options[1] for path in w.report()["unexplained"]}
    assert not silent, silent
    with Window(PROGRAM, display, "--text", LILY) as w:  # and a sentence is what is seen
        w.settled()
        w.tool("mousemove", "800", "990")
        w.wait(lambda r: not r["hovered"] and not r["busy"])
        before = w.picture()
        w.point("map/more")
        for _ in range(100):
            if sum(a != b for a, b in zip(before, w.picture())) > 10_000:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("no sentence is shown")


def pictures_and_texts_are_two_things(display):
    """Opening a vision model leaves the sentence where it was, and brings the last picture back."""
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.drop(REFERENCE / "vit")
        r = w.wait(
            lambda r: r.get("model") == "vit" and "picture/1" in r["widgets"] and not r["busy"]
        )
        assert r["text"] == "" and not r["failure"] and not r["notice"], "no error, no sentence"
        w.click("picture/1")
        w.wait(
            lambda r: r["shown_text"] == "sample:shapes" and len(r["tokens"]) > 4 and not r["busy"]
        )
        w.key("ctrl+o")
        w.click("models/stories")
        r = w.wait(
            lambda r: r.get("model") == "stories" and r["shown_text"] == LILY and not r["busy"]
        )
        assert r["text"] == LILY, "the sentence as it was"
        w.drop(REFERENCE / "vit")
        w.wait(
            lambda r: (
                r.get("model") == "vit"
                and r["shown_text"] == "sample:shapes"
                and r["text"] == "sample:shapes"
            )
        )


def the_window_fits_the_display(display):
    """The first size is 1600 × 1000 points, or what the screen has."""
    for screen, pixels in (("4000x2600", [3200, 2000]), ("2560x1600", [2560, 1600])):
        fine = Display(screen).fine()
        try:
            with Window(PROGRAM, fine, size=None) as w:
                r = w.wait(lambda r: r["scale"] == 2 and "hint/3" in r["widgets"] and not r["busy"])
                assert r["size"] == pixels, (screen, r["size"])
        finally:
            fine.close()
