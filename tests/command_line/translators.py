"""Models with an encoder and a decoder: their heads, translations and alignments."""

import json
import shutil

from program import FOLDER, MODELS, refused, run, run_json


def encoder_and_decoder_may_have_different_numbers_of_heads():
    for name, encoder, decoder in (("bart", 2, 4), ("marian", 4, 2)):
        model = FOLDER / f"{name} apart"
        shutil.copytree(MODELS / name, model)
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(
            json.dumps(
                {**config, "encoder_attention_heads": encoder, "decoder_attention_heads": decoder}
            )
        )
        inputs = ("--model", model, "--text", "the cat", "--target", "Die")
        want = [
            f"{kind}.{layer},{head}"
            for kind, heads in (("encoder", encoder), ("decoder", decoder), ("cross", decoder))
            for layer in range(2)
            for head in range(heads)
        ]
        rows = run("heads", *inputs).out.splitlines()
        assert [",".join(row.split(",")[:2]) for row in rows[1:]] == want
        trace = FOLDER / f"{name} apart.safetensors"
        run("trace", *inputs, "-o", trace)
        data = trace.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        assert header["encoder.1.attn.hook_pattern"]["shape"][0] == encoder
        assert header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == decoder
        assert run("heads", "--trace", trace).out.splitlines() == rows
        assert all(
            h["distance"] < 1e-7
            for h in run_json("compare --json", *inputs[:2], "--trace", trace)["heads"]
        )
        info = run_json("info --json", "--model", model)
        assert info["heads"] == [encoder, decoder], info
        assert info["d_head"] == [48 // encoder, 48 // decoder], info
        assert info["parameters"] == run_json("info --json", "--model", MODELS / name)["parameters"]
        for view in tuple("heads lines steps delta lens graph compare alignment model".split()):
            run(
                "render -o apart.svg",
                *inputs,
                "--view",
                view,
                *([] if view in ("heads", "lens", "graph") else ["--layer", "cross.1"]),
            )
        run(
            "render --view head --head 3 -o apart.svg",
            *inputs,
            "--layer",
            f"{'cross' if decoder > encoder else 'encoder'}.1",
        )
        refused(
            "0 … 1",
            "render --view head --head 3 -o no.svg",
            *inputs,
            "--layer",
            f"{'encoder' if decoder > encoder else 'cross'}.1",
        )
        run("report -o apart.html", *inputs)


def the_translator_translates():
    for english, german in (
        ("The cat sat on the mat.", "Die Katze saß auf der Matte."),
        ("I have never seen him.", "Ich habe ihn nie gesehen."),
        ("She wants to buy a new car.", "Sie will ein neues Auto kaufen."),
    ):
        assert run("generate --model translator", "--text", english).out.strip() == german
    steps = run_json("generate --model translator --json", "--text", "The cat sat on the mat.")
    assert steps["ended"]
    assert steps["text"] == "Die Katze saß auf der Matte."
    assert len(steps["steps"]) == len(steps["ids"]) + 1
    assert all(
        0 < s["p"] <= 1 and s["alternatives"][0]["p"] >= s["alternatives"][1]["p"]
        for s in steps["steps"]
    )
    beams = run_json(
        "generate --model translator --beams 4 --json", "--text", "I think that she is very tired."
    )
    greedy = run_json(
        "generate --model translator --json", "--text", "I think that she is very tired."
    )
    assert beams["score"] >= greedy["score"] - 1e-4
    run("generate --model translator --text x --beams 4 --temperature 1", status=2)
    run("generate --model translator --text x --beams 99", status=2)
    run("generate --json --model MODELS/bert", "--text", "the [MASK]", status=1)


def an_alignment_is_of_the_last_layers_mean_unless_chosen():
    def table(*more):
        run(
            "render --model translator --view alignment -o mean.json",
            "--text",
            "The cat sat on the mat.",
            *more,
        )
        return (FOLDER / "mean.json").read_text()

    last = table()
    assert last == table("--layer", "cross.2") == table("--layer", "cross.2", "--mean")
    assert last != table("--layer", "cross.1") != table("--head", "1", "--layer", "cross.1")


def heads_over_different_tokens_are_side_by_side():
    run(
        "render --model translator --view compare -o apart.json",
        *("--text", "The cat sat.", "--target", "Die Katze", "--layer", "cross.2", "--head", "5"),
        *("--with", "encoder.0.1"),
    )
    tables = json.loads((FOLDER / "apart.json").read_text())["tables"]
    assert [table["name"] for table in tables] == ["A", "B"], tables
    shapes = [(len(table["values"]), len(table["values"][0])) for table in tables]
    assert shapes[0][1] == shapes[1][0] == shapes[1][1] != shapes[0][0], shapes


def an_alignment_is_drawn_and_written():
    table = FOLDER / "alignment.json"
    run(
        "render --model translator --view alignment --layer cross.2 --mean",
        "--text",
        "The cat sat on the mat.",
        "-o",
        table,
    )
    tables = json.loads(table.read_text())
    tables = tables if isinstance(tables, list) else tables["tables"]
    first = tables[0]
    assert first["row_labels" if "row_labels" in first else "rows"][:2] == ["Die", "Katze"], (
        first.keys()
    )
    for end, more in (("svg", []), ("pdf", ["--as-lines", "--join-words"]), ("png", ["--hard"])):
        out = FOLDER / f"alignment.{end}"
        run(
            "render --model translator --view alignment",
            "--text",
            "The cat sat on the mat.",
            *more,
            "-o",
            out,
        )
        assert out.stat().st_size > 2000
    run(
        "render --model translator --view alignment -o alignment.csv",
        "--text",
        "The cat sat.",
        "--target",
        "Die Katze",
    )
    rows = {line.split(",")[2] for line in (FOLDER / "alignment.csv").read_text().splitlines()[1:]}
    assert "Katze" in rows and len(rows) <= 6, rows
    for family in ("bart", "t5"):
        run(
            "render --view alignment",
            "--model",
            MODELS / family,
            "--text",
            "The cat sat.",
            "--target",
            "Die Katze",
            "-o",
            FOLDER / f"{family}.svg",
        )
    done = run("render --view alignment -o no.svg", "--text", "The cat", status=1)
    assert "encoder and a decoder" in done.err, done.err
