"""Figures, numbers, reports and animations as files."""

import csv
import json
import shutil
import struct

import pictures
from program import FOLDER, MODELS, header_of, pdf_text, refused, run, run_json


def figures_of_every_kind():
    for view in (["--view", "heads"], ["--view", "head", "--layer", "1", "--head", "2"]):
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"a b.{end}", FOLDER / f"c.{end}"
            run("render", "--text", "The cat sat on the mat.", *view, "-o", a)
            run("render --threads 1", "--text", "The cat sat on the mat.", *view, "-o", b)
            assert a.read_bytes() == b.read_bytes(), f"{end} differs between runs"
            assert a.stat().st_size > 1000
    views = ("lines", "steps", "delta", "lens", "graph", "compare", "model")
    for view in views:
        for end in ("png", "svg", "pdf"):
            a, b = FOLDER / f"{view}.{end}", FOLDER / f"{view} again.{end}"
            for file, threads in ((a, 2), (b, 1)):
                place = [
                    *([] if view in ("lens", "graph") else ["--layer", "1"]),
                    *([] if view == "model" else ["--cell", "5,2"]),
                ]
                run(
                    "render",
                    "--text",
                    "Lily saw a cat. Lily saw a dog.",
                    "--view",
                    view,
                    *place,
                    "-o",
                    file,
                    "--threads",
                    threads,
                )
            assert a.read_bytes() == b.read_bytes(), f"{view}.{end} differs between runs"
            assert a.stat().st_size > 5000
    if shutil.which("pdftotext"):
        text = {view: pdf_text(f"{view}.pdf") for view in views}
        assert "q·k" in text["steps"], text["steps"]
        assert "softmax" in text["steps"], text["steps"]
        assert "Lily" in text["steps"], text["steps"]
        assert "Embeddings before and after" in text["delta"], text["delta"]
        assert "logit" in text["lens"], text["delta"]
        assert "rollout" in text["graph"], text["delta"]
        assert "Masked self-attention" in text["model"]
        assert "4,273,664" in text["model"], text["model"]
    for model, more in (
        ("bert", ["--pair", "the mat"]),
        ("marian", ["--target", "Die"]),
        ("gemma2", []),
        ("t5", ["--target", "x"]),
    ):
        for view in ("lines", "steps", "delta", "graph", "model") + (
            ("lens",) if model != "t5" else ()
        ):
            run(
                "render -o of.svg",
                "--model",
                MODELS / model,
                "--text",
                "the cat",
                *more,
                "--view",
                view,
            )
    run("render --view picture --model MODELS/vit --image MODELS/vit/gray.png -o of.png")
    refused("does not go with", "render --text x --view picture -o no.png")
    refused("--cell", "render --text x --view steps --cell 7,7 -o no.png")
    assert not (FOLDER / "no.png").exists()
    pdf = FOLDER / "t.pdf"
    run(
        "render --view head --width-mm 85",
        "--text",
        "Lily saw 猫 there",
        "-o",
        pdf,
        "--title",
        "Grüße an 猫",
    )
    if shutil.which("pdftotext"):
        text = pdf_text(pdf)
        assert "Lily" in text and "Grüße an 猫" in text and "there" in text, text
    png = FOLDER / "p.png"
    run("render --size 640x360 --dpi 192", "--text", "The cat", "-o", png)
    assert png.read_bytes()[16:24] == (640).to_bytes(4, "big") + (360).to_bytes(4, "big")
    for option in (
        ["--scale", "log"],
        ["--contrast", "row"],
        ["--contrast", "root"],
        ["--mean", "layer"],
        ["--max", "0.1,1.2"],
        ["--queries", "columns"],
        ["--colormap", "viridis"],
        ["--no-labels"],
    ):
        run("render --view head -o o.png", "--text", "The cat", *option)
        assert (FOLDER / "o.png").read_bytes() != png.read_bytes()


def numbers_of_every_view():
    sentence = ("--text", "Lily saw a cat. Lily saw a dog.")
    head = ("--view", "head", "--layer", "1", "--head", "2")
    rows = list(csv.reader(run("render -o - --format csv", *sentence, *head).out.splitlines()))
    tokens = rows[0][1:]
    assert rows[0][0] == "query\\key" and tokens[0] == "Lily" and [r[0] for r in rows[1:]] == tokens
    weights = [[float(v) if v else None for v in r[1:]] for r in rows[1:]]
    for q, row in enumerate(weights):
        assert all((v is None) == (k > q) for k, v in enumerate(row)), "masked cells are empty"
        assert abs(sum(v for v in row if v is not None) - 1) < 1e-5
    table = run_json("render -o - --format json", *sentence, *head)["tables"][0]
    assert table["columns"] == tokens and table["rows_are"] == "query"
    assert all(
        a is None and b is None or abs(a - b) < 1e-7
        for x, y in zip(table["values"], weights)
        for a, b in zip(x, y)
    )
    npy = FOLDER / "w.npy"
    run("render", *sentence, *head, "-o", npy)
    data = npy.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = eval(data[10 : 10 + length])  # the format is a literal
    n = len(tokens)
    assert data[:8] == b"\x93NUMPY\x01\x00", header
    assert (10 + length) % 64 == 0, header
    assert header == {"descr": "<f4", "fortran_order": False, "shape": (n, n)}, header
    assert (
        abs(
            struct.unpack("<f", data[10 + length + 4 * n : 10 + length + 4 * n + 4])[0]
            - weights[1][0]
        )
        < 1e-7
    )
    for view in ("heads", "lines", "steps", "delta", "lens", "graph", "model"):
        for end in ("csv", "tsv", "json", "safetensors"):
            run("render", *sentence, "--view", view, "-o", FOLDER / f"n.{end}")
            assert (FOLDER / f"n.{end}").stat().st_size > 100
        names = set(header_of(FOLDER / "n.safetensors")) - {"__metadata__"}
        assert names == {
            t["name"] for t in json.loads((FOLDER / "n.json").read_text())["tables"]
        }, names
    steps = run_json(
        "render --view steps --layer 1 --head 2 --cell 5,2 -o - --format json", *sentence
    )["tables"][0]
    column = steps["columns"].index("weight")
    assert all(
        abs(row[column] - (weights[5][k] or 0)) < 1e-6 for k, row in enumerate(steps["values"])
    )
    refused(
        "different sizes", "render --text-b Lily --view compare --show next -o no.npy", *sentence
    )
    assert not (FOLDER / "no.npy").exists()


def numbers_hold_what_a_picture_shows():
    """Texts and shares of the logit of the lens, the parts and the plane of ΔE; arrays stay as they
    were."""
    sentence = ("--quiet", "--text", "Lily saw a cat. Lily saw a dog.")
    tables = lambda *view: {
        t["name"]: t
        for t in run_json("render -o - --format json", *sentence, "--view", *view)["tables"]
    }
    lens = tables("lens")
    texts, ids = lens["most probable id"]["texts"], lens["most probable id"]["values"]
    assert [len(row) for row in texts] == [len(row) for row in ids], texts[-1]
    assert any(t.startswith("␣") for t in texts[-1]), texts[-1]
    shares = next(t for name, t in lens.items() if name.startswith("shares of the logit of"))
    assert shares["rows"][-1] == "logit"
    assert shares["columns"][-2:] == ["MLP", "alone"], shares["rows"]
    parts = sum(v for row in shares["values"][:-1] for v in row if v is not None)
    assert abs(parts - shares["values"][-1][-1]) < 1e-3, (parts, shares["values"][-1])
    delta = tables("delta", "--layer", "1", "--cell", "5,2")
    by_head = next(t for name, t in delta.items() if name.startswith("delta by head of"))
    assert by_head["rows"][0] == "1.0" and by_head["columns"] == ["norm", "along delta"], by_head
    length = delta["norm of delta"]["values"][5][1]
    assert abs(sum(row[1] for row in by_head["values"]) - length) < 1e-3, length
    assert len(delta["plane"]["rows"]) == len(delta["norm before"]["rows"])
    assert delta["plane"]["columns"] == ["x 0", "y 0", "x 1", "y 1"]
    assert any(name.startswith("tokens promoted and suppressed of") for name in delta), delta.keys()
    assert any(name.startswith("delta by key") for name in delta), delta.keys()
    csv_text = run("render --view lens -o - --format csv", *sentence).out
    assert csv_text.splitlines()[0].endswith(",value,text")
    for view in ("lens", "delta"):
        run("render -o array.npy", *sentence, "--view", view)
        assert (
            b"'shape': (%d, " % (2 if view == "lens" else 3)
            in (FOLDER / "array.npy").read_bytes()[:128]
        )


def before_and_after_opens_on_the_head_that_moved_most():
    """Not on the ablated one, which keeps its pattern: that says so, and names the heads that
    moved."""

    def words(*more):
        run("render --quiet --view compare --ablate 0.0 -o moved.pdf", *sentence, *more)
        return " ".join(pdf_text("moved.pdf").split())

    if not shutil.which("pdftotext"):
        return
    sentence = ["--text", "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"]
    opened, ablated = words(), words("--layer", "0", "--head", "0")
    for text in (opened, ablated):
        assert "98.9 % → 10.6 % −88.3 points Δ log p −2.23 Δ logit −7.92" in text, text
        assert "An ablated head keeps its pattern; its output is zero." in text, text
    assert "Without 0.0, head 1.0 loses red 16 → ball 4: 0.862 falls to 0.021." in opened, opened
    assert "The pattern of head 0.0 did not change." in ablated, ablated
    assert "Moved most: 1.0 (0.753 bits)" in ablated, ablated


def what_rounding_does_is_no_difference():
    """Two runs that are alike have no scale, no bars and no largest differences; small ones are
    told from 0."""

    def words(*other):
        run(
            "render --quiet --view compare --layer 1 --head 2 -o same.pdf",
            "--text",
            "Lily saw a cat.",
            *other,
        )
        return pdf_text("same.pdf")

    if not shutil.which("pdftotext"):
        return
    alike, apart = words("--text-b", "Lily saw a cat."), words("--text-b", "Lily saw a dog.")
    assert "no difference" in alike, alike
    assert "No difference" in alike, alike
    assert "Largest differences" not in alike, alike
    assert "no difference" not in apart, apart
    assert "Largest differences" in apart, apart
    assert "-0." not in apart, apart


def heads_share_and_flow_of_a_graph():
    sentence = ("--quiet", "--text", "Lily saw a cat. Lily saw a dog.")
    pictures = {}
    for name, more in {
        "rollout": [],
        "flow": ["--origins", "flow"],
        "share": ["--share", "99"],
        "heads": ["--heads", "0.0,1.2"],
    }.items():
        for view, layer in (("graph", []), ("lines", ["--layer", "1"])):
            if (view, name) != ("lines", "flow"):
                run("render -o g.svg", *sentence, "--view", view, *layer, *more)
                pictures[view, name] = (FOLDER / "g.svg").read_bytes()
    assert len({pictures["graph", name] for name in ("rollout", "flow", "share", "heads")}) == 4
    assert len({pictures["lines", name] for name in ("rollout", "share", "heads")}) == 3
    refused(
        "--origins does not act on --view lines",
        "render --view lines --origins flow -o g.svg",
        *sentence,
    )
    refused("--heads", "render --view graph --heads 9.9 -o g.svg", *sentence)
    run("render --view graph --share 0 -o g.svg", *sentence, status=2)


def parts_of_a_character_are_named():
    """Tokens that are bytes show the character that they belong to, or else the byte."""
    labels = lambda *text: (
        run("render --quiet --view head --format csv -o -", *text)
        .out.splitlines()[0]
        .split(",")[1:]
    )
    parts = [label for label in labels("--text", "own 天") if "天" in label]
    assert parts == ["天 1/3", "天 2/3", "天 3/3"], parts
    alone = [
        line.split(",")[0]
        for line in run(
            "render --quiet --view head --format csv -o -", "--text", "own 天"
        ).out.splitlines()
    ]
    assert "Byte" not in alone, alone


def styles_and_presets():
    head = (
        "--text",
        "Lily had an unbelievable catfish.",
        "--view",
        "head",
        "--layer",
        "1",
        "--head",
        "2",
    )
    run("render --preset column -o column.png", *head)
    chunks = dict(pictures.chunks((FOLDER / "column.png").read_bytes()))
    assert struct.unpack(">I", chunks["IHDR"][:4])[0] == round(85 / 25.4 * 300)
    assert struct.unpack(">I", chunks["pHYs"][:4])[0] == round(300 / 0.0254)
    run("render --preset column --width-mm 40 -o narrow.png", *head)
    assert struct.unpack(
        ">I", dict(pictures.chunks((FOLDER / "narrow.png").read_bytes()))["IHDR"][:4]
    )[0] == round(40 / 25.4 * 300), "what is said beside a preset wins"
    preset = FOLDER / "mine é.json"
    preset.write_text(
        json.dumps(
            {
                "format": "headlight-figure",
                "version": 1,
                "join-words": True,
                "values": True,
                "title": "",
                "caption": "Words.",
            }
        )
    )
    a, b = FOLDER / "a.svg", FOLDER / "b.svg"
    run("render", *head, "--preset", preset, "-o", a)
    run("render --join-words --values --caption Words.", *head, "--title", "", "-o", b)
    assert a.read_bytes() == b.read_bytes()
    if shutil.which("pdftotext"):
        run("render -o w.pdf", *head, "--preset", preset)
        text = pdf_text("w.pdf")
        assert "unbelievable" in text, text
        assert "Words." in text, text
        assert "1.00" in text, text
        assert "Head" not in text, text
    run(
        "render --view heads --only-heads 1.2,3.0 -o two.svg",
        "--text",
        "Lily had an unbelievable catfish.",
    )
    run("render --transparent -o clear.png", *head)
    assert dict(pictures.chunks((FOLDER / "clear.png").read_bytes()))["IHDR"][9] == 6, (
        "with an alpha channel"
    )
    for bad in (
        ["--preset", "nowhere"],
        ["--tokens", "99"],
        ["--tokens", "x"],
        ["--only-heads", "9.9"],
    ):
        run(
            "render -o no.png",
            *head[:2],
            "--view",
            "heads" if bad[0] == "--only-heads" else "head",
            *bad,
            status=1,
        )
    run("render --width-mm 2 -o no.png", *head, status=2)
    for view in ("steps", "delta", "graph"):
        run(
            "render --preset double-column -o v.pdf",
            *head[:2],
            "--view",
            view,
            "--caption",
            "A caption.",
        )


def heads_stand_in_a_panel():
    """Rows of heads, as ; or --columns break them, with one color bar."""
    text = ("--text", "Lily had a red ball. Lily had a")
    for out in ("panel.svg", "panel.pdf", "panel.png"):
        run("render --panel 0.1,1.2;2.3,3.0 --width-mm 178 -o", FOLDER / out, *text)
        assert (FOLDER / out).stat().st_size > 5000
    broken = FOLDER / "broken.svg"
    run("render --panel 0.1,1.2,2.3,3.0 --columns 2 --width-mm 178 -o", broken, *text)
    assert broken.read_bytes() == (FOLDER / "panel.svg").read_bytes()
    one = FOLDER / "one.svg"
    run("render --panel 0.1 --width-mm 178 --no-color-bar -o", one, *text)
    assert one.read_bytes() != broken.read_bytes()
    refused("one head, not with --panel", "render --panel 0.1 --head 1.2 -o x.svg", *text)
    refused("There is no head", "render --panel 0.1,9.9 -o x.svg", *text)
    refused("names no head", "render --panel 0.1;; -o x.svg", *text)
    refused("several", "render --panel 0.1;1.2 --columns 2 -o x.svg", *text)
    refused("as high as its rows", "render --panel 0.1 --size 300x300 -o x.svg", *text)
    refused("--panel", "render --panel 0.1 -o x.csv", *text)
