"""circuits: pairs of tokens, scores, composition; origins of a score as a figure and as numbers;
what is refused."""

import json

from program import FOLDER, MODELS, refused, run, run_json

RED = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def a_head_is_read_from_its_weights():
    rows = run("circuits --head 1.2 --pairs 5").out.splitlines()
    assert rows[0] == "circuit,from_id,from,to_id,to,value", rows
    assert len(rows) == 11, rows
    assert rows[1].startswith("QK,"), rows
    assert rows[10].startswith("OV,"), rows
    found = run_json("circuits --head 1.2 --pairs 5 --json")
    assert found["head"] == "1.2"
    assert found["tokens"] == 4096
    assert -1 <= found["scores"]["copying"] <= 1
    assert 0 < found["scores"]["previous_token"] < 1
    values = [p["value"] for p in found["qk"]["pairs"]]
    assert values == sorted(values, reverse=True)
    assert len({p["key_id"] for p in found["qk"]["pairs"]}) == 5
    composed = found["composition"]
    assert abs(composed["random"] - 256**-0.5) < 1e-6
    assert [r["head"] for r in composed["reads"]] == [f"0.{h}" for h in range(8)]
    assert len(composed["is_read_by"]) == 16
    assert all(0 < r[kind] < 1 for r in composed["reads"] for kind in "QKV")
    few = run_json("circuits --head 1.2 --tokens 100 --json")
    assert few["tokens"] == 100 and max(p["key_id"] for p in few["qk"]["pairs"]) < 100
    for ending in ("csv", "tsv", "json", "npy", "safetensors"):
        run("circuits --head 1.2", "-o", FOLDER / f"circuits.{ending}")
        assert (FOLDER / f"circuits.{ending}").stat().st_size > 100


def all_heads_are_scored_and_composed():
    rows = run("circuits").out.splitlines()
    assert rows[0] == "layer,head,copying,previous_token,duplicate_token" and len(rows) == 33
    previous = {tuple(r.split(",")[:2]): float(r.split(",")[3]) for r in rows[1:]}
    assert max(previous.values()) > 0.3, (
        "one of its heads looks at the token before, whatever it is"
    )
    pairs = run("circuits --composition --pairs 4").out.splitlines()
    assert pairs[0] == "kind,reads,writes,value" and len(pairs) == 5
    run("circuits --composition -o composition.json")
    tables = json.loads((FOLDER / "composition.json").read_text())["tables"]
    assert [t["name"] for t in tables] == ["Q composition", "K composition", "V composition"]
    assert tables[0]["values"][0][9] is None
    assert run_json("circuits --json --model MODELS/gpt2")["heads"][0]["head"] == "0.0"


def every_kind_of_model_has_circuits():
    for model in tuple(
        "gpt2 llama gemma2 phi bloom bert modernbert marian t5 vit gpt_neox".split()
    ):
        found = run_json(
            "circuits --pairs 3 --json",
            "--model",
            MODELS / model,
            "--head",
            "1.1" if model not in ("marian", "t5") else "cross.1.1",
        )
        assert ("refusal" in found["qk"]) == (model == "vit"), (model, found)
        assert ("refusal" in found["ov"]) == (model in ("bert", "modernbert", "marian", "vit")), (
            model,
            found,
        )
        assert found["composition"]["reads"], model


def a_score_is_split_in_files():
    out = FOLDER / "origins.json"
    where = ["--text", RED, "--view", "origins", "--layer", "1", "--head", "2", "--cell", "16,4"]
    run("render", *where, "-o", out)
    shares, score = json.loads(out.read_text())["tables"]
    assert shares["rows"][:3] == ["biases", "token", "position"]
    assert "0.7" in shares["columns"]
    assert "MLP 0" in shares["columns"]
    total = sum(map(sum, shares["values"]))
    assert abs(total - score["values"][0][0]) < 1e-4, (total, score)
    assert abs(score["values"][0][0] - score["values"][1][0]) < 1e-4, (total, score)
    for ending in ("png", "svg", "pdf", "csv", "npy"):
        run("render", *where, "-o", FOLDER / f"origins.{ending}")
    for model in ("llama", "bert", "t5", "vit"):
        read = (
            ["--image", MODELS / "vit/noise_rgb.png"]
            if model == "vit"
            else ["--ids", "5,9,20,31,5"]
        )
        run(
            "render --view origins --head 1",
            "--model",
            MODELS / model,
            *read,
            "--layer",
            "1" if model != "t5" else "cross.1",
            "-o",
            out,
        )
        shares, score = json.loads(out.read_text())["tables"]
        assert abs(score["values"][0][0] - score["values"][1][0]) < 1e-4 * sum(
            abs(v) for row in shares["values"] for v in row
        ), model


def what_has_no_circuits_is_said():
    refused("no vocabulary", "circuits --head 0.0 --model MODELS/vit")
    half = run("circuits --head 0.0 --pairs 2 --model MODELS/bert")
    assert "path leads" in half.err and half.out.count("QK,") == 2 and "OV," not in half.out, half
    refused("--head", "circuits --head 9.9")
    refused(".csv", "circuits -o circuits.xyz")
    run("circuits --head 1.2 --composition", status=2)
    run("circuits --tokens 5", status=2)
    run("trace -o t.safetensors", "--text", RED)
    refused("weights", "render --view origins --trace t.safetensors -o o.png")
