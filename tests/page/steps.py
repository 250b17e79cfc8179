"""Steps that the checks of pages share: open a sample, read it, point at it."""

import tempfile
import time
from pathlib import Path

import samples
from make_page import page

FOLDER = Path(tempfile.mkdtemp(prefix="headlight-pages-"))
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def sample(name):
    """The file of a sample page, made once."""
    path = FOLDER / f"{name}.html"
    if not path.exists():
        path.write_text(page(samples.SAMPLES[name]()), encoding="utf-8")
    return path


def opened(browser, name, width=1200, height=900, scale=1, mobile=False):
    browser.resize(width, height, scale, mobile)
    browser.open(sample(name))
    return browser


def text(browser, selector):
    return browser.run(f"document.querySelector('{selector}').textContent")


def count(browser, selector):
    return browser.run(f"document.querySelectorAll('{selector}').length")


def show(browser, view):
    browser.run(f"document.querySelector('[data-view={view}]').click()")
    browser.frame()


def press(browser, name):
    buttons = "[...document.querySelectorAll('.tools button')]"
    browser.run(f"{buttons}.find(b => b.textContent === '{name}').click()")
    browser.frame()


def edge(browser, selector):
    """[left, top, width, height] of an element."""
    code = "(r => [r.left, r.top, r.width, r.height])"
    return browser.run(f"{code}(document.querySelector('{selector}').getBoundingClientRect())")


def cell(browser, query, key, queries, keys):
    """The middle of a cell of the map."""
    left, top, wide, high = edge(browser, ".hit")
    return left + (key + 0.5) * wide / keys, top + (query + 0.5) * high / queries


def settle(browser, code, seconds=30):
    """Wait until an expression is true."""
    end = time.monotonic() + seconds
    while not browser.run(code):
        assert time.monotonic() < end, code
        time.sleep(0.05)


def nothing_leaves(browser):
    """The page asked for nothing but itself and what it holds."""
    own = ("file:", "data:", "blob:")
    outside = [url for url in browser.requests if not url.startswith(own)]
    assert not outside, outside
    files = sum(url.startswith("file:") for url in browser.requests)
    assert browser.requests and files == browser.files_told, browser.requests


def wait_for_head(browser, name):
    settle(browser, f"document.getElementById('where').textContent.includes('{name}')")
    browser.frame()
