"""Follow a word: played and stepped by mouse and keys, its doors, its story, and no text cut in a
small window."""

import os
import time

from drive import Window
from places import PROGRAM
from standing import _faults, _listed

LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def _step(r):
    """The step of a report: what differs from the first one is kept."""
    for word in r.get("learn_set", []):
        if word.startswith("follow step="):
            return int(word.split("=")[1])
    return 1


def _follows(w):
    return w.wait(lambda r: r["learn_station"] == "follow" and "learn/play" in r["widgets"])


def _at(w, step, seconds=15):
    return w.wait(lambda r: _step(r) == step and not r["busy"], seconds)


def learn_opens_with_a_word_to_follow(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.click("learn")
        r = _follows(w)
        assert r["learn_station"] == "follow" and _step(r) == 1
        w.wait(lambda r: not r["field_focused"])


def keys_go_through_the_steps(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow") as w:
        _follows(w)
        w.wait(lambda r: not r["field_focused"])
        w.key("Right", "Right")
        _at(w, 3)
        w.key("Left")
        _at(w, 2)
        w.key("End")
        _at(w, 12)
        w.key("Right")
        time.sleep(0.3)
        assert _step(w.report()) == 12, "the story is another thread"
        w.key("Home")
        r = _at(w, 1)
        assert r["text"] == LILY, "nothing was typed"


def play_goes_on_and_space_holds_it(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow") as w:
        _follows(w)
        w.click("learn/play")
        w.wait(lambda r: _step(r) > 1)
        w.key("space")
        time.sleep(0.5)
        held = _step(w.report())
        time.sleep(6)
        assert _step(w.report()) == held, "Space holds it"
        w.key("space")
        w.wait(lambda r: _step(r) > held)


def no_page_is_asked_for_between_steps(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow") as w:
        _follows(w)
        w.settled()
        pictures = set()
        for step in range(2, 13):
            w.key("Right")
            _at(w, step)
            time.sleep(0.5)
            pictures.add(w.picture())
        assert len(pictures) == 11, "each step has its own picture"
        assert not any(w.report()["answers"]), "stepping computes nothing"


def a_door_opens_the_station_and_esc_comes_back(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow; follow step 7") as w:
        _follows(w)
        _at(w, 7)
        w.wait(lambda r: not r["field_focused"])
        w.key("Return")
        w.wait(lambda r: r["learn_station"] == "database")
        w.key("Escape")
        r = w.wait(lambda r: r["learn_station"] == "follow")
        assert _step(r) == 7 and r["view"] == "Learn"
        w.click("learn/follow/door")
        w.wait(lambda r: r["learn_station"] == "database")
        w.key("Escape")
        w.wait(lambda r: r["learn_station"] == "follow")
        w.key("Escape")
        w.wait(lambda r: r["view"] != "Learn")


def the_story_follows_the_last_step(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow; follow step 12") as w:
        _follows(w)
        _at(w, 12)
        w.click("learn/follow/story")
        _at(w, 13)
        w.key("End")
        r = _at(w, 16)
        assert "learn/follow/step/16" in r["widgets"]
        assert "learn/follow/step/1" not in r["widgets"]
        w.click("learn/follow/again")
        _at(w, 1)


def a_sentence_without_a_story_offers_the_sample(display):
    with Window(
        PROGRAM, display, "--text", "The cat sat on a mat", "--do", "learn follow; follow step 13"
    ) as w:
        _follows(w)
        w.click("learn/follow/sample")
        w.wait(lambda r: r["text"] == LILY and not r["busy"])
        w.wait(lambda r: "learn/follow/step/16" in r["widgets"])


def a_column_locks_its_word(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "learn follow; follow step 7") as w:
        _follows(w)
        _at(w, 7)
        w.click("learn/follow/columns", 0.5, 0.3)
        w.wait(lambda r: r["locked"] and r["locked"][0] == 16)


def no_text_of_a_step_is_cut(display):
    """Nor does one stand over another: in a small and in the usual window, with both stories."""
    steps = "; ".join(["learn follow"] + [f"follow step {n}" for n in range(1, 17)])
    windows = [
        ("1024x700", "stories", LILY),
        ("1600x1000", "translator", "The old house is very big."),
        ("1600x1000", "stories", LILY),
        ("1600x1000", "stories", "The cat sat on a mat"),
    ]
    for size, model, text in windows if os.environ.get("HEADLIGHT_LONG") else windows[:2]:
        for line in _listed(display, size, 1, "--model", model, "--text", text, "--do", steps):
            cut = {t["text"] for t in line["texts"] if t["cut"] or t["shortened"]}
            assert not cut, (size, model, line["command"], cut)
            faults = list(_faults(line["texts"], 1))
            assert not faults, (size, model, line["command"], faults)
