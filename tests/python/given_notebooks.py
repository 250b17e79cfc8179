"""What notebooks show: pages in frames, pictures beside them, and figures in matplotlib's Axes."""

import html
import io
import json
import re
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path

import headlight
import numpy as np
from given_arrays import sentence_of, skipped
from headlight import pages

TEXT = "Lily had a red ball. Lily had"
VIEWS = "heads head lines graph text steps delta lens positions origins".split()


def bundle(figure, **asked):
    return figure._repr_mimebundle_(**asked)[0]


def wide_and_high(png):
    return struct.unpack(">II", png[16:24])


def every_view_of_a_model_is_a_page_beside_a_picture():
    for view in VIEWS:
        shown = bundle(headlight.figure("stories", text=TEXT, view=view))
        assert set(shown) == {"text/plain", "text/html", "image/png"}, (view, set(shown))
        frame = shown["text/html"]
        assert 'sandbox="allow-scripts allow-downloads"' in frame and frame.count("<") == 4, view
        page = html.unescape(re.search('srcdoc="([^"]*)"', frame)[1])
        assert page.startswith("<!doctype html>") and "Content-Security-Policy" in page
        assert "http://" not in page and "https://" not in page, view


def a_page_is_saved_and_is_the_one_shown():
    figure = headlight.figure("stories", text=TEXT, layer=1, head=2)
    with tempfile.TemporaryDirectory() as folder:
        saved = figure.save(Path(folder) / "x.html").read_text(encoding="utf-8")
    assert saved == figure.html
    assert html.escape(pages.following(saved)) in bundle(figure)["text/html"]
    opened = json.loads(re.search('id="headlight">(.*?)</script>', saved, re.S)[1])
    assert (opened["view"], opened["block"], opened["head"]) == ("head", 1, 2)


def only_what_is_asked_for_is_drawn():
    figure = headlight.figure("stories", text=TEXT)
    assert set(bundle(figure, include=["image/png"])) == {"image/png"}
    assert "html" not in figure._drawn
    assert set(bundle(figure, exclude=["image/png"])) == {"text/plain", "text/html"}


def exact_weights_are_of_the_page_alone():
    """A figure with exact=True is drawn as any other, and its page has floats."""
    figure = headlight.figure("stories", text="Lily had a red ball", head=(1, 2), exact=True)
    plain = headlight.figure("stories", text="Lily had a red ball", head=(1, 2))
    assert figure.png == plain.png and '"f32"' in figure.html and '"f32"' not in plain.html


def a_figure_with_a_look_is_shown_as_its_picture():
    for look in ({"width_mm": 85}, {"colormap": "viridis"}, {"figsize": (3, 2)}, {"format": "png"}):
        shown = bundle(headlight.figure("stories", text=TEXT, head=(1, 2), **look))
        assert "text/html" not in shown and "image/png" in shown, look
    assert "format=" in sentence_of(lambda: headlight.figure("stories", text=TEXT, format="gif"))


def a_page_too_large_for_a_notebook_says_so():
    figure = headlight.figure("stories", text=TEXT)
    before, figure_module = pages.LARGEST, __import__("headlight.figure", fromlist=["LARGEST"])
    figure_module.LARGEST = len(figure.html) - 1
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert set(bundle(figure)) == {"text/plain", "image/png"}
        assert "figure.save" in str(said[0].message)
    finally:
        figure_module.LARGEST = before


def pages_keep_within_their_sizes():
    for tokens, most in ((64, 1e6), (512, 15e6)):
        scores = np.random.default_rng(1).normal(size=(12, 12, tokens, tokens)).astype("f4")
        weights = np.tril(np.exp(2 * scores))
        weights /= weights.sum(-1, keepdims=True)
        size = len(headlight.figure(patterns=weights, view="head").html)
        assert size < most, f"{tokens} tokens: {size / 1e6:.2f} MB"


def heads_are_named_by_layer_and_head():
    both = headlight.figure("stories", text=TEXT, layer=1, head=2)
    assert both.png == headlight.figure("stories", text=TEXT, head=(1, 2)).png
    cross = {"text": "I have never seen him.", "view": "head"}
    one = headlight.figure("translator", layer="cross.1", head=3, **cross)
    assert one.png == headlight.figure("translator", head=("cross", 1, 3), **cross).png
    assert "layer" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, layer=1, head=(1, 2))
    )


def figsize_and_savefig_are_as_in_matplotlib():
    figure = headlight.figure("stories", text=TEXT, head=(1, 2), figsize=(3, 2), dpi=100)
    assert wide_and_high(figure.png) == (300, 200)
    with tempfile.TemporaryDirectory() as folder:
        path = figure.savefig(Path(folder) / "x.png", dpi=50, bbox_inches="tight")
        assert wide_and_high(path.read_bytes()) == (150, 100)
        assert "bbox_inches" in sentence_of(lambda: figure.savefig(path, bbox_inches="loose"))
    assert "width_mm" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, figsize=(3, 2), width_mm=85)
    )
    assert "inches" in sentence_of(lambda: headlight.figure("stories", text=TEXT, figsize=3))


def a_figure_is_drawn_into_an_axes():
    assert "Axes" in sentence_of(lambda: headlight.figure("stories", text=TEXT, ax=3))
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        return skipped("matplotlib is not installed here")
    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(6, 3), dpi=100)
    headlight.figure("stories", text=TEXT, head=(1, 2), ax=left)
    assert "leave" in sentence_of(
        lambda: headlight.figure("stories", text=TEXT, width_mm=85, ax=right)
    )
    image = left.get_images()[0].get_array()
    box = left.get_window_extent()
    assert image.shape[:2] == (round(2 * box.height), round(2 * box.width))
    held = io.BytesIO()
    drawn.savefig(held)
    assert wide_and_high(held.getvalue()) == (600, 300)
    pyplot.close(drawn)


def a_view_has_a_head_and_a_lock():
    figure = headlight.figure("stories", text=TEXT, head=(1, 2))
    try:
        import anywidget  # noqa: F401
    except ImportError:
        assert headlight.view(figure) is figure
        return skipped("anywidget is not installed here")
    shown, said = headlight.view(figure), []
    assert shown.head == (1, 2) and shown.locked is None
    shown.on_change(lambda view: said.append((view.head, view.locked)))
    shown.head = (3, 1)
    shown.locked = (4, 2)
    shown.locked = 5
    # What the page says, as its own script writes it.
    shown.shown = {"head": "0.7", "locked": None}
    assert said == [((3, 1), None), ((3, 1), (4, 2)), ((3, 1), (5, -1)), ((0, 7), None)]
    assert shown.asked == {"head": "3.1", "locked": [5, -1]}
    for wrong, words in (((9, 1), "no head 9.1"), ((1, 8), "no head 1.8"), ("x", "names no head")):
        assert words in sentence_of(lambda: setattr(shown, "head", wrong))
    for wrong in ((8, 0), (0, 8), "x", (1, 2, 3)):
        assert "quer" in sentence_of(lambda: setattr(shown, "locked", wrong)), wrong
    cross = headlight.view("translator", text="I have seen him.", head=("cross", 1, 2))
    assert cross.head == ("cross", 1, 2)
    assert "view=" in sentence_of(lambda: headlight.view(figure, view="lines"))
    assert headlight.view("stories", text=TEXT, view="lines").head == (0, 0)


HOST = """<!doctype html><meta charset=utf-8><style>{css}</style><div id=el></div><script>{module}
const held = {{page: {page}, height: 640, asked: null, shown: {{}}}}, told = {{}}, said = [];
widget.render({{el: document.getElementById('el'), model: {{
  get: (name) => held[name], set: (name, value) => {{ held[name] = value; }},
  save_changes: () => said.push(JSON.stringify(held.shown)),
  on: (event, tell) => {{ told[event] = tell; }}, off() {{}},
}}}});
const ask = (asked) => {{ held.asked = asked; told['change:asked'](); }};
</script>"""


def a_page_in_a_widget_says_and_takes_the_head_and_the_lock():
    tests = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(tests / "page"))
    import browser

    if browser.PROGRAM is None:
        return skipped("Chromium is not installed here")
    script = Path(headlight.__file__).with_name("widget.js").read_text(encoding="utf-8")
    page = headlight.figure("stories", text=TEXT, head=(1, 2)).html
    chromium = browser.Browser(900, 700)
    last = lambda: json.loads(chromium.run("said.at(-1) || '{}'"))

    def becomes(head, locked):
        wanted, until = {"head": head, "locked": locked}, time.monotonic() + 20
        while last() != wanted and time.monotonic() < until:
            time.sleep(0.05)
        assert last() == wanted, (last(), wanted)

    try:
        with tempfile.TemporaryDirectory() as folder:
            host = Path(folder) / "host.html"
            module = script.replace("export default", "const widget =")
            written = json.dumps(page).replace("</", "<\\/")
            host.write_text(
                HOST.format(css=pages.CSS, module=module, page=written), encoding="utf-8"
            )
            chromium.open(host, wait=False)
            becomes("1.2", None)
            chromium.run("ask({head: '2.3', locked: [4, 1]})")
            becomes("2.3", [4, 1])
            chromium.run("ask({head: '9.9', locked: null})")  # no such head
            becomes("2.3", None)
            chromium.click(160, 240)  # the first query's own cell
            becomes("2.3", [0, 0])
            chromium.key("ArrowRight")
            becomes("2.4", [0, 0])
            assert chromium.run("!document.querySelector('iframe').contentDocument"), (
                "the frame's page is out of the notebook's reach, and the notebook out of its"
            )
            # A stranger's message has another source than the frame's parent.
            chromium.run(
                "new Promise((then) => {const f = document.createElement('iframe');"
                "f.srcdoc = '<script>parent.frames[0].postMessage({headlight:{head:`0.0`}},`*`)"
                "<\\/script>'; f.onload = () => setTimeout(then, 300);"
                "document.body.append(f);})"
            )
            becomes("2.4", [0, 0])
            assert not chromium.faults, chromium.faults
    finally:
        chromium.close()


def a_page_waits_until_its_frame_has_a_size():
    tests = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(tests / "page"))
    import browser

    if browser.PROGRAM is None:
        return skipped("Chromium is not installed here")
    page = html.escape(headlight.figure("stories", text=TEXT, head=(1, 2)).html)
    chromium = browser.Browser(900, 700)
    try:
        with tempfile.TemporaryDirectory() as folder:
            host = Path(folder) / "host.html"
            host.write_text(
                "<!doctype html><script>let told = 0; onmessage = () => { told += 1; };</script>"
                '<iframe sandbox="allow-scripts" style="border: 0; width: 0; height: 0" '
                f'srcdoc="{page}"></iframe>',
                encoding="utf-8",
            )
            chromium.open(host, wait=False)
            time.sleep(1.5)
            assert chromium.run("told") == 0, "there is nothing to draw in yet"
            chromium.run("document.querySelector('iframe').style = 'width: 800px; height: 600px'")
            until = time.monotonic() + 20
            while not chromium.run("told") and time.monotonic() < until:
                time.sleep(0.1)
            assert chromium.run("told") and not chromium.faults, chromium.faults
    finally:
        chromium.close()


def in_chromium(body, look):
    """What look(chromium) returns of a page with this body."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "page"))
    import browser

    if browser.PROGRAM is None:
        return skipped("Chromium is not installed here")
    chromium = browser.Browser(900, 900)
    try:
        with tempfile.TemporaryDirectory() as folder:
            host = Path(folder) / "host.html"
            host.write_text("<!doctype html><meta charset=utf-8>" + body, encoding="utf-8")
            chromium.open(host, wait=False)
            return look(chromium)
    finally:
        chromium.close()


def a_widget_says_nothing_of_its_page_s_beginning():
    """Where Python had asked for another head before the page was drawn."""
    script = Path(headlight.__file__).with_name("widget.js").read_text(encoding="utf-8")
    page = headlight.figure("stories", text=TEXT, head=(1, 2)).html
    module = script.replace("export default", "const widget =")
    written = json.dumps(page).replace("</", "<\\/")
    body = HOST.format(css=pages.CSS, module=module, page=written)
    body = body.replace("asked: null", "asked: {head: '2.3', locked: [4, 1]}")

    def look(chromium):
        becomes(lambda: chromium.run("said.at(-1)"), '{"head":"2.3","locked":[4,1]}')
        assert chromium.run("said.length") == 1, chromium.run("said.join()")

    in_chromium(body, look)


def becomes(ask, wanted):
    until = time.monotonic() + 20
    while (said := ask()) != wanted and time.monotonic() < until:
        time.sleep(0.1)
    assert said == wanted, (said, wanted)


def a_page_is_as_dark_as_the_notebook():
    """Of JupyterLab, VS Code and Colab, whatever the system prefers; and when that changes."""
    frame = bundle(headlight.figure("stories", text=TEXT))["text/html"]
    frame = frame.replace('sandbox="allow-scripts allow-downloads"', "")  # to look inside

    def look(chromium):
        theme = lambda: chromium.run(
            "frames[0].document.documentElement?.dataset.ready === '' && "
            "frames[0].document.documentElement?.dataset.theme"
        )
        becomes(theme, "dark")
        chromium.run("document.body.dataset.jpThemeLight = 'true'")
        becomes(theme, "light")
        chromium.run("document.body.dataset.vscodeThemeKind = 'vscode-dark'")
        becomes(theme, "dark")
        chromium.run("document.body.dataset.vscodeThemeKind = 'vscode-light'")
        chromium.run("document.documentElement.setAttribute('theme', 'dark')")
        becomes(theme, "dark")

    in_chromium(f'<body data-jp-theme-light="false">{frame}', look)


def a_page_begins_in_an_output_without_room():
    """A notebook lays a cell out later; a page that found 60 pixels had drawn nothing at all."""
    frame = bundle(headlight.figure("stories", text=TEXT, head=(1, 2)))["text/html"]
    frame = frame.replace('sandbox="allow-scripts allow-downloads"', "")
    ready = "frames[0].document.documentElement?.dataset.ready"
    look = lambda chromium: becomes(lambda: chromium.run(ready), "")
    in_chromium(f'<div style="width: 60px; overflow: hidden">{frame}</div>', look)


def pages_need_no_bar_to_scroll_in_a_notebook():
    """Between JupyterLab's usual width and a short text's largest page."""
    tall = "document.querySelector('iframe').contentDocument.documentElement.scrollHeight"
    for view in ("head", "heads", "lines", "positions"):
        frame = bundle(headlight.figure("stories", text=TEXT, view=view))["text/html"]
        frame = frame.replace('sandbox="allow-scripts allow-downloads"', "")
        high = int(re.search(r"height: (\d+)px", frame)[1])

        def look(chromium):
            ready = "frames[0].document.documentElement?.dataset.ready"
            becomes(lambda: chromium.run(ready), "")
            assert chromium.run(tall) <= high, (view, chromium.run(tall), high)

        in_chromium(f'<div style="width: 1085px">{frame}</div>', look)


def a_page_works_in_a_frame_of_another_origin():
    """Colab shows an output in a frame that is sandboxed and of a domain of its own."""
    frame = bundle(headlight.figure("stories", text=TEXT, head=(1, 2)))["text/html"]
    relay = (
        "<script>onmessage = ({ data }) => parent.postMessage(data, '*');</script>"
        f'<html theme="dark"><body>{frame}'
    )
    outer = '<iframe sandbox="allow-scripts" style="width: 880px; height: 900px" srcdoc="{}">'
    body = "<script>let told; onmessage = ({ data }) => { told = data.headlight; };</script>"

    def look(chromium):
        becomes(lambda: chromium.run("told && told.head"), "1.2")
        chromium.click(160, 240)
        becomes(lambda: chromium.run("JSON.stringify(told.locked)"), "[0,0]")
        assert not chromium.faults, chromium.faults

    in_chromium(body + outer.format(html.escape(relay)), look)
