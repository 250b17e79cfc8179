"""How the window starts and ends: first start, theme, size, settings, recovery, idle."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drive import Display, Window
from places import GPT2, PROGRAM
from Xlib import X, protocol
from Xlib import display as xlib


def first_start(display):
    with Window(PROGRAM, display) as w:
        r = w.settled()
        assert r["model"] == "stories" and r["text"].startswith("Lily had"), r["text"]
        assert r["field_focused"] and r["hints"], "the sentence has the focus, the hints are shown"
        w.click("hint/done")
        r = w.wait(lambda r: not r["hints"])
        assert r["locked"] == [16, 4], "the click on the card stays on the card"
        status, error = w.close()
        assert status == 0 and not error, error
    home = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, home=home) as w:
        w.type("x")
        w.wait(lambda r: r["text"].endswith("redx") and r["hints"])
        w.key("Escape")
        w.wait(lambda r: not r["hints"])
        w.close()
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert not r["hints"], "hints never come back"
        assert r["text"].endswith("redx"), r["text"]
    shutil.rmtree(home)


def desktops_know_the_window(display):
    with Window(PROGRAM, display, "--text", "a") as w:
        said = xlib.Display(display.name)
        held = said.create_resource_object("window", int(w.id))
        assert held.get_wm_class() == ("headlight", "headlight")
        icon = held.get_full_property(said.intern_atom("_NET_WM_ICON"), X.AnyPropertyType).value
        sizes, at = [], 0
        while at < len(icon):
            wide, high = icon[at : at + 2]
            assert icon[at + 2] >> 24 == 0
            assert icon[at + 2 + wide * high // 2] >> 24 == 255, (
                "a corner is transparent, the middle is not"
            )
            sizes.append((wide, high))
            at += 2 + wide * high
        assert sizes == [(n, n) for n in (16, 32, 48, 64, 128)]
        said.close()


def theme_colors_scale_and_direction(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        pictures = {w.picture()}
        for widget, choice in (
            ("contrast", "log"),
            ("colors", "magma"),
            ("queries", "columns"),
            ("contrast", "per row"),
        ):
            if widget not in w.report()["widgets"]:
                w.click("map/more")
            w.click(widget)
            listed = lambda r: [
                path
                for path in r["widgets"]
                if path.startswith(f"{widget}/")
                and path.split("/")[1].removeprefix("queries in ").removesuffix(" contrast")
                == choice
            ]
            w.click(listed(w.wait(listed))[0])
            time.sleep(0.3)
            pictures.add(w.picture())
        assert len(pictures) == 5, "each choice changes the picture"
        w.key("Escape")
        w.click("settings")
        w.click("theme/Light")
        w.wait(lambda r: not r["dark"])


def resizing(display):
    with Window(PROGRAM, display, "--text", "Lily had a red ball") as w:
        w.settled()
        for size in ((1024, 640), (640, 480), (1700, 1150), (1280, 720)):
            w.resize(*size)
            w.wait(
                lambda r: (
                    abs(r["widgets"]["settings"][0] + r["widgets"]["settings"][2] - size[0]) < 20
                )
            )


def it_opens_where_it_stood(display):
    home = Path(tempfile.mkdtemp())
    opened = lambda: Window(PROGRAM, display, "--scale", "1", home=home, size=None, moved=False)
    with opened() as w:
        w.settled()
        w.resize(1300, 800)
        w.tool("windowmove", "--sync", w.id, "137", "91")
        w.key("Escape")
        w.wait(lambda r: r["place"] == [137, 91, False] and r["size"] == [1300, 800])
        w.close()
    with opened() as w:
        w.wait(lambda r: r["place"] == [137, 91, False] and r["size"] == [1300, 800])
        w.close()
    settings = home / "headlight/settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"x": 5000, "y": -700}))
    with opened() as w:
        x, y, _ = w.wait(lambda r: r["size"] == [1300, 800])["place"]
        assert 0 <= x < 1000 and 0 <= y < 1000, "the screen on which it stood is gone"
        w.close()
    shutil.rmtree(home)


def it_is_maximized_again(_):
    home, display = Path(tempfile.mkdtemp()), Display("1500x900")
    manager = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("manager.py"), display.name],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert manager.stdout.readline() == "ready\n"
        opened = lambda: Window(PROGRAM, display, "--scale", "1", home=home, size=None, moved=False)
        with opened() as w:
            w.settled()
            w.resize(1200, 700)
            w.tool("windowmove", "--sync", w.id, "60", "40")
            w.key("Escape")
            w.wait(lambda r: r["place"] == [60, 40, False] and r["size"] == [1200, 700])
            _maximize(display, w, 1)
            w.wait(lambda r: r["place"][2] and r["size"] == [1500, 900])
            assert w.close()[0] == 0
        remembered = json.loads((home / "headlight/settings.json").read_text())
        assert [remembered[k] for k in ("maximized", "x", "y", "width", "height")] == [
            True,
            60,
            40,
            1200,
            700,
        ], remembered
        with opened() as w:
            w.wait(lambda r: r["place"][2] and r["size"] == [1500, 900])
            _maximize(display, w, 0)
            w.wait(lambda r: r["place"] == [60, 40, False] and r["size"] == [1200, 700])
            w.close()
        assert json.loads((home / "headlight/settings.json").read_text())["maximized"] is False
    finally:
        manager.terminate()
        manager.wait()
        display.close()
    shutil.rmtree(home)


def _maximize(display, window, on):
    """As a desktop's title bar does it."""
    said = xlib.Display(display.name)
    atom = said.intern_atom
    states = [atom(f"_NET_WM_STATE_MAXIMIZED_{way}") for way in ("VERT", "HORZ")]
    message = protocol.event.ClientMessage(
        window=said.create_resource_object("window", int(window.id)),
        client_type=atom("_NET_WM_STATE"),
        data=(32, [on, *states, 1, 0]),
    )
    said.screen().root.send_event(
        message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask
    )
    said.sync()
    said.close()


def keys_and_the_token_that_is_typed_are_seen_in_small_windows(display):
    """F1 stands within the window; of the tokens the last one does, and the locked one."""
    with Window(PROGRAM, display, "--text", "Lily had a red ball. " * 4, size="1024x700") as w:
        last = len(w.settled()["tokens"]) - 1
        r = w.wait(lambda r: f"chip/{last}" in r["widgets"])
        assert "chip/0" not in r["widgets"] and "chips/back" in r["widgets"], "not all have room"
        w.click("chips/back")
        w.wait(lambda r: f"chip/{last}" not in r["widgets"])
        w.key("F1")
        x, y, wide, high = w.wait(lambda r: "help" in r["widgets"])["widgets"]["help"]
        assert x >= 0 and y >= 0 and x + wide <= 1024 and y + high <= 700, (x, y, wide, high)


def no_line_of_the_keys_is_cut_in_small_windows(display):
    with Window(PROGRAM, display, "--report-texts", "--open-menu", "keys", size="1024x700") as w:
        texts = w.wait(lambda r: "help" in r["widgets"] and "Keys" in r.get("texts", []))["texts"]
        cut = [text for text in texts[texts.index("Keys") :] if text.endswith("…")]
        assert not cut, cut


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
        assert "config.json" in r["model_error"]
        assert r["model"] == "stories"
        assert r["model_menu"], r["model_error"]
        w.wait(lambda r: "error" in r["widgets"])
        w.drop(GPT2)
        r = w.wait(lambda r: r.get("model") == "gpt2" and not r["busy"])
        assert not r["model_error"] and r["text"] == "Lily had a red ball" and not r["model_menu"]
        w.key("ctrl+o")
        w.wait(lambda r: "models/stories" in r["widgets"])
        w.click("models/stories")
        w.wait(lambda r: r.get("model") == "stories")
    shutil.rmtree(folder.parent)


def broken_settings_are_set_aside(display):
    home = Path(tempfile.mkdtemp())
    (home / "headlight").mkdir()
    (home / "headlight/settings.json").write_text("{broken")
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert "renamed to" in r["notice"]
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
    (
        home / "headlight/recovery/window-1-0.lock"
    ).touch()  # of a window that never showed its picture
    shutil.copy(
        home / "headlight/settings.json", home / "headlight/recovery/window-1-0.headlight.json"
    )
    left = json.loads((home / "headlight/recovery/window-1-0.headlight.json").read_text())
    (home / "headlight/recovery/window-1-0.headlight.json").write_text(
        json.dumps(dict(left, format="headlight-workspace"))
    )
    with Window(PROGRAM, display, home=home) as w:
        r = w.settled()
        assert r["left"]
        assert r["text"] == ""
        assert not r["dark"], "preferences are kept, what was open waits"
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
        ticks = lambda: sum(
            map(
                int,
                Path(f"/proc/{w.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13],
            )
        )
        frame, begin = w.report()["frame"], ticks()
        time.sleep(4)
        share = (ticks() - begin) / os.sysconf("SC_CLK_TCK") / 4
        print(f"     idle: {share:.2%} of one core, {w.report()['frame'] - frame} frames in 4 s")
        assert share < 0.01 and w.report()["frame"] == frame


def no_display_and_old_opengl(display):
    r = subprocess.run(
        [PROGRAM],
        env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert r.returncode == 1, r.stderr
    assert len(r.stderr.splitlines()) == 1, r.stderr
    assert "render" in r.stderr, r.stderr
    assert "xvfb-run" in r.stderr, r.stderr
    r = subprocess.run(
        [PROGRAM],
        env=dict(
            os.environ,
            DISPLAY=display.name,
            MESA_GL_VERSION_OVERRIDE="2.1",
            LIBGL_ALWAYS_SOFTWARE="1",
        ),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert r.returncode == 1, r.stderr
    assert len(r.stderr.splitlines()) == 1, r.stderr
    assert "OpenGL 3.3" in r.stderr, r.stderr
