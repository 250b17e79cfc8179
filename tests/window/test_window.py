#!/usr/bin/env python3
"""The real window under Xvfb, driven by keyboard and mouse. Ends with 'N passed, N failed'."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import pictures  # noqa: E402
from drive import Display, JapaneseInput, Window  # noqa: E402
from zero_model import zero_gpt2  # noqa: E402

PROGRAM = Path(sys.argv[1]).resolve()
TESTS = Path(__file__).parents[1]
REFERENCE, MALFORMED = TESTS / "reference/models", TESTS / "reference/malformed"
GPT2 = REFERENCE / "gpt2"
LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def first_start(display):
    with Window(PROGRAM, display) as w:
        r = w.settled()
        assert r["model"] == "stories" and r["text"].startswith("Lily had"), r["text"]
        assert r["field_focused"] and r["hints"], "the sentence has the focus, the hints are shown"
        w.click("hint/done")
        r = w.wait(lambda r: not r["hints"])
        assert r["locked"] is None and r["field_focused"], "the click on the card stays on the card"
        status, error = w.close()
        assert status == 0 and not error, error
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, home=home) as w:
        w.type("x")
        w.wait(lambda r: not r["hints"])
        w.close()
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert not r["hints"], "hints never come back"
        assert r["text"].endswith("redx"), r["text"]
    shutil.rmtree(home)


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
        r = w.wait(lambda r: r.get("shown_text") == r["text"] and not r["busy"] and len(r["text"]) >= len(sentence))
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
        w.wait(lambda r: r.get("shown_text", "").startswith("The quick brown fox"))


def keys_are_those_of_the_layout(display):
    """AZERTY's Ctrl A lies at the place of Ctrl Q, QWERTZ's Ctrl Z at that of Ctrl Y, Dvorak's everything elsewhere."""
    try:
        for layout in (["fr"], ["de"], ["us", "-variant", "dvorak"], ["ru"]):
            display.layout(*layout)
            with Window(PROGRAM, display, "--text", "one two") as w:
                w.settled()
                if layout == ["ru"]:  # no key writes Latin letters: places count
                    w.key("ctrl+38", "52")  # the codes of the keys of ф and я
                    w.wait(lambda r: r["text"] in ("я", "z"))  # in the C locale Xlib knows no Cyrillic
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
                with Window(PROGRAM, display, "--text", LILY) as w:  # the row of digits without Shift, by its places
                    w.settled()
                    w.key("ctrl+12")  # the code of the key that writes "
                    w.wait(lambda r: r["view"] == "Steps")
    finally:
        display.layout("us")


def keys_that_did_something_type_nothing(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("Escape", "Escape")
        w.wait(lambda r: not r["field_focused"])
        w.key("3")
        r = w.wait(lambda r: r["view"] == "Steps")
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
        w.wait(lambda r: r["text"].startswith("The quick"))
        w.key("ctrl+z", "ctrl+z")
        w.wait(lambda r: r["text"] == LILY + "dish")


def copying_takes_the_selection_or_else_the_numbers(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("ctrl+c")
        w.wait(lambda r: r["notice"].startswith("Copied") and r["field_focused"])
        w.key("End", "shift+ctrl+Left", "ctrl+c", "End", "ctrl+v")
        r = w.wait(lambda r: r["text"] == LILY + "red")


def composing_leaks_no_keys(display):
    """While a Japanese word is composed, Backspace, arrows, Space and Return are the input method's."""
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
            assert r["text"].startswith("one two") and len(r["text"]) in (8, 9) and not r["text"].isascii(), r["text"]
            written = r["text"]
            w.key("BackSpace")  # nothing is being composed: the text's again
            w.wait(lambda r: r["text"] == written[:-1])
            w.key("ctrl+z")
            w.wait(lambda r: r["text"] == written)
    finally:
        method.close()


def saving_replaces_nothing_without_a_word(display):
    home = Path(tempfile.mkdtemp())
    pictures = home / "my pictures"
    pictures.mkdir()
    (home / "user-dirs.dirs").write_text(f'XDG_PICTURES_DIR="{pictures}"\nXDG_DOCUMENTS_DIR="{home}"\n')
    with Window(PROGRAM, display, "--text", LILY, home=home) as w:
        w.settled()
        saved = []
        for _ in range(2):
            w.key("ctrl+s")
            proposed = w.wait(lambda r: "save path" in r["widgets"])["save_path"]
            assert Path(proposed).parent == pictures and not Path(proposed).exists() and proposed not in saved, proposed
            w.click("save path/save")
            w.wait(lambda r: r["save_result"] == f"Saved {proposed}")
            assert Path(proposed).stat().st_size > 1000
            saved.append(proposed)
            w.key("Escape")
            w.wait(lambda r: "save path" not in r["widgets"])
        there = pictures / "there.csv"
        there.write_text("mine")
        w.key("ctrl+s")
        w.wait(lambda r: "save path" in r["widgets"])
        w.fill("save path", "there.csv", lambda r: r["save_path"] == "there.csv")
        w.click("save path/save")
        r = w.wait(lambda r: "is there already" in r["save_result"])
        assert str(there) in r["save_result"] and "there-2.csv" in r["save_result"] and there.read_text() == "mine", r["save_result"]
        w.click("save path/save")
        w.wait(lambda r: r["save_result"] == f"Saved {there}")
        assert there.read_text() != "mine"
        w.key("Escape", "ctrl+shift+s")
        r = w.wait(lambda r: "workspace path" in r["widgets"] and "save path" not in r["widgets"])
        assert r["save_path"] == str(home / "headlight.headlight.json"), r["save_path"]
        w.click("save path/save")
        w.wait(lambda r: r["save_result"].startswith("Saved"))
    shutil.rmtree(home)


def the_desktops_dialog_is_asked_and_closed(display):
    """A program in zenity's place: what it writes is the path; one that never answers does not hold the window up."""
    folder = Path(tempfile.mkdtemp())
    chosen = folder / "a b;$(touch x).png"
    zenity = folder / "zenity"
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    zenity.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{folder}/arguments'\nprintf '%s\\n' '{chosen}'\n")
    zenity.chmod(0o755)
    with Window(PROGRAM, display, "--text", LILY, environment=environment) as w:
        w.settled()
        w.key("ctrl+s")
        w.wait(lambda r: "save path/browse" in r["widgets"])
        w.click("save path/browse")
        w.wait(lambda r: r["save_result"] == f"Saved {chosen}")
        assert chosen.exists() and "--save" in (folder / "arguments").read_text().splitlines()
        zenity.write_text(f"#!/bin/sh\necho $$ > '{folder}/pid'\nexec sleep 1000\n")
        w.click("save path/browse")
        while not (folder / "pid").exists() or not (folder / "pid").read_text().strip():
            time.sleep(0.05)
        begin = time.time()
        assert w.close()[0] == 0 and time.time() - begin < 5
        assert not Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists(), "the dialog is closed with the window"
    shutil.rmtree(folder)


def any_script(display):
    with Window(PROGRAM, display, "--text", "猫 مرحبا नमस्ते 😀👩‍👩‍👧") as w:
        r = w.settled()
        assert r["text"] == "猫 مرحبا नमस्ते 😀👩‍👩‍👧"
        w.key("BackSpace")  # a family of three is one character
        w.wait(lambda r: r["text"] == "猫 مرحبا नमस्ते 😀")


def hover_lock_and_let_go(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball. Tom had a blue ball") as w:
        w.settled()
        n = len(w.report()["tokens"])
        cell = lambda i: (i + 0.5) / n
        w.point("map", cell(2), cell(5))
        w.wait(lambda r: r["hovered"] == [5, 2])
        w.click("map", cell(1), cell(4))
        w.wait(lambda r: r["locked"] == [4, 1])
        w.point("map", cell(0), cell(3))
        w.wait(lambda r: r["hovered"] == [3, 0] and r["locked"] == [4, 1])
        w.point("inspector/title")
        w.wait(lambda r: r["hovered"] is None and r["locked"] == [4, 1])
        w.key("Escape")
        w.wait(lambda r: r["locked"] is None)
        w.point("chip/3")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 3)


def heads_by_mouse_and_keys(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball", "--head", "0.0") as w:
        w.settled()
        w.click("grid/3.5")
        w.wait(lambda r: r["shown_head"] == [3, 5])
        picture = w.picture()
        for key, want in (("Left", [3, 4]), ("Up", [2, 4]), ("Next", [3, 4]), ("Prior", [2, 4]), ("Right", [2, 5]), ("Down", [3, 5]), ("Down", [3, 5])):
            w.key(key)
            w.wait(lambda r: r["shown_head"] == want)
        first = next(p for p in w.report()["widgets"] if p.startswith("ranked/"))
        w.click("rank")
        w.click("rank/previous token")
        time.sleep(0.3)
        ranked = [p for p in w.report()["widgets"] if p.startswith("ranked/")]
        top = min(ranked, key=lambda p: w.report()["widgets"][p][1])
        w.click(top)
        w.wait(lambda r: r["shown_head"] == [int(x) for x in top.split("/")[1].split(".")])
        assert first and w.picture() != picture


def keyboard_alone(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball", "--head", "1.0") as w:
        r = w.settled()
        n = len(r["tokens"])
        w.key("Tab", "shift+Up")
        w.wait(lambda r: r["locked"] and r["locked"][0] == n - 2)
        w.key("shift+Left", "shift+Left", "shift+Left", "shift+Left", "shift+Left", "shift+Down")
        w.wait(lambda r: r["locked"] == [n - 1, 0])
        w.key("ctrl+d")
        w.wait(lambda r: not r["dark"])
        pictures = {w.picture()}
        for key in ("ctrl+l", "ctrl+shift+k", "ctrl+t", "ctrl+r"):
            w.key(key)
            time.sleep(0.25)
            pictures.add(w.picture())
        assert len(pictures) == 5
        w.key("Escape", "Tab", "x")
        w.wait(lambda r: r["locked"] is None and r["text"] == "Lily had a red ballx")


def the_palette_finds_any_command(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.key("ctrl+k")
        r = w.wait(lambda r: "palette/row/0" in r["widgets"])
        assert len(r["palette"]) > 40 and r["palette"][0] == "View Heat map", r["palette"]
        w.type("lin")
        w.wait(lambda r: r["palette"][0] == "View Lines")
        w.key("Return")
        r = w.wait(lambda r: r["view"] == "Lines" and "palette" not in r)
        assert r["text"] == "Lily had a red ball" and r["field_focused"], "what is typed there is typed nowhere else"
        w.key("ctrl+k")
        w.type("theme")
        r = w.wait(lambda r: r.get("palette", [""])[0].startswith("Theme"))
        w.click(f"palette/row/{r['palette'].index('Theme: light')}")
        w.wait(lambda r: not r["dark"] and "palette" not in r)
        w.key("ctrl+k")
        w.type("head 1.2")
        w.wait(lambda r: r.get("palette", [""])[0] == "Go to head: 1.2")
        w.key("Return")
        w.wait(lambda r: r["shown_head"] == [1, 2])
        w.key("ctrl+k")
        w.type("go to")
        w.wait(lambda r: r.get("palette", [""])[0] == "Go to head")
        w.key("Down", "Up", "Return")  # asks for what it needs
        w.type("2.0")
        w.key("Return")
        w.wait(lambda r: r["shown_head"] == [2, 0])
        w.key("ctrl+k")
        w.wait(lambda r: "palette/row/0" in r["widgets"])
        w.key("Escape", "x")
        w.wait(lambda r: "palette" not in r and r["text"] == "Lily had a red ballx")


def commands_at_the_start(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "view lines; head 2.0; lock 16,10; mask 16>10; theme light") as w:
        r = w.wait(lambda r: r["changes"] == 1 and not r["dark"] and r["view"] == "Lines" and not r["busy"])
        assert r["shown_head"] == [2, 0] and r["locked"] == [16, 10] and r["change_list"] == ["mask:16>10"], r["change_list"]
    for line in ("fly", "theme blue", "lock 99,99", "view alignment"):
        r = subprocess.run([PROGRAM, "--text", LILY, "--do", line, "--screenshot", "/dev/null"], env=dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1"),
                           capture_output=True, text=True, timeout=60)
        assert r.returncode == 2 and len(r.stderr.splitlines()) == 1, (line, r.returncode, r.stderr)


def undo_takes_back_comparisons_and_labels(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        w.key("F2")
        w.wait(lambda r: "label" in r["widgets"] and r["typing"])
        w.type("sink")
        w.key("Return")
        w.wait(lambda r: r["head_labels"].get("stories", {}).get("1.2") == "sink")
        w.key("Escape", "ctrl+7")
        w.wait(lambda r: r["view"] == "Compare")
        w.click("compare/what")
        w.click("compare/what/before and after")
        w.wait(lambda r: r["compared_what"] == 1)
        w.key("ctrl+z")
        w.wait(lambda r: r["compared_what"] == 0 and r["head_labels"]["stories"]["1.2"] == "sink")
        w.key("ctrl+z")
        w.wait(lambda r: "1.2" not in r["head_labels"].get("stories", {}))
        w.key("ctrl+y", "ctrl+y")
        w.wait(lambda r: r["compared_what"] == 1 and r["head_labels"]["stories"]["1.2"] == "sink")


def theme_colours_scale_and_direction(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        pictures = {w.picture()}
        for widget, choice in (("scale", "log"), ("colors", "magma"), ("queries", "columns"), ("scale", "row")):
            w.click(widget)
            w.click(f"{widget}/{choice}")
            time.sleep(0.3)
            pictures.add(w.picture())
        assert len(pictures) == 5, "each choice changes the picture"
        w.click("settings")
        w.click("theme/Light")
        w.wait(lambda r: not r["dark"])


def resizing(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        for size in ((1024, 640), (640, 480), (1700, 1150), (1280, 720)):
            w.resize(*size)
            w.wait(lambda r: abs(r["widgets"]["settings"][0] + r["widgets"]["settings"][2] - size[0]) < 20)


def a_narrow_window_keeps_its_inspector(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball", size="1024x640") as w:
        r = w.settled()
        assert "inspector/title" not in r["widgets"]
        w.key("ctrl+i")
        w.wait(lambda r: "inspector/title" in r["widgets"])
        w.click("inspector")
        w.wait(lambda r: "inspector/title" not in r["widgets"])


def dropping(display):
    folder = Path(tempfile.mkdtemp()) / "bad ümläut folder"
    folder.mkdir()
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.drop(folder)
        r = w.wait(lambda r: r.get("model_error"))
        assert "config.json" in r["model_error"] and r["model"] == "stories" and r["model_menu"], r["model_error"]
        w.wait(lambda r: "error" in r["widgets"])
        w.drop(GPT2)
        r = w.wait(lambda r: r.get("model") == "gpt2" and not r["busy"])
        assert not r["model_error"] and r["text"] == "Lily had a red ball" and not r["model_menu"]
        w.key("ctrl+o")
        w.wait(lambda r: "models/stories" in r["widgets"])
        w.click("models/stories")
        w.wait(lambda r: r.get("model") == "stories")
    shutil.rmtree(folder.parent)


def lines_of_a_layer(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball. Tom had") as w:
        w.settled()
        w.click("tab/Lines")
        w.wait(lambda r: r["view"] == "Lines" and "lines/query/3" in r["widgets"])
        w.point("lines/query/3")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 3)
        w.click("lines/query/2")
        w.wait(lambda r: r["locked"] and r["locked"][0] == 2)
        w.click("lines/head/4")
        w.wait(lambda r: r["hidden_heads"] == [4])
        time.sleep(0.6)  # not a double click
        w.click("lines/head/4")
        w.wait(lambda r: r["hidden_heads"] == [])
        w.key("Down")
        w.wait(lambda r: not r["busy"] and "lines/key/0" in r["widgets"])
        w.type(" a")
        w.wait(lambda r: r.get("shown_text", "").endswith("had a") and "lines/query/8" in r["widgets"])
        w.key("ctrl+1")
        w.wait(lambda r: r["view"] == "Heat map")


SENTENCE = "Lily had a red ball. Tom had"


def every_view_lights_what_is_hovered(display):
    """A token pointed at in one view is lit in the chips and stays in the inspector of all."""
    places = {"Heat map": ("map", 0.05, 0.4), "Lines": ("lines/query/3", 0.5, 0.5), "Steps": ("steps/table", 0.5, 0.3), "ΔE": ("delta/map", 0.8, 0.4), "Prediction": ("lens/grid", 0.4, 0.5), "Graph": ("graph/token/3", 0.5, 0.5)}
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for view, (path, x, y) in places.items():
            w.click(f"tab/{view}")
            w.wait(lambda r: r["view"] == view and path in r["widgets"] and not r["busy"])
            frame = w.report()["frame"]
            w.point(path, x, y)
            r = w.wait(lambda r: r["hovered"] is not None and r["frame"] > frame)
            query = r["hovered"][0]
            w.click(path, x, y)
            w.wait(lambda r: r["locked"] and (view == "Steps" or r["locked"][0] == query))
            w.point("inspector/title")
            w.wait(lambda r: r["hovered"] is None and r["locked"])
            w.key("Escape")
            w.wait(lambda r: r["locked"] is None)


def the_heat_map_enlarges_and_moves(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        cell = w.report()["widgets"]["map"]
        w.point("map", 0.5, 0.5)
        w.tool("click", "4", "click", "4", "click", "4", "click", "4", "click", "4", "click", "4", "click", "4", "click", "4")
        w.wait(lambda r: r["map_zoom"] > 3)
        assert w.report()["widgets"]["map"][2] >= cell[2], "more of the room, not less"
        w.click("map/fit") if "map/fit" in w.report()["widgets"] else w.tool("click", "--repeat", "30", "5")
        w.wait(lambda r: r["map_zoom"] == 1)


def steps_by_mouse_and_keys(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        w.click("tab/Steps")
        w.wait(lambda r: "steps/table" in r["widgets"])
        w.point("steps/table", 0.97, 0.1)
        w.wait(lambda r: r["step_column"] == 8)
        w.click("steps/numbers")
        w.wait(lambda r: r["strips_open"])
        w.key("Escape", "Escape", "3")
        w.wait(lambda r: r["view"] == "Steps")


def a_predicted_token_is_written(display):
    with Window(PROGRAM, display, "--view", "lens", "--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red") as w:
        r = w.settled()
        w.wait(lambda r: "lens/next/0" in r["widgets"])
        w.click("lens/next/0")
        w.wait(lambda r: r["text"].endswith("the red ball") and r.get("shown_text") == r["text"])
    with Window(PROGRAM, display, "--view", "lens", "--model", REFERENCE / "bert", "--text", "the [MASK] sat") as w:
        w.settled()
        w.wait(lambda r: "lens/next/1" in r["widgets"])
        w.click("lens/next/1")
        r = w.wait(lambda r: "[MASK]" not in r["text"])
        assert r["text"].startswith("the ") and r["text"].endswith(" sat"), r["text"]


def all_heads_sorted_labelled_and_opened(display):
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", SENTENCE, home=home) as w:
        w.settled()
        w.click("tab/All heads")
        w.wait(lambda r: r["view"] == "All heads" and "heads/2.5" in r["widgets"])
        w.click("heads/layout")
        w.click("heads/layout/table")
        w.wait(lambda r: r["heads_layout"] == 2 and "heads/column/induction" in r["widgets"])
        w.click("heads/column/induction, random")
        r = w.wait(lambda r: r["heads_sort"] == 9 and not r["busy"])
        rows = sorted((rect[1], path) for path, rect in r["widgets"].items() if path.startswith("heads/row/"))
        assert rows[0][1].split("/")[-1].startswith("1."), "the induction heads of the story model are in layer 1"
        w.click(rows[0][1])
        w.wait(lambda r: r["view"] == "Heat map" and r["shown_head"][0] == 1)
        w.key("Escape", "F2")
        w.wait(lambda r: "label" in r["widgets"] and r["typing"])
        w.type("copies")
        w.key("Return")
        w.wait(lambda r: list(r["head_labels"].get("stories", {}).values()) == ["copies"])
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")
        w.close()
    assert "copies" in (home / "headlight/labels.json").read_text(), "labels are kept"
    shutil.rmtree(home)


def graph_heads_switch(display):
    with Window(PROGRAM, display, "--view", "graph", "--text", SENTENCE, "--head", "1.2") as w:
        w.settled()
        w.key("Escape")  # the hints
        w.click("graph/head/0.3")
        w.wait(lambda r: r["left_out"] == [[0, 3]])
        w.click("graph/selected")
        w.wait(lambda r: len(r["left_out"]) == 31)
        w.click("graph/all")
        w.wait(lambda r: r["left_out"] == [])
        w.click("graph/origins")
        w.click("graph/origins/flow")
        w.wait(lambda r: not r["busy"] and "graph/token/3" in r["widgets"])


def blocks_of_the_model_open_their_views(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        w.click("tab/Model")
        r = w.wait(lambda r: r["view"] == "Model" and "model/0/3" in r["widgets"])
        w.click("model/0/3")  # embedding, positions, norm, attention
        w.wait(lambda r: r["view"] == "Heat map")
        w.key("Escape", "0")
        w.wait(lambda r: r["view"] == "Model")
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")


def every_control_is_reached_by_tab(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for view, wanted in {"2": {"keep", "layer", "lines/head/0", "save"} - {"save"}, "3": {"steps/table", "steps/numbers", "save"}, "4": {"delta/show", "delta/split", "delta/arrows"}, "6": {"graph/share", "graph/head/0.0"}, "9": {"heads/sort", "heads/layout", "heads/keep"}}.items():
            w.key(f"ctrl+{view}")
            time.sleep(0.2)
            seen, before = set(), ("", w.report()["field_focused"])
            for _ in range(80):
                w.key("Tab")
                r = w.wait(lambda r: (r["focus"], r["field_focused"]) != before)
                before = (r["focus"], r["field_focused"])
                if r["field_focused"]:
                    break
                seen.add(r["focus"])
            assert wanted <= seen, f"{view}: {wanted - seen} not reached"
            if not w.report()["field_focused"]:
                w.key("Escape")
        w.key("ctrl+4", "Escape")
        for _ in range(40):
            if w.report()["focus"] == "delta/split":
                break
            w.key("Tab")
            time.sleep(0.05)
        w.key("Down")
        w.wait(lambda r: r["delta_split"] == 1)


def every_view_is_saved(display):
    folder = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for digit in "12345679" + "0":
            w.key(f"ctrl+{digit}")
            time.sleep(0.3)
            w.settled()
            w.key("ctrl+s")
            w.wait(lambda r: "save path" in r["widgets"] and r["typing"])
            time.sleep(0.1)
            path = folder / f"view{digit}.svg"
            w.type(str(path))  # what was there is selected, so that typing replaces it
            w.wait(lambda r: r["save_path"] == str(path))
            w.key("Return")
            w.wait(lambda r: r["save_result"] == f"Saved {path}")
            assert path.read_text().count("<path") + path.read_text().count("<use") > 20, f"{path.name} holds vectors"
            w.key("Escape")
            w.wait(lambda r: "save path" not in r["widgets"])
    shutil.rmtree(folder)


def a_figure_is_styled_previewed_and_kept_as_a_preset(display):
    """What the window saves, the command line saves too, byte for byte."""
    folder = Path(tempfile.mkdtemp(prefix="headlight-figure-"))
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.key("Escape", "Escape")
        w.key("ctrl+s")
        w.wait(lambda r: "figure/values" in r["widgets"] and "figure/preview" in r["widgets"] and r["typing"])
        w.click("figure/preset")
        w.click("figure/preset/column")
        w.wait(lambda r: r["figure"]["width-mm"] == "85" and r["figure"]["dpi"] == "300")
        for toggle, name in (("figure/values", "values"), ("figure/grid", "grid-lines"), ("figure/words", "join-words")):
            w.click(toggle)
            w.wait(lambda r: r["figure"][name] == "true")
        w.fill("figure/title", "Who looks where", lambda r: r["figure"]["title"] == "Who looks where")
        w.fill("figure/name", "my paper", lambda r: r["preset_typed"] == "my paper")
        w.click("figure/keep")
        w.wait(lambda r: "my paper" in r["save_result"])
        for end in ("svg", "png", "pdf", "csv"):
            path = folder / f"f.{end}"
            w.fill("save path", str(path), lambda r: r["save_path"] == str(path))
            w.key("Return")
            w.wait(lambda r: r["save_result"] == f"Saved {path}")
            again = folder / f"again.{end}"
            title = () if end == "csv" else ("--title", "Who looks where")
            subprocess.run([PROGRAM, "render", "--text", LILY, "--view", "head", "--layer", "1", "--head", "2", "--preset", "my paper", *title, "-o", again], env=w.environment, check=True)
            assert path.read_bytes() == again.read_bytes(), f"{end} differs from the command line's"
        w.key("Escape")
        w.wait(lambda r: "figure/values" not in r["widgets"])
    shutil.rmtree(folder)


def changes_are_made_seen_and_taken_back(display):
    """The issue's own sentence: mask ball for the last word, and the model is no longer sure of it."""
    with Window(PROGRAM, display, "--head", "1.2", "--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red") as w:
        w.settled()
        w.key("Escape")
        n = len(w.report()["tokens"])
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1 and "effect" in r)
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 0 and "effect" not in r)
        w.click("change/bar")
        w.click("brush")
        w.click("brush/mask")
        for count, key in enumerate((4, 10, 3), 1):
            w.click("map", (key + 0.5) / n, (16 + 0.5) / n)
            w.wait(lambda r: r["changes"] == count)
        r = w.wait(lambda r: "effect" in r and r["effect"][2] < 0.6)
        assert r["effect"][0] == "ball" and r["effect"][1] > 0.9, r["effect"]
        w.click("change/1")
        w.wait(lambda r: r["changes"] == 2)
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 3)
        w.key("ctrl+y")
        w.wait(lambda r: r["changes"] == 2)
        w.click("mask")
        w.click("mask/sliding window 4")
        w.wait(lambda r: r["mask"] == "window:4")
        w.click("tab/Steps")
        w.wait(lambda r: "change/mask" in r["widgets"])
        w.click("change/all")
        r = w.wait(lambda r: r["changes"] == 0 and r["mask"] == "own" and "effect" not in r)
        assert r["next"] == "ball"


def two_heads_and_a_change_compared(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red") as w:
        w.settled()
        w.key("Escape")
        w.tool("keydown", "shift")
        w.click("grid/3.2")
        w.tool("keyup", "shift")
        w.wait(lambda r: r["view"] == "Compare" and r["compared"] == [3, 2] and r["shown_head"] == [1, 2] and "compare/map/2" in r["widgets"])
        w.point("compare/map/2", 0.1, 0.9)
        w.wait(lambda r: r["hovered"] and r["hovered"][0] > 10)
        w.click("compare/largest/0")
        w.wait(lambda r: r["locked"])
        w.click("compare/row/1.1")
        w.wait(lambda r: r["compared"] == [1, 1])
        w.click("tab/Heat map")
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1)
        w.click("tab/Compare")
        w.click("compare/what")
        w.click("compare/what/before and after")
        w.wait(lambda r: "compare/row/3.2" in r["widgets"] and "compare/head/3.2" in r["widgets"] and not r["busy"])
        for show, widget in (("next tokens", "compare/token/16"), ("ΔE", "compare/largest/0")):
            w.click("compare/show")
            w.click(f"compare/show/{show}")
            w.wait(lambda r: widget in r["widgets"] and not r["busy"])
        w.click("compare/head/3.2")
        w.wait(lambda r: r["shown_head"] == [3, 2])


def a_stroke_and_a_rectangle_are_one_step_each(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        at = lambda query, key: ((key + 0.5) / n, (query + 0.5) / n)
        w.click("change/bar")
        w.click("brush")
        w.click("brush/mask")
        w.wait(lambda r: r["brush"] == 1)
        w.drag("map", at(16, 2), at(16, 6), steps=16)
        w.wait(lambda r: r["change_list"] == [f"mask:16>{key}" for key in range(2, 7)])
        w.click("brush")
        w.click("brush/mask rectangle")
        w.wait(lambda r: r["brush"] == 3)
        w.drag("map", at(10, 1), at(8, 3))
        w.wait(lambda r: r["change_list"][-1] == "mask:8-10>1-3")
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 5)
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)


def everything_that_can_be_changed(display):
    """The bar of changes: scope, temperature, ablation, skips; a score by dragging and by key; the sink left out."""
    with Window(PROGRAM, display, "--head", "1.2", "--lock", "16,3", "--text", LILY) as w:
        w.settled()
        w.key("Escape")
        w.click("change/bar")
        w.wait(lambda r: "temperature" in r["widgets"])
        w.click("temperature")
        w.click("temperature/0.5")
        w.wait(lambda r: r["change_list"] == ["temperature:0.5"])
        w.click("scope")
        w.click("scope/this head")
        w.click("temperature")
        w.click("temperature/0, hard")
        w.wait(lambda r: r["change_list"] == ["temperature:0.5", "temperature:0@1.2"])
        w.click("ablation")
        w.click("ablation/keep only this head")
        w.wait(lambda r: r["change_list"][-1] == "ablate:1.2:keep")
        w.click("ablation")
        w.click("ablation/mean")
        w.wait(lambda r: r["change_list"][-1] == "ablate:1.2:mean" and r["changes"] == 3)
        w.click("skip")
        w.click("skip/skip both")
        w.wait(lambda r: r["change_list"][-2:] == ["skip-attention:1", "skip-mlp:1"])
        w.click("change/all")
        w.wait(lambda r: r["changes"] == 0 and "change/score" in r["widgets"] and not r["busy"])
        w.drag("change/score", (0.3, 0.5), (0.7, 0.5))
        r = w.wait(lambda r: r["changes"] == 1 and r["change_list"][0].startswith("score:16>3@1.2="))
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)
        w.click("sink")
        w.click("sink/left out")
        w.wait(lambda r: r["drop_sink"] and not r["busy"])
        w.point("map", 0.02, 0.98)
        w.wait(lambda r: r["hovered"] == [16, 0])


def two_sentences_tied_and_patched(display):
    with Window(PROGRAM, display, "--head", "2.0", "--text", LILY, "--view", "compare") as w:
        w.settled()
        w.key("Escape")
        w.click("compare/what")
        w.click("compare/what/two sentences")
        w.wait(lambda r: r["shown_text_b"] == LILY and "compare/map/2" in r["widgets"])
        w.key("ctrl+a")
        w.type("Lily had a red hat. Tom had a big blue hat. Lily gave Tom the red")
        r = w.wait(lambda r: r["shown_text_b"].endswith("Tom the red") and "hat" in r["shown_text_b"] and "compare/b/17" in r["widgets"])
        assert r["text"] == LILY, "the first sentence stays"
        w.point("compare/map/1", 0.01, 0.99)
        w.wait(lambda r: r["hovered"] == [16, 0])
        w.click("compare/a/9")
        w.click("compare/b/9")
        w.wait(lambda r: r["ties"] == 1)
        w.click("compare/untie")
        w.wait(lambda r: r["ties"] == 0)
        w.click("compare/patch")
        w.wait(lambda r: r["change_list"] == ["freeze:2.0=Lily had a red hat. Tom had a big blue hat. Lily gave Tom the red"] and "effect" in r)
        w.click("compare/patch")
        w.wait(lambda r: r["changes"] == 0)


def two_models_compared(display):
    with Window(PROGRAM, display, "--text", "The cat sat on the mat", "--view", "compare") as w:
        w.settled()
        w.key("Escape")
        w.click("compare/what")
        w.click("compare/what/two models")
        w.wait(lambda r: "compare/model" in r["widgets"])
        for path, widget in ((GPT2, "compare/row/0.0"), (REFERENCE / "bert", "compare/row/0.0")):
            w.click("compare/model")
            w.wait(lambda r: r["model_menu"] and r["typing"])
            w.key("ctrl+a")
            w.type(str(path))
            w.key("Return")
            w.wait(lambda r: not r["model_menu"] and r["shown_text_b"] and widget in r["widgets"] and not r["busy"])
        w.click("compare/model")
        w.wait(lambda r: r["model_menu"] and r["typing"])
        w.key("ctrl+a")
        w.type("/nowhere/at all")
        w.key("Return")
        w.wait(lambda r: not r["model_menu"] and not r["busy"] and "compare/map/0" not in r["widgets"])
        assert w.report()["model"] == "stories", "A stays open"


def each_head_ablated_in_turn(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.key("Escape")
        w.click("rank")
        w.click("rank/effect on “ball”")
        w.wait(lambda r: r["swept"] == "ended" and "ranked/2.0" in r["widgets"])
        w.click("tab/All heads")
        w.click("heads/sort")
        w.click("heads/sort/effect on “ball”")
        w.click("heads/layout")
        w.click("heads/layout/values")
        w.wait(lambda r: "values/3.7" in r["widgets"])
        w.click("sweep/token")
        w.click("sweep/token/car")
        w.wait(lambda r: r["swept"] == "ended" and "values/3.7" in r["widgets"] and not r["busy"])
        w.click("values/2.3")
        w.wait(lambda r: r["shown_head"] == [2, 3] and r["view"] == "Heat map")


def a_workspace_is_saved_opened_dropped_and_restored(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight "))
    path, home = folder / "my work.headlight.json", folder / "home"
    with Window(PROGRAM, display, "--head", "2.1", "--lock", "16,3", "--text", LILY, home=home) as w:
        w.settled()
        w.key("Escape")
        w.click("change/ablate")
        w.click("tab/Steps")
        w.wait(lambda r: r["changes"] == 1 and r["view"] == "Steps")
        w.key("ctrl+shift+s")
        w.wait(lambda r: "workspace path" in r["widgets"] and r["typing"])
        time.sleep(0.1)
        w.type(str(path))
        w.wait(lambda r: r["save_path"] == str(path))
        w.key("Return")
        w.wait(lambda r: r["save_result"] == f"Saved {path}")
        w.key("Escape")
        w.wait(lambda r: "workspace path" not in r["widgets"])
        assert w.close()[0] == 0
    typed, folder = folder, Path(tempfile.mkdtemp(prefix="headlight äöü "))
    path, home = shutil.copy(path, folder / "my work é.headlight.json"), shutil.copytree(home, folder / "home")
    shutil.rmtree(typed)
    same = lambda r: r["text"] == LILY and r.get("change_list") == ["ablate:2.1:zero"] and r["view"] == "Steps" and r["locked"] == [16, 3] and r["shown_head"] == [2, 1] and "effect" in r
    with Window(PROGRAM, display, home=home) as w:  # the last one is restored
        w.wait(same)
        w.close()
    with Window(PROGRAM, display, path) as w:
        w.wait(same)
        w.key("Escape")
        w.click("change/all")
        w.wait(lambda r: r["changes"] == 0)
        w.drop(path)
        w.wait(same)
        (folder / "broken.headlight.json").write_text("{")
        w.drop(folder / "broken.headlight.json")
        w.wait(lambda r: "broken.headlight.json" in r["notice"] and same(r))
    gone = json.loads(path.read_text())
    gone["model"] = str(folder / "no model")
    (folder / "gone.headlight.json").write_text(json.dumps(gone))
    with Window(PROGRAM, display, folder / "gone.headlight.json") as w:
        w.wait(lambda r: "no model" in r["model_error"] and r["model"] == "stories")
    shutil.rmtree(folder)


def a_trace_in_place_of_a_model(display):
    """Opened by path and by drop; shown without weights; compared with a live run; a model opens again after it."""
    folder = Path(tempfile.mkdtemp(prefix="headlight-trace-"))
    both, patterns = folder / "both.safetensors", folder / "patterns.safetensors"
    for path, more in ((both, ("--capture", "*hook_q", "--capture", "*hook_k")), (patterns, ("--capture", "*hook_pattern", "--capture", "input_ids"))):
        subprocess.run([PROGRAM, "trace", "--text", LILY, *more, "-o", path], check=True)
    with Window(PROGRAM, display, "--trace", both, "--head", "1.2", "--lock", "16,4") as w:
        w.tool("mousemove", "700", "8")
        r = w.wait(lambda r: r.get("model", "").endswith("(trace)") and "recorded" in r["widgets"] and not r["busy"] and abs(r["weight"] - 0.782) < 0.001)
        assert r["tokens"][16] == "red" and "change/ablate" not in r["widgets"] and "change/bar" not in r["widgets"], r["weight"]
        w.key("Escape")
        for digit, name in (("2", "Lines"), ("6", "Graph"), ("9", "All heads"), ("7", "Compare"), ("1", "Heat map")):
            w.key(f"ctrl+{digit}")
            w.wait(lambda r: r["view"] == name and not r["busy"])
        w.key("ctrl+3")
        w.wait(lambda r: not r["busy"])
        assert w.report()["view"] == "Heat map", "Steps needs weights"
        w.drop(patterns)
        w.wait(lambda r: not r["busy"] and "recorded" in r["widgets"] and r["tokens"][16] == "red")
        w.key("ctrl+7")
        w.click("compare/what")
        w.click("compare/what/two models")
        w.wait(lambda r: "compare/model" in r["widgets"])
        w.click("compare/model")
        w.wait(lambda r: r["model_menu"] and r["typing"])
        time.sleep(0.1)
        w.type("stories")
        w.key("Return")
        w.wait(lambda r: "compare/head/3.2" in r["widgets"] and not r["busy"])
        w.drop(GPT2)
        w.wait(lambda r: r["model"] == "gpt2" and "sentence" in r["widgets"] and not r["busy"])
    shutil.rmtree(folder)

def the_translator_writes_while_one_types(display):
    with Window(PROGRAM, display, "--model", "translator", "--text", "The cat sat on the", "--view", "alignment") as w:
        w.settled()
        w.type(" mat.")
        r = w.wait(lambda r: r["second"] == "Die Katze saß auf der Matte." and not r["busy"])
        words = r["written"]["labels"]
        assert r["view"] == "Alignment" and words[:2] == ["Die", "Katze"] and words[-1] == "</s>" and r["written"]["step"] == len(words) - 1
        assert r["alignment"]["rows"] == words and r["alignment"]["columns"][:2] == ["The", "cat"], "rows are what is chosen"
        assert r["alignment"]["strongest"][1] == 1, "Katze from cat"
        w.click("tab/Alignment")
        w.key("Escape")
        w.key("Left", "Left")
        r = w.wait(lambda r: r["written"]["step"] == len(words) - 3 and len(r["target_tokens"]) == len(words) - 2)
        assert r["second"] == "Die Katze saß auf der Matte.", "the field shows all of it"
        w.click("written/1")
        r = w.wait(lambda r: r["written"]["step"] == 1 and len(r["alignment"]["rows"]) == 2)
        w.click("writing/slider", 0.999)
        w.wait(lambda r: r["written"]["step"] == len(words) - 1)
        w.click("writing/slider", 0.001)
        w.wait(lambda r: r["written"]["step"] == 0)
        w.click("writing/play")
        w.wait(lambda r: r["written"]["playing"] and r["written"]["step"] >= 2)
        w.wait(lambda r: not r["written"]["playing"] and r["written"]["step"] == len(words) - 1)


def another_word_is_forced_and_the_model_goes_on(display):
    with Window(PROGRAM, display, "--model", "translator", "--text", "The cat sat on the mat.", "--view", "alignment") as w:
        first = w.wait(lambda r: r.get("written", {}).get("ended") and not r["busy"])["second"]
        w.click("written/0")
        w.wait(lambda r: r["written"]["step"] == 0 and "align/choice/1" in r["widgets"])
        w.click("align/choice/1")
        r = w.wait(lambda r: r["written"]["forced"] == 1 and not r["busy"])
        assert r["second"] != first and r["written"]["step"] >= 1, "it goes on from there"
        w.click("writing/release")
        w.wait(lambda r: r["second"] == first and r["written"]["forced"] == 0)
        w.click("second")
        w.key("ctrl+a")
        w.type("Die Katze schlief")
        r = w.wait(lambda r: r["second"] == "Die Katze schlief" and r["shown_second"] == "Die Katze schlief" and not r["busy"])
        labels = r["written"]["labels"]
        assert r["alignment"]["rows"][0] == "Die" and r["alignment"]["rows"][:-1] == labels and not r["written"]["ended"], "a typed target is aligned and stepped through too"
        w.click("written/1")
        w.wait(lambda r: r["written"]["step"] == 1 and not r["busy"])
        w.click("align/choice/1")
        r = w.wait(lambda r: r["written"]["ended"] and r["written"]["forced"] == 2 and not r["busy"])
        assert r["second"].startswith("Die ") and r["second"] != "Die Katze schlief", "the model goes on from what was typed"
        w.click("writing/release")
        w.wait(lambda r: r["second"] == first)
        w.click("second")
        w.key("ctrl+a")
        w.type("Die Katze")
        w.wait(lambda r: r["shown_second"] == "Die Katze" and not r["busy"])
        w.click("write")
        w.wait(lambda r: r["second"] == first and "written" in r)
        w.click("writing/method")
        w.click("writing/method/beam search")
        w.wait(lambda r: "writing/beams" in r["widgets"] and not r["busy"])


def a_decoder_writes_on(display):
    with Window(PROGRAM, display, "--text", "Once upon a time, Lily") as w:
        n = len(w.settled()["tokens"])
        w.key("Escape")
        w.click("writing/bar")
        r = w.wait(lambda r: len(r.get("written", {}).get("labels", [])) == 24 and len(r["tokens"]) == n + 24)
        w.click("writing/choice/1")
        r = w.wait(lambda r: r["written"]["forced"] == 25 and not r["busy"])
        w.click("writing/slider", 0.5)
        r = w.wait(lambda r: 8 < r["written"]["step"] < 16 and len(r["tokens"]) == n + r["written"]["step"])
        step = r["written"]["step"]
        w.click("writing/keep")
        r = w.wait(lambda r: r["text"].startswith("Once upon a time, Lily ") and r["text"] == r["shown_text"] and not r["busy"])
        assert len(r["tokens"]) == n + step + 24, "what was kept is part of the sentence, and it writes on"
        w.click("writing/bar")
        w.wait(lambda r: "written" not in r and len(r["tokens"]) == n + step)


def the_diagram_shows_three_kinds_of_attention(display):
    with Window(PROGRAM, display, "--model", "translator", "--text", "The cat sat on the mat.", "--view", "model") as w:
        w.wait(lambda r: "model/map/3" in r["widgets"] and not r["busy"])
        places = [w.report()["widgets"][f"model/map/{i}"] for i in (1, 2, 3)]
        assert places[0][0] + places[0][2] <= places[1][0] and places[1][0] + places[1][2] <= places[2][0], "side by side"
        w.click("model/map/3")
        r = w.wait(lambda r: r["view"] == "Heat map")
        assert r["layer"] == 6 + r["layer"] % 3, "the cross-attention of the layer"
        w.key("ctrl+p")
        w.wait(lambda r: r["view"] == "Positions" and "positions/table" in r["widgets"] and not r["busy"])
        w.key("Escape")
        w.wait(lambda r: r["view"] == "Heat map")


def masked_models_and_a_second_sentence(display):
    with Window(PROGRAM, display, "--model", REFERENCE / "bert", "--text", "the cat") as w:
        r = w.settled()
        assert r["tokens"][0] == "[CLS]" and "next" not in r and "second" in r["widgets"]
        w.type(" [MASK]")
        r = w.wait(lambda r: r.get("next") and not r["busy"])
        assert r["tokens"][-2] == "[MASK]"
        w.key("Tab")
        w.type("the mat")
        r = w.wait(lambda r: r["second"] == "the mat" and r["tokens"].count("[SEP]") == 2)
        assert r["text"] == "the cat [MASK]" and not r["field_focused"]
        w.key("Tab")
        w.key("Down")
        w.wait(lambda r: r["layer"] != 0 or r["head"] >= 0)


def source_target_and_three_kinds_of_attention(display):
    with Window(PROGRAM, display, "--model", REFERENCE / "marian", "--text", "The cat sat", "--target", "Die Katze") as w:
        r = w.settled()
        assert r["target_tokens"][0] == "<pad>" and len(r["target_tokens"]) > 2
        assert "grid/encoder 0.0" in r["widgets"] and "grid/decoder 1.3" in r["widgets"] and "grid/cross 1.3" in r["widgets"]
        w.click("grid/cross 1.2")
        r = w.wait(lambda r: r["shown_head"] == [5, 2] and not r["busy"])
        w.point("target/1")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 1)
        w.click("grid/encoder 0.0")
        w.wait(lambda r: r["shown_head"] == [0, 0] and not r["busy"])
        w.point("chip/2")
        w.wait(lambda r: r["hovered"] and r["hovered"][0] == 2)
        w.click("write")
        w.wait(lambda r: r["second"] != "Die Katze" and not r["busy"], 30)


def a_picture_and_its_patches(display):
    with Window(PROGRAM, display, "--model", REFERENCE / "vit", "--text", "") as w:
        assert w.report()["view"] == "Image"
        w.drop(REFERENCE / "vit/gradient_rgb.png")
        r = w.wait(lambda r: len(r.get("tokens", [])) == 17 and "overlay" in r["widgets"] and not r["busy"])
        assert r["next"].startswith("LABEL_")
        w.point("overlay", 0.9, 0.9)
        w.wait(lambda r: r["hovered"] == [0, 16])
        w.click("patches", 0.1, 0.1)
        w.wait(lambda r: r["locked"] == [1, 1])
        w.key("Escape")
        w.wait(lambda r: r["locked"] is None)
        w.click("tab/Heat map")
        w.wait(lambda r: r["view"] == "Heat map" and "map" in r["widgets"])
        w.drop(MALFORMED / "png_truncated.png")
        w.wait(lambda r: r["text"].endswith("truncated.png") and r.get("shown_text") == r["text"])


def a_gguf_file_shows_its_shared_heads(display):
    with Window(PROGRAM, display, "--text", "The cat sat") as w:
        w.settled()
        w.drop(REFERENCE / "llama_gguf/llama-q8_0.gguf")
        r = w.wait(lambda r: r.get("model") == "llama-q8_0" and not r["busy"])
        assert r["tokens"][0] == "<s>" and "group/1" in r["widgets"] and "group/2" not in r["widgets"]


def the_old_model_works_while_another_opens(display):
    """A FIFO in place of the tokenizer would hang an opening for ever; a large tokenizer only takes its time."""
    folder = Path(tempfile.mkdtemp())
    slow = folder / "slow"
    shutil.copytree(GPT2, slow)
    vocabulary = {f"token {i}": i for i in range(900_000)}
    (slow / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": vocabulary, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}}))
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.drop(slow)
        w.wait(lambda r: r["opening"] == str(slow) and "opening/cancel" in r["widgets"])
        w.type(" and")
        r = w.wait(lambda r: r.get("shown_text") == "Lily had a red ball and")
        assert r["model"] == "stories"
        if r["opening"]:
            w.click("opening/cancel")
            r = w.wait(lambda r: not r["opening"] and not r["busy"])
            assert r["model"] == "stories" and not r["model_error"]
        w.drop(slow)
        w.wait(lambda r: r.get("model") == "slow" and not r["busy"], 30)
    shutil.rmtree(folder)


def a_wrong_path_at_the_start(display):
    with Window(PROGRAM, display, "--model", "/nowhere at all") as w:
        r = w.wait(lambda r: r.get("model_error") and r.get("model") == "stories")
        assert "/nowhere at all" in r["model_error"]


def a_text_beyond_the_context_stays_whole_and_is_dimmed(display):
    text = "word " * 20_000
    with Window(PROGRAM, display, "--text", text) as w:
        r = w.wait(lambda r: "Only the first 256 of" in r["notice"] and not r["busy"] and r.get("shown_text") == r["text"], 30)
        assert len(r["tokens"]) == 256 and "notice" in r["widgets"] and r["text"] == text
        picture = w.picture()
        w.key("Home")
        w.type("One ")
        w.wait(lambda r: r["text"] == "One " + text and r.get("shown_text") == r["text"], 20)
        time.sleep(0.3)
        assert w.picture() != picture, "the caret is in sight at the beginning"
        w.key("End")
        w.type("end")
        w.wait(lambda r: r["text"] == "One " + text + "end", 20)
        time.sleep(0.5)
        before = w.picture()
        w.type("s")
        w.wait(lambda r: r["text"].endswith("ends"), 20)
        time.sleep(0.5)
        assert w.picture() != before, "what is typed at the end of 100,000 bytes is seen"


def what_a_paste_loses_is_said(display):
    with Window(PROGRAM, display, "--text", "word " * 20_000) as w:
        w.wait(lambda r: not r["busy"] and r.get("shown_text") == r["text"], 30)
        w.key("ctrl+a", "ctrl+c", "End")
        for size in (200_000, 300_000, 400_000):
            w.key("ctrl+v")
            r = w.wait(lambda r: len(r["text"]) == size, 30)
            assert "left out" not in r["notice"], r["notice"]
        w.key("ctrl+v")
        r = w.wait(lambda r: "400,000 bytes" in r["notice"], 30)
        assert len(r["text"]) == 400_000 and "left out" in r["notice"], r["notice"]


def what_is_old_is_dimmed_in_every_panel(display):
    """A pass that takes longer than 100 ms: list, view and inspector stand back until its numbers are there."""
    folder = Path(tempfile.mkdtemp())
    tokenizer = (GPT2 / "tokenizer.json").read_text(encoding="utf-8")
    model = zero_gpt2(folder / "slow", 12, 768, 12, 1024, tokenizer, json.loads((GPT2 / "config.json").read_text())["vocab_size"])
    with Window(PROGRAM, display, "--model", model, "--text", "The cat sat on the mat. " * 20) as w:
        w.settled()
        for view in ("Heat map", "Lines", "Steps", "ΔE", "Prediction", "Graph", "Compare", "All heads"):
            w.click(f"tab/{view}")
            r = w.wait(lambda r: r["view"] == view and not r["busy"] and not any(p.startswith("dimmed/") for p in r["widgets"]), 30)
            panels = {"dimmed/center"} | ({"dimmed/heads"} if view != "All heads" else set()) | ({"dimmed/inspector"} if "inspector/title" in r["widgets"] else set())
            w.key("Home")
            w.type("x")  # at the beginning: no row can be taken over
            w.wait(lambda r: r["busy"] and panels == {p for p in r["widgets"] if p.startswith("dimmed/")}, 30)
            w.wait(lambda r: not r["busy"] and not any(p.startswith("dimmed/") for p in r["widgets"]), 30)
    shutil.rmtree(folder)


def no_frame_is_slow_where_thousands_of_pieces_are_text(display):
    """3,000 different Chinese characters, each a token: chips, labels and the sentence are all pictures."""
    characters = "".join(chr(0x4E00 + i) for i in range(3000))
    tokenizer = json.dumps({"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False},
                            "pre_tokenizer": {"type": "BertPreTokenizer"},
                            "model": {"type": "WordPiece", "unk_token": "?", "vocab": {c: i for i, c in enumerate("?" + characters)}}})
    folder = Path(tempfile.mkdtemp())
    model = zero_gpt2(folder / "characters", 1, 16, 2, 4096, tokenizer, 3001)
    with Window(PROGRAM, display, "--model", model, "--text", "丁" * 8) as w:
        w.settled()

        def frames():
            """Frame times of the views, each with pointing and scrolling."""
            before = len(w.report()["frame_times"])
            for view in ("Lines", "Steps", "Heat map", "All heads"):
                w.click(f"tab/{view}")
                w.wait(lambda r: r["view"] == view and not r["busy"], 60)
                w.tool("mousemove", "800", "500")
                w.tool("click", "--repeat", "5", "--delay", "60", "5")
                w.wait(lambda r: not r["busy"], 60)
            return sorted(w.report()["frame_times"][before:])

        plain = frames()
        w.close()
    with Window(PROGRAM, display, "--model", model, "--text", characters) as w:
        r = w.wait(lambda r: not r["busy"] and len(r.get("tokens", [])) == 3000, 60)
        long = frames()
        w.key("End")
        w.type("a")
        w.wait(lambda r: len(r["text"]) == 3001 and r.get("shown_text") == r["text"], 60)
        status, error = w.close()
        assert status == 0 and not error, error
    print(f"     plain {plain[len(plain) // 2] * 1e3:.1f} ms, {plain[-1] * 1e3:.1f} at most; 3,000 characters {long[len(long) // 2] * 1e3:.1f} ms, {long[-1] * 1e3:.1f} at most")
    assert long[-1] < 12 * plain[-1] + 0.1, (plain[-5:], long[-5:])
    shutil.rmtree(folder)


def opening_a_model_with_a_shorter_context_keeps_the_text(display):
    text = "The cat sat on the mat. " * 24
    with Window(PROGRAM, display, "--text", text) as w:
        w.settled()
        w.key("ctrl+o")
        w.wait(lambda r: "model path" in r["widgets"])
        w.fill("model path", str(GPT2), lambda r: r["typing"])
        w.key("Return")
        r = w.wait(lambda r: r.get("model") == "gpt2" and not r["busy"] and r.get("shown_text") == r["text"], 30)
        assert r["text"] == text and "Only the first 48 of" in r["notice"], r["notice"]


def weights_that_are_not_numbers_are_said_and_the_window_goes_on(display):
    folder = Path(tempfile.mkdtemp()) / "with NaN"
    shutil.copytree(GPT2, folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    size, = struct.unpack("<Q", data[:8])
    begin = json.loads(data[8:8 + size])["transformer.h.1.attn.c_attn.weight"]["data_offsets"][0]
    data[8 + size + begin:12 + size + begin] = struct.pack("<f", float("nan"))
    (folder / "model.safetensors").write_bytes(data)
    with Window(PROGRAM, display, "--model", GPT2, "--text", "The cat sat") as w:
        w.settled()
        w.drop(folder)
        r = w.wait(lambda r: r.get("model") == "with NaN" and not r["busy"])
        assert "layer 1's queries are not finite" in r["failure"] and "not finite" in r["notice"], r["failure"]
        w.drop(GPT2)
        r = w.wait(lambda r: r.get("model") == "gpt2" and not r["busy"] and r.get("tokens"))
        assert r["failure"] == "", r["failure"]
        status, error = w.close()
        assert status == 0 and not error, error
    shutil.rmtree(folder.parent)


def saving_a_picture(display):
    folder = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.key("ctrl+s")
        w.wait(lambda r: "save path" in r["widgets"])
        time.sleep(0.3)
        w.key("ctrl+a")
        w.type(str(folder / "head.pdf"))
        w.key("Return")
        w.wait(lambda r: r["save_result"].startswith("Saved"))
        assert (folder / "head.pdf").read_bytes().startswith(b"%PDF")
        w.key("ctrl+a")
        w.type("/nowhere/head.png")
        w.click("save path/save")
        w.wait(lambda r: "cannot be written" in r["save_result"])
        assert w.report()["text"] == "Lily had a red ball", "the path did not land in the sentence"
    shutil.rmtree(folder)


def broken_settings_are_set_aside(display):
    home = Path(tempfile.mkdtemp())
    (home / "headlight").mkdir()
    (home / "headlight/settings.json").write_text("{broken")
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert "set aside" in r["notice"]
        assert (home / "headlight/settings.json.broken").exists()
        w.close()
    assert json.loads((home / "headlight/settings.json").read_text())["model"] == "stories"
    shutil.rmtree(home)


def what_a_killed_window_left_is_offered(display):
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", "The cat sat", home=home) as w:
        w.settled()
        w.type(" on the mat")
        w.wait(lambda r: r["text"].endswith("mat"))
        time.sleep(3.5)
        w.process.kill()
        w.process.wait()
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert r["text"] == "The cat sat on the mat" and not r["left"], "it was opened anyway"
        time.sleep(3)
        w.process.kill()
        w.process.wait()
    with Window(PROGRAM, display, "--text", "Another", home=home) as w:
        assert w.settled()["left"]
        w.click("left/open")
        w.wait(lambda r: r["text"] == "The cat sat on the mat" and not r["left"])
        assert w.close() == (0, "")
    with Window(PROGRAM, display, "--text", "Another", home=home) as w:
        assert not w.settled()["left"]
        w.process.terminate()
        assert w.process.wait(20) == 0, "SIGTERM is a wish to end"
    assert not list((home / "headlight/recovery").glob("window-*"))
    assert json.loads((home / "headlight/settings.json").read_text())["text"] == "Another"
    shutil.rmtree(home)


def what_ended_the_program_before_it_was_seen_is_offered_not_opened(display):
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", "What ends it", "--theme", "light", home=home) as w:
        w.settled()
        w.key("Escape")
        w.close()
    (home / "headlight/recovery/window-1-0.lock").touch()  # of a window that never showed its picture
    shutil.copy(home / "headlight/settings.json", home / "headlight/recovery/window-1-0.headlight.json")
    left = json.loads((home / "headlight/recovery/window-1-0.headlight.json").read_text())
    (home / "headlight/recovery/window-1-0.headlight.json").write_text(json.dumps(dict(left, format="headlight-workspace")))
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert r["left"] and r["text"] == "" and not r["dark"], "preferences are kept, what was open waits"
        w.click("left/open")
        w.wait(lambda r: r["text"] == "What ends it" and not r["left"])
        w.close()
    shutil.rmtree(home)


def a_settings_file_that_was_named_stays(display):
    folder = Path(tempfile.mkdtemp())
    (folder / "mine.json").write_text("{broken")
    with Window(PROGRAM, display, "--settings", folder / "mine.json") as w:
        assert "mine.json" in w.settled()["notice"]
        w.close()
    assert (folder / "mine.json").read_text() == "{broken" and len(list(folder.iterdir())) == 1
    shutil.rmtree(folder)


def idle_costs_nothing(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        w.point("inspector/title")
        time.sleep(1)
        ticks = lambda: sum(map(int, Path(f"/proc/{w.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        frame, begin = w.report()["frame"], ticks()
        time.sleep(4)
        share = (ticks() - begin) / os.sysconf("SC_CLK_TCK") / 4
        print(f"     idle: {share:.2%} of one core, {w.report()['frame'] - frame} frames in 4 s")
        assert share < 0.01 and w.report()["frame"] == frame


def screenshots(display):
    folder = Path(tempfile.mkdtemp())
    environment = dict(os.environ, DISPLAY=display.name)
    for options in (["--size", "1600x1000"], ["--size", "1280x720", "--theme", "light"], ["--size", "2400x1500", "--scale", "2"], ["--text", ""], ["--open-menu", "models"]):
        file = folder / "shot.png"
        r = subprocess.run([PROGRAM, "--screenshot", file, *options], env=environment, capture_output=True, timeout=60)
        assert r.returncode == 0 and file.stat().st_size > 5000, r.stderr
    first = subprocess.run([PROGRAM, "--screenshot", folder / "a.png", "--head", "1.0"], env=environment, timeout=60)
    again = subprocess.run([PROGRAM, "--screenshot", folder / "b.png", "--head", "1.0"], env=environment, timeout=60)
    assert first.returncode == again.returncode == 0
    r = subprocess.run([PROGRAM, "--screenshot", "/nowhere/a.png"], env=environment, capture_output=True, text=True, timeout=60)
    assert r.returncode == 1 and r.stderr.startswith("headlight: /nowhere/a.png"), r.stderr
    shutil.rmtree(folder)


SCREENS = {"main": [], "steps": ["--view", "steps"], "compare": ["--view", "compare", "--do", "compare 3.2"], "heads": ["--view", "heads"]}
LOOKS = {"dark": ["--theme", "dark", "--size", "1600x1000"], "light-2x": ["--theme", "light", "--size", "2400x1500", "--scale", "2"]}


def golden_screens(display):
    """The main screens as they were when someone looked at them. HEADLIGHT_GOLDEN=write makes them anew; look before you commit."""
    file, write = Path(tempfile.mkdtemp()) / "screen.png", os.environ.get("HEADLIGHT_GOLDEN") == "write"
    environment = dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME=str(file.parent))
    for screen, options in SCREENS.items():
        for look, size in LOOKS.items():
            words = ["--text", LILY, "--head", "1.2", "--lock", "16,4", *options, *size]
            r = subprocess.run([PROGRAM, "--screenshot", file, *words], env=environment, capture_output=True, timeout=60)
            assert r.returncode == 0, r.stderr
            width, block = (2400, 16) if "2x" in look else (1600, 8)
            time_taken = (width - width // 10, 0, width // 10, 6 * block)
            pictures.check_golden(f"{screen}, {look}", file.read_bytes(), TESTS / f"golden/window-{screen}-{look}.png", write, block, [time_taken])
    shutil.rmtree(file.parent)


def no_display_and_old_opengl(display):
    r = subprocess.run([PROGRAM], env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}, capture_output=True, text=True, timeout=30)
    assert r.returncode == 1 and len(r.stderr.splitlines()) == 1 and "render" in r.stderr and "xvfb-run" in r.stderr, r.stderr
    r = subprocess.run([PROGRAM], env=dict(os.environ, DISPLAY=display.name, MESA_GL_VERSION_OVERRIDE="2.1", LIBGL_ALWAYS_SOFTWARE="1"), capture_output=True, text=True, timeout=30)
    assert r.returncode == 1 and len(r.stderr.splitlines()) == 1 and "OpenGL 3.3" in r.stderr, r.stderr


def main():
    missing = [tool for tool in ("Xvfb", "xdotool", "xwd") if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed\n0 passed, 0 failed, 1 skipped")
        return 0
    tests = [t for name, t in globals().items() if callable(t) and getattr(t, "__module__", "") == "__main__" and name not in ("main", "Display", "JapaneseInput", "Window")]
    wanted, failed = sys.argv[2:], 0
    display = Display()
    ran = [t for t in tests if not wanted or t.__name__ in wanted]
    for t in ran:
        begin = time.time()
        try:
            t(display)
            print(f"ok   {t.__name__} ({time.time() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {t.__name__}\n{traceback.format_exc()}", flush=True)
    display.close()
    print(f"{len(ran) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
