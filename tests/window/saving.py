"""Saving: pictures, figures and their presets, workspaces, screenshots."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM, REFERENCE, SENTENCE


def saving_replaces_nothing_without_a_word(display):
    home = Path(tempfile.mkdtemp())
    pictures = home / "my pictures"
    pictures.mkdir()
    (home / "user-dirs.dirs").write_text(
        f'XDG_PICTURES_DIR="{pictures}"\nXDG_DOCUMENTS_DIR="{home}"\n'
    )
    with Window(PROGRAM, display, "--text", LILY, home=home) as w:
        w.settled()
        saved = []
        for _ in range(2):
            w.key("ctrl+s")
            proposed = w.wait(lambda r: "save path" in r["widgets"])["save_path"]
            assert Path(proposed).parent == pictures, proposed
            assert not Path(proposed).exists(), proposed
            assert proposed not in saved, proposed
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
        r = w.wait(lambda r: "already exists" in r["save_result"])
        assert str(there) in r["save_result"], r["save_result"]
        assert "there-2.csv" in r["save_result"], r["save_result"]
        assert there.read_text() == "mine", r["save_result"]
        w.click("save path/save")
        w.wait(lambda r: r["save_result"] == f"Saved {there}")
        assert there.read_text() != "mine"
        w.key("Escape", "ctrl+shift+s")
        r = w.wait(lambda r: "workspace path" in r["widgets"] and "save path" not in r["widgets"])
        assert r["save_path"] == str(home / "headlight.headlight.json"), r["save_path"]
        w.click("save path/save")
        w.wait(lambda r: r["save_result"].startswith("Saved"))
    shutil.rmtree(home)


def a_command_saves_where_it_was_given(display):
    """As options do, and beside no person's folder; a workspace needs no text, and of a model of
    images no image."""
    folder = Path(tempfile.mkdtemp())
    for words, saved in (
        (("--text", LILY, "--do", "save figure rel.png"), "rel.png"),
        (("--model", REFERENCE / "vit", "--do", "save workspace ws"), "ws.headlight.json"),
    ):
        subprocess.run(
            [PROGRAM, *words, "--screenshot", folder / "shot.png"],
            cwd=folder,
            env={**os.environ, "DISPLAY": display.name, "HOME": str(folder / "home")},
            check=True,
            capture_output=True,
            timeout=60,
        )
        assert (folder / saved).exists(), saved
    shutil.rmtree(folder)


def the_desktops_dialog_is_asked_and_closed(display):
    """A program in zenity's place: what it writes is the path; one that never answers does not hold
    the window up."""
    folder = Path(tempfile.mkdtemp())
    chosen = folder / "a b;$(touch x).png"
    zenity = folder / "zenity"
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    zenity.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{folder}/arguments'\nprintf '%s\\n' '{chosen}'\n"
    )
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
        assert not Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists(), (
            "the dialog is closed with the window"
        )
    shutil.rmtree(folder)


def every_view_is_saved(display):
    folder = Path(tempfile.mkdtemp())
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        for number, name in enumerate(
            (
                "Heat map",
                "Lines",
                "All heads",
                "Prediction",
                "Flow",
                "Update (ΔE)",
                "Arithmetic",
                "Heads",
                "Architecture",
            )
        ):
            w.show(name)
            time.sleep(0.3)
            w.settled()
            w.key("ctrl+s")
            w.wait(lambda r: "save path" in r["widgets"] and r["typing"])
            time.sleep(0.1)
            path = folder / f"view{number}.svg"
            w.type(str(path))  # the text is selected, so that typing replaces it
            w.wait(lambda r: r["save_path"] == str(path))
            w.key("Return")
            w.wait(lambda r: r["save_result"] == f"Saved {path}")
            assert path.read_text().count("<path") + path.read_text().count("<use") > 20, (
                f"{path.name} holds vectors"
            )
            w.key("Escape")
            w.wait(lambda r: "save path" not in r["widgets"])
    shutil.rmtree(folder)


def the_format_is_a_button_and_the_name_says_what_is_saved(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-formats-"))
    with Window(PROGRAM, display, "--text", LILY, "--do", "view head; head 1.2", home=folder) as w:
        w.settled()
        w.key("Escape", "Escape", "ctrl+s")
        r = w.wait(lambda r: "save format/SVG" in r["widgets"])
        assert Path(r["save_path"]).name == "stories-head-1.2.png", r["save_path"]
        for name in ("SVG", "PDF", "CSV", "TSV", "JSON", "NPY", "safetensors", "PNG"):
            w.click(f"save format/{name}")
            w.wait(lambda r: r["save_path"].endswith("stories-head-1.2." + name.lower()))
        w.click("figure/methods")
        w.wait(lambda r: r["figure"]["methods"] == "false")
        w.click("save format/HTML")
        w.wait(lambda r: "figure/exact" in r["widgets"] and "figure/methods" not in r["widgets"])
        w.click("figure/exact")
        w.wait(lambda r: r["figure"]["exact"] == "true")
    shutil.rmtree(folder)


def every_view_of_a_run_is_offered_as_a_page(display):
    for view in ("delta", "steps"):
        with Window(PROGRAM, display, "--text", LILY, "--do", f"view {view}") as w:
            w.settled()
            w.key("Escape", "Escape", "ctrl+s")
            w.wait(lambda r: "save format/HTML" in r["widgets"])


def a_figure_is_styled_previewed_and_kept_as_a_preset(display):
    """A figure saved by the window is the command line's, byte for byte."""
    folder = Path(tempfile.mkdtemp(prefix="headlight-figure-"))
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY) as w:
        w.settled()
        w.key("Escape", "Escape")
        w.key("ctrl+s")
        w.wait(
            lambda r: (
                "figure/values" in r["widgets"] and "figure/preview" in r["widgets"] and r["typing"]
            )
        )
        w.click("figure/preset/column")
        w.wait(lambda r: r["figure"]["width-mm"] == "85" and r["figure"]["dpi"] == "300")
        for toggle, name in (
            ("figure/values", "values"),
            ("figure/grid", "grid-lines"),
            ("figure/words", "join-words"),
        ):
            w.click(toggle)
            w.wait(lambda r: r["figure"][name] == "true")
        w.fill(
            "figure/title", "Who looks where", lambda r: r["figure"]["title"] == "Who looks where"
        )
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
            subprocess.run(
                [
                    PROGRAM,
                    "render",
                    "--text",
                    LILY,
                    "--view",
                    "head",
                    "--layer",
                    "1",
                    "--head",
                    "2",
                    "--preset",
                    "my paper",
                    *title,
                    "-o",
                    again,
                ],
                env=w.environment,
                check=True,
            )
            assert path.read_bytes() == again.read_bytes(), f"{end} differs from the command line's"
        w.key("Escape")
        w.wait(lambda r: "figure/values" not in r["widgets"])
    shutil.rmtree(folder)


def a_preset_is_replaced_only_when_asked_twice(display):
    home = Path(tempfile.mkdtemp())
    for said in (["Saved as preset mine"], ["Preset mine already exists", "Saved as preset mine"]):
        with Window(PROGRAM, display, "--text", LILY, home=home) as w:
            w.settled()
            w.key("ctrl+s")
            w.wait(lambda r: "figure/name" in r["widgets"])
            w.fill("figure/name", "mine", lambda r: r["preset_typed"] == "mine")
            for sentence in said:
                w.click("figure/keep")
                w.wait(lambda r: r["save_result"].startswith(sentence))
    shutil.rmtree(home)


def a_workspace_is_saved_opened_dropped_and_restored(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight "))
    path, home = folder / "my work.headlight.json", folder / "home"
    with Window(
        PROGRAM, display, "--head", "2.1", "--lock", "16,3", "--text", LILY, home=home
    ) as w:
        w.settled()
        w.click("change/ablate")
        w.show("Arithmetic")
        w.wait(lambda r: r["changes"] == 1 and r["view"] == "Arithmetic")
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
    path, home = (
        shutil.copy(path, folder / "my work é.headlight.json"),
        shutil.copytree(home, folder / "home"),
    )
    shutil.rmtree(typed)
    same = lambda r: (
        r["text"] == LILY
        and r.get("change_list") == ["ablate:2.1:zero"]
        and r["view"] == "Arithmetic"
        and r["locked"] == [16, 3]
        and r["shown_head"] == [2, 1]
        and "effect" in r
    )
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


def screenshots(display):
    folder = Path(tempfile.mkdtemp())
    environment = dict(os.environ, DISPLAY=display.name)
    for options in (
        ["--size", "1600x1000"],
        ["--size", "1280x720", "--theme", "light"],
        ["--size", "2400x1500", "--scale", "2"],
        ["--text", ""],
        ["--open-menu", "models"],
    ):
        file = folder / "shot.png"
        r = subprocess.run(
            [PROGRAM, "--screenshot", file, *options],
            env=environment,
            capture_output=True,
            timeout=60,
        )
        assert r.returncode == 0 and file.stat().st_size > 5000, r.stderr
    first = subprocess.run(
        [PROGRAM, "--screenshot", folder / "a.png", "--head", "1.0"], env=environment, timeout=60
    )
    again = subprocess.run(
        [PROGRAM, "--screenshot", folder / "b.png", "--head", "1.0"], env=environment, timeout=60
    )
    assert first.returncode == again.returncode == 0
    r = subprocess.run(
        [PROGRAM, "--screenshot", "/nowhere/a.png"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert r.returncode == 1 and r.stderr.startswith("headlight: /nowhere/a.png"), r.stderr
    shutil.rmtree(folder)


def a_screenshot_that_waits_for_numbers_queues_no_frames(display):
    """Circuits take a while: frames that were drawn meanwhile and not waited for held 1.7 GB and
    half a minute."""
    folder = Path(tempfile.mkdtemp())
    words = [
        PROGRAM,
        "--screenshot",
        folder / "circuits.png",
        "--view",
        "circuits",
        "--size",
        "1024x700",
        "--scale",
        "1",
    ]
    run = subprocess.Popen(
        words,
        env=dict(
            os.environ, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", XDG_CONFIG_HOME=str(folder)
        ),
    )
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = status
    assert status == 0 and used.ru_maxrss < 600_000, f"{used.ru_maxrss} kB"
    shutil.rmtree(folder)
