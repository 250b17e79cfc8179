"""Learn asks before it shows: guesses by key and click, Next and Back, what a restart keeps."""

import json
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from learning import BARK, LILY, _stations
from places import PROGRAM


def _covered(w, station):
    return w.wait(
        lambda r: (
            r["view"] == "Learn"
            and r["learn_station"] == station
            and not r["busy"]
            and "learn/cover" in r["widgets"]
        )
    )


def a_guess_by_key_uncovers_the_page(display):
    """Before it no block is drawn; the wrong guess keeps a ring and is not counted as right."""
    asked = json.loads(
        subprocess.run(
            [PROGRAM, "learn", "qkv", "--text", LILY, "--json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )["questions"][0]
    right, wrong = asked["right"] + 1, 1 + (asked["right"] == 0)
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn qkv", "--report-texts") as w:
        w.settled()
        w.key("Escape", "Escape", "ctrl+e")
        r = _covered(w, "qkv")
        assert not any(p.startswith(("learn/block/", "learn/try/")) for p in r["widgets"])
        shown = [card["shown"] for card in asked["cards"]]
        assert asked["finding"] not in r["texts"] and not set(shown) & set(r["texts"])
        w.key(str(wrong))
        r = w.wait(
            lambda r: "learn/cover" not in r["widgets"] and r["learn_guesses"] and not r["busy"]
        )
        assert r["learn_guesses"] == ["qkv wrong"], r["learn_guesses"]
        assert r["view"] == "Learn" and r["text"] == LILY
        w.wait(lambda r: "your guess" in r["texts"] and shown[right - 1] in r["texts"])
        assert "0 of 1 right on this path" in w.report()["texts"]
        w.wait(lambda r: r["learned"] == ["qkv"])


def a_card_is_clicked_or_the_page_shown_without_a_guess(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn qkv") as w:
        _covered(w, "qkv")
        w.click("learn/guess/1")
        w.wait(lambda r: len(r["learn_guesses"]) == 1 and "learn/cover" not in r["widgets"])
        w.click("learn/next") if w.report()["widgets"]["learn/next"][1] < 950 else w.key("Down")
        _covered(w, "score-functions")
        w.click("learn/show")
        r = w.wait(lambda r: "learn/cover" not in r["widgets"] and not r["busy"])
        assert "score-functions shown" in r["learn_guesses"]


def next_and_back_stand_at_the_foot_of_a_page(display):
    stations = _stations()
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn masks") as w:
        _covered(w, "masks")
        w.click("learn/next")
        following = stations[stations.index("masks") + 1]
        w.wait(lambda r: r["learn_station"] == following and "learn/previous" in r["widgets"])
        _covered(w, following)
        w.click("learn/previous")
        w.wait(lambda r: r["learn_station"] == "masks")


def guesses_and_ticks_survive_a_restart_until_one_starts_over(display):
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn database", home=home) as w:
        _covered(w, "database")
        w.click("learn/guess/2")
        w.wait(lambda r: r["learned"] == ["database"])
        w.close()
    with Window(PROGRAM, display, home=home) as w:
        r = w.wait(lambda r: r["view"] == "Learn" and not r["busy"])
        assert r["learned"] == ["database"] and len(r["learn_guesses"]) == 1, r["learned"]
        assert "learn/cover" not in r["widgets"]
        w.click("learn/over")
        w.wait(lambda r: not r["learned"] and not r["learn_guesses"])


def typing_over_an_answered_page_does_not_cover_it_again(display):
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn qkv") as w:
        _covered(w, "qkv")
        w.click("learn/guess/1")
        w.wait(lambda r: "learn/cover" not in r["widgets"])
        w.click("sentence")
        w.key("ctrl+a")
        w.type(LILY)
        r = w.wait(lambda r: r.get("shown_text") == LILY and not r["busy"])
        assert "learn/cover" not in r["widgets"]
        w.wait(lambda r: "learn/ask" in r["widgets"])
