"""Checks of what pages look like: golden pictures, and the colors that the program draws."""

import check_figures
import pictures
from browser import Browser, Unable
from check_program import SENTENCE, written
from make_page import ROOT
from steps import cell, check, opened, press, settle, show, wait_for_head

GOLDEN = ROOT / "tests/page/golden"
NOW = ROOT / "build/page"  # where a picture that differs is written, marked
WRITES = []  # "--write" puts True in
PHONE = {"width": 390, "height": 844, "mobile": True}


def shown(name, view=None, size=None):
    """Open a sample, on a view of it."""

    def open_it(browser):
        opened(browser, name, **(size or {"width": 900, "height": 640}))
        if view:
            show(browser, view)

    return open_it


def locked_in_dark(browser):
    shown("stories")(browser)
    press(browser, "Dark")
    browser.click(*cell(browser, 12, 1, 17, 17))


def with_a_sink(browser):
    shown("mixing")(browser)
    browser.key("PageDown")
    wait_for_head(browser, "layer 1")


def as_a_table(browser):
    shown("stories")(browser)
    press(browser, "Table")


def figure(view):
    def open_it(browser):
        path, _ = written(f"golden-{view}", "--view", view, *check_figures.VIEWS[view])
        browser.resize(900, 640)
        browser.open(path)
        settle(browser, "(i => i && i.complete)(document.querySelector('.sheet img'))")

    return open_it


def report(browser):
    path = check_figures.FOLDER / "golden-report.html"
    check_figures.program("report", "--text", SENTENCE, "-o", path)
    browser.resize(900, 640)
    browser.open(path)
    settle(browser, "[...document.querySelectorAll('.report img')].every(i => i.naturalWidth)")


PAGES = {
    "head": shown("stories"),
    "head-locked-dark": locked_in_dark,
    "heads": shown("stories", "heads"),
    "lines": shown("stories", "lines"),
    "text": shown("stories", "text"),
    "lens": shown("stories", "lens"),
    "compare": shown("compare"),
    "sink": with_a_sink,
    "mixing": shown("mixing"),
    "one": shown("one"),
    "translation": shown("translation"),
    "hostile": shown("hostile"),
    "hostile-text": shown("hostile", "text"),
    "phone-head": shown("stories", size=PHONE),
    "phone-heads": shown("stories", "heads", PHONE),
    "table": as_a_table,
    "graph": figure("graph"),
    "delta": figure("delta"),
    "steps": figure("steps"),
    "patch": figure("patch"),
    "report": report,
}
# What must not pass: the page to break, how, in one line each.
FAULTS = {
    "a moved panel": ("head", "document.querySelector('.figure').style.translate = '8px 0'"),
    "a missing crosshair": ("head", "document.querySelector('canvas.over').style.opacity = 0"),
    "an empty map": (
        "head",
        "(c => c.getContext('2d').clearRect(0, 0, c.width, c.height))"
        "(document.querySelector('.figure canvas'))",
    ),
    "another color map": (
        "head",
        "document.querySelector('.figure canvas').style.filter = 'hue-rotate(60deg)'",
    ),
    "no thumbnails": ("heads", "document.querySelector('.grid').style.opacity = 0"),
    "an upside-down map": (
        "mixing",
        "document.querySelector('.figure canvas').style.scale = '1 -1'",
    ),
    "no arcs": ("lines", "document.querySelector('.lines canvas').style.opacity = 0"),
    "no picture of the program": ("graph", "document.querySelector('.sheet img').remove()"),
    "light where dark is asked for": (
        "head-locked-dark",
        "document.documentElement.dataset.theme = 'light'",
    ),
}


def only_chromium(browser):
    if browser.name != "Chromium":
        raise Unable("golden pictures are Chromium's")


def fonts_there(browser):
    """The pages name Inter and JetBrains Mono: another font is no fault of the page."""
    code = (
        "(g => ['Inter', 'JetBrains Mono'].filter(f => "
        "['serif', 'monospace'].every(other => {"
        "g.font = `40px ${other}`; const without = g.measureText('Weight').width;"
        "g.font = `40px '${f}', ${other}`; return g.measureText('Weight').width === without;"
        "})))(document.createElement('canvas').getContext('2d'))"
    )
    missing = browser.run(code)
    if missing:
        raise Unable(f"golden pictures need the fonts {missing} (packages.sh)")


def taken(browser, name):
    NOW.mkdir(parents=True, exist_ok=True)
    return pictures.still(browser, NOW / f"{name}.png")


def wrong(browser, name):
    """Why the picture just taken is not the golden one, or ""."""
    golden, now = GOLDEN / f"{name}.png", NOW / f"{name}.png"
    share, said, marked = pictures.difference(browser, golden, now)
    if share <= pictures.PARTS:
        now.unlink()
        return ""
    now.with_name(f"{name}-marked.png").write_bytes(marked)
    return f"{name}: {said}; see {now.relative_to(ROOT)} and -marked beside it"


@check
def pages_look_like_the_golden_pictures(browser):
    only_chromium(browser)
    fonts_there(browser)
    faults = []
    for name, open_it in PAGES.items():
        open_it(browser)
        now = taken(browser, name)
        if WRITES:
            GOLDEN.mkdir(exist_ok=True)
            pictures.write_small(GOLDEN / f"{name}.png", *pictures.pixels(browser, now))
        faults.append(wrong(browser, name))
    faults = [fault for fault in faults if fault]
    assert not faults, "; ".join(faults)
    held = {path.stem for path in GOLDEN.glob("*.png")}
    assert held == set(PAGES), held ^ set(PAGES)
    assert sum(path.stat().st_size for path in GOLDEN.glob("*.png")) < 1_500_000


@check
def golden_pictures_tell_faults(browser):
    """Breaks pages on purpose: a comparison that lets these pass would compare nothing."""
    only_chromium(browser)
    fonts_there(browser)
    passed = []
    for fault, (name, code) in FAULTS.items():
        PAGES[name](browser)
        taken(browser, name)
        browser.run(f"(() => {{ {code}; }})()")
        now = taken(browser, f"broken-{name}")
        share, said, _ = pictures.difference(browser, GOLDEN / f"{name}.png", now)
        if share <= pictures.PARTS:
            passed.append(f"{fault} ({said})")
        print(f"     {fault}: {said}")
        now.unlink()
        (NOW / f"{name}.png").unlink()
    assert not passed, passed


@check
def golden_pictures_bear_another_rasterizer(browser):
    only_chromium(browser)
    fonts_there(browser)
    flags = ["--font-render-hinting=full", "--disable-font-subpixel-positioning",
             "--disable-font-antialiasing"]  # fmt: skip
    other = Browser(900, 640, flags=flags)
    try:
        for name in ("head", "text", "table", "hostile-text"):
            PAGES[name](other)
            now = taken(other, name)
            share, said, _ = pictures.difference(other, GOLDEN / f"{name}.png", now)
            print(f"     {name} by another rasterizer: {said}")
            assert share <= pictures.PARTS, (name, said)
            now.unlink()
    finally:
        other.close()
