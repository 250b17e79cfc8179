"""Checks of pages that the program writes: the numbers are its own, and hostile text stays text."""

import base64
import json
import re
import subprocess
import zlib
from array import array

from make_page import PROGRAM, ROOT
from steps import FOLDER, check, count, settle, text

SENTENCE = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def rendered(*arguments):
    done = subprocess.run(
        [PROGRAM, "render", "--quiet", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(name, *arguments):
    """A page of the program, and its data."""
    path = FOLDER / f"program-{name}.html"
    rendered(*arguments, "-o", path)
    found = re.search(
        r'<script type="application/json" id="headlight">(.*?)</script>', path.read_text(), re.S
    )
    return path, json.loads(found[1])


def weights(block):
    """Heads of rows of the stored keys, as the scripts read them."""
    raw = zlib.decompress(base64.b64decode(block["data"]), -15)
    if block["encoding"] == "f32":
        values = array("f", raw)
    else:
        half, signed = len(raw) // 2, block["kind"] == "mixing"
        whole = [low | high << 8 for low, high in zip(raw[:half], raw[half:])]
        values = [(v - 32768) / 32767 if signed else v / 65535 for v in whole]
    out, at = [], 0
    for head in range(block["heads"]):
        scale = 1 if block["encoding"] == "f32" else block["scale"][head]
        rows = []
        for query in range(block["queries"]):
            keys = query + 1 if block["rows"] == "lower" else block["keys"]
            rows.append([v * scale for v in values[at : at + keys]])
            at += keys
        out.append(rows)
    assert at == len(values)
    return out


def equal(path_and_data, model, given):
    """Every weight within what the page says of the numbers that render writes."""
    _, data = path_and_data
    for block in data["blocks"]:
        held = weights(block)
        for head in range(block["heads"]):
            options = ("--view", "head", "--layer", block["label"], "--head", head)
            table = json.loads(
                rendered("--model", model, *given, *options, "-o", "-", "--format", "json")
            )["tables"][0]["values"]
            hidden = {(q, k) for q, a, b in block["hidden"] for k in range(a, b + 1)}
            for query, row in enumerate(held[head]):
                for key, value in enumerate(row):
                    want = table[query][key]
                    if (query, key) in hidden:
                        assert not want, (head, query, key)
                    else:
                        assert abs(value - (want or 0)) <= data["error"] + 1e-7, (head, query, key)


@check
def exact_weights_on_request(browser):
    """Equal the program's numbers to the last of the digits that it writes."""
    given = ("--text", "Lily had a red ball.")
    page = written("exact", "--view", "head", *given, "--exact")
    assert page[1]["error"] == 0 and {b["encoding"] for b in page[1]["blocks"]} == {"f32"}
    equal(page, "stories", given)
    browser.open(page[0])
    settle(browser, "document.documentElement.dataset.ready !== undefined")
    assert "Weights are exact." in text(browser, "body") and not browser.faults, browser.faults


@check
def a_page_of_the_program_holds_its_numbers(browser):
    for model, given in (
        ("stories", ("--text", "Lily had a red ball.")),
        ("stories", ("--text", "Lily had a red ball.", "--mask", "window:3")),
        ("translator", ("--text", "Tom ran.", "--target", "Tom lief.")),
        (ROOT / "tests/reference/models/gpt_oss", ("--ids", "3,5,7,9")),
        (ROOT / "tests/reference/models/qwen3_5_text", ("--ids", "3,5,7,9")),
    ):
        one = written("numbers", "--model", model, *given, "--view", "head")
        equal(one, model, given)
        browser.open(one[0])
        settle(browser, "document.documentElement.dataset.ready !== undefined")
        assert not browser.faults, browser.faults


@check
def a_page_of_the_program_opens_on_its_view(browser):
    views = {
        "head": ["--text", SENTENCE],
        "heads": ["--text", SENTENCE],
        "lines": ["--text", SENTENCE],
        "text": ["--text", SENTENCE],
        "lens": ["--text", SENTENCE],
        "compare": ["--text", SENTENCE, "--ablate", "1.2"],
    }
    for view, given in views.items():
        path, data = written(view, "--view", view, *given)
        assert data["view"] == view and data["title"] == SENTENCE
        browser.open(path)
        settle(browser, "document.documentElement.dataset.ready !== undefined")
        shown = browser.run("document.querySelector('#tabs [aria-selected=true]').dataset.view")
        assert shown == view and not browser.faults, (shown, browser.faults)
        assert len(path.read_bytes()) < 400_000


@check
def hostile_text_stays_text_in_a_page_of_the_program(browser):
    bad = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \u202e {{script}} \u0000"
    path, data = written("hostile", "--view", "head", "--text", bad.replace("\0", ""))
    browser.open(path)
    settle(browser, "document.documentElement.dataset.ready !== undefined")
    assert not browser.faults and count(browser, "img") == 0 and count(browser, "script") == 2
    assert "</script>" in text(browser, "h1"), data["title"]


@check
def a_long_text_stays_small(_):
    _, short = written("64", "--view", "heads", "--text", " ".join([SENTENCE] * 4))
    path, long = written("512", "--view", "heads", "--text", " ".join([SENTENCE] * 30))
    n = long["blocks"][0]["queries"]
    assert n == 256 and short["error"] < 5e-5 and long["error"] <= 1e-3, (n, long["error"])
    print(f"     {n} tokens, 32 heads: {path.stat().st_size / 1e6:.2f} MB")
    assert path.stat().st_size < 15e6 / 4 * 32 / 144
