"""Mouse, keys, palette and commands."""

import os
import subprocess
import time

from drive import Window
from places import LILY, PROGRAM, SENTENCE


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
        for key, want in (
            ("Left", [3, 4]),
            ("Up", [2, 4]),
            ("Next", [3, 4]),
            ("Prior", [2, 4]),
            ("Right", [2, 5]),
            ("Down", [3, 5]),
            ("Down", [3, 5]),
        ):
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
        assert len(r["palette"]) > 30 and r["palette"][0] == "Heat map", r["palette"]
        w.type("lin")
        w.wait(lambda r: r["palette"][0] == "Lines")
        w.key("Return")
        r = w.wait(lambda r: r["view"] == "Lines" and "palette" not in r)
        assert r["text"] == "Lily had a red ball"
        assert r["field_focused"], "what is typed there is typed nowhere else"
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
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--do",
        "view lines; head 2.0; lock 16,10; mask 16>10; theme light",
    ) as w:
        r = w.wait(
            lambda r: r["changes"] == 1 and not r["dark"] and r["view"] == "Lines" and not r["busy"]
        )
        assert r["shown_head"] == [2, 0], r["change_list"]
        assert r["locked"] == [16, 10], r["change_list"]
        assert r["change_list"] == ["mask:16>10"], r["change_list"]
    choices = (
        "lines heads 2.0,2.3; graph heads 2.0; steps column weighted; heads sort previous; view "
        "head"
    )
    with Window(PROGRAM, display, "--text", LILY, "--do", choices) as w:
        r = w.wait(lambda r: r["view"] == "Heat map" and r["heads_sort"] == 1 and not r["busy"])
        assert 0 not in r["hidden_heads"], r["hidden_heads"]
        assert 3 not in r["hidden_heads"], r["hidden_heads"]
        assert len(r["left_out"]) == 31, r["hidden_heads"]
        assert r["step_column"] == 8 and r["heads_sort"] == 1, (r["step_column"], r["heads_sort"])
    for line in ("fly", "theme blue", "lock 99,99", "view alignment"):
        r = subprocess.run(
            [PROGRAM, "--text", LILY, "--do", line, "--screenshot", "/dev/null"],
            env=dict(os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1"),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert r.returncode == 2 and len(r.stderr.splitlines()) == 1, (line, r.returncode, r.stderr)


def undo_takes_back_comparisons_and_labels(display):
    with Window(PROGRAM, display, "--text", LILY, "--head", "1.2") as w:
        w.settled()
        w.key("F2")
        w.wait(lambda r: "label" in r["widgets"] and r["typing"])
        w.type("sink")
        w.key("Return")
        w.wait(lambda r: r["head_labels"].get("stories", {}).get("1.2") == "sink")
        w.key("Escape")
        w.show("Before/after")
        w.wait(lambda r: r["compare"] == 1)
        w.key("ctrl+z")
        w.wait(lambda r: r["compare"] == 0 and r["head_labels"]["stories"]["1.2"] == "sink")
        w.key("ctrl+z")
        w.wait(lambda r: "1.2" not in r["head_labels"].get("stories", {}))
        w.key("ctrl+y", "ctrl+y")
        w.wait(lambda r: r["compare"] == 1 and r["head_labels"]["stories"]["1.2"] == "sink")


def every_control_is_reached_by_tab(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for view, wanted in {
            "Lines": {"keep", "layer", "lines/head/0", "tab/Text", "question/explain", "find"},
            "Arithmetic": {"steps/table", "steps/numbers", "save"},
            "Update (ΔE)": {"delta/show", "delta/split", "delta/arrows"},
            "Flow": {"graph/share", "graph/head/0.0"},
            "All heads": {"heads/sort", "heads/layout", "heads/keep", "back"},
        }.items():
            w.show(view)
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
        w.show("Update (ΔE)")
        w.key("Escape")
        w.tab_to("delta/split")
        w.key("Down")
        w.wait(lambda r: r["delta_split"] == 1)


def an_open_list_takes_the_keys(display):
    """Esc closes the list first, arrows move in it, Enter takes; nothing beneath it moves."""
    with Window(PROGRAM, display, "--head", "1.2", "--lock", "16,3", "--text", LILY) as w:
        before = w.settled()
        w.click("map/more")
        w.click("contrast")
        w.wait(lambda r: r["list"] == "contrast")
        w.key("Down", "Down", "x", "3")
        w.key("Escape")
        w.wait(lambda r: r["list"] == "map/more")
        w.key("Escape")
        r = w.wait(lambda r: r["list"] == "")
        assert (r["shown_head"], r["locked"], r["text"], r["view"]) == (
            [1, 2],
            [16, 3],
            before["text"],
            "Heat map",
        ), "nothing beneath the list moved"
        w.click("map/more")
        w.click("colors")
        w.wait(lambda r: r["list"] == "colors")
        w.key("Down", "Return")
        r = w.wait(lambda r: r["list"] == "map/more" and not r["busy"])
        assert r["text"] == before["text"] and r["locked"] == [16, 3]
        w.click("colors")
        w.wait(lambda r: r["list"] == "colors")
        w.key("Up", "Return")
        w.wait(lambda r: r["list"] == "map/more")
        w.key("Escape")
        w.wait(lambda r: r["list"] == "")
        w.key("Escape")
        w.wait(lambda r: r["locked"] is None)
