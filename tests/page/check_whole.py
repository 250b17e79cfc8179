"""Checks of what every page must keep: no faults, no requests, no markup from data."""

import re
import time

import samples
from make_page import PAGE, page, template
from steps import FOLDER, check, count, nothing_leaves, opened, press, settle, show, text


@check
def opens_every_sample_without_faults(browser):
    for name in samples.SAMPLES:
        opened(browser, name)
        assert not browser.faults, (name, browser.faults)
        assert text(browser, "h1"), name


@check
def shows_every_view_without_faults(browser):
    for name in ("stories", "compare", "hostile", "one", "mixing", "translation"):
        for width, mobile in ((1200, False), (390, True)):
            opened(browser, name, width, 844, mobile=mobile)
            views = browser.run(
                "[...document.querySelectorAll('#tabs button')].map(b => b.dataset.view)"
            )
            for view in views:
                show(browser, view)
                wide = browser.run("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (name, view, width, wide)
            assert not browser.faults, (name, browser.faults)


@check
def requests_nothing(browser):
    for name in ("stories", "hostile"):
        opened(browser, name)
        press(browser, "Picture")
        time.sleep(0.3)
        browser.frame()
        nothing_leaves(browser)


@check
def blocks_what_the_policy_forbids(browser):
    opened(browser, "stories")
    refused = browser.run("fetch('https://example.com/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    browser.run(
        "(s => { s.textContent = 'window.ran = 1'; document.body.append(s) })"
        "(document.createElement('script'))"
    )
    assert browser.run("window.ran") is None


@check
def has_no_globals(browser):
    opened(browser, "stories")
    names = browser.run(
        "['page', 'look', 'data', 'make', 'start', 'Block'].filter(n => n in window)"
    )
    assert names == [], names


@check
def scripts_never_parse_markup(_):
    code = template()[1]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "localStorage", "sessionStorage", "fetch(", "XMLHttpRequest",
                 "WebSocket"):  # fmt: skip
        assert word not in code, word


@check
def sources_keep_the_limits(_):
    for path in sorted(PAGE.iterdir()):
        lines = path.read_text().splitlines()
        assert len(lines) <= 400, path.name
        start = None
        for i, line in enumerate(lines):
            if re.match(r"(async )?function |  (async )?\w+\(.*\) \{$", line):
                start = i
            if start is not None and line in ("}", "  }"):
                assert i - start < 40, (path.name, lines[start])
                start = None


@check
def keeps_hostile_tokens_as_text(browser):
    opened(browser, "hostile")
    for view in ("head", "heads", "lines", "text", "lens"):
        show(browser, view)
        assert count(browser, "main img, main script, main b b, main u u") == 0, view
    press(browser, "Table")
    assert count(browser, "main img, main script") == 0
    show(browser, "text")
    assert "<img src=x onerror=alert(1)>" in text(browser, "main")
    assert text(browser, "h1").startswith("</title><script>")
    assert "\u202e" not in browser.run("document.body.innerText")


@check
def says_what_is_wrong_with_broken_data(browser):
    good = samples.one()
    newer = good | {"version": 2}
    short = good | {"blocks": [good["blocks"][0] | {"queries": 9, "keys": 9}]}
    for name, data, words in (
        ("newer", newer, "newer version of Headlight"),
        ("other", good | {"format": "x"}, "not a Headlight page"),
        ("short", short, "cut short"),
    ):
        path = FOLDER / f"{name}.html"
        path.write_text(page(data), encoding="utf-8")
        browser.open(path, wait=False)
        settle(browser, "!!document.querySelector('.fault[role=alert]')")
        assert words in text(browser, ".fault"), text(browser, ".fault")
