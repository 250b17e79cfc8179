"""heads --corpus: every head over many texts."""

import json
import math
import statistics

from program import FOLDER, refused, run, run_json

TEXTS = [
    "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
    "Once upon a time there were 3 unbelievable dogs.",
    "The cat sat on the mat. The cat",
]


def heads_over_a_corpus():
    """Means and spreads are those of the texts one by one; the strongest pair is the heaviest cell
    that stands in a figure's numbers."""
    corpus = FOLDER / "texts of a corpus.txt"
    corpus.write_text("\n\n".join(TEXTS) + "\r\n")
    found = run_json("heads --json", "--corpus", corpus)
    alone = [run_json("heads --json", "--text", text)["heads"] for text in TEXTS]
    assert found["texts"] == 3 and len(found["heads"]) == len(alone[0]) == 32
    for i, head in enumerate(found["heads"]):
        for key, spread in head["statistics"].items():
            values = [rows[i][key] for rows in alone if rows[i][key] is not None]
            assert spread["texts"] == len(values)
            if values:
                assert math.isclose(
                    spread["mean"], statistics.mean(values), rel_tol=1e-5, abs_tol=1e-6
                ), (i, key)
            if len(values) > 1:
                assert math.isclose(
                    spread["deviation"], statistics.stdev(values), rel_tol=1e-3, abs_tol=1e-5
                ), (i, key)
        for kind, row in head["links"].items():
            shares = [x for x in row.values() if x is not None]
            assert not shares or abs(sum(shares) - 1) < 1e-4, (i, kind)
        weights = [pair["weight"] for pair in head["strongest"]]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) == 12
        assert all(pair["key_position"] > 0 for pair in head["strongest"])
        assert len({(pair["query"], pair["key"]) for pair in head["strongest"]}) >= 11, (
            "each pair of tokens once (two may look alike)"
        )
    heaviest = 0
    for line, text in zip((1, 3, 5), TEXTS):
        run("render --view head --layer 1 --head 2 -o cells.json", "--text", text)
        cells = json.loads((FOLDER / "cells.json").read_text())["tables"][0]["values"]
        best = max(
            (cell or 0, q, k) for q, row in enumerate(cells) for k, cell in enumerate(row) if k > 0
        )
        heaviest = max(heaviest, best[0])
        for pair in found["heads"][10]["strongest"]:
            if pair["line"] == line:
                assert (
                    abs(cells[pair["query_position"]][pair["key_position"]] - pair["weight"]) < 1e-5
                )
                assert pair["text"] == text
    assert found["heads"][10]["head"] == "1.2"
    assert abs(found["heads"][10]["strongest"][0]["weight"] - heaviest) < 1e-5


def parts_of_a_corpus_add_up_to_the_whole():
    """Sums as doubles that add up exactly; lines of JSON hold line breaks; numbers of lines are
    those of the whole."""
    whole = run_json(
        "heads --corpus -.jsonl --json --sums",
        text_in="\n".join(json.dumps(text) for text in TEXTS).encode(),
    )
    parts = [
        run_json(
            "heads --corpus - --json --sums",
            "--first-line",
            first,
            text_in="\n".join(texts).encode(),
        )
        for first, texts in ((1, TEXTS[:2]), (3, TEXTS[2:]))
    ]
    assert whole["tokens"] == sum(part["tokens"] for part in parts)
    assert any(pair["line"] == 3 for head in parts[1]["heads"] for pair in head["strongest"])
    for head, a, b in zip(whole["heads"], *(part["heads"] for part in parts)):
        for key, spread in head["statistics"].items():
            said = [part["sums"]["statistics"][key] for part in (a, b)]
            total, squares = (
                math.fsum(x for part in said for x in part[name]) for name in ("sum", "squares")
            )
            count = sum(part["statistics"][key]["texts"] for part in (a, b))
            assert spread["texts"] == count
            assert spread["mean"] == (total / count if count else None), "to the last bit"
            assert spread["deviation"] == (
                math.sqrt(max(0.0, (squares - total * total / count) / (count - 1)))
                if count > 1
                else None
            )
        for kind, row in head["sums"]["weights"].items():
            assert head["sums"]["queries"][kind] == sum(
                part["sums"]["queries"][kind] for part in (a, b)
            )
            for to, weight in row.items():
                assert math.fsum(weight) == math.fsum(
                    x for part in (a, b) for x in part["sums"]["weights"][kind][to]
                )
        assert len(head["sums"]["ids"]) == len(head["strongest"])
        assert len({tuple(pair) for pair in head["sums"]["ids"]}) == 12
    objects = FOLDER / "objects.jsonl"
    objects.write_text(
        json.dumps({"id": 7, "text": "Lily had\na red ball."})
        + "\n\n"
        + json.dumps({"text": ""})
        + "\n"
    )
    assert run_json("heads --json", "--corpus", objects)["texts"] == 1


def a_corpus_in_every_format():
    corpus = FOLDER / "two.txt"
    corpus.write_text("\n".join(TEXTS[:2]))
    rows = run("heads", "--corpus", corpus).out.splitlines()
    assert len(rows) == 33 and rows[0].startswith("layer,head,") and "_sd" in rows[0]
    assert run("heads --corpus -", text_in=corpus.read_bytes()).out.splitlines() == rows
    for ending in ("html", "json", "csv"):
        run("heads", "--corpus", corpus, "-o", FOLDER / f"sheet.{ending}")
    page = (FOLDER / "sheet.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and 'id="h3.7"' in page and "unbelievable" in page
    assert (FOLDER / "sheet.csv").read_text().splitlines() == rows
    assert run("heads --strongest 0", "--corpus", corpus).out.splitlines() == rows, (
        "no pairs are wanted"
    )
    changed = run("heads --mask window:2", "--corpus", corpus).out.splitlines()
    assert changed != rows, "masks and changes hold in every text"


def what_is_no_corpus_is_said():
    empty, fine = FOLDER / "empty.txt", FOLDER / "fine.txt"
    empty.write_text("\n \n")
    fine.write_text(TEXTS[0])
    long = FOLDER / "long.txt"
    long.write_text("short\n" + "word " * 300000)
    numbers, cut = FOLDER / "numbers.jsonl", FOLDER / "cut.jsonl"
    numbers.write_text('"one"\n{"words": "two"}\n')
    cut.write_text('"one')
    binary, wide = FOLDER / "binary.txt", FOLDER / "wide.txt"
    binary.write_bytes(b"The cat sat.\nELF\x01\x00\x02\n")
    wide.write_bytes(TEXTS[0].encode("utf-16"))
    for more, why in (
        (["--corpus", binary], "Line 2"),
        (["--corpus", wide], "UTF-8"),
        (["--text-file", wide], "UTF-8"),
        (["--corpus", numbers, "--first-line", 7], "Line 8"),
        (["--corpus", cut], "Line 1"),
        (["--corpus", fine, "--sums"], "--json"),
        (["--text", "x", "--sums"], "--corpus"),
        (["--corpus", empty], "no text"),
        (["--corpus", FOLDER / "none.txt"], "none.txt"),
        (["--corpus", long], "Line 2"),
        (["--corpus", fine, "--text", "x"], "--corpus names the texts"),
        (["--corpus", fine, "--sort", "entropy"], "--sort"),
        (["--corpus", fine, "-o", FOLDER / "a.png"], ".html"),
        (["--text", "x", "-o", FOLDER / "a.html"], "--corpus"),
    ):
        done = run("heads", *more, status=1)
        assert why in done.err and done.err.count("\n") == 1, done.err


def a_byte_order_mark_is_no_token():
    """Notepad writes one before the text."""
    marked, plain = FOLDER / "marked.txt", FOLDER / "plain.txt"
    plain.write_text(TEXTS[0] + "\n")
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    for option in ("--corpus", "--text-file"):
        assert run("heads", option, marked).out == run("heads", option, plain).out, option
    assert (
        run("heads --text-file -", text_in=marked.read_bytes()).out
        == run("heads", "--text-file", plain).out
    )


def a_dossier_is_made_a_page_again():
    """Of a model with one stack and of one with two; the model is asked for nothing but what it is
    called, where it is named."""
    texts = FOLDER / "again.txt"
    texts.write_text("The cat sat on the mat.\nLily had a red ball.\n")
    for model in ("stories", "translator"):
        kept, page, table, same = (
            FOLDER / f"{model}.{end}" for end in ("json", "html", "csv", "again.json")
        )
        run("heads", "--model", model, "--corpus", texts, "-o", kept)
        for out in (page, table, same):
            run("heads", "--corpus", kept, "-o", out)
        assert same.read_bytes() == kept.read_bytes()
        assert page.read_text().count("<h2 id=") == len(json.loads(kept.read_text())["heads"])
        assert (
            table.read_text()
            == run("heads", "--model", model, "--corpus", texts).out
            == run("heads", "--corpus", kept).out
        )
        run("heads", "--model", model, "--corpus", kept, "-o", page)
        assert "d_model" in page.read_text()
        head = ["--layer", "cross.1" if model == "translator" else "1", "--head", "1"]
        run("render --view corpus -o bare.safetensors", "--corpus", kept, *head)
        run(
            "render --text a --view corpus -o with.safetensors",
            "--model",
            model,
            "--corpus",
            kept,
            *head,
        )
        assert (FOLDER / "bare.safetensors").read_bytes() == (
            FOLDER / "with.safetensors"
        ).read_bytes()
        titled = [
            "render",
            "--view",
            "corpus",
            "--corpus",
            kept,
            *head,
            "--title",
            "auto",
            "-o",
            "-",
            "--format",
            "svg",
        ]
        assert run(*titled).out == run(*titled, "--model", model, "--text", "a").out, (
            "it is said to be of another model"
        )
    kept = FOLDER / "stories.json"
    refused("other ones", "heads --model translator -o x.html", "--corpus", kept)
    refused("--mask", "heads --mask none -o x.html", "--corpus", kept)
    some = json.loads(kept.read_text())
    some["heads"] = some["heads"][8:10]
    (FOLDER / "some.json").write_text(json.dumps(some))
    refused("all heads", "heads --corpus some.json -o x.html")
    some["heads"][0]["head"] = "encoder.1.99999999999"
    (FOLDER / "some.json").write_text(json.dumps(some))
    refused("write the dossier again", "heads --corpus some.json")
