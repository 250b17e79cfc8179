"""The sentence: keys of every layout, editing, composing, the clipboard, undo."""

import subprocess
import time

import pictures
from drive import JapaneseInput, Window
from places import LILY, PROGRAM


def typing_changes_the_picture(display):
    with Window(PROGRAM, display, "--text", "The cat sat on the mat") as w:
        before = w.settled()
        picture = w.picture()
        w.type(" and the dog")
        after = w.wait(lambda r: r.get("shown_text", "").endswith("the dog") and not r["busy"])
        assert len(after["tokens"]) > len(before["tokens"])
        time.sleep(0.3)
        assert len(picture) > 1_000_000 and w.picture() != picture, "the pixels follow"


def no_character_is_lost_at_15_keys_a_second(display):
    sentence = "One day, a little dog named Spot went to the park and saw a big red ball. "
    with Window(PROGRAM, display, "--text", "") as w:
        w.type(sentence, delay_ms=66)
        r = w.wait(
            lambda r: (
                r.get("shown_text") == r["text"]
                and not r["busy"]
                and len(r["text"]) >= len(sentence)
            )
        )
        assert r["text"] == sentence, r["text"]


def editing(display):
    with Window(PROGRAM, display, "--text", "one two three") as w:
        w.settled()
        w.key("ctrl+BackSpace", "Home", "Delete", "ctrl+Right", "X")
        w.wait(lambda r: r["text"] == "neX two ")
        w.key("ctrl+z")
        w.wait(lambda r: r["text"] == "ne two ")
        w.key("ctrl+y")
        w.wait(lambda r: r["text"] == "neX two ")
        w.key("shift+Home", "ctrl+x", "End", "ctrl+v")
        w.wait(lambda r: r["text"] == " two neX")
        w.key("ctrl+a", "BackSpace")
        w.wait(lambda r: r["text"] == "" and "sample/0" in r["widgets"])
        w.click("sample/1")
        w.wait(
            lambda r: (
                r.get("shown_text", "").endswith("The murderer was the")
                and r["next"] == "ma"
                and r["shown_head"] == [3, 3]
                and r["locked"] == [39, 17]
            )
        )


def keys_are_those_of_the_layout(display):
    """AZERTY's Ctrl A lies at the place of Ctrl Q, QWERTZ's Ctrl Z at that of Ctrl Y, Dvorak's
    everything elsewhere."""
    try:
        for layout in (["fr"], ["de"], ["us", "-variant", "dvorak"], ["ru"]):
            display.layout(*layout)
            with Window(PROGRAM, display, "--text", "one two") as w:
                w.settled()
                if layout == ["ru"]:  # no key writes Latin letters: places count
                    w.key("ctrl+38", "52")  # the codes of the keys of ф and я
                    # In the C locale Xlib knows no Cyrillic.
                    w.wait(lambda r: r["text"] in ("я", "z"))
                    continue
                w.key("ctrl+a")
                w.type("zyqa")
                w.wait(lambda r: r["text"] == "zyqa")
                w.key("ctrl+z")
                w.wait(lambda r: r["text"] == "one two")
                w.key("ctrl+y")
                w.wait(lambda r: r["text"] == "zyqa")
                w.key("ctrl+a", "ctrl+x")
                w.wait(lambda r: r["text"] == "")
                w.key("ctrl+v", "ctrl+v")
                w.wait(lambda r: r["text"] == "zyqazyqa")
                status, error = w.close()
                assert status == 0 and not error, error
            if layout == ["fr"]:
                with Window(
                    PROGRAM, display, "--text", LILY
                ) as w:  # the row of digits without Shift, by its places
                    w.settled()
                    w.key("ctrl+11")  # the code of the key that writes é
                    w.wait(lambda r: r["view"] == "Prediction")
    finally:
        display.layout("us")


def keys_that_did_something_type_nothing(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("Escape", "Escape")
        w.wait(lambda r: not r["field_focused"])
        w.key("2")
        r = w.wait(lambda r: r["view"] == "Prediction")
        assert r["text"] == LILY and not r["field_focused"], r["text"]
        w.key("Tab", "space")
        time.sleep(0.3)
        assert w.report()["text"] == LILY
        w.key("x")
        w.wait(lambda r: r["text"] == LILY + "x" and r["field_focused"])


def one_history_in_the_order_of_time(display):
    """Ctrl Z takes back what was done last, wherever the focus is."""
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.type("dish")
        w.wait(lambda r: r["text"] == LILY + "dish")
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1 and r["field_focused"])
        w.type("ness")
        w.wait(lambda r: r["text"] == LILY + "dishness")
        w.key("ctrl+z")
        w.wait(lambda r: r["text"] == LILY + "dish" and r["changes"] == 1)
        w.key("ctrl+z")
        w.wait(lambda r: r["text"] == LILY + "dish" and r["changes"] == 0)
        w.key("ctrl+z")
        w.wait(lambda r: r["text"] == LILY and r["changes"] == 0)
        w.key("ctrl+y", "ctrl+y")
        w.wait(lambda r: r["text"] == LILY + "dish" and r["changes"] == 1)
        w.key("Escape", "ctrl+z")
        w.wait(lambda r: r["changes"] == 0)
        w.click("sentence")
        w.key("ctrl+a", "BackSpace")
        w.wait(lambda r: "sample/1" in r["widgets"])
        w.click("sample/1")
        w.wait(lambda r: r["text"].startswith("Someone had"))
        w.key("ctrl+z", "ctrl+z")
        w.wait(lambda r: r["text"] == LILY + "dish")


def copying_takes_the_selection_or_else_the_numbers(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("ctrl+c")
        w.wait(lambda r: r["notice"].startswith("Copied") and r["field_focused"])
        w.key("End", "shift+ctrl+Left", "ctrl+c", "End", "ctrl+v")
        w.wait(lambda r: r["text"] == LILY + "red")


def composing_leaks_no_keys(display):
    """While a Japanese word is composed, Backspace, arrows, Space and Return are the input
    method's."""
    if JapaneseInput.missing():
        return print(f"     skipped: {', '.join(JapaneseInput.missing())} not installed")
    method = JapaneseInput(display)
    try:
        with Window(PROGRAM, display, "--text", "one two", environment=method.environment) as w:
            before = w.settled()
            w.key("ctrl+j")  # from Latin to Hiragana
            time.sleep(0.5)
            w.type("kanjii", delay_ms=150)
            for name in ("BackSpace", "Left", "Right", "Home", "Up", "End", "space"):
                w.key(name)
                time.sleep(0.2)
            r = w.report()
            assert (r["text"], r["shown_head"]) == ("one two", before["shown_head"]), r["text"]
            w.key("Return")
            r = w.wait(lambda r: r["text"] != "one two")
            assert r["text"].startswith("one two"), r["text"]
            assert len(r["text"]) in (8, 9), r["text"]
            assert not r["text"].isascii(), r["text"]
            written = r["text"]
            w.key("BackSpace")  # nothing is being composed: the text's again
            w.wait(lambda r: r["text"] == written[:-1])
            w.key("ctrl+z")
            w.wait(lambda r: r["text"] == written)
    finally:
        method.close()


def any_script(display):
    with Window(PROGRAM, display, "--text", "猫 مرحبا नमस्ते 😀👩‍👩‍👧") as w:
        r = w.settled()
        assert r["text"] == "猫 مرحبا नमस्ते 😀👩‍👩‍👧"
        w.key("BackSpace")  # a family of three is one character
        w.wait(lambda r: r["text"] == "猫 مرحبا नमस्ते 😀")


def the_count_beside_an_emoji_is_dark_on_light(display):
    """ "🙂 1/4" is one picture: the emoji keeps its colors, the count has the ink of the label."""
    words = ["--text", "🙂", "--theme", "light", "--view", "head"]
    with Window(PROGRAM, display, *words) as w:
        w.settled()
        x, y, wide, high = w.wait(lambda r: "chip/0" in r["widgets"])["widgets"]["chip/0"]
        file = w.folder / "shot.png"
        subprocess.run(
            [PROGRAM, *words, "--screenshot", file, "--size", "1600x1000", "--scale", "1"],
            env=w.environment,
            check=True,
            timeout=60,
        )
        _, _, channels, rows = pictures.pixels(file.read_bytes())
    count = [
        row[at * channels : at * channels + 3]
        for row in rows[int(y) : int(y + high)]
        for at in range(int(x + wide / 2), int(x + wide) - 2)
    ]
    assert sum(max(pixel) < 120 for pixel in count) > 10, (
        "the count is as light as what is behind it"
    )
