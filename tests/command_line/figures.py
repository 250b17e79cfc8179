"""Figures, numbers, reports and animations as files."""
import csv
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

from program import FOLDER, MODELS, TESTS, header_of, run
import pictures


def figures_of_every_kind():
    for view in (["--view", "heads"], ["--view", "head", "--layer", "1", "--head", "2"]):
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"a b.{end}", FOLDER / f"c.{end}"
            run("render", "--text", "The cat sat on the mat.", *view, "-o", a)
            run("render", "--text", "The cat sat on the mat.", *view, "-o", b, "--threads", "1")
            assert a.read_bytes() == b.read_bytes() and a.stat().st_size > 1000, f"{end} differs between runs"
    views = ("lines", "steps", "delta", "lens", "graph", "compare", "model")
    for view in views:
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"{view}.{end}", FOLDER / f"{view} again.{end}"
            for file, threads in ((a, 2), (b, 1)):
                place = [*([] if view in ("lens", "graph") else ["--layer", "1"]), *([] if view == "model" else ["--cell", "5,2"])]
                run("render", "--text", "Lily saw a cat. Lily saw a dog.", "--view", view, *place, "-o", file, "--threads", threads)
            assert a.read_bytes() == b.read_bytes() and a.stat().st_size > 5000, f"{view}.{end} differs between runs"
    if shutil.which("pdftotext"):
        text = {view: subprocess.run(["pdftotext", FOLDER / f"{view}.pdf", "-"], capture_output=True, text=True).stdout for view in views}
        assert "q·k" in text["steps"] and "softmax" in text["steps"] and "Lily" in text["steps"], text["steps"]
        assert "Embeddings before and after" in text["delta"] and "logit" in text["lens"] and "rollout" in text["graph"], text["delta"]
        assert "Masked self-attention" in text["model"] and "4,273,664" in text["model"], text["model"]
    for model, more in (("bert", ["--pair", "the mat"]), ("marian", ["--target", "Die"]), ("gemma2", []), ("t5", ["--target", "x"])):
        for view in ("lines", "steps", "delta", "graph", "model") + (("lens",) if model != "t5" else ()):
            run("render", "--model", MODELS / model, "--text", "the cat", *more, "--view", view, "-o", FOLDER / "of.svg")
    run("render", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", "--view", "picture", "-o", FOLDER / "of.png")
    assert "does not go with" in run("render", "--text", "x", "--view", "picture", "-o", FOLDER / "no.png", status=1).err
    assert "--cell" in run("render", "--text", "x", "--view", "steps", "--cell", "7,7", "-o", FOLDER / "no.png", status=1).err
    assert not (FOLDER / "no.png").exists()
    pdf = FOLDER / "t.pdf"
    run("render", "--text", "Lily saw 猫 there", "--view", "head", "-o", pdf, "--width-mm", "85", "--title", "Grüße an 猫")
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True).stdout
        assert "Lily" in text and "Grüße an 猫" in text and "there" in text, text
    png = FOLDER / "p.png"
    run("render", "--text", "The cat", "-o", png, "--size", "640x360", "--dpi", "192")
    assert png.read_bytes()[16:24] == (640).to_bytes(4, "big") + (360).to_bytes(4, "big")
    for option in (["--scale", "log"], ["--contrast", "row"], ["--contrast", "root"], ["--mean", "layer"], ["--max", "0.1,1.2"], ["--queries", "columns"], ["--colormap", "viridis"], ["--no-labels"]):
        run("render", "--text", "The cat", "--view", "head", "-o", FOLDER / "o.png", *option)
        assert (FOLDER / "o.png").read_bytes() != png.read_bytes()


def numbers_of_every_view():
    sentence = ("--text", "Lily saw a cat. Lily saw a dog.")
    head = ("--view", "head", "--layer", "1", "--head", "2")
    rows = list(csv.reader(run("render", *sentence, *head, "-o", "-", "--format", "csv").out.splitlines()))
    tokens = rows[0][1:]
    assert rows[0][0] == "query\\key" and tokens[0] == "Lily" and [r[0] for r in rows[1:]] == tokens
    weights = [[float(v) if v else None for v in r[1:]] for r in rows[1:]]
    for q, row in enumerate(weights):
        assert all((v is None) == (k > q) for k, v in enumerate(row)), "masked cells are empty"
        assert abs(sum(v for v in row if v is not None) - 1) < 1e-5
    table = json.loads(run("render", *sentence, *head, "-o", "-", "--format", "json").out)["tables"][0]
    assert table["columns"] == tokens and table["rows_are"] == "query"
    assert all(a is None and b is None or abs(a - b) < 1e-7 for x, y in zip(table["values"], weights) for a, b in zip(x, y))
    npy = FOLDER / "w.npy"
    run("render", *sentence, *head, "-o", npy)
    data = npy.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = eval(data[10:10 + length])  # the format is a literal
    n = len(tokens)
    assert data[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0 and header == {"descr": "<f4", "fortran_order": False, "shape": (n, n)}, header
    assert abs(struct.unpack("<f", data[10 + length + 4 * n:10 + length + 4 * n + 4])[0] - weights[1][0]) < 1e-7
    for view in ("heads", "lines", "steps", "delta", "lens", "graph", "model"):
        for end in ("csv", "tsv", "json", "safetensors"):
            run("render", *sentence, "--view", view, "-o", FOLDER / f"n.{end}")
            assert (FOLDER / f"n.{end}").stat().st_size > 100
        names = set(header_of(FOLDER / "n.safetensors")) - {"__metadata__"}
        assert names == {t["name"] for t in json.loads((FOLDER / "n.json").read_text())["tables"]}, names
    steps = json.loads(run("render", *sentence, "--view", "steps", "--layer", "1", "--head", "2", "--cell", "5,2", "-o", "-", "--format", "json").out)["tables"][0]
    column = steps["columns"].index("weight")
    assert all(abs(row[column] - (weights[5][k] or 0)) < 1e-6 for k, row in enumerate(steps["values"]))
    assert "different sizes" in run("render", *sentence, "--text-b", "Lily", "--view", "compare", "--show", "next", "-o", FOLDER / "no.npy", status=1).err
    assert not (FOLDER / "no.npy").exists()


def numbers_hold_what_a_picture_shows():
    """Texts and shares of the logit of the lens, the parts and the plane of ΔE; arrays stay as they were."""
    sentence = ("--quiet", "--text", "Lily saw a cat. Lily saw a dog.")
    tables = lambda *view: {t["name"]: t for t in json.loads(run("render", *sentence, "--view", *view, "-o", "-", "--format", "json").out)["tables"]}
    lens = tables("lens")
    texts, ids = lens["most probable id"]["texts"], lens["most probable id"]["values"]
    assert [len(row) for row in texts] == [len(row) for row in ids] and any(t.startswith("␣") for t in texts[-1]), texts[-1]
    shares = next(t for name, t in lens.items() if name.startswith("shares of the logit of"))
    assert shares["rows"][-1] == "logit" and shares["columns"][-2:] == ["MLP", "alone"], shares["rows"]
    parts = sum(v for row in shares["values"][:-1] for v in row if v is not None)
    assert abs(parts - shares["values"][-1][-1]) < 1e-3, (parts, shares["values"][-1])
    delta = tables("delta", "--layer", "1", "--cell", "5,2")
    by_head = next(t for name, t in delta.items() if name.startswith("delta by head of"))
    assert by_head["rows"][0] == "1.0" and by_head["columns"] == ["norm", "along delta"], by_head
    length = delta["norm of delta"]["values"][5][1]
    assert abs(sum(row[1] for row in by_head["values"]) - length) < 1e-3, length
    assert len(delta["plane"]["rows"]) == len(delta["norm before"]["rows"]) and delta["plane"]["columns"] == ["x 0", "y 0", "x 1", "y 1"]
    assert any(name.startswith("tokens promoted and suppressed of") for name in delta) and any(name.startswith("delta by key") for name in delta), delta.keys()
    csv_text = run("render", *sentence, "--view", "lens", "-o", "-", "--format", "csv").out
    assert csv_text.splitlines()[0].endswith(",value,text")
    for view in ("lens", "delta"):
        run("render", *sentence, "--view", view, "-o", FOLDER / "array.npy")
        assert b"'shape': (%d, " % (2 if view == "lens" else 3) in (FOLDER / "array.npy").read_bytes()[:128]


def what_rounding_does_is_no_difference():
    """Two runs that are alike have no scale, no bars and no largest differences; small ones are told from 0."""
    def words(*other):
        run("render", "--quiet", "--text", "Lily saw a cat.", *other, "--view", "compare", "--layer", "1", "--head", "2", "-o", FOLDER / "same.pdf")
        return subprocess.run(["pdftotext", FOLDER / "same.pdf", "-"], capture_output=True, text=True).stdout
    if not shutil.which("pdftotext"):
        return
    alike, apart = words("--text-b", "Lily saw a cat."), words("--text-b", "Lily saw a dog.")
    assert "no difference" in alike and "No difference" in alike and "Largest differences" not in alike, alike
    assert "no difference" not in apart and "Largest differences" in apart and "-0." not in apart, apart


def heads_share_and_flow_of_a_graph():
    sentence = ("--quiet", "--text", "Lily saw a cat. Lily saw a dog.")
    pictures = {}
    for name, more in {"rollout": [], "flow": ["--flow"], "share": ["--share", "99"], "heads": ["--heads", "0.0,1.2"]}.items():
        for view, layer in (("graph", []), ("lines", ["--layer", "1"])):
            if (view, name) != ("lines", "flow"):
                run("render", *sentence, "--view", view, *layer, *more, "-o", FOLDER / "g.svg")
                pictures[view, name] = (FOLDER / "g.svg").read_bytes()
    assert len({pictures["graph", name] for name in ("rollout", "flow", "share", "heads")}) == 4
    assert len({pictures["lines", name] for name in ("rollout", "share", "heads")}) == 3
    assert "--flow does not act on --view lines" in run("render", *sentence, "--view", "lines", "--flow", "-o", FOLDER / "g.svg", status=1).err
    assert "--heads" in run("render", *sentence, "--view", "graph", "--heads", "9.9", "-o", FOLDER / "g.svg", status=1).err
    run("render", *sentence, "--view", "graph", "--share", "0", "-o", FOLDER / "g.svg", status=2)


def parts_of_a_character_are_named():
    """Tokens that are bytes show the character that they belong to, or else the byte."""
    labels = lambda *text: run("render", "--quiet", "--view", "head", *text, "--format", "csv", "-o", "-").out.splitlines()[0].split(",")[1:]
    parts = [label for label in labels("--text", "own 天") if "天" in label]
    assert parts == ["天 1/3", "天 2/3", "天 3/3"], parts
    alone = [line.split(",")[0] for line in run("render", "--quiet", "--view", "head", "--text", "own 天", "--format", "csv", "-o", "-").out.splitlines()]
    assert "Byte" not in alone, alone


def browser(page, more=()):
    """The page after its scripts ran, as a real browser has it."""
    with tempfile.TemporaryDirectory() as home:
        r = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"--user-data-dir={home}", *more, page.as_uri()], capture_output=True, text=True, timeout=110)
    return r.stdout


def reports_are_read_anywhere():
    sentence = "Lily <had> a \"red\" ball & Tom had a blue ball . Lily <had> a"
    page, again = FOLDER / "report é.html", FOLDER / "again.html"
    for file, threads in ((page, 2), (again, 1)):
        run("report", "--text", sentence, "-o", file, "--title", "<A & B>", "--threads", threads)
    html = page.read_text(encoding="utf-8")
    assert page.read_bytes() == again.read_bytes()
    assert html.count("<svg") == html.count("</svg>") == 5 and html.count("<tr>") >= 32 and "&lt;A &amp; B&gt;" in html and "<had>" not in html
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", html) and "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", html), "nothing is fetched"
    names = re.findall(r'id="([^"]+)"', html)
    assert len(names) == len(set(names)) and set(re.findall(r'(?:href="|url\()#([^")]+)', html)) <= set(names), "each figure's parts are its own"
    changed = FOLDER / "changed.html"
    run("report", "--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red", "--heads", "1.2,3.0", "--change", "forbid:16>3-10", "-o", changed)
    html = changed.read_text(encoding="utf-8")
    assert "mask:16&gt;3-10" in html and "before" in html and html.count("<svg") == 3 and "Head 3.0" in html
    run("report", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die", "-o", FOLDER / "marian.html")
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    effects = {f"{h['layer']}.{h['head']}": h["effect"] for h in json.loads(run("heads", "--text", sentence, "--metric", "ball - car", "--json").out)}
    run("report", "--text", sentence, "--metric", "ball - car", "-o", changed)
    html = changed.read_text(encoding="utf-8")
    said = dict(re.findall(r"<tr><td>(\d\.\d)</td>.*<td data-value=\"([^\"]*)\">[^<]*</td></tr>", html))
    assert len(said) == len(effects) == 32 and all(abs(float(said[head]) - effect) < 1e-4 for head, effect in effects.items())
    assert any(float(value) < 0 for value in said.values()), "what the page sorts by is read by its script"
    assert f"Head {max(effects, key=lambda head: abs(effects[head]))}" in html and "ball − car at position 16" in html
    run("report", "--text", "x", "--heads", "9.9", "-o", FOLDER / "no.html", status=1)
    assert not (FOLDER / "no.html").exists()
    if not shutil.which("chromium"):
        print("     chromium is not installed: the page was not opened in a browser")
        return
    probe = FOLDER / "probe.html"
    click = "document.querySelectorAll('th[data-sorts]')[0].click(); document.title = 'sorted ' + [...document.querySelectorAll('th[data-sorts]')[0].closest('table').tBodies[0].rows].map(r => r.cells[1].dataset.value).join(' ') + ' boxes ' + [...document.querySelectorAll('svg')].map(s => Math.round(s.getBoundingClientRect().height)).join(' ')"
    probe.write_text(page.read_text(encoding="utf-8").replace("</body>", f"<script>{click}</script></body>"), encoding="utf-8")
    title = re.search("<title>(.*?)</title>", browser(probe)).group(1)
    values = [float(v) for v in title.split(" boxes ")[0].split()[1:]]
    assert len(values) == 32 and values == sorted(values, reverse=True), title
    assert all(int(h) > 100 for h in title.split(" boxes ")[1].split()), "every figure takes room"


def figures_open_elsewhere():
    svg, png = FOLDER / "f.svg", FOLDER / "f.png"
    for view in (["--view", "head", "--layer", "1", "--head", "2"], ["--view", "heads"], ["--view", "steps"], ["--view", "compare", "--with", "3.2"]):
        run("render", "--text", "Lily saw 猫 there & Tom <ran>", *view, "-o", svg)
        if shutil.which("rsvg-convert"):
            subprocess.run(["rsvg-convert", svg, "-o", png], check=True, timeout=60)
            assert png.stat().st_size > 2000
        if shutil.which("chromium") and view[1] == "head":
            assert "<path" in browser(svg)


def many_pictures_at_once():
    sentences = FOLDER / "sentences.txt"
    sentences.write_text("".join(f"Lily had {i} red balls.\n\n" for i in range(12)))
    for threads in (1, 2):
        (FOLDER / f"many{threads}").mkdir()
        run("render", "--text-file", sentences, "--view", "head", "-o", FOLDER / f"many{threads}/a b.svg", "--threads", threads)
    names = sorted(p.name for p in (FOLDER / "many1").iterdir())
    assert names == [f"a b-{i:02}.svg" for i in range(1, 13)], names
    assert all((FOLDER / "many1" / n).read_bytes() == (FOLDER / "many2" / n).read_bytes() for n in names), "threads change nothing"
    run("render", "--text", "Lily had 4 red balls.", "--view", "head", "-o", FOLDER / "alone.svg")
    assert (FOLDER / "alone.svg").read_bytes() == (FOLDER / "many1/a b-05.svg").read_bytes()
    run("render", "--text-file", "-", "--view", "head", "-o", FOLDER / "stdin.png", text_in=b"one line\n")
    assert (FOLDER / "stdin.png").exists()
    (FOLDER / "each").mkdir()
    run("render", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die", "--view", "head", "--all-heads", "-o", FOLDER / "each/h.png")
    assert len(list((FOLDER / "each").iterdir())) == 24 and (FOLDER / "each/h-cross.0.3.png").exists()
    assert run("render", "--text", "x", "-o", "-").stdout[:4] == b"\x89PNG"
    for bad in (["--text-file", sentences, "-o", "-"], ["--text", "x", "--view", "head", "--all-heads", "-o", "-"]):
        assert "standard output" in run("render", *bad, status=1).err
    long = FOLDER / "long.txt"
    long.write_text("fine\n" + "the cat sat " * 400 + "\nfine\n")
    run("render", "--text-file", long, "-o", FOLDER / "of.png")


def animations():
    """Frames, their order and checksums as the format asks; every frame's pixels unpack to the page's size."""
    for more, frames in ((["--animate", "layers"], 4), (["--animate", "tokens"], 4), (["--animate", "tokens", "--generate", "3", "--delay", "250"], 7)):
        png = FOLDER / "animated.png"
        run("render", "--text", "Once upon a time", "--view", "head", "--layer", "1", "--head", "2", *more, "-o", png)
        chunks = pictures.chunks(png.read_bytes())
        kinds = [kind for kind, _ in chunks]
        assert kinds[:3] == ["IHDR", "acTL", "pHYs"] and kinds[-1] == "IEND" and kinds.count("fcTL") == frames and kinds.count("IDAT") == 1, kinds
        width, height = struct.unpack(">II", chunks[0][1][:8])
        assert struct.unpack(">II", chunks[1][1]) == (frames, 0)
        numbers = [int.from_bytes(data[:4], "big") for kind, data in chunks if kind in ("fcTL", "fdAT")]
        assert numbers == list(range(2 * frames - 1)), numbers
        for kind, data in chunks:
            if kind in ("IDAT", "fdAT"):
                assert len(zlib.decompress(data[4:] if kind == "fdAT" else data)) == height * (1 + 3 * width)
            if kind == "fcTL":
                assert struct.unpack(">II", data[4:12]) == (width, height) and struct.unpack(">HH", data[20:24]) == (250 if "--delay" in more else 700, 1000)
    again = FOLDER / "animated again.png"
    run("render", "--text", "Once upon a time", "--view", "head", "--layer", "1", "--head", "2", *more, "-o", again, "--threads", "1")
    assert again.read_bytes() == png.read_bytes()
    (FOLDER / "frames").mkdir()
    run("render", "--text", "Once upon a time", "--view", "lines", "--animate", "layers", "--numbered", "-o", FOLDER / "frames/f.svg")
    assert sorted(p.name for p in (FOLDER / "frames").iterdir()) == [f"f-{i}.svg" for i in range(1, 5)]
    run("render", "--model", MODELS / "marian", "--text", "the cat", "--target", "Die Katze", "--view", "head", "--layer", "cross.0", "--animate", "tokens", "-o", again)
    run("render", "--text", "x", "--animate", "layers", "-o", FOLDER / "no.svg", status=1)
    run("render", "--model", MODELS / "bert", "--text", "x", "--animate", "tokens", "--generate", "2", "-o", FOLDER / "no.png", status=1)
    assert not (FOLDER / "no.svg").exists() and not (FOLDER / "no.png").exists()


def styles_and_presets():
    head = ("--text", "Lily had an unbelievable catfish.", "--view", "head", "--layer", "1", "--head", "2")
    run("render", *head, "--preset", "column", "-o", FOLDER / "column.png")
    chunks = dict(pictures.chunks((FOLDER / "column.png").read_bytes()))
    assert struct.unpack(">I", chunks["IHDR"][:4])[0] == round(85 / 25.4 * 300) and struct.unpack(">I", chunks["pHYs"][:4])[0] == round(300 / 0.0254)
    run("render", *head, "--preset", "column", "--width-mm", "40", "-o", FOLDER / "narrow.png")
    assert struct.unpack(">I", dict(pictures.chunks((FOLDER / "narrow.png").read_bytes()))["IHDR"][:4])[0] == round(40 / 25.4 * 300), "what is said beside a preset wins"
    preset = FOLDER / "mine é.json"
    preset.write_text(json.dumps({"format": "headlight-figure", "version": 1, "join-words": True, "values": True, "title": "", "caption": "Words."}))
    a, b = FOLDER / "a.svg", FOLDER / "b.svg"
    run("render", *head, "--preset", preset, "-o", a)
    run("render", *head, "--join-words", "--values", "--title", "", "--caption", "Words.", "-o", b)
    assert a.read_bytes() == b.read_bytes()
    if shutil.which("pdftotext"):
        run("render", *head, "--preset", preset, "-o", FOLDER / "w.pdf")
        text = subprocess.run(["pdftotext", FOLDER / "w.pdf", "-"], capture_output=True, text=True).stdout
        assert "unbelievable" in text and "Words." in text and "1.00" in text and "Head" not in text, text
    run("render", "--text", "Lily had an unbelievable catfish.", "--view", "heads", "--only-heads", "1.2,3.0", "-o", FOLDER / "two.svg")
    run("render", *head, "--transparent", "-o", FOLDER / "clear.png")
    assert dict(pictures.chunks((FOLDER / "clear.png").read_bytes()))["IHDR"][9] == 6, "with an alpha channel"
    for bad in (["--preset", "nowhere"], ["--tokens", "99"], ["--tokens", "x"], ["--only-heads", "9.9"]):
        run("render", *head[:2], "--view", "heads" if bad[0] == "--only-heads" else "head", *bad, "-o", FOLDER / "no.png", status=1)
    run("render", *head, "--width-mm", "2", "-o", FOLDER / "no.png", status=2)
    for view in ("steps", "delta", "graph"):
        run("render", *head[:2], "--view", view, "--preset", "double-column", "--caption", "A caption.", "-o", FOLDER / "v.pdf")
