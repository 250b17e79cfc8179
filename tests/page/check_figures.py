"""Checks of views that a page shows as the program drew them: what they say under the pointer, by
keys and in the table, and reports and stations of Learn as pages."""

import base64
import json
import re
import subprocess
import zlib

from check_program import SENTENCE, rendered, written
from make_page import PROGRAM
from steps import FOLDER, check, count, edge, nothing_leaves, press, settle, show, text

READY = "document.documentElement.dataset.ready !== undefined"
VIEWS = {
    "graph": ("--text", SENTENCE),
    "delta": ("--text", SENTENCE),
    "steps": ("--text", SENTENCE, "--layer", 1, "--head", 2),
    "patch": ("--text", "Lily had a red ball", "--text-b", "Lily had a big ball"),
    "alignment": ("--model", "translator", "--text", "Tom ran home."),
    "origins": ("--text", SENTENCE, "--cell", "16,3"),
    "explain": ("--text", SENTENCE),
    "circuits": ("--text", SENTENCE),
}


def unpacked(data, key=None):
    figure = next(f for f in data["figures"] if key in (None, f["key"]))
    return figure, json.loads(zlib.decompress(base64.b64decode(figure["data"]), -15))


def open_figure(browser, path):
    browser.resize(1200, 1000, 1, False)
    browser.open(path)
    settle(browser, READY)
    settle(
        browser,
        "document.querySelector('.sheet img') && document.querySelector('.sheet img').complete",
    )


def point(browser, figure, spot):
    left, top, wide, _ = edge(browser, ".sheet img")
    scale = wide / figure["width"]
    browser.move(left + (spot[0] + spot[2] / 2) * scale, top + (spot[1] + spot[3] / 2) * scale)
    browser.frame()


@check
def every_view_has_a_page(browser):
    for view, given in VIEWS.items():
        path, data = written(f"figure-{view}", "--view", view, *given)
        figure, inside = unpacked(data)
        assert data["view"] == figure["key"] == view
        open_figure(browser, path)
        shown = browser.run("document.querySelector('#tabs [aria-selected=true]').dataset.view")
        assert shown == view and not browser.faults, (shown, browser.faults)
        assert browser.run("document.querySelector('.sheet img').naturalWidth") > 400, view
        assert not any("lick" in said for said in inside["spots"]["texts"]), view
        said = inside["spots"]["places"][len(inside["spots"]["places"]) // 2]
        point(browser, figure, said)
        want = inside["spots"]["texts"][said[4]]
        assert text(browser, ".said") == " ".join(want.split()) == text(browser, ".card .pair"), (
            view,
            want,
        )
        assert len(path.read_bytes()) < 1_000_000, view


@check
def figures_say_the_numbers_of_the_program(_):
    """Each cell of a map says its value, as the numbers have it."""
    _, data = written("said-patch", "--view", "patch", *VIEWS["patch"])
    _, inside = unpacked(data)
    table = next(t for t in inside["tables"] if t["name"] == "resid_pre")
    want = json.loads(rendered("--view", "patch", *VIEWS["patch"], "-o", "-", "--format", "json"))
    given = next(t for t in want["tables"] if t["name"] == "resid_pre")["values"]
    said = dict(re.fullmatch(r"(.*): (\S+)", one).groups() for one in inside["spots"]["texts"])
    cells = 0
    for layer, row in enumerate(given):
        for position, value in enumerate(row):
            assert abs(table["values"][layer][position] - value) <= 1e-5 * max(1, abs(value))
            name = next(
                n for n in said if n.startswith(f"layer {layer}, ") and n.endswith(f" {position}")
            )
            assert abs(float(said[name].replace("−", "-")) - value) <= 6e-4, (
                name,
                said[name],
                value,
            )
            cells += 1
    assert cells == len(inside["spots"]["places"]) == 20


@check
def carried_shares_are_those_of_the_rollout(_):
    _, data = written("said-graph", "--view", "graph", *VIEWS["graph"])
    _, inside = unpacked(data)
    (table,) = inside["tables"]
    checked = 0
    for said in inside["spots"]["texts"]:
        match = re.fullmatch(r".* (\d+), (?:input|after layer (\d+)): carries (\S+) of .*", said)
        if not match:
            continue
        level = 0 if match[2] is None else int(match[2]) + 1
        assert abs(table["values"][level][int(match[1])] - float(match[3])) <= 6e-4, said
        checked += 1
    assert checked >= 80, checked


@check
def arrow_keys_walk_over_a_figure(browser):
    path, data = written("keys-patch", "--view", "patch", *VIEWS["patch"])
    figure, inside = unpacked(data)
    open_figure(browser, path)
    browser.run("document.querySelector('.sheet').focus()")
    heard = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        browser.key(key)
        heard.append(text(browser, "#live"))
    places = [re.match(r"layer (\d+), .* (\d+):", one).groups() for one in heard]
    assert places == [("0", "0"), ("0", "1"), ("1", "1"), ("1", "0")], heard
    assert browser.run("document.querySelector('.mark').hidden") is False
    press(browser, "Table")
    settle(browser, "document.querySelectorAll('.numbers table').length > 0")
    assert count(browser, ".numbers table") == len(inside["tables"])


@check
def a_figure_has_the_colors_of_the_theme(browser):
    """The ground that the program drew is that of the page, and what is said stays where it is."""
    path, data = written("dark-delta", "--view", "delta", *VIEWS["delta"])
    figure, inside = unpacked(data)
    assert inside["dark"] != inside["svg"]
    open_figure(browser, path)
    press(browser, "Dark")
    shown = "[...document.querySelectorAll('.sheet img')].filter((i) => i.offsetWidth > 0)"
    assert browser.run(f"{shown}.length") == 1 and browser.run(f"{shown}[0].className") == "dark"
    spot = inside["spots"]["places"][len(inside["spots"]["places"]) // 2]
    left, top, wide, _ = edge(browser, ".sheet")
    scale = wide / figure["width"]
    browser.move(left + (spot[0] + spot[2] / 2) * scale, top + (spot[1] + spot[3] / 2) * scale)
    browser.frame()
    assert text(browser, ".said") == " ".join(inside["spots"]["texts"][spot[4]].split())


@check
def a_figure_page_asks_for_nothing_and_fits_a_phone(browser):
    path, _ = written("phone-delta", "--view", "delta", *VIEWS["delta"])
    browser.resize(390, 844, 2, True)
    browser.open(path)
    settle(browser, READY)
    settle(
        browser,
        "document.querySelector('.sheet img') && document.querySelector('.sheet img').complete",
    )
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    nothing_leaves(browser)
    assert not browser.faults, browser.faults


def program(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@check
def a_report_is_a_page_with_every_view(browser):
    path = FOLDER / "report.html"
    program("report", "--text", SENTENCE, "--change", "mask:16>3-10", "-o", path)
    browser.resize(1200, 1000, 1, False)
    browser.open(path)
    settle(browser, READY)
    tabs = browser.run("[...document.querySelectorAll('#tabs button')].map(b => b.dataset.view)")
    assert tabs[0] == "report" and {
        "head",
        "heads",
        "lens",
        "compare",
        "graph",
        "delta",
        "steps",
    } <= set(tabs)
    settle(
        browser, "[...document.querySelectorAll('.report img')].every(i => i.naturalWidth > 300)"
    )
    browser.run("document.querySelector('.report th[data-sorts]').click()")
    values = browser.run(
        "[...document.querySelector('.report th[aria-sort]').closest('table').tBodies[0].rows]"
        ".map(r => r.cells[1].dataset.value)"
    )
    values = [float(v or "-inf") for v in values]
    assert values == sorted(values, reverse=True) and len(values) == 32
    browser.run("document.querySelector('.report [data-head]').click()")
    settle(browser, "document.querySelector('#tabs [aria-selected=true]').dataset.view === 'head'")
    for view in tabs[1:]:
        show(browser, view)
        assert not browser.faults, (view, browser.faults)
    show(browser, "report")
    assert count(browser, ".report") == 1


@check
def a_report_reads_without_scripts(browser):
    path = FOLDER / "bare.html"
    program("report", "--text", SENTENCE, "-o", path)
    html = path.read_text(encoding="utf-8")
    body = html[html.index('<section id="report"') : html.index("</main>")]
    assert body.count("<img") == 5 and body.count("<tr>") >= 32 and "style=" not in body


@check
def a_station_of_learn_is_a_page(browser):
    path = FOLDER / "learn.html"
    program("learn", "worked-example", "-o", path)
    open_figure(browser, path)
    assert not browser.faults and text(browser, "h1"), browser.faults
    browser.key("ArrowRight")
    press(browser, "Table")
    settle(browser, "document.querySelectorAll('.numbers table, .numbers p').length > 0")
    assert not browser.faults, browser.faults
