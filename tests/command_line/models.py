"""Models of every kind, their traces and what is computed of them."""

import json
import shutil

from program import FOLDER, MODELS, TESTS, header_of, refused, run, run_json


def tokenize_speaks_json_lines():
    lines = [{"text": "Hello", "special": True}, {"text": "猫 😀"}, {"text": ""}]
    r = run("tokenize", text_in="\n".join(map(json.dumps, lines)).encode())
    answers = [json.loads(line) for line in r.out.splitlines()]
    assert len(answers) == 3 and answers[2] == {"ids": [], "tokens": [], "offsets": []}
    assert answers[1]["offsets"][-1][1] == 3
    run("tokenize", "--model", TESTS / "reference/tokenizers/bbpe_gpt2", text_in=b'{"text": "a"}')
    for bad in (b"{", b"[]", b'{"text": 5}', b'{"txt": "a"}'):
        run("tokenize", text_in=bad, status=1)


def traces_hold_what_they_say():
    path = FOLDER / "trace.safetensors"
    run("trace --ids 1,2,3 --model MODELS/gpt2", "-o", path)
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert header["blocks.2.attn.hook_pattern"]["shape"] == [4, 3, 3]
    assert header["logits"]["shape"] == [3, 420]
    assert header["__metadata__"]["format"] == "headlight-trace"
    assert len(json.loads(header["__metadata__"]["tokens"])) == 3
    run(
        "trace --ids 1,2,3 --capture *hook_q --capture *attn_scores --model MODELS/gpt2", "-o", path
    )
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert len(header) == 7 and header["blocks.0.attn.hook_q"]["shape"] == [3, 4, 12]
    assert header["blocks.0.attn.hook_attn_scores"]["shape"] == [4, 3, 3]


def traces_take_a_models_place():
    sentence = ("--text", "Lily had a red ball. Lily had a")
    live = run_json("render --view head --layer 1 --head 2 -o - --format json", *sentence)
    for name, more in (
        ("usual", []),
        ("qk", ["--capture", "*hook_q", "--capture", "*hook_k"]),
        ("patterns", ["--capture", "*hook_pattern", "--capture", "input_ids"]),
    ):
        trace = FOLDER / f"{name} é.safetensors"
        run("trace", *sentence, *more, "-o", trace)
        assert (
            run_json("render --view head --layer 1 --head 2 -o - --format json", "--trace", trace)
            == live
        ), name
        assert run("heads", "--trace", trace).out == run("heads", *sentence).out
        if name == "qk":
            refused("no token ids", "compare", "--trace", trace)
        else:
            both = run_json("compare --json", "--trace", trace)
            assert len(both["heads"]) == 32 and all(h["distance"] < 1e-7 for h in both["heads"])
        for view in ("heads", "lines", "graph", "compare"):
            run("render -o t.svg", "--trace", trace, "--view", view)
        refused("no weights", "render --view steps -o no.png", "--trace", trace)
        refused("the model", "render --ablate 1.2 -o no.png", "--trace", trace)
    second = FOLDER / "second.safetensors"
    run("trace", "--text", "Tom had a red ball. Tom had a", "-o", second)
    distances = lambda *arguments: {
        (h["layer"], h["head"]): h["distance"]
        for h in run_json("compare --json", *arguments)["heads"]
    }
    assert (
        distances("--trace", trace, "--trace-b", second)
        == distances("--trace", trace, "--text", "Tom had a red ball. Tom had a")
        == distances(*sentence, "--trace-b", second)
    )
    assert (
        max(distances("--trace", FOLDER / "qk é.safetensors", "--trace-b", trace).values()) < 1e-7
    ), "neither needs token ids"
    refused("--trace-b", "compare --mask none", "--trace", trace, "--trace-b", second)
    refused("metric", "compare --metric kl", *sentence, "--trace-b", second)
    run("compare --text-b a", *sentence, "--trace-b", second, status=2)
    other = run_json("compare --json", "--trace", trace, "--text", "Tom had a red ball. Tom had a")
    assert max(h["distance"] for h in other["heads"]) > 0.01
    run("report -o t.html", "--trace", trace)
    run("render --view head --animate layers -o t.png", "--trace", trace)
    for model, more in (
        ("marian", ["--target", "Die"]),
        ("bert", ["--pair", "the mat"]),
        ("t5", ["--target", "x"]),
        ("bloom", []),
        ("gemma2", []),
    ):
        run("trace", "--model", MODELS / model, "--text", "the cat", *more, "-o", trace)
        assert (
            run("heads", "--trace", trace).out
            == run("heads", "--model", MODELS / model, "--text", "the cat", *more).out
        ), model
    run(
        "trace --capture *hook_q --capture *hook_k --model MODELS/bloom",
        "--text",
        "the cat",
        "-o",
        trace,
    )
    refused("hook_pattern", "heads", "--trace", trace)  # position bias cannot be had from q and k
    whole = (FOLDER / "usual é.safetensors").read_bytes()
    length = int.from_bytes(whole[:8], "little")
    broken = FOLDER / "broken.safetensors"
    for old, new in (
        (b'\\"heads\\":8', b'\\"heads\\":7'),
        (b'\\"layers\\":4', b'\\"layers\\":9'),
        (b'\\"kv_heads\\":8', b'\\"kv_heads\\":3'),
        (b"headlight-trace", b"headlight-tracf"),
        (b'\\"stacks\\"', b'\\"stackz\\"'),
        (b'"labels":"[', b'"labels":"{'),
        (b"blocks.2.attn.hook_pattern", b"blocks.2.attn.hook_qattern"),
    ):
        header = whole[8 : 8 + length]
        assert old in header, old
        broken.write_bytes(whole[:8] + header.replace(old, new) + whole[8 + length :])
        if b"labels" in old:
            run("heads", "--trace", broken, status=1)
        else:
            refused("broken.safetensors", "heads", "--trace", broken)
    run("heads --trace MODELS/gpt2/model.safetensors", status=1)
    broken.write_bytes(whole[: len(whole) // 2])
    run("heads", "--trace", broken, status=1)


def numbers_are_of_all_positions_and_of_what_a_model_has():
    text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    tables = run_json("render --view lens -o - --format json", "--text", text)["tables"]
    tokens = len(
        run_json("render --view head -o - --format json", "--text", text)["tables"][0]["rows"]
    )
    for table in tables[:2]:
        assert len(table["columns"]) == tokens > 10
        assert all(len(row) == tokens for row in table["values"]), (len(table["columns"]), tokens)
    for model, there in (("gpt2", False), ("bloom", True)):
        steps = run(
            "render --ids 5,9,17 --view steps -o - --format csv", "--model", MODELS / model
        ).out
        assert ("position bias" in steps) == there, steps[:300]
        assert "capped" not in steps, steps[:300]
        assert "weight" in steps, steps[:300]


def the_story_model_has_its_heads():
    rows = run_json("heads --random-repeat 48 --sort induction --json")["heads"]
    assert len(rows) == 32 and rows[0]["induction"] > 0.5, rows[0]
    rows = run_json(
        "heads --sort previous --json",
        "--text",
        "Once upon a time there was a little girl named Lily. She had a red ball.",
    )["heads"]
    assert rows[0]["previous"] > 0.8, rows[0]
    csv = run("heads", "--text", "a b c").out.splitlines()
    assert csv[0].startswith("layer,head,entropy,previous") and len(csv) == 33
    text = run("generate --tokens 20", "--text", "Once upon a time").out
    assert text.startswith("Once upon a time")
    assert len(text.split()) > 12
    assert text == run("generate --tokens 20", "--text", "Once upon a time").out
    sampled = [
        "generate",
        "--text",
        "Once upon a time",
        "--tokens",
        "20",
        "--temperature",
        "0.9",
        "--top-k",
        "50",
        "--seed",
        "3",
    ]
    assert run(*sampled).out == run(*sampled, "--threads", "1").out


def positions_of_every_kind_are_drawn():
    for model in (
        "translator",
        "stories",
        MODELS / "llama",
        MODELS / "bloom",
        MODELS / "t5",
        MODELS / "bert",
    ):
        out = FOLDER / "positions.svg"
        run("render --view positions", "--model", model, "--text", "The cat", "-o", out)
        assert out.stat().st_size > 20_000, model
    run("render --model translator --view positions -o positions.csv", "--text", "The cat")
    first = (FOLDER / "positions.csv").read_text().splitlines()[1].split(",")
    assert first[0] == "positions" and float(first[-1]) == 0, "sin 0"


def every_kind_of_model_by_hand():
    out = FOLDER / "kind.safetensors"
    run("trace --model MODELS/bert", "--text", "the cat", "--pair", "the mat", "-o", out)
    tokens = json.loads(header_of(out)["__metadata__"]["tokens"])
    assert tokens.count("[SEP]") == 2 and tokens[0] == "[CLS]", tokens
    filled = run("generate --model MODELS/bert", "--text", "the [MASK] sat").out
    assert "[MASK]" not in filled and filled.strip().endswith("sat"), filled
    run("trace --model MODELS/marian", "--text", "The cat", "--target", "Die Katze", "-o", out)
    header = header_of(out)
    assert header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == 4
    assert "encoder.ln_final.hook_normalized" in header
    assert json.loads(header["__metadata__"]["decoder_tokens"])[0] == "<pad>"
    run("generate --tokens 5 --model MODELS/marian", "--text", "The cat")
    run("trace --model MODELS/vit --image MODELS/vit/gray.png", "-o", out)
    assert header_of(out)["logits"]["shape"] == [7]
    gguf = MODELS / "llama_gguf/llama-q4_0.gguf"
    assert "2 key/value heads" in run("info", "--model", gguf).out
    assert run_json("info --json --model MODELS/gemma2")["stacks"][0]["windows"] == [8, 0, 8, 0]
    run("generate --tokens 3", "--model", gguf, "--text", "The cat")
    for layer in ("encoder.0", "decoder.1", "cross.1", "1"):
        run(
            "render --target Die --view head --model MODELS/marian -o site.svg",
            "--text",
            "The cat sat",
            "--layer",
            layer,
        )
    for model in ("marian", "vit"):
        words = ["--text", "The cat"] if model == "marian" else ["--image", MODELS / "vit/gray.png"]
        run("render -o heads.png", "--model", MODELS / model, *words)
    rows = run_json("heads --target Die --json --model MODELS/marian", "--text", "The cat")["heads"]
    assert len(rows) == 24
    assert rows[-1]["attention"] == "cross"
    assert rows[-1]["previous"] is None
    assert rows[-1]["entropy"] is not None
    answer = json.loads(
        run("tokenize --model MODELS/bert", text_in=b'{"text": "the", "pair": "mat"}').out
    )
    assert answer["tokens"][0] == "[CLS]" and answer["tokens"].count("[SEP]") == 2


def what_a_model_cannot_read_is_said():
    out = FOLDER / "no.safetensors"
    run("trace --model MODELS/vit", "--text", "a cat", "-o", out, status=1)
    run("trace --model MODELS/gpt2 --image MODELS/vit/gray.png", "-o", out, status=1)
    run("trace --text a --target b --model MODELS/gpt2", "-o", out, status=1)
    run("trace --ids 2,5,3 --token-types 0,0 --model MODELS/bert", "-o", out, status=1)
    run("trace --ids 2,5,3 --token-types 0,0,9 --model MODELS/bert", "-o", out, status=1)
    run("trace --ids 2,5 --target-ids 418,999 --model MODELS/marian", "-o", out, status=1)
    run("render --text a --view head --layer cross.7 --model MODELS/marian -o x.png", status=1)
    run("heads --random-repeat 5 --model MODELS/vit", status=1)
    run("generate --model MODELS/vit --image MODELS/vit/gray.png", status=1)
    run("trace --text a --model MODELS/vit/gray.png", "-o", out, status=1)
    folder = FOLDER / "pickled"
    folder.mkdir()
    shutil.copy(MODELS / "gpt2/config.json", folder)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    refused("save_pretrained", "trace --ids 1", "--model", folder, "-o", out)
    assert not out.exists()


def a_name_of_the_hub_is_told_how_to_be_had():
    said = lambda name: run("trace --text a -o none.safetensors", "--model", name, status=1).err
    assert "headlight fetch tiny-owner/gpt2-none." in said("tiny-owner/gpt2-none")
    assert all(
        "headlight fetch OWNER/NAME" in said(name) and "stories" in said(name)
        for name in ("gpt2-none", "folder/none.gguf", "/nowhere/model")
    )


def models_are_listed():
    rows = run_json("models --json")["models"]
    built_in = {r["name"]: r for r in rows[:4]}
    assert list(built_in) == ["formation", "scenes", "stories", "translator"], rows
    assert all(r["readable"] for r in built_in.values()), rows
    assert built_in["stories"]["family"] == "GPT-2"
    assert built_in["scenes"]["family"] == "ViT"
    assert run("models").out.startswith("name")


def info_needs_only_a_config():
    folder = FOLDER / "only config"
    folder.mkdir()
    (folder / "config.json").write_text(
        '{"model_type": "gpt2", "n_layer": 96, "n_embd": 12288, "n_head": 96, "n_positions": 2048}'
    )
    table = run_json("info --json", "--model", folder)
    assert (
        table["parameters"] == 174_604_259_328 + 0 or abs(table["parameters"] / 175e9 - 1) < 0.01
    ), table["parameters"]
    assert "d_model 12288" in run("info", "--model", folder).out
    counts = {c["name"]: c for c in run_json("info --json", folder / "config.json")["counts"]}
    assert counts["W_Q of a head"]["matrices"] == 1_572_864
    assert counts["one head"]["matrices"] == 6_291_456
    assert counts["attention in all"]["matrices"] == 57_982_058_496
    assert 0.33 < counts["attention in all"]["share"] < 0.332
    assert counts["the whole model, untied"]["matrices"] == 175_181_291_520
    (folder / "mine.json").write_text('{"model_type": "gpt2"}')
    text = run("info", folder / "mine.json").out
    assert "124,439,808" in text and "163,037,184" in text, text
    assert "603,979,776" in run("info gpt-3").out
    run("render --view model --architecture gpt-3", "--text", "a b", "-o", folder / "gpt3.json")
    table = next(
        t for t in json.loads((folder / "gpt3.json").read_text())["tables"] if t["name"] == "counts"
    )
    assert 57_982_058_496 in [row[0] for row in table["values"]], table
    run("render --view model --layer 1 --head 2", "--text", "a b", "-o", folder / "stories.json")
    tables = {t["name"]: t for t in json.loads((folder / "stories.json").read_text())["tables"]}
    run("render --view model --part mlp", "--text", "a b", "-o", folder / "mlp.json")
    assert "W_in" in {t["name"] for t in json.loads((folder / "mlp.json").read_text())["tables"]}
    run("render --view steps --steps block", "--text", "a b", "-o", folder / "block.json")
    chain = [
        t["name"].split(" (")[0] for t in json.loads((folder / "block.json").read_text())["tables"]
    ]
    assert chain == [
        "E",
        "LayerNorm",
        "q",
        "E",
        "LayerNorm",
        "k",
        "v",
        "z",
        "heads",
        "attn_out",
        "resid_mid",
        "LayerNorm",
        chain[-1],
    ], chain
    run("render --view steps --steps heads", "--text", "a b", "-o", folder / "heads.svg")
    assert len(tables["singular values"]["values"]) == 32, tables.keys()
    assert len(tables["W_Q"]["values"]) == 32, tables.keys()


def a_trace_takes_half_of_the_bytes_on_request():
    """Patterns of a half file are those of the whole one to three digits, of q and k alone too."""
    text = ("--text", "Lily had a red ball. Tom had a blue")
    for capture in (
        (),
        ("--capture", "*hook_[qk]", "--capture", "*hook_q", "--capture", "*hook_k"),
    ):
        whole, half = FOLDER / "whole.safetensors", FOLDER / "half.safetensors"
        run("trace -o", whole, *text, *capture)
        run("trace --dtype f16 -o", half, *text, *capture)
        assert half.stat().st_size < 0.6 * whole.stat().st_size
        assert {t["dtype"] for t in header_of(half).values() if "dtype" in t} <= {"F16", "I64"}
        rows = [run_json("heads --json --trace", file)["heads"] for file in (whole, half)]
        for one, other in zip(*rows):
            for name in ("entropy", "previous", "first", "self"):
                assert abs(one[name] - other[name]) < 5e-3, (name, one, other)
    refused("is not one of", "trace --dtype f8 -o", whole, *text, status=2)
