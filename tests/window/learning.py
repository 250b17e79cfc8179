"""Learn: each station opened, its chips clicked, its numbers edited, its page saved; by mouse and
by keys alone."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from drive import Window
from places import PROGRAM, TESTS

BARK = "Bark is very cute and he is a dog"
LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
OPEN = "learn guessing off"


def _stations():
    lines = subprocess.run(
        [PROGRAM, "learn", "--list"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line.split()[0] for line in lines]


def _learns(w, station):
    """The report once a station's page is there."""
    return w.wait(
        lambda r: (
            r["view"] == "Learn"
            and r["learn_station"] == station
            and not r["busy"]
            and any(p.startswith(("learn/try/", "learn/follow/")) for p in r["widgets"])
        )
    )


def every_station_opens_from_the_list(display):
    with Window(PROGRAM, display, "--text", BARK, "--do", OPEN) as w:
        w.settled()
        w.click("learn")
        seen = set()
        for station in _stations():
            w.click(f"learn/{station}")
            _learns(w, station)
            time.sleep(0.2)
            seen.add(w.picture())
        assert len(seen) == len(_stations()), "each looks different"
        w.key("Escape")
        w.wait(lambda r: r["view"] != "Learn")


def stations_fit_into_small_windows(display):
    """No control of a station stands beyond the window's sides, in a small window and at 150 %
    text; what is below is scrolled to."""
    for size, percent in (("1024x700", 100), ("1024x700", 150), ("1600x1000", 150)):
        width = int(size.split("x")[0])
        with Window(
            PROGRAM,
            display,
            "--text",
            " ".join([BARK] * 3),
            "--do",
            f"text size {percent}; learn guessing off; view learn",
            size=size,
        ) as w:
            for station in _stations():
                w.settled()
                r = _learns(w, w.report()["learn_station"])
                assert r["learn_station"] == station, (r["learn_station"], station)
                beyond = {
                    path: place
                    for path, place in r["widgets"].items()
                    if path.startswith("learn")
                    and not path.startswith("learn/block")
                    and (place[0] < 0 or place[0] + place[2] > width + 1)
                }
                assert not beyond, (size, percent, station, beyond)
                w.key("Escape", "Down") if r["field_focused"] and r["hints"] else w.key("Down")
                if station != _stations()[-1]:
                    w.wait(lambda r: r["learn_station"] != station)


def what_there_is_to_try_is_carried_out(display):
    with Window(
        PROGRAM, display, "--text", "The cat sat", "--do", "learn guessing off; learn no-weights"
    ) as w:
        _learns(w, "no-weights")
        w.click("learn/try/0")
        w.wait(lambda r: r["text"] == BARK and r.get("shown_text") == BARK and r["view"] == "Learn")


def trying_moves_nothing_under_the_pointer(display):
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn qkv") as w:
        before = _learns(w, "qkv")["widgets"]
        w.click("learn/try/0")
        r = w.wait(lambda r: "learn/reset" in r["widgets"] and not r["busy"])
        for path in [p for p in before if p.startswith(("learn/try/", "learn/set/"))]:
            assert r["widgets"][path][:2] == before[path][:2], path
        w.click("learn/reset")
        w.wait(lambda r: not r["learn_set"])


def controls_explain_themselves(display):
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn scale") as w:
        paths = [
            p
            for p in _learns(w, "scale")["widgets"]
            if p.startswith(("learn/set/", "learn/try/")) and not p.endswith("/value")
        ]
        assert len(paths) >= 6, paths
        for path in paths:
            w.point("learn/back")
            w.wait(lambda r: not r["busy"])
            time.sleep(0.2)
            before = w.picture()
            w.point(path)
            for _ in range(40):  # a sentence in a box: far more than what lights a control
                if sum(a != b for a, b in zip(before, w.picture())) > 10_000:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(f"{path} explains nothing")


def a_try_is_taken_back_by_the_next_click(display):
    with Window(PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn qkv") as w:
        _learns(w, "qkv")
        tries = json.loads((TESTS.parent / "assets/learn.json").read_text())["qkv"]["try"]
        identities, creature = (
            next(i for i, t in enumerate(tries) if command in t["command"])
            for command in ("identity", "text A fluffy")
        )
        own = w.report()["text"]
        w.click(f"learn/try/{identities}")
        w.wait(lambda r: len(r["learn_set"]) >= 2 and "learn/reset" in r["widgets"])
        w.click(f"learn/try/{creature}")
        w.wait(lambda r: len(r["learn_set"]) == 1 and r["text"] != own)
        w.key("ctrl+z")
        w.wait(lambda r: len(r["learn_set"]) >= 2 and r["text"] == own)
        w.click(f"learn/try/{identities}")
        w.wait(lambda r: not r["learn_set"] and "learn/reset" not in r["widgets"])


def a_number_is_typed_into_a_matrix(display):
    with Window(
        PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn worked-example"
    ) as w:
        r = _learns(w, "worked-example")
        cells = sorted(
            p for p in r["widgets"] if p.startswith("learn/block/") and p.endswith("/0/0")
        )
        assert len(cells) >= 4, "three matrices and the words"
        before = w.picture()
        w.click(cells[0])
        w.key("7", "Tab", "5", "Return")
        r = w.wait(lambda r: r["learn_set"] and not r["busy"])
        numbers = r["learn_set"][0].split("=")[1].split(",")
        r = w.wait(lambda r: r["learn_set"][0].split("=")[1].split(",")[:2] == ["7", "5"])
        assert r["text"] == BARK, "nothing was typed into the sentence"
        time.sleep(0.3)
        assert w.picture() != before
        w.click(cells[0])
        w.key("9", "Escape")
        time.sleep(0.3)
        r = w.report()
        assert r["view"] == "Learn"
        assert r["learn_set"][0].split("=")[1].startswith("7,5"), (r["learn_set"], numbers)
        w.click("learn/reset")
        w.wait(lambda r: not r["learn_set"])


def a_slider_and_a_list_change_the_page(display):
    with Window(
        PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn database"
    ) as w:
        _learns(w, "database")
        w.drag("learn/set/temperature", (0.5, 0.5), (0.9, 0.5))
        w.wait(lambda r: any(s.startswith("database temperature=") for s in r["learn_set"]))
        w.click("learn/set/temperature/value")
        w.key("ctrl+a")
        w.type("12.5")
        w.key("Return")
        w.wait(lambda r: "database temperature=12.5" in r["learn_set"])
        w.click("learn/set/similarity")
        w.click("learn/set/similarity/dot product")
        w.wait(lambda r: "database similarity=dot product" in r["learn_set"])


def a_training_plays_to_its_end(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        BARK,
        "--do",
        "learn guessing off; learn formation; learn set step=8",
    ) as w:
        _learns(w, "formation")
        w.wait(lambda r: r["learn_set"] == ["formation step=8"])
        early = w.picture()
        w.click("learn/play")
        w.wait(lambda r: r["learn_set"] != ["formation step=8"])
        w.wait(lambda r: not r["learn_set"] and not r["busy"])
        time.sleep(1.5)
        assert not w.report()["learn_set"], "it stands at the last step"
        assert w.picture() != early
        w.click("learn/play")
        w.wait(lambda r: r["learn_set"])
        w.click("learn/play")
        time.sleep(0.3)
        stands = w.report()["learn_set"]
        time.sleep(1.5)
        assert w.report()["learn_set"] == stands, "Pause holds it"


def learn_by_keys_alone(display):
    """Esc out of the sentence, Ctrl+E, the next station, Tab to a control, arrows in it; PgDn
    scrolls; Esc leaves."""
    stations = _stations()
    with Window(PROGRAM, display, "--text", BARK, "--do", OPEN) as w:
        w.settled()
        w.key("Escape", "Escape", "ctrl+e")
        w.wait(lambda r: r["view"] == "Learn" and r["learn_station"] == stations[0])
        for _ in range(stations.index("database") + 1):
            w.key("Down")
        w.wait(lambda r: r["learn_station"] == stations[stations.index("database") + 1])
        w.key("Up")
        _learns(w, "database")
        w.tab_to("learn/set/temperature")
        w.key("Up")
        w.wait(lambda r: any(s.startswith("database temperature=") for s in r["learn_set"]))
        w.tab_to("learn/block/0/0/0")
        w.key("Return", "8", "Return")
        w.wait(lambda r: any(s.startswith("database keys=8,") for s in r["learn_set"]))
        w.key("Escape")
        w.wait(lambda r: r["view"] != "Learn")


def a_page_is_saved_as_learn_draws_it(display):
    folder = Path(tempfile.mkdtemp())
    with Window(
        PROGRAM,
        display,
        "--text",
        BARK,
        "--do",
        "learn guessing off; learn positions; learn set width=8",
    ) as w:
        _learns(w, "positions")  # both begin with the station's own head
        w.key("ctrl+s")
        w.wait(lambda r: "save path" in r["widgets"])
        w.fill(
            "save path",
            str(folder / "page.svg"),
            lambda r: r["save_path"] == str(folder / "page.svg"),
        )
        w.click("save path/save")
        w.wait(lambda r: (folder / "page.svg").exists())
        subprocess.run(
            [
                PROGRAM,
                "learn",
                "--station",
                "positions",
                "--set",
                "width=8",
                "--text",
                BARK,
                "-o",
                folder / "own.svg",
            ],
            check=True,
        )
        assert (folder / "page.svg").read_bytes() == (folder / "own.svg").read_bytes()


def learn_is_remembered(display):
    home = Path(tempfile.mkdtemp())
    with Window(
        PROGRAM,
        display,
        "--text",
        BARK,
        "--do",
        "learn guessing off; learn positions; learn set width=8",
        home=home,
    ) as w:
        _learns(w, "positions")
        w.close()
    with Window(PROGRAM, display, home=home) as w:
        r = _learns(w, "positions")
        assert r["learn_set"] == ["positions width=8"], r["learn_set"]


def a_station_opens_the_model_that_it_needs(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        "The animal is tired.",
        "--do",
        "learn guessing off; learn seq2seq",
    ) as w:
        _learns(w, "seq2seq")
        w.click("learn/open")
        w.wait(
            lambda r: (
                r.get("model") == "translator"
                and r["view"] == "Learn"
                and not r["busy"]
                and "learn/open" not in r["widgets"]
            ),
            40,
        )


def what_is_chosen_is_taken_back(display):
    """One Ctrl+Z for a drag, one for the number typed before it, one for the word of the list;
    Ctrl+Y brings them again."""
    with Window(
        PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn database"
    ) as w:
        _learns(w, "database")
        w.click("learn/set/similarity")
        w.click("learn/set/similarity/dot product")
        w.wait(lambda r: r["learn_set"] == ["database similarity=dot product"])
        w.drag("learn/set/temperature", (0.5, 0.5), (0.9, 0.5), 12)
        r = w.wait(lambda r: len(r["learn_set"]) == 2 and not r["busy"])
        dragged = r["learn_set"]
        w.drag("learn/set/temperature", (0.9, 0.5), (0.2, 0.5), 12)
        w.wait(lambda r: len(r["learn_set"]) == 2 and r["learn_set"] != dragged and not r["busy"])
        w.key("Escape", "ctrl+z")
        w.wait(lambda r: r["learn_set"] == dragged)
        w.key("ctrl+z")
        w.wait(lambda r: r["learn_set"] == ["database similarity=dot product"])
        w.key("ctrl+z")
        w.wait(lambda r: not r["learn_set"] and r["text"] == BARK)
        w.key("ctrl+y", "ctrl+y")
        w.wait(lambda r: r["learn_set"] == dragged)


def a_training_that_plays_is_one_step_of_undo(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        BARK,
        "--do",
        "learn guessing off; learn formation; learn set step=8",
    ) as w:
        _learns(w, "formation")
        w.click("learn/play")
        w.wait(lambda r: not r["learn_set"] and not r["busy"])
        w.key("Escape", "ctrl+z")
        w.wait(lambda r: r["learn_set"] == ["formation step=8"])


def a_bar_locks_its_token(display):
    """A click locks the cell of query and key, as in every view; a second one unlocks it; pointing
    lights it everywhere."""
    with Window(
        PROGRAM, display, "--text", BARK, "--do", "learn guessing off; learn score-functions"
    ) as w:
        r = _learns(w, "score-functions")
        rows = sorted(
            p
            for p in r["widgets"]
            if p.startswith("learn/block/0/") and p.rsplit("/", 1)[1].isdigit()
        )
        assert len(rows) == 7, rows
        w.point("learn/back")  # the page of the station's own query
        w.wait(lambda r: not r["hovered"] and not r["busy"])
        before = w.picture()
        w.point(rows[0], 0.26, 0.5)
        asked, _ = w.wait(lambda r: r["hovered"] and r["hovered"][1] == 2)["hovered"]
        time.sleep(0.8)
        assert w.picture() != before, "the value is said"
        w.click(rows[0], 0.26, 0.5)
        w.wait(lambda r: r["locked"] == [asked, 2])
        w.point("learn/back")
        w.wait(lambda r: not r["hovered"] and not r["busy"])
        assert w.report()["locked"] == [asked, 2], "it stays"
        w.click(rows[3], 0.26, 0.5)
        w.wait(lambda r: not r["locked"])
        w.click(rows[3], 0.06, 0.5)
        w.wait(lambda r: r["locked"] == [asked, 0])
