#!/usr/bin/env python3
"""From attentions in a notebook's process to the picture painted in the browser: headlight.show
beside BertViz's model_view, in one run.

        python3 tests/bench/notebook.py build/headlight [--pictures FOLDER]

Needs torch, BertViz with IPython, and Debian's chromium.

Both get the same attentions of GPT-2 small's shape (12 layers of 12 heads, random causal rows; a
list of tensors as transformers returns it), so that no model's pass is in either. A page that
stands open in headless Chromium, as a notebook does, gets what each would show: Headlight's PNG
with its size, BertViz's HTML and script. The time ends with the second frame after the moment when
the picture is decoded, or the script has drawn all heads; what the compositor then still rasters
counts for neither. BertViz is spared what a notebook costs it beyond that: require.js is loaded
before, d3 and jQuery come from this computer, the message is no JSON. They are installed with npm
into ~/.cache/headlight-bench. Medians; at 512 tokens what BertViz does is said. --pictures keeps
what was painted.
"""

import argparse
import base64
import http.server
import os
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch
from bars import THREADS, bar, row

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headlight-bench/browser"
)
NEEDED = {
    "requirejs@2.3.6": "requirejs/require.js",
    "d3@5.7.0": "d3/dist/d3.min.js",
    "jquery@2.2.4": "jquery/dist/jquery.min.js",
}
FROM_AFAR = {
    r"https://cdnjs\.cloudflare\.com/ajax/libs/d3/[^'\"]*": "/library/d3/dist/d3.min",
    r"https://cdnjs\.cloudflare\.com/ajax/libs/jquery/[^'\"]*": "/library/jquery/dist/jquery.min",
}
# Seconds until what was not painted is said not to be, and until a page of which nothing is heard
# is gone.
PATIENCE, SILENCE = (240, 30)
PAGE = """<!doctype html><meta charset="utf-8"><title>notebook</title><body>
<script src="/library/requirejs/require.js"></script><div id="out"></div><script>
const frame = () => new Promise(requestAnimationFrame);
const say = (what, where = "/painted") => fetch(where, {method: "POST", body: what});
const ticking = `setInterval(() => fetch("${location.origin}/alive"), 1000)`;
new Worker(URL.createObjectURL(new Blob([ticking])));
window.addEventListener("error", (e) => say("failed: " + e.message));
(async () => {
    try {
        const answer = await fetch("/next"), html = await answer.text();
        const out = document.getElementById("out");
        const sent = Number(answer.headers.get("characters"));
        const most = "a string of Chromium's holds 2^29 - 24";
        const arrived = `of ${sent} characters ${html.length} arrived (${most})`;
        if (html.length < sent) throw Error(arrived);
        await say(sent + " characters", "/received");
        out.append(document.createRange().createContextualFragment(html));
        const heads = Number(answer.headers.get("heads"));
        const drawn = () => out.querySelectorAll("svg .attn_background").length >= heads;
        if (heads) while (!drawn()) await frame();
        await Promise.all([...out.querySelectorAll("img")].map((i) => i.decode()));
        await frame();
        await frame();
        await say("painted " + document.querySelectorAll("*").length + " elements");
    } catch (problem) { await say("failed: " + problem); }
})();
</script>"""


class Notebook:
    """A page in a browser that shows what it is given."""

    def __init__(self):
        self.shown, self.said, self.received = queue.Queue(), queue.Queue(), ""
        notebook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                notebook._answer(self)

            def do_POST(self):
                now, what = (
                    time.perf_counter(),
                    self.rfile.read(int(self.headers["Content-Length"])).decode(),
                )
                if self.path == "/received":
                    notebook.received = what
                else:
                    notebook.said.put((now, what))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def _answer(self, request):
        """The page, a library, or what is to be shown next."""
        heads, characters, kind = "", "", "text/html; charset=utf-8"
        self.alive = time.perf_counter()
        if request.path == "/next":
            self.waiting.set()
            html, heads = self.shown.get()
            body, characters = html.encode(), len(html)
        elif request.path.startswith("/library/"):
            body, kind = (
                (LIBRARIES / "node_modules" / request.path.removeprefix("/library/")).read_bytes(),
                "text/javascript",
            )
        else:
            body = PAGE.encode()
        try:
            request.send_response(200)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", len(body)),
                ("heads", heads),
                ("characters", characters),
            ):
                request.send_header(name, str(value))
            request.end_headers()
            request.wfile.write(body)
        except OSError:  # the browser has gone
            pass

    def seconds(self, make):
        """From make(), which returns HTML and how many heads its script draws, to the painted page;
        and what the page said."""
        self.waiting = threading.Event()
        self.shown, self.said, self.received = queue.Queue(), queue.Queue(), "nothing"
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
            open(os.devnull, "wb") as nothing,
        ):
            browser = subprocess.Popen(
                [
                    "chromium",
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--no-first-run",
                    "--window-size=1600,1000",
                    f"--user-data-dir={home}",
                    self.address,
                ],
                stdout=nothing,
                stderr=nothing,
                start_new_session=True,
            )
            try:
                assert self.waiting.wait(60), "chromium did not open the page"
                begin = time.perf_counter()
                self.shown.put(make())
                self.alive = made = time.perf_counter()
                end, said = self._wait()
                return end - begin, made - begin, said
            finally:
                browser.terminate()
                browser.wait()

    def _wait(self):
        """When it was painted, and what the page said; or why it never will be."""
        for _ in range(PATIENCE):
            try:
                return self.said.get(timeout=1)
            except queue.Empty:
                if time.perf_counter() - self.alive > SILENCE:
                    return float(
                        "inf"
                    ), f"failed: the browser ended the page, which had received {self.received}"
        return float(
            "inf"
        ), f"failed: nothing was painted within {PATIENCE} s; the page had received {self.received}"


def attentions(tokens):
    """As transformers returns them: a list of [batch, head, query, key]."""
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(12, 12, tokens, tokens, generator=generator) * 2
    scores.masked_fill_(torch.ones(tokens, tokens, dtype=torch.bool).triu(1), float("-inf"))
    return [layer[None] for layer in scores.softmax(-1)]


def ours(held, names):
    import headlight

    shown, sizes = headlight.show(patterns=held, tokens=names, inline=True)._repr_mimebundle_()
    size = sizes["image/png"]
    return (
        (
            f'<img width="{size["width"]}" height="{size["height"]}" '
            f'src="data:image/png;base64,{base64.b64encode(shown["image/png"]).decode()}">'
        ),
        "",
    )


def theirs(held, names):
    from bertviz import model_view

    html = model_view(held, names, html_action="return").data
    html = re.sub(r'<script src="https://cdnjs[^"]*require[^"]*"></script>', "", html)
    for pattern, here in FROM_AFAR.items():
        html = re.sub(pattern, here, html)
    return html, 144


def fetch_libraries():
    if not all((LIBRARIES / "node_modules" / file).exists() for file in NEEDED.values()):
        LIBRARIES.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "npm",
                "install",
                "--silent",
                "--no-save",
                "--ignore-scripts",
                "--prefix",
                LIBRARIES,
                *NEEDED,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def keep(page, folder, name):
    """A picture of what a page shows."""
    file = folder / f"{name}.html"
    file.write_text(page)
    subprocess.run(
        [
            "chromium",
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1200,1200",
            f"--screenshot={folder / name}.png",
            file.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )


def measured(notebook, make, tokens, times):
    held, names = attentions(tokens), [f"Ġword{i}" for i in range(tokens)]
    runs = [notebook.seconds(lambda: make(held, names)) for _ in range(times)]
    taken = [seconds for seconds, _, _ in runs]
    making = statistics.median(made for _, made, _ in runs)
    if tokens > 16:
        name = "Headlight" if make is ours else "BertViz's model_view"
        row(f"{tokens} tokens", {name: f"{statistics.median(taken):.1f} s, {runs[-1][2]}"})
    print(
        (
            f"{'Headlight' if make is ours else 'BertViz':>9}, {tokens:4} tokens: "
            f"{statistics.median(taken):7.2f} s, fastest {min(taken):.2f} s, of which Python "
            f"{making:.2f} s; {runs[-1][2]}"
        ),
        flush=True,
    )
    return statistics.median(taken), min(taken)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("--pictures", type=Path)
    o = parser.parse_args()
    os.environ["HEADLIGHT_PROGRAM"] = str(o.program.resolve())
    sys.path.insert(0, str(ROOT / "models/python"))
    torch.set_num_threads(THREADS)
    fetch_libraries()
    notebook = Notebook()
    for make in (ours, theirs):  # the first start of both reads files
        measured(notebook, make, 16, 1)
    small, fastest = measured(notebook, ours, 128, 5)
    other, quickest = measured(notebook, theirs, 128, 1)  # a minute or two
    large, least = measured(notebook, ours, 512, 3)
    measured(notebook, theirs, 512, 1)
    bar(
        "shown in a notebook, 128 tokens, ÷ BertViz's model_view",
        small / other,
        0.1,
        fastest / quickest,
    )
    bar("shown in a notebook, 512 tokens", large, 2.0, least, " s")
    if o.pictures:
        keep(ours(attentions(128), [f"Ġword{i}" for i in range(128)])[0], o.pictures, "headlight")


if __name__ == "__main__":
    main()
