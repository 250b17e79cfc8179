"""The stations of Learn as figures and as numbers."""

import json
import math
import shutil

from program import FOLDER, TESTS, pdf_text, refused, run


def stations_are_listed_key_first():
    lines = run("learn --list").out.splitlines()
    keys = [line.split()[0] for line in lines]
    assert "positions" in keys and len(set(keys)) == len(keys), lines
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines), lines


def every_station_is_drawn_without_further_words():
    for key in (line.split()[0] for line in run("learn --list").out.splitlines()):
        for end in (
            ("png", "svg", "pdf")
            if key in ("worked-example", "positions", "pictures")
            else ("png",)
        ):
            a, b = FOLDER / f"{key}.{end}", FOLDER / f"{key} again.{end}"
            for file, threads in ((a, 2), (b, 1)):
                run("learn", "--station", key, "-o", file, "--threads", threads)
            assert a.read_bytes() == b.read_bytes(), f"{key}.{end} differs between runs"
            assert a.stat().st_size > 2000
        run("learn", "--station", key, "-o", FOLDER / f"{key}.json")
        tables = json.loads((FOLDER / f"{key}.json").read_text())["tables"]
        assert tables and len({t["name"] for t in tables}) == len(tables), key


def positions_as_numbers():
    file = FOLDER / "positions.json"
    run(
        "learn --station positions --set width=2 --set count=8", "--text", "The cat sat", "-o", file
    )
    tables = {t["name"]: t for t in json.loads(file.read_text())["tables"]}
    vectors = tables["A vector for each position"]
    assert vectors["rows"][:3] == ["0 The", "1 cat", "2 sat"], vectors["rows"]
    for p, (sine, cosine) in enumerate(vectors["values"]):
        assert math.isclose(sine, math.sin(p), abs_tol=1e-6), p
        assert math.isclose(cosine, math.cos(p), abs_tol=1e-6), p
    between = tables["Dot product of two positions"]["values"]
    assert all(
        math.isclose(between[i][j], math.cos(i - j), abs_tol=1e-5)
        for i in range(8)
        for j in range(8)
    )


def a_station_page_is_text_where_it_is_vectors():
    file = FOLDER / "station.pdf"
    run("learn --station positions --width-mm 178", "--text", "Grüße an 猫", "-o", file)
    if shutil.which("pdftotext"):
        text = pdf_text(file)
        text = " ".join(text.split())
        assert "Positions" in text, text
        assert "sines, then cosines" in text, text
        assert "Dot product of two positions" in text, text


def what_a_station_cannot_do_is_said():
    out = ("-o", FOLDER / "none.png")
    refused("wisdom", "learn --station wisdom", *out, status=2)
    for wrong, said in (
        ("width=1", "2 to 256"),
        ("width=x", "2 to 256"),
        ("depth=3", "width, count, base"),
        ("width", "KEY=VALUE"),
    ):
        refused(said, "learn --station positions", "--set", wrong, *out)
    refused("--head", "learn --station positions --head 99", *out)
    assert not (FOLDER / "none.png").exists()


def a_picture_is_drawn_in_patches_without_a_vision_model():
    out, picture = FOLDER / "patches.json", TESTS / "golden" / "head.png"
    for options, numbers in (((), 192), (("--model", "stories", "--image", picture), 768)):
        run("learn --station pictures", *options, "-o", out)
        tables = {t["name"]: t for t in json.loads(out.read_text())["tables"]}
        assert tables["A picture as a text"]["values"][1] == [numbers], tables
        assert ("What it sees" in tables) == (not options), "the built-in model reads its scene"
    run("learn --station pictures --model MODELS/vit", "-o", out)
    names = [t["name"] for t in json.loads(out.read_text())["tables"]]
    assert any("looks at" in name for name in names), names
    refused("none.png", "learn --station pictures --image none.png", "-o", out)


def positions_are_switched_off_and_shuffled():
    text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    for change in ("positions:off", "positions:shuffle:7"):
        out = FOLDER / "changed.safetensors"
        run("trace --capture logits", "--text", text, "--change", change, "-o", out)
        assert change.encode() in out.read_bytes()
    refused("shuffle:SEED", "trace --change positions:on", "--text", text, "-o", out)


def counts_are_exact_in_every_file():
    for end in ("json", "csv", "tsv"):
        file = FOLDER / f"counts.{end}"
        run("learn --station parameters", "-o", file)
        text = file.read_text()
        for count in ("1572864", "6291456", "603979776", "57982058496", "175181291520"):
            assert count in text, (end, count)


def a_word_is_followed_in_numbers():
    file = FOLDER / "follow.json"
    run("learn --station follow -o", file)
    tables = {t["name"]: t for t in json.loads(file.read_text())["tables"]}
    thread = tables["thread"]
    assert len(thread["rows"]) == 16, thread["rows"]
    weights = dict(zip(tables["7 softmax"]["rows"], tables["7 softmax"]["values"]))["weight"]
    assert math.isclose(sum(weights), 1, abs_tol=1e-5), weights
    bars = dict(zip(tables["16 hide it"]["rows"], (v[0] for v in tables["16 hide it"]["values"])))
    assert bars["both hidden"] < bars["both seen"] / 2, bars
    shown = tables["4 q and k"]
    q = shown["values"][0]
    for row, k in zip(shown["rows"][1:], shown["values"][1:]):
        place = int(row.split()[1])
        score = sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q))
        assert math.isclose(score, tables["6 scale, mask"]["values"][0][place], abs_tol=1e-4), row


def each_step_is_its_own_picture():
    drawn = set()
    for step in (1, 4, 7, 9, 12, 14, 16):
        file = FOLDER / f"follow {step}.png"
        run("learn --station follow --set", f"step={step}", "-o", file)
        drawn.add(file.read_bytes())
    assert len(drawn) == 7
    refused("1 to 16", "learn --station follow --set step=17 -o", FOLDER / "none.png")
