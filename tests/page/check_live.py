"""Checks of a page in which the reader types: its numbers, and that it never waits."""

import base64
import json
import struct
import subprocess
import time
import zlib
from array import array

from check_program import PROGRAM, SENTENCE
from make_page import ROOT
from steps import FOLDER, check, count, nothing_leaves, press, settle, show, text

LARGEST = 12_000_000
GROUP = 64  # weights that share a scale (core/io/eight_bits.h)
# Keeps what the worker answers, and when the page had drawn it.
WATCH = """
const Plain = Worker;
window.answers = [];
window.Worker = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) => {
      answers.push(data);
      requestAnimationFrame(() => requestAnimationFrame((at) => (window.drawn = at)));
    });
  }
};
"""


def said(*arguments, status=0):
    done = subprocess.run(
        [PROGRAM, "page", "--quiet", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stderr


def written(model, *arguments):
    """The page of a model, made once."""
    path = FOLDER / f"live-{model}.html"
    if not path.exists():
        said("--live", model, "-o", path, *arguments)
    return path


def opened(browser, model="stories", **size):
    """Open a page, and wait until its model is open too."""
    browser.resize(**{"width": 1200, "height": 900, **size})
    browser.open(written(model), before=WATCH)
    settle(browser, "answers.some(a => a.context)")
    return browser


def typed(browser, words, wait=True):
    """Replace the text, and wait until it is shown."""
    browser.run(
        "window.began = performance.now(); (f => { f.focus(); f.value = "
        + json.dumps(words)
        + "; f.dispatchEvent(new Event('input')) })(document.getElementById('typed'))"
    )
    if wait:
        settle(browser, f"document.getElementById('title').textContent === {json.dumps(words)}")
        browser.frame()


def tensors(file):
    """{name: (dtype, shape, bytes)} of a safetensors file."""
    size = struct.unpack("<Q", file[:8])[0]
    header, data = json.loads(file[8 : 8 + size]), file[8 + size :]
    header.pop("__metadata__", None)
    return {
        name: (one["dtype"], one["shape"], data[slice(*one["data_offsets"])])
        for name, one in header.items()
    }


def whole_weights(file):
    """The file with codes times scales, as core/io/eight_bits.h says."""
    held, out, data = tensors(file), {}, b""
    for name, (dtype, shape, raw) in held.items():
        if name.endswith(":scale"):
            continue
        if dtype == "I8" and f"{name}:scale" in held:
            scales = array("f", held[f"{name}:scale"][2])
            codes = array("b", raw)
            dtype = "F32"
            raw = array("f", (scales[i // GROUP] * code for i, code in enumerate(codes))).tobytes()
        out[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    header = json.dumps(out).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data


def model_in(page):
    """Write the model that a page holds as a folder that the program opens."""
    source = page.read_text()

    def element(name):
        return source.split(f'id="{name}">', 1)[1].split("</script>", 1)[0]

    raw = zlib.decompress(base64.b64decode(element("model")), -15)
    folder = FOLDER / f"{page.stem}-model"
    folder.mkdir(exist_ok=True)
    for file in json.loads(element("headlight"))["live"]["files"]:
        held, raw = raw[: file["bytes"]], raw[file["bytes"] :]
        if file["name"].endswith(".safetensors"):
            held = whole_weights(held)
        (folder / file["name"]).write_bytes(held)
    return folder


def answered(browser):
    """The last run: its description, and its weights."""
    code = "(a => JSON.stringify({...a, weights: Array.from(a.weights)}))"
    return json.loads(browser.run(f"{code}(answers.filter(a => a.blocks).at(-1))"))


def patterns(model, words, block, target):
    """The program's patterns of a block's heads: [head][query][key]."""
    given = ["--text", words, *(["--target-ids", ",".join(map(str, target))] if target else [])]
    out = []
    for head in range(block["heads"]):
        done = subprocess.run(
            [PROGRAM, "render", "--quiet", "--model", model, *given, "--view", "head", "--layer",
             block["label"], "--head", str(head), "-o", "-", "--format", "json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        out.append(json.loads(done.stdout)["tables"][0]["values"])
    return out


def furthest(browser, model, words, target=()):
    """How far a weight in the page is from the program's at most."""
    run, most = answered(browser), 0
    for block in run["blocks"]:
        at = block["first"]
        for rows in patterns(model, words, block, target):
            for query, row in enumerate(rows):
                stored = query + 1 if block["rows"] == "lower" else block["keys"]
                for key in range(stored):
                    most = max(most, abs((row[key] or 0) - run["weights"][at + key]))
                at += stored
    return most


@check
def a_typed_text_has_the_numbers_of_the_program(browser):
    for model, words in (
        ("stories", "Tom saw a cat. The cat saw Tom"),
        ("formation", "The cat sat on the mat. The cat"),
    ):
        opened(browser, model)
        typed(browser, words)
        apart = furthest(browser, model_in(written(model)), words)
        print(f"     {model}: weights within {apart:.1g} of the program's")
        assert apart <= 2e-5, (model, apart)
        assert not browser.faults, browser.faults


@check
def a_text_that_goes_on_has_the_numbers_of_a_fresh_one(browser):
    opened(browser)
    for end in range(4, len(SENTENCE), 3):
        typed(browser, SENTENCE[:end], wait=False)
        browser.frame()
    typed(browser, SENTENCE)
    grown = answered(browser)
    typed(browser, "Once")
    typed(browser, SENTENCE)
    fresh = answered(browser)
    assert grown["weights"] == fresh["weights"] and grown["next"] == fresh["next"]


@check
def a_translator_writes_its_target_in_the_page(browser):
    opened(browser, "translator")
    typed(browser, "Tom ran.")
    run = answered(browser)
    labels = [block["label"] for block in run["blocks"]]
    assert any(label.startswith("cross") for label in labels), labels
    done = subprocess.run(
        [PROGRAM, "generate", "--model", model_in(written("translator")), "--text", "Tom ran."],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    shown = "".join(run["sequences"][1]["tokens"][1:]).replace("▁", " ").replace(" ", "")
    assert shown == done.stdout.strip().replace(" ", ""), (shown, done.stdout)


@check
def the_page_shows_what_the_engine_answers(browser):
    opened(browser)
    typed(browser, "Lily had a red ball.")
    run = answered(browser)
    assert count(browser, ".text .token") == len(run["sequences"][0]["tokens"]) == 6
    press(browser, "Table")
    rows = browser.run(
        "[...document.querySelectorAll('.numbers tbody tr')]"
        ".map(r => [...r.querySelectorAll('td')].map(c => c.textContent).filter(Boolean))"
    )
    values = iter(run["weights"])
    for row in rows:
        for cell in row:
            assert cell == f"{next(values):.3f}", rows
    token, share, _ = run["next"][0]
    press(browser, "Table")
    assert f"{100 * share:.1f} %" in text(browser, ".next"), text(browser, ".next")


@check
def all_heads_are_drawn_before_and_after_a_key(browser):
    opened(browser)
    drawn = (
        "(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".filter((v, i) => i % 4 === 3 && v).length / (c.width * c.height))"
        "(document.querySelector('.panel .grid canvas'))"
    )
    settle(browser, f"{drawn} > 0.3", 10)  # triangles below diagonals, and names
    typed(browser, SENTENCE + " ball")
    assert browser.run(drawn) > 0.3, browser.run(drawn)


@check
def hostile_text_stays_text_as_it_is_typed(browser):
    opened(browser)
    bad = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \u202e {{script}}"
    for view in ("head", "text", "lines", "heads", "lens"):
        show(browser, view)
        typed(browser, bad + " " + view, wait=False)
        settle(browser, f"document.title.endsWith('{view}')")
        assert not browser.faults and count(browser, "img") == 0, (view, browser.faults)
    assert count(browser, "script") == 2  # the data's and the code's: those of the model are taken
    typed(browser, "a \ud83d b \U0001f600 天気 مرحبا", wait=False)
    settle(browser, "document.title.includes('天気')")
    assert not browser.faults, browser.faults


@check
def nothing_leaves_a_page_that_computes(browser):
    opened(browser)
    typed(browser, "Nobody reads this.")
    nothing_leaves(browser)
    tried = "fetch('https://example.com/').then(() => 'sent', () => 'refused')"
    assert browser.run(tried) == "refused"


@check
def the_latest_text_wins(browser):
    opened(browser)
    before = browser.run("answers.length")
    for end in range(1, len(SENTENCE) + 1):
        typed(browser, SENTENCE[:end], wait=False)
    typed(browser, SENTENCE)
    answers = browser.run("answers.length") - before
    assert 1 <= answers <= len(SENTENCE) + 1, answers
    time.sleep(0.3)
    assert text(browser, "#title") == SENTENCE


@check
def what_the_model_cannot_read_is_said(browser):
    opened(browser)
    typed(browser, "cat " * 400)
    assert "tokens are left out: the model reads 256." in text(browser, "#said")
    typed(browser, "", wait=False)
    settle(browser, "document.getElementById('said').textContent === 'Type a text.'")
    assert count(browser, "main.before") == 1
    typed(browser, "Tom")
    assert count(browser, "main.before") == 0 and text(browser, "#said") == ""


@check
def keys_in_the_field_are_the_fields(browser):
    opened(browser)
    assert browser.run("document.activeElement.id") == "typed"
    where = text(browser, "#where")
    for name in ("ArrowRight", "PageDown"):
        browser.key(name)
    assert text(browser, "#where") == where
    browser.key("Escape")
    assert browser.run("document.activeElement.dataset.focus") == "map"
    browser.key("ArrowRight")
    settle(browser, "document.getElementById('where').textContent.endsWith('head 1')")


@check
def a_click_on_a_next_token_adds_it(browser):
    opened(browser)
    typed(browser, SENTENCE)
    browser.run("document.querySelector('.next button').click()")
    settle(browser, f"document.title === {json.dumps(SENTENCE + ' ball')}")


@check
def a_lock_and_the_head_stay_while_the_text_grows(browser):
    opened(browser)
    typed(browser, "Lily had a red ball.")
    browser.run("document.querySelectorAll('.text .token')[2].click()")
    browser.run("document.activeElement.blur()")
    browser.key("PageDown")
    settle(browser, "document.getElementById('where').textContent.includes('layer 1')")
    typed(browser, "Lily had a red ball. Tom")
    assert "layer 1" in text(browser, "#where")
    assert "locked" in text(browser, ".state") and "a" == text(browser, ".cell .query")


@check
def the_lens_follows_the_text(browser):
    opened(browser)
    show(browser, "lens")
    typed(browser, "Tom had a big")
    assert count(browser, ".lens thead th") == 5
    show(browser, "head")
    typed(browser, "Tom had a big red")
    show(browser, "lens")
    settle(browser, "document.querySelectorAll('.lens thead th').length === 6")


@check
def pages_that_compute_are_small_and_quick(browser):
    for model in ("stories", "translator", "formation"):
        size = written(model).stat().st_size
        print(f"     {model}: {size / 1e6:.1f} MB")
        assert size < LARGEST, (model, size)
    opened(browser)
    words = " ".join([SENTENCE] * 4)[:235]
    typed(browser, words)
    times = []
    for letter in "abcdefghijklmnop":
        words += letter
        typed(browser, words)
        times.append(browser.run("drawn - began"))
    tokens = len(answered(browser)["sequences"][0]["tokens"])
    took = sorted(browser.run("answers.filter(a => a.blocks).slice(-16).map(a => a.took)"))
    print(
        f"     {tokens} tokens: {took[8]:.0f} ms of the engine, "
        f"{sorted(times)[8]:.0f} ms from key to drawn"
    )
    assert took[8] < 250, took


@check
def a_page_that_computes_fits_a_phone(browser):
    opened(browser, width=390, height=844, mobile=True)
    for view in ("head", "heads", "lines", "text", "lens"):
        show(browser, view)
        typed(browser, f"Tom had a {view}")
        wide = browser.run("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0 and not browser.faults, (view, wide, browser.faults)


@check
def models_that_fit_no_page_are_refused(_):
    out = FOLDER / "no.html"
    for given, sentence in (
        ((), "--live stories"),
        (("--live", "scenes"), "reads pictures"),
        (("--live", "nowhere"), "nowhere"),
        (("--live", "stories", "--text", ""), "no tokens to read"),
        (("--live", "stories", "--head", "9.9"), "9"),
        (("--live", ROOT / "tests/reference/models"), "has no model.safetensors"),
    ):
        error = said(*given, "-o", out, status=1)
        assert sentence in error and error.count("\n") == 1, (given, error)
        assert not out.exists()
