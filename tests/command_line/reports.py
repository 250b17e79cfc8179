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


def report_of(html):
    """What reads without scripts."""
    return re.search(r'<section id="report".*?</section>', html, re.S)[0]


def without_policy(html):
    """The page without its pictures, which are images of their own."""
    return re.sub(r'src="data:[^"]*"', "", html)


def reports_are_read_anywhere():
    sentence = 'Lily <had> a "red" ball & Tom had a blue ball . Lily <had> a'
    page, again = FOLDER / "report é.html", FOLDER / "again.html"
    for file, threads in ((page, 2), (again, 1)):
        run("report", "--text", sentence, "-o", file, "--title", "<A & B>", "--threads", threads)
    html = page.read_text(encoding="utf-8")
    assert page.read_bytes() == again.read_bytes()
    body = report_of(html)
    assert body.count("<img") == 5, "all heads and the four that stand out"
    assert body.count("<tr>") >= 32
    assert "&lt;A &amp; B&gt;" in html
    assert "<had>" not in html
    fetched = re.findall(r"""(?:src|href)=["'](?!#|data:)""", html)
    assert not fetched and "http" not in without_policy(body), "nothing is fetched"
    names = re.findall(r'id="([^"]+)"', body)
    assert len(names) == len(set(names))
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
    assert report_of(html).count("<img") == 3
    assert "Head 3.0" in html
    run("report --target Die --model MODELS/marian -o marian.html", "--text", "the cat")
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    effects = {
        f"{h['layer']}.{h['head']}": h["effect"]
        for h in run_json("heads --json", "--text", sentence, "--metric", "ball - car")["heads"]
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
