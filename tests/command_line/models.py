"""Models of every kind, their traces and what is computed of them."""
import json
import shutil

from program import FOLDER, MODELS, TESTS, header_of, run


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
    run("trace", "--model", MODELS / "gpt2", "--ids", "1,2,3", "-o", path)
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert header["blocks.2.attn.hook_pattern"]["shape"] == [4, 3, 3] and header["logits"]["shape"] == [3, 420]
    assert header["__metadata__"]["format"] == "headlight-trace" and len(json.loads(header["__metadata__"]["tokens"])) == 3
    run("trace", "--model", MODELS / "gpt2", "--ids", "1,2,3", "-o", path, "--capture", "*hook_q", "--capture", "*attn_scores")
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert len(header) == 7 and header["blocks.0.attn.hook_q"]["shape"] == [3, 4, 12]
    assert header["blocks.0.attn.hook_attn_scores"]["shape"] == [4, 3, 3]


def traces_take_a_models_place():
    sentence = ("--text", "Lily had a red ball. Lily had a")
    live = json.loads(run("render", *sentence, "--view", "head", "--layer", "1", "--head", "2", "-o", "-", "--format", "json").out)
    for name, more in (("usual", []), ("qk", ["--capture", "*hook_q", "--capture", "*hook_k"]), ("patterns", ["--capture", "*hook_pattern", "--capture", "input_ids"])):
        trace = FOLDER / f"{name} é.safetensors"
        run("trace", *sentence, *more, "-o", trace)
        assert json.loads(run("render", "--trace", trace, "--view", "head", "--layer", "1", "--head", "2", "-o", "-", "--format", "json").out) == live, name
        assert run("heads", "--trace", trace).out == run("heads", *sentence).out
        if name == "qk":
            assert "no token ids" in run("compare", "--trace", trace, status=1).err
        else:
            both = json.loads(run("compare", "--trace", trace, "--json").out)
            assert len(both["heads"]) == 32 and all(h["distance"] < 1e-7 for h in both["heads"])
        for view in ("heads", "lines", "graph", "compare"):
            run("render", "--trace", trace, "--view", view, "-o", FOLDER / "t.svg")
        assert "no weights" in run("render", "--trace", trace, "--view", "steps", "-o", FOLDER / "no.png", status=1).err
        assert "the model" in run("render", "--trace", trace, "--ablate", "1.2", "-o", FOLDER / "no.png", status=1).err
    second = FOLDER / "second.safetensors"
    run("trace", "--text", "Tom had a red ball. Tom had a", "-o", second)
    distances = lambda *arguments: {(h["layer"], h["head"]): h["distance"] for h in json.loads(run("compare", *arguments, "--json").out)["heads"]}
    assert distances("--trace", trace, "--trace-b", second) == distances("--trace", trace, "--text", "Tom had a red ball. Tom had a") == distances(*sentence, "--trace-b", second)
    assert max(distances("--trace", FOLDER / "qk é.safetensors", "--trace-b", trace).values()) < 1e-7, "neither needs token ids"
    assert "--trace-b" in run("compare", "--trace", trace, "--trace-b", second, "--mask", "none", status=1).err
    assert "metric" in run("compare", *sentence, "--trace-b", second, "--metric", "kl", status=1).err
    run("compare", *sentence, "--trace-b", second, "--text-b", "a", status=2)
    other = json.loads(run("compare", "--trace", trace, "--text", "Tom had a red ball. Tom had a", "--json").out)
    assert max(h["distance"] for h in other["heads"]) > 0.01
    run("report", "--trace", trace, "-o", FOLDER / "t.html")
    run("render", "--trace", trace, "--view", "head", "--animate", "layers", "-o", FOLDER / "t.png")
    for model, more in (("marian", ["--target", "Die"]), ("bert", ["--pair", "the mat"]), ("t5", ["--target", "x"]), ("bloom", []), ("gemma2", [])):
        run("trace", "--model", MODELS / model, "--text", "the cat", *more, "-o", trace)
        assert run("heads", "--trace", trace).out == run("heads", "--model", MODELS / model, "--text", "the cat", *more).out, model
    run("trace", "--model", MODELS / "bloom", "--text", "the cat", "--capture", "*hook_q", "--capture", "*hook_k", "-o", trace)
    assert "hook_pattern" in run("heads", "--trace", trace, status=1).err, "position bias cannot be had from q and k"
    whole = (FOLDER / "usual é.safetensors").read_bytes()
    length = int.from_bytes(whole[:8], "little")
    broken = FOLDER / "broken.safetensors"
    for old, new in ((b'\\"heads\\":8', b'\\"heads\\":7'), (b'\\"layers\\":4', b'\\"layers\\":9'), (b'\\"kv_heads\\":8', b'\\"kv_heads\\":3'), (b"headlight-trace", b"headlight-tracf"), (b'\\"stacks\\"', b'\\"stackz\\"'), (b'"labels":"[', b'"labels":"{'), (b"blocks.2.attn.hook_pattern", b"blocks.2.attn.hook_qattern")):
        header = whole[8:8 + length]
        assert old in header, old
        broken.write_bytes(whole[:8] + header.replace(old, new) + whole[8 + length:])
        if b"labels" in old:
            run("heads", "--trace", broken, status=1)
        else:
            assert "broken.safetensors" in run("heads", "--trace", broken, status=1).err
    run("heads", "--trace", MODELS / "gpt2/model.safetensors", status=1)
    broken.write_bytes(whole[:len(whole) // 2])
    run("heads", "--trace", broken, status=1)


def numbers_are_of_all_positions_and_of_what_a_model_has():
    text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    tables = json.loads(run("render", "--text", text, "--view", "lens", "-o", "-", "--format", "json").out)["tables"]
    tokens = len(json.loads(run("render", "--text", text, "--view", "head", "-o", "-", "--format", "json").out)["tables"][0]["rows"])
    for table in tables[:2]:
        assert len(table["columns"]) == tokens > 10 and all(len(row) == tokens for row in table["values"]), (len(table["columns"]), tokens)
    for model, there in (("gpt2", False), ("bloom", True)):
        steps = run("render", "--model", MODELS / model, "--ids", "5,9,17", "--view", "steps", "-o", "-", "--format", "csv").out
        assert ("position bias" in steps) == there and "capped" not in steps and "weight" in steps, steps[:300]


def encoder_and_decoder_may_have_different_numbers_of_heads():
    for name, encoder, decoder in (("bart", 2, 4), ("marian", 4, 2)):
        model = FOLDER / f"{name} apart"
        shutil.copytree(MODELS / name, model)
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, "encoder_attention_heads": encoder, "decoder_attention_heads": decoder}))
        inputs = ("--model", model, "--text", "the cat", "--target", "Die")
        want = [f"{kind}.{layer},{head}" for kind, heads in (("encoder", encoder), ("decoder", decoder), ("cross", decoder)) for layer in range(2) for head in range(heads)]
        rows = run("heads", *inputs).out.splitlines()
        assert [",".join(row.split(",")[:2]) for row in rows[1:]] == want
        trace = FOLDER / f"{name} apart.safetensors"
        run("trace", *inputs, "-o", trace)
        data = trace.read_bytes()
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        assert header["encoder.1.attn.hook_pattern"]["shape"][0] == encoder and header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == decoder
        assert run("heads", "--trace", trace).out.splitlines() == rows
        assert all(h["distance"] < 1e-7 for h in json.loads(run("compare", *inputs[:2], "--trace", trace, "--json").out)["heads"])
        info = json.loads(run("info", "--model", model, "--json").out)
        assert info["heads"] == [encoder, decoder] and info["d_head"] == [48 // encoder, 48 // decoder], info
        assert info["parameters"] == json.loads(run("info", "--model", MODELS / name, "--json").out)["parameters"]
        for view in ("heads", "lines", "steps", "delta", "lens", "graph", "compare", "alignment", "model"):
            run("render", *inputs, "--view", view, *([] if view in ("heads", "lens", "graph") else ["--layer", "cross.1"]), "-o", FOLDER / "apart.svg")
        run("render", *inputs, "--view", "head", "--layer", f"{'cross' if decoder > encoder else 'encoder'}.1", "--head", "3", "-o", FOLDER / "apart.svg")
        assert "0 … 1" in run("render", *inputs, "--view", "head", "--layer", f"{'encoder' if decoder > encoder else 'cross'}.1", "--head", "3", "-o", FOLDER / "no.svg", status=1).err
        run("report", *inputs, "-o", FOLDER / "apart.html")


def the_story_model_has_its_heads():
    rows = json.loads(run("heads", "--random-repeat", "48", "--sort", "induction", "--json").out)
    assert len(rows) == 32 and rows[0]["induction"] > 0.5, rows[0]
    rows = json.loads(run("heads", "--text", "Once upon a time there was a little girl named Lily. She had a red ball.", "--sort", "previous", "--json").out)
    assert rows[0]["previous"] > 0.8, rows[0]
    csv = run("heads", "--text", "a b c").out.splitlines()
    assert csv[0].startswith("layer,head,entropy,previous") and len(csv) == 33
    text = run("generate", "--text", "Once upon a time", "--tokens", "20").out
    assert text.startswith("Once upon a time") and len(text.split()) > 12 and text == run("generate", "--text", "Once upon a time", "--tokens", "20").out
    sampled = ["generate", "--text", "Once upon a time", "--tokens", "20", "--temperature", "0.9", "--top-k", "50", "--seed", "3"]
    assert run(*sampled).out == run(*sampled, "--threads", "1").out


def the_translator_translates():
    for english, german in (("The cat sat on the mat.", "Die Katze saß auf der Matte."), ("I have never seen him.", "Ich habe ihn nie gesehen."), ("She wants to buy a new car.", "Sie will ein neues Auto kaufen.")):
        assert run("generate", "--model", "translator", "--text", english).out.strip() == german
    steps = json.loads(run("generate", "--model", "translator", "--text", "The cat sat on the mat.", "--json").out)
    assert steps["ended"] and steps["text"] == "Die Katze saß auf der Matte." and len(steps["steps"]) == len(steps["ids"]) + 1
    assert all(0 < s["p"] <= 1 and s["alternatives"][0]["p"] >= s["alternatives"][1]["p"] for s in steps["steps"])
    beams = json.loads(run("generate", "--model", "translator", "--text", "I think that she is very tired.", "--beams", "4", "--json").out)
    greedy = json.loads(run("generate", "--model", "translator", "--text", "I think that she is very tired.", "--json").out)
    assert beams["score"] >= greedy["score"] - 1e-4
    run("generate", "--model", "translator", "--text", "x", "--beams", "4", "--temperature", "1", status=2)
    run("generate", "--model", "translator", "--text", "x", "--beams", "99", status=2)
    run("generate", "--model", MODELS / "bert", "--text", "the [MASK]", "--json", status=1)


def an_alignment_is_drawn_and_written():
    table = FOLDER / "alignment.json"
    run("render", "--model", "translator", "--text", "The cat sat on the mat.", "--view", "alignment", "--layer", "cross.2", "--mean", "-o", table)
    tables = json.loads(table.read_text())
    tables = tables if isinstance(tables, list) else tables["tables"]
    first = tables[0]
    assert first["row_labels" if "row_labels" in first else "rows"][:2] == ["Die", "Katze"], first.keys()
    for end, more in (("svg", []), ("pdf", ["--as-lines", "--join-words"]), ("png", ["--hard"])):
        out = FOLDER / f"alignment.{end}"
        run("render", "--model", "translator", "--text", "The cat sat on the mat.", "--view", "alignment", *more, "-o", out)
        assert out.stat().st_size > 2000
    run("render", "--model", "translator", "--text", "The cat sat.", "--target", "Die Katze", "--view", "alignment", "-o", FOLDER / "alignment.csv")
    rows = {line.split(",")[2] for line in (FOLDER / "alignment.csv").read_text().splitlines()[1:]}
    assert "Katze" in rows and len(rows) <= 6, rows
    for family in ("bart", "t5"):
        run("render", "--model", MODELS / family, "--text", "The cat sat.", "--target", "Die Katze", "--view", "alignment", "-o", FOLDER / f"{family}.svg")
    refused = run("render", "--text", "The cat", "--view", "alignment", "-o", FOLDER / "no.svg", status=1)
    assert "encoder and a decoder" in refused.err, refused.err


def positions_of_every_kind_are_drawn():
    for model in ("translator", "stories", MODELS / "llama", MODELS / "bloom", MODELS / "t5", MODELS / "bert"):
        out = FOLDER / "positions.svg"
        run("render", "--model", model, "--text", "The cat", "--view", "positions", "-o", out)
        assert out.stat().st_size > 20_000, model
    run("render", "--model", "translator", "--text", "The cat", "--view", "positions", "-o", FOLDER / "positions.csv")
    first = (FOLDER / "positions.csv").read_text().splitlines()[1].split(",")
    assert first[0] == "positions" and float(first[-1]) == 0, "sin 0"


def every_kind_of_model_by_hand():
    out = FOLDER / "kind.safetensors"
    run("trace", "--model", MODELS / "bert", "--text", "the cat", "--pair", "the mat", "-o", out)
    tokens = json.loads(header_of(out)["__metadata__"]["tokens"])
    assert tokens.count("[SEP]") == 2 and tokens[0] == "[CLS]", tokens
    filled = run("generate", "--model", MODELS / "bert", "--text", "the [MASK] sat").out
    assert "[MASK]" not in filled and filled.strip().endswith("sat"), filled
    run("trace", "--model", MODELS / "marian", "--text", "The cat", "--target", "Die Katze", "-o", out)
    header = header_of(out)
    assert header["decoder.1.cross_attn.hook_pattern"]["shape"][0] == 4 and "encoder.ln_final.hook_normalized" in header
    assert json.loads(header["__metadata__"]["decoder_tokens"])[0] == "<pad>"
    run("generate", "--model", MODELS / "marian", "--text", "The cat", "--tokens", "5")
    run("trace", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", "-o", out)
    assert header_of(out)["logits"]["shape"] == [7]
    gguf = MODELS / "llama_gguf/llama-q4_0.gguf"
    assert "2 key/value heads" in run("info", "--model", gguf).out
    assert json.loads(run("info", "--model", MODELS / "gemma2", "--json").out)["stacks"][0]["windows"] == [8, 0, 8, 0]
    run("generate", "--model", gguf, "--text", "The cat", "--tokens", "3")
    for layer in ("encoder.0", "decoder.1", "cross.1", "1"):
        run("render", "--model", MODELS / "marian", "--text", "The cat sat", "--target", "Die", "--view", "head", "--layer", layer, "-o", FOLDER / "site.svg")
    for model in ("marian", "vit"):
        words = ["--text", "The cat"] if model == "marian" else ["--image", MODELS / "vit/gray.png"]
        run("render", "--model", MODELS / model, *words, "-o", FOLDER / "heads.png")
    rows = json.loads(run("heads", "--model", MODELS / "marian", "--text", "The cat", "--target", "Die", "--json").out)
    assert len(rows) == 24 and rows[-1]["attention"] == "cross" and rows[-1]["previous"] is None and rows[-1]["entropy"] is not None
    answer = json.loads(run("tokenize", "--model", MODELS / "bert", text_in=b'{"text": "the", "pair": "mat"}').out)
    assert answer["tokens"][0] == "[CLS]" and answer["tokens"].count("[SEP]") == 2


def what_a_model_cannot_read_is_said():
    out = FOLDER / "no.safetensors"
    run("trace", "--model", MODELS / "vit", "--text", "a cat", "-o", out, status=1)
    run("trace", "--model", MODELS / "gpt2", "--image", MODELS / "vit/gray.png", "-o", out, status=1)
    run("trace", "--model", MODELS / "gpt2", "--text", "a", "--target", "b", "-o", out, status=1)
    run("trace", "--model", MODELS / "bert", "--ids", "2,5,3", "--token-types", "0,0", "-o", out, status=1)
    run("trace", "--model", MODELS / "bert", "--ids", "2,5,3", "--token-types", "0,0,9", "-o", out, status=1)
    run("trace", "--model", MODELS / "marian", "--ids", "2,5", "--target-ids", "418,999", "-o", out, status=1)
    run("render", "--model", MODELS / "marian", "--text", "a", "--view", "head", "--layer", "cross.7", "-o", FOLDER / "x.png", status=1)
    run("heads", "--model", MODELS / "vit", "--random-repeat", "5", status=1)
    run("generate", "--model", MODELS / "vit", "--image", MODELS / "vit/gray.png", status=1)
    run("trace", "--model", MODELS / "vit/gray.png", "--text", "a", "-o", out, status=1)
    folder = FOLDER / "pickled"
    folder.mkdir()
    shutil.copy(MODELS / "gpt2/config.json", folder)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    assert "save_pretrained" in run("trace", "--model", folder, "--ids", "1", "-o", out, status=1).err
    assert not out.exists()


def a_name_of_the_hub_is_told_how_to_be_had():
    said = lambda name: run("trace", "--model", name, "--text", "a", "-o", FOLDER / "none.safetensors", status=1).err
    assert "headlight fetch tiny-owner/gpt2-none." in said("tiny-owner/gpt2-none")
    assert all("headlight fetch OWNER/NAME" in said(name) and "stories" in said(name) for name in ("gpt2-none", "folder/none.gguf", "/nowhere/model"))


def models_are_listed():
    rows = json.loads(run("models", "--json").out)
    built_in = {r["name"]: r for r in rows[:3]}
    assert list(built_in) == ["formation", "stories", "translator"] and all(r["readable"] for r in built_in.values()), rows
    assert built_in["stories"]["family"] == "GPT-2"
    assert run("models").out.startswith("name")


def info_needs_only_a_config():
    folder = FOLDER / "only config"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2", "n_layer": 96, "n_embd": 12288, "n_head": 96, "n_positions": 2048}')
    table = json.loads(run("info", "--model", folder, "--json").out)
    assert table["parameters"] == 174_604_259_328 + 0 or abs(table["parameters"] / 175e9 - 1) < 0.01, table["parameters"]
    assert "d_model 12288" in run("info", "--model", folder).out
    counts = {c["name"]: c for c in json.loads(run("info", folder / "config.json", "--json").out)["counts"]}
    assert counts["W_Q of a head"]["matrices"] == 1_572_864 and counts["one head"]["matrices"] == 6_291_456
    assert counts["attention in all"]["matrices"] == 57_982_058_496 and 0.33 < counts["attention in all"]["share"] < 0.332
    assert counts["the whole model, untied"]["matrices"] == 175_181_291_520
    (folder / "mine.json").write_text('{"model_type": "gpt2"}')
    text = run("info", folder / "mine.json").out
    assert "124,439,808" in text and "163,037,184" in text, text
    assert "603,979,776" in run("info", "gpt-3").out
    run("render", "--text", "a b", "--view", "model", "--architecture", "gpt-3", "-o", folder / "gpt3.json")
    table = next(t for t in json.loads((folder / "gpt3.json").read_text())["tables"] if t["name"] == "counts")
    assert 57_982_058_496 in [row[0] for row in table["values"]], table
    run("render", "--text", "a b", "--view", "model", "--layer", "1", "--head", "2", "-o", folder / "stories.json")
    tables = {t["name"]: t for t in json.loads((folder / "stories.json").read_text())["tables"]}
    run("render", "--text", "a b", "--view", "model", "--part", "mlp", "-o", folder / "mlp.json")
    assert "W_in" in {t["name"] for t in json.loads((folder / "mlp.json").read_text())["tables"]}
    run("render", "--text", "a b", "--view", "steps", "--steps", "block", "-o", folder / "block.json")
    chain = [t["name"].split(" (")[0] for t in json.loads((folder / "block.json").read_text())["tables"]]
    assert chain == ["E", "LayerNorm", "q", "E", "LayerNorm", "k", "v", "z", "heads", "attn_out", "resid_mid", "LayerNorm", chain[-1]], chain
    run("render", "--text", "a b", "--view", "steps", "--steps", "heads", "-o", folder / "heads.svg")
    assert len(tables["singular values"]["values"]) == 32 and len(tables["W_Q"]["values"]) == 32, tables.keys()
