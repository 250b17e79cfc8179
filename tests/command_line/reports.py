"""Reports and figures opened by a browser and by other programs."""

import re
import shutil
import subprocess
import tempfile

from program import FOLDER, run, run_json


def browser(page, more=()):
    """The page after its scripts ran, as a real browser has it."""
    with tempfile.TemporaryDirectory() as home:
        r = subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--dump-dom",
                f"--user-data-dir={home}",
                *more,
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=110,
        )
    return r.stdout


def reports_are_read_anywhere():
    sentence = 'Lily <had> a "red" ball & Tom had a blue ball . Lily <had> a'
    page, again = FOLDER / "report é.html", FOLDER / "again.html"
    for file, threads in ((page, 2), (again, 1)):
        run("report", "--text", sentence, "-o", file, "--title", "<A & B>", "--threads", threads)
    html = page.read_text(encoding="utf-8")
    assert page.read_bytes() == again.read_bytes()
    assert html.count("<svg") == html.count("</svg>") == 5
    assert html.count("<tr>") >= 32
    assert "&lt;A &amp; B&gt;" in html
    assert "<had>" not in html
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", html) and "http" not in re.sub(
        r'xmlns(:xlink)?="[^"]*"', "", html
    ), "nothing is fetched"
    names = re.findall(r'id="([^"]+)"', html)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', html)) <= set(names), (
        "each figure's parts are its own"
    )
    changed = FOLDER / "changed.html"
    run(
        "report --heads 1.2,3.0 --change mask:16>3-10",
        "--text",
        "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
        "-o",
        changed,
    )
    html = changed.read_text(encoding="utf-8")
    assert "mask:16&gt;3-10" in html
    assert "before" in html
    assert html.count("<svg") == 3
    assert "Head 3.0" in html
    run("report --target Die --model MODELS/marian -o marian.html", "--text", "the cat")
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    effects = {
        f"{h['layer']}.{h['head']}": h["effect"]
        for h in run_json("heads --json", "--text", sentence, "--metric", "ball - car")
    }
    run("report", "--text", sentence, "--metric", "ball - car", "-o", changed)
    html = changed.read_text(encoding="utf-8")
    said = dict(
        re.findall(r"<tr><td>(\d\.\d)</td>.*<td data-value=\"([^\"]*)\">[^<]*</td></tr>", html)
    )
    assert len(said) == len(effects) == 32
    assert all(abs(float(said[head]) - effect) < 1e-4 for head, effect in effects.items())
    assert any(float(value) < 0 for value in said.values()), (
        "what the page sorts by is read by its script"
    )
    assert f"Head {max(effects, key=lambda head: abs(effects[head]))}" in html
    assert "ball − car at position 16" in html
    run("report --text x --heads 9.9 -o no.html", status=1)
    assert not (FOLDER / "no.html").exists()
    if not shutil.which("chromium"):
        print("     chromium is not installed: the page was not opened in a browser")
        return
    probe = FOLDER / "probe.html"
    click = """
        const header = document.querySelectorAll('th[data-sorts]')[0];
        header.click();
        const rows = [...header.closest('table').tBodies[0].rows];
        const values = rows.map(r => r.cells[1].dataset.value);
        const heights = [...document.querySelectorAll('svg')].map(
            s => Math.round(s.getBoundingClientRect().height));
        document.title = 'sorted ' + values.join(' ') + ' boxes ' + heights.join(' ');
    """
    probe.write_text(
        page.read_text(encoding="utf-8").replace("</body>", f"<script>{click}</script></body>"),
        encoding="utf-8",
    )
    title = re.search("<title>(.*?)</title>", browser(probe)).group(1)
    values = [float(v) for v in title.split(" boxes ")[0].split()[1:]]
    assert len(values) == 32 and values == sorted(values, reverse=True), title
    assert all(int(h) > 100 for h in title.split(" boxes ")[1].split()), "every figure takes room"


def figures_open_elsewhere():
    svg, png = FOLDER / "f.svg", FOLDER / "f.png"
    for view in (
        ["--view", "head", "--layer", "1", "--head", "2"],
        ["--view", "heads"],
        ["--view", "steps"],
        ["--view", "compare", "--with", "3.2"],
    ):
        run("render", "--text", "Lily saw 猫 there & Tom <ran>", *view, "-o", svg)
        if shutil.which("rsvg-convert"):
            subprocess.run(["rsvg-convert", svg, "-o", png], check=True, timeout=60)
            assert png.stat().st_size > 2000
        if shutil.which("chromium") and view[1] == "head":
            assert "<path" in browser(svg)
