"""attribute: scores of tokens by every method, in every format, and what it refuses."""

import json
import math

from program import FOLDER, MODELS, header_of, refused, run, run_json

RED = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
BIG = "Lily had a big dog. Tom had a blue ball. Lily gave Tom the red"
CLEAN, CORRUPTED = (
    "Mia had a red ball. Tom had a blue car. Mia gave Tom the red",
    "Mia had a blue ball. Tom had a red car. Mia gave Tom the red",
)
METHODS = (
    "leave-out",
    "jacobian",
    "input-x-gradient",
    "integrated-gradients",
    "contribution",
    "relevance",
    "rollout",
)


def attribute(*more, text=RED):
    return run_json("attribute --json", "--text", text, *more)


def tokens_are_scored_by_every_method():
    seen = set()
    for method in METHODS:
        found = attribute("--metric", "ball - car", "--method", method)
        assert found["method"] == method
        assert found["metric"] == '" ball" - " car"@16', found["metric"]
        assert len(found["tokens"]) == len(found["scores"]) == 17
        assert abs(found["sum"] - sum(found["scores"])) < 1e-3 * max(1, abs(found["sum"]))
        seen.add(tuple(found["scores"]))
    assert len(seen) == len(METHODS)
    assert attribute("--method", "leave-out", "--metric", "ball") == attribute(
        "--metric", "ball"
    ), "the default"
    assert (
        attribute("--metric", "ball")["value"]
        == attribute("--metric", "logit(ball)")["value"]
        != attribute("--metric", "log p(ball)")["value"]
    ), "a token alone is its logit"
    assert attribute("--metric", "ball")["metric"] == 'logit " ball"@16'
    for method in ("contribution", "rollout"):
        shares = attribute("--method", method)
        assert abs(shares["sum"] - 1) < 1e-4 and min(shares["scores"]) >= 0
    plain, changed = (
        attribute("--metric", "logit ball", *more) for more in ([], ["--change", "mask:16>10"])
    )
    assert plain["scores"] != changed["scores"] and plain["value"] != changed["value"]


def one_rollout_is_shown_everywhere():
    """The graph's, of the model and of a recorded run, is that of attribute, whatever was changed;
    a flow takes no way that the rollout does not."""
    text, json_file, trace = (
        ["--text", "Lily saw a cat. Lily saw"],
        FOLDER / "graph.json",
        FOLDER / "changed.safetensors",
    )
    for change in (
        ["--change", "skip-attention:2"],
        ["--ablate", "1.2"],
        ["--ablate", "2.0:keep"],
        ["--ablate", "0.1:mean"],
        ["--change", "patch-resid:3@2=Lily saw a dog. Lily saw"],
        ["--change", "patch-attention:6@1=Lily saw a dog. Lily saw"],
        ["--change", "patch-head:*@1.1=Lily saw a dog. Lily saw"],
        ["--change", "temperature:0.5"],
    ):
        scores = run_json("attribute --method rollout --json", *text, *change)["scores"]
        run("trace", *text, *change, "-o", trace)
        for what in ([*text, *change], ["--trace", trace]):
            run("render --view graph --origins rollout", *what, "-o", json_file)
            table = json.loads(json_file.read_text())["tables"][0]
            assert (
                max(abs(a - b) for a, b in zip(table["values"][0], scores, strict=True)) < 1e-5
            ), (change, what)
        run("render --view graph --origins flow", *text, *change, "-o", json_file)
        flow = json.loads(json_file.read_text())["tables"][-1]["values"][0]
        assert all(share > 0 or way == 0 for share, way in zip(scores, flow, strict=True)), (
            change,
            flow,
        )


def integrated_gradients_say_how_complete_they_are():
    few, many = (
        attribute("--metric", "ball - car", "--method", "integrated-gradients", "--steps", n)
        for n in (1, 100)
    )
    assert many["gap"] < 0.01 < few["gap"], (few["gap"], many["gap"])
    assert many["baseline"] == "mean" and many["steps"] == 100
    auto = attribute("--metric", "ball - car", "--method", "integrated-gradients")
    assert auto["adds_up"] and auto["gap"] < 0.01 and auto["steps"] < 512, auto
    assert max(abs(a - b) for a, b in zip(auto["scores"], many["scores"])) < 0.1
    pair = attribute(
        "--metric",
        "ball - car",
        "--method",
        "integrated-gradients",
        "--steps",
        "100",
        "--baseline",
        "text:" + BIG,
    )
    assert pair["gap"] < 0.01, pair
    assert all(
        s == 0 for t, s in zip(pair["tokens"], pair["scores"]) if t in ("Lily", "Tom", "the")
    ), pair
    other = attribute("--metric", "ball - car", "--method", "jacobian", text=BIG)
    assert abs(pair["baseline_value"] - other["value"]) < 1e-3
    zero = attribute(
        "--metric",
        "ball - car",
        "--method",
        "integrated-gradients",
        "--steps",
        "20",
        "--baseline",
        "zero",
    )
    assert (
        abs(
            abs(zero["sum"] - zero["value"] + zero["baseline_value"])
            / abs(zero["value"] - zero["baseline_value"])
            - zero["gap"]
        )
        < 1e-4
    )


def a_gap_of_integrated_gradients_is_said_where_no_number_says_it():
    """From zero, 10 steps are too few: the scores alone would pass for complete."""
    few = [
        "--text",
        RED,
        "--method",
        "integrated-gradients",
        "--baseline",
        "zero",
        "--steps",
        "10",
        "--metric",
        "log p",
    ]
    gap = run_json("attribute --json", *few)["gap"]
    assert gap > 0.01
    for more in ([], ["-o", FOLDER / "gap.csv"]):
        said = run("attribute", *few, *more).err
        assert f"off by {100 * gap:.{0 if gap > 0.1 else 1}f} %" in said, (gap, said)
        assert said.count("\n") == 1, said
    assert not run("attribute --json", *few).err and not run("attribute --quiet", *few).err
    assert not run("attribute --method integrated-gradients", "--text", RED).err, (
        "complete, so nothing to say"
    )


def every_kind_of_model_is_followed_back():
    for model in ("gpt2", "llama", "gemma2", "phi", "bert", "modernbert", "marian", "t5", "vit"):
        read = (
            ["--image", MODELS / "vit/noise_rgb.png"]
            if model == "vit"
            else ["--ids", "5,9,20,31,5"]
        )
        for method in METHODS:
            if model == "vit" and method == "leave-out":
                continue  # an image has no token to leave out
            metric = (
                "logit #2"
                if model == "vit"
                else "logit #7@0"
                if model in ("marian", "t5")
                else "logit #7@3"
            )
            found = run_json(
                "attribute --json",
                "--model",
                MODELS / model,
                *read,
                "--metric",
                metric,
                "--method",
                method,
                *(["--steps", "2"] if method == "integrated-gradients" else []),
            )
            assert len(found["tokens"]) == len(found["scores"])
            assert any(found["scores"]), (model, method)
            assert ("stacks" in found) == (model in ("marian", "t5"))


def scores_are_written_in_every_format():
    words = ["attribute", "--text", RED, "--metric", "ball"]
    rows = run(*words).out.splitlines()
    assert rows[0] == "position,token,score", rows
    assert len(rows) == 18, rows
    assert rows[2].startswith("1,had,"), rows
    for ending in ("csv", "tsv", "json", "npy", "safetensors"):
        out = FOLDER / f"scores.{ending}"
        run(*words, "-o", out)
        assert out.stat().st_size > 100
    gradients = FOLDER / "gradients.safetensors"
    run(*words, "--gradients", gradients)
    header = header_of(gradients)
    assert header["blocks.1.attn.hook_pattern"]["shape"] == [8, 17, 17], list(header)[:5]
    assert header["blocks.0.hook_resid_mid"]["shape"] == [17, 256], list(header)[:5]
    assert header["__metadata__"]["format"] == "headlight-gradients"


def every_output_answers_to_every_token():
    exact, estimated = (
        attribute("--method", "jacobian", *more, text="The cat sat.")
        for more in ([], ["--probes", "16"])
    )
    n = len(exact["tokens"])
    assert len(exact["matrix"]) == n
    assert all(
        len(row) == n and not any(row[i + 1 :]) and row[i] > 0
        for i, row in enumerate(exact["matrix"])
    )
    for row, guess, error in zip(exact["matrix"], estimated["matrix"], estimated["standard_error"]):
        assert all(abs(a - b) <= 8 * e for a, b, e in zip(row, guess, error)), (row, guess, error)
    out = FOLDER / "jacobian.csv"
    run("attribute --method jacobian --probes 2", "--text", "The cat sat.", "-o", out)
    assert len(out.read_text().splitlines()) == n + 1


def every_output_has_its_row():
    text = "The cat sat on the mat."
    for method in ("relevance", "contribution", "rollout", "jacobian"):
        metric = ["--metric", "log p"] if method == "jacobian" else []
        found = attribute("--method", method, "--over", "outputs", *metric, text=text)
        n = len(found["tokens"])
        assert [len(row) for row in found["matrix"]] == [n] * n
        for at in (2, n - 1):
            if method in ("relevance", "jacobian"):  # of the metric at each token
                one = attribute("--method", method, "--metric", f"log p@{at}", text=text)["scores"]
                assert max(abs(a - b) for a, b in zip(one, found["matrix"][at])) <= 1e-4 * max(
                    one
                ), (method, at)
                assert found["metric"] == "log p"
            assert not any(found["matrix"][at][at + 1 :]), "nothing of what comes later"
    shares = attribute("--method", "rollout", text=text)["scores"]
    assert (
        max(
            abs(a - b)
            for a, b in zip(
                shares,
                attribute("--method", "rollout", "--over", "outputs", text=text)["matrix"][-1],
            )
        )
        < 1e-5
    )
    out = FOLDER / "relevance.npy"
    run("attribute --method relevance --over outputs", "--text", text, "-o", out)
    assert out.stat().st_size > 4 * n * n
    refused("tables of", "attribute --method input-x-gradient --over outputs", "--text", text)
    refused(
        "leave @2 out",
        "attribute --method relevance --over outputs",
        "--text",
        text,
        "--metric",
        "log p@2",
    )


def patching_is_attributed_to_tokens():
    """The scores are the columns' sums of what patch --estimate says of what enters each layer."""
    pair = ["--clean", CLEAN, "--corrupted", CORRUPTED, "--metric", "ball - car"]
    found = run_json("attribute --method attribution-patching --json", *pair)
    rows = [
        line.split(",")
        for line in run("patch --what resid_pre --estimate", *pair).out.splitlines()[1:]
    ]
    sums = [sum(float(row[i + 1]) for row in rows) for i in range(len(found["tokens"]))]
    assert len(rows) == 4 and len(rows[0]) == len(sums) + 1, rows[0]
    assert max(abs(a - b) for a, b in zip(found["scores"], sums)) < 1e-4, (found["scores"], sums)
    for text, value in ((CORRUPTED, found["value"]), (CLEAN, found["clean_value"])):
        assert abs(attribute("--metric", "ball - car", text=text)["value"] - value) < 1e-4
    same = [i for i, (a, b) in enumerate(zip(CLEAN.split(), CORRUPTED.split())) if a == b]
    assert found["scores"][0] == 0
    assert same[0] == 0, "what stands before the first difference moves nothing"
    out = FOLDER / "patched.csv"
    run("attribute --method attribution-patching", *pair, "-o", out)
    assert len(out.read_text().splitlines()) == len(sums) + 1
    words = run_json("attribute --method attribution-patching --parts sentences --json", *pair)
    assert len(words["scores"]) == 3 and abs(sum(words["scores"]) - found["sum"]) < 1e-4
    refused("--clean", "attribute --method attribution-patching", "--text", RED)
    refused("attribution-patching", "attribute", *pair)
    refused(
        "same number of tokens",
        "attribute --method attribution-patching",
        "--clean",
        RED,
        "--corrupted",
        "Lily had",
    )
    run("attribute --method attribution-patching", "--clean", RED, status=2)
    run("attribute --method attribution-patching", *pair, "--text", RED, status=2)


def what_was_written_is_explained_together():
    whole = attribute("--over", "written", "--tokens", "4", "--method", "input-x-gradient")
    assert whole["over"] == "written", whole
    assert len(whole["written"]) == 4, whole
    assert len(whole["tokens"]) == 21, whole
    assert whole["metric"] == "log p", whole
    text = run_json("generate --tokens 4 --json", "--text", RED)
    assert abs(whole["value"] - sum(math.log(step["p"]) for step in text["steps"])) < 1e-2, (
        whole["value"],
        text,
    )
    shares = attribute("--over", "written", "--tokens", "4", "--method", "rollout")
    assert abs(shares["sum"] - 4) < 1e-3
    parts = attribute(
        "--over", "written", "--tokens", "4", "--method", "rollout", "--parts", "sentences"
    )
    assert parts["tokens"][:2] == ["Lily had a red ball.", "Tom had a blue ball."], parts
    assert parts["positions"][:2] == [0, 6], parts
    assert abs(sum(parts["scores"]) - 4) < 1e-3
    assert abs(parts["scores"][0] - sum(shares["scores"][:6])) < 1e-4
    words = run("attribute --metric ball --parts words", "--text", RED).out.splitlines()
    assert words[0] == "position,token,score" and words[1].startswith("0,Lily,")
    target = run_json(
        "attribute --model translator --over written --method contribution --json",
        "--text",
        "The cat sat on the mat.",
    )
    assert abs(target["sum"] - len(target["written"])) < 1e-3 and "stacks" in target


def what_cannot_be_attributed_is_said():
    integrated = ["--method", "integrated-gradients"]
    for more, said in (
        (["--method", "gradient", "--metric", "kl"], "No interventions"),
        (["--metric", "blue ball"], "2 tokens"),
        (["--metric", "ball@99"], "positions 0 …"),
        ([*integrated, "--baseline", "text:Lily had"], "equal length"),
        (["-o", FOLDER / "x.gif"], "change its ending"),
        (["--gradients", "/nowhere/x.safetensors"], "/nowhere"),
    ):
        refused(said, "attribute", "--text", RED, *more)
    pair = ["--method", "attribution-patching", "--clean", CLEAN, "--corrupted", CORRUPTED]
    for more, said in (
        ([*pair, "--over", "written"], "--over written"),
        (["--text", RED, "--probes", "4"], "--probes"),
        (["--text", RED, "--method", "jacobian", "--parts", "words"], "--parts"),
        (
            ["--text", RED, "--method", "rollout", "--over", "outputs", "--parts", "words"],
            "--parts",
        ),
        (
            [
                "--text",
                RED,
                "--method",
                "relevance",
                "--over",
                "outputs",
                "--gradients",
                FOLDER / "g.safetensors",
            ],
            "--over outputs",
        ),
    ):
        refused(said, "attribute", *more)  # options without effect are refused
    for more in (
        ["--method", "magic"],
        ["--steps", "0"],
        ["--steps", "2.5"],
        ["--baseline", "sideways"],
    ):
        run("attribute", "--text", RED, *more, status=2)
    out = FOLDER / "kept.csv"
    out.write_text("old")
    run("attribute --method gradient --metric kl", "--text", RED, "-o", out, status=1)
    assert out.read_text() == "old"
    changed = attribute("--metric", "kl", "--change", "mask:16>10")
    assert changed["value"] > 0 and max(changed["scores"]) > 0
