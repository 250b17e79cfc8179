"""Masks, changes and lists of ids and heads."""

import json
import shutil
import time

from program import FOLDER, MODELS, pdf_text, refused, run, run_json


def masks_and_changes():
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    both = run_json("compare --change mask:16>4 --change mask:16>10 --json", "--text", sentence)
    ball = next(t for t in both["next"] if t["token"] == "ball")
    assert ball["a"] > 0.9 and ball["b"] < ball["a"], ball
    assert len(both["heads"]) == 32 and all(0 <= h["distance"] <= 1 for h in both["heads"])
    assert [h["distance"] for h in both["heads"]] == sorted(
        (h["distance"] for h in both["heads"]), reverse=True
    )
    rows = run("heads --effect-on ball --sort effect", "--text", sentence).out.splitlines()
    assert (
        rows
        == run("heads --sort effect", "--text", sentence, "--effect-on", " ball").out.splitlines()
    ), "the token as it stands in the text"
    assert rows[0].endswith(",effect") and len(rows) == 33
    effects = [abs(float(row.split(",")[-1])) for row in rows[1:]]
    assert effects == sorted(effects, reverse=True) and effects[0] > 0
    mask = FOLDER / "mask.json"
    mask.write_text("[[1,0,0],[0,1,0],[1,1,1]]")
    out = FOLDER / "masked.safetensors"
    run(
        "trace --ids 5,6,7 --ablate 1.2:mean,3.0 --temperature-attn 0.5",
        "--mask",
        f"file:{mask}",
        "-o",
        out,
    )
    header = json.loads(out.read_bytes()[8 : 8 + int.from_bytes(out.read_bytes()[:8], "little")])[
        "__metadata__"
    ]
    assert header["mask"] == f"file:{mask}", header
    assert json.loads(header["changes"]) == [
        "ablate:1.2:mean",
        "ablate:3.0:zero",
        "temperature:0.5",
    ], header
    for name in ("none", "causal", "window:2", "prefix:2", "global:1:2", "block", "padding"):
        run("trace --ids 5,6,7", "--mask", name, "-o", out)
    for bad in (
        ["--mask", "window"],
        ["--mask", "file:/nowhere.json"],
        ["--ablate", "9.9"],
        ["--ablate", "1.2:loud"],
        ["--change", "dance"],
        ["--change", "mask:9>1"],
    ):
        run("trace --ids 5,6,7 -o no.safetensors", *bad, status=1)
    mask.write_text("[[1,0],[0,1]]")
    run("trace --ids 5,6,7 -o no.safetensors", "--mask", f"file:{mask}", status=1)
    mask.write_text("[[1,0],[0]]")
    run("trace --ids 5,6 -o no.safetensors", "--mask", f"file:{mask}", status=1)
    run("compare --text a", status=1)
    before = run_json("compare --json", "--text", sentence, "--change", "freeze:1.2=" + sentence)
    assert all(h["distance"] < 1e-6 for h in before["heads"]), "its own pattern changes nothing"
    patched = run_json(
        "compare --json",
        "--text",
        sentence,
        "--change",
        "freeze:1.2=Lily had a big dog. Tom had a blue ball. Lily gave Tom the red",
    )
    assert max(h["distance"] for h in patched["heads"] if h["layer"] == "1") > 1e-3
    keep = run_json(
        "compare --ablate 3.2:keep --change mask:9-16>3-4@0.0 --json", "--text", sentence
    )
    assert keep["heads"][0]["distance"] > 0
    longer = (
        "--text",
        "The cat sat on the mat.",
        "--text-b",
        "The big cat sat on the mat.",
        "--json",
    )
    token, position = (
        run_json("compare", *longer, "--align", how) for how in ("token", "position")
    )
    assert sum(h["distance"] for h in token["heads"]) < sum(
        h["distance"] for h in position["heads"]
    ), "aligned sentences are nearer"
    same = run_json("compare --model-b stories --json", "--text", "The cat")
    assert all(h["distance"] == 0 for h in same["heads"])
    assert all(t["a"] == t["b"] for t in same["next"])
    for more in (
        ["--text-b", "Lily had a red hat. Tom had a blue hat. Lily gave Tom the red"],
        ["--model-b", MODELS / "gpt2"],
        ["--change", "mask:16>10"],
        ["--with", "3.2"],
    ):
        for show in ("pattern", "delta", "next"):
            run("render --view compare -o compare.pdf", "--text", sentence, "--show", show, *more)
            text = pdf_text("compare.pdf") if shutil.which("pdftotext") else "A − B"
            assert (
                "A − B" in text
                or "After − before" in text
                or "different layers" in text
                and show == "delta"
            ), text
            assert "Reading" not in text, text
    run("render --view head --drop-sink -o sink.pdf", "--text", sentence)
    for bad in ("freeze:9.9=x", "freeze:1.2=", "mask:3-1>0", "score:1-2>0@0.0=3"):
        run("trace --ids 5,6,7 -o no.safetensors", "--change", bad, status=1)
    assert "no token" in run("heads --text a --effect-on zzzzq", status=1).err.lower()


def steps_show_the_score_that_softmax_takes():
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    steps = lambda *more: run_json(
        "render --view steps --layer 1 --head 2 --cell 16,4 -o - --format json",
        "--text",
        sentence,
        *more,
    )["tables"][0]
    column = lambda table, name: [row[table["columns"].index(name)] or 0 for row in table["values"]]
    plain = steps()
    assert plain["columns"] == ["q·k", "scaled", "score", "exp", "weight", "value norm", "moved"], (
        plain["columns"]
    )
    for text in tuple(
        """
        temperature:0.5@1.2 temperature:inf@1.2 temperature:0@1.2 ablate:1.2:uniform ablate:1.2:hard
        score:16>4@1.2=9 mask:16>0-9@1.2 mask:16>*@1.2 ablate:1.2:mean skip-attention:1
        patch-head:16@1.2
    """.split()
    ):
        table = steps("--change", text)
        exp, weight = column(table, "exp"), column(table, "weight")
        assert all(abs(e / sum(exp) - w) < 1e-5 for e, w in zip(exp, weight)), (text, exp, weight)
        assert ("before temperature" in table["columns"]) == (
            text in ("temperature:0.5@1.2", "temperature:inf@1.2", "ablate:1.2:uniform")
        ), (text, table["columns"])
        assert ("edited" in table["columns"]) == text.startswith("score"), (text, table["columns"])
    halved = steps("--change", "temperature:0.5@1.2")
    assert all(
        abs(a - 2 * b) < 1e-4 for a, b in zip(column(halved, "score"), column(plain, "score"))
    )
    frozen = steps(
        "--change", "freeze:1.2=Lily had a big dog. Tom had a blue ball. Lily gave Tom the red"
    )
    assert "exp" not in frozen["columns"], frozen["columns"]
    assert "score" not in frozen["columns"], frozen["columns"]
    assert "frozen pattern" in frozen["name"], frozen["columns"]


def a_metric_is_chosen():
    """One option names the metric for the commands that measure; --effect-on is the probability of
    its token."""
    sentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
    heads = lambda *more: run_json("heads --json", "--text", sentence, *more)["heads"]
    by_token, by_metric = heads("--effect-on", "ball"), heads("--metric", "p ball")
    assert by_token == by_metric and all(h["effect"] == h["delta_p"] for h in by_token)
    assert by_token[0]["metric"] == 'p " ball"@16', by_token[0]
    both = heads("--metric", "ball - car", "--sort", "effect")
    assert both[0]["metric"] == '" ball" - " car"@16'
    strength = [abs(h["effect"]) for h in both]
    assert strength == sorted(strength, reverse=True) and strength[0] > 0
    plain = {(h["layer"], h["head"]): h for h in heads("--metric", "logit ball")}
    car = {(h["layer"], h["head"]): h for h in heads("--metric", "logit car")}
    for h in both:
        at = h["layer"], h["head"]
        assert abs(h["effect"] - (plain[at]["effect"] - car[at]["effect"])) < 1e-3
        assert h["delta_logit"] == plain[at]["effect"]
    assert all(h["effect"] >= 0 for h in heads("--metric", "kl"))
    rows = run("heads", "--text", sentence, "--metric", "log p ball").out.splitlines()
    assert rows[0].endswith(",delta_p,delta_logit,delta_log_p,effect")
    pair = run_json(
        "compare --change mask:16>10 --json", "--text", sentence, "--metric", "ball - car"
    )
    assert abs(pair["metric"]["change"] - (pair["metric"]["b"] - pair["metric"]["a"])) < 1e-5
    assert pair["metric"]["change"] < 0
    assert all({"delta_p", "delta_logit", "delta_log_p"} <= set(t) for t in pair["next"])
    for view in ("lens", "delta"):
        out = FOLDER / f"{view}.json"
        run("render", "--text", sentence, "--view", view, "--metric", "ball - car", "-o", out)
        assert "ball − ␣car" in out.read_text(encoding="utf-8"), view
    for bad, said in (
        ("blue ball", "2 tokens"),
        ("ball@99", "positions 0 …"),
        ("ball - ball", "two different tokens"),
        ("kl ball", "of all tokens"),
    ):
        refused(said, "heads", "--text", sentence, "--metric", bad)
    for bad, said in (
        ("#99999", "from #0 to #4095"),
        ("p(#-1)", "from #0 to #4095"),
        ("ball@-1", "no position"),
        ("ball@", "no position"),
        ("ball@99999999999999", "no position"),
    ):
        refused(said, "attribute", "--text", sentence, "--metric", bad)
    for verb in (
        ("heads",),
        ("report", "-o", FOLDER / "no.html"),
        ("render", "--view", "lens", "-o", FOLDER / "no.svg"),
    ):
        refused(
            "--metric: it names nothing to explain",
            *verb,
            "--text",
            sentence,
            "--metric",
            "",
            status=2,
        )
    run("heads --sort effect", "--text", sentence, status=1)


def what_reads_later_tokens_is_not_taken_over_while_generating():
    """A fully masked row attends to all keys: written one token at a time it must give what a fresh
    pass gives."""
    ids = [5, 9, 200]
    steps = run_json(
        "generate --tokens 6 --change mask:0>0 --json --model MODELS/gpt2",
        "--ids",
        ",".join(map(str, ids)),
    )["steps"]
    for step in steps:
        fresh = run_json(
            "generate --tokens 1 --change mask:0>0 --json --model MODELS/gpt2",
            "--ids",
            ",".join(map(str, ids)),
        )["steps"][0]
        assert fresh["id"] == step["id"] and abs(fresh["p"] - step["p"]) < 1e-5, (ids, fresh, step)
        ids.append(step["id"])


def rectangles_over_a_long_text_take_no_time():
    ids, open_cells = ",".join(["5"] * 256), "unmask:0-255>0-255"
    took = {}
    for name, more in (
        ("plain", []),
        ("open", ["--change", open_cells]),
        ("none", ["--mask", "none"]),
    ):
        begin = time.time()
        run("trace --capture logits", "--ids", ids, *more, "-o", FOLDER / f"{name}.safetensors")
        took[name] = time.time() - begin
    assert took["open"] < took["plain"] + 3, took
    body = lambda path: (lambda b: b[8 + int.from_bytes(b[:8], "little") :])(path.read_bytes())
    assert body(FOLDER / "open.safetensors") == body(FOLDER / "none.safetensors"), (
        "all cells allowed is the mask none"
    )


def rows_still_to_be_written_can_be_masked():
    """The translator looks at its first word no more, in every row that it writes."""

    def written(*change):
        return run_json("generate --model translator --text The --tokens 20", "--json", *change)[
            "ids"
        ]

    assert (
        written("--change", "mask:*>0@cross")
        == written("--change", "mask:0..>0@cross")
        == written(
            "--change",
            "mask:0..>0@cross.0",
            "--change",
            "mask:0..>0@cross.1",
            "--change",
            "mask:0..>0@cross.2",
        )
    )
    for bad in ("mask:*>0@cross.9", "mask:9999..>0", "mask:99>0@cross", "mask:*>0@sideways"):
        run("generate --model translator --text The", "--change", bad, status=1)
    run("generate --tokens 4 --change mask:*>0@cross", "--text", "The cat", status=1)
    error = run("generate --model translator --text The --change mask:7>0@cross", status=1).err
    assert '"7.."' in error and "generated later" in error, error
    error = run("generate --model translator --text The --change mask:0>7@cross", status=1).err
    assert '".."' not in error and "correct --change" in error, error


def values_that_would_overflow_are_refused():
    for view in ("delta", "lens", "compare"):
        for change in (
            "score:1>0@0.0=1e39",
            "score:1>0@0.0=inf",
            "score:1>0@0.0=-1e31",
            "temperature:1e-38",
            "temperature:1e39",
        ):
            error = run(
                "render -o no.svg",
                "--text",
                "The cat sat",
                "--view",
                view,
                "--change",
                change,
                status=1,
            ).err
            assert "cannot be used" in error, error
        run(
            "render --change score:1>0@0.0=1e30 --change temperature:1e-6 -o yes.svg",
            "--text",
            "The cat sat",
            "--view",
            view,
        )
    for value in ("1e-38", "1e39", "nan", "-1", "x", ""):
        run("render -o no.svg", "--text", "The cat sat", "--temperature-attn", value, status=2)
    for value in ("0", "inf", "0.5"):
        run("render -o yes.svg", "--text", "The cat sat", "--temperature-attn", value)


def lists_of_ids_miss_nothing():
    out = FOLDER / "ids.safetensors"
    for bad in ("1,,2", "", ",", "1,", ",1", "1, 2", "1;2", "1.5", "99999999999"):
        run("trace --model MODELS/gpt2", "--ids", bad, "-o", out, status=2)
        run("trace --ids 5 --model MODELS/marian", "--target-ids", bad, "-o", out, status=2)
        run("trace --ids 5,6 --model MODELS/bert", "--token-types", bad, "-o", out, status=2)
    for bad in ("window:0", "global:1:0"):
        refused("at least 1", "trace --ids 1,2", "--mask", bad, "-o", out)
    run("trace --ids 1,2 --ablate 1.2,,3.0", "-o", out, status=1)


def a_list_of_heads_names_its_own_option():
    for command, option in (
        (("render", "--view", "heads"), "--only-heads"),
        (("render", "--view", "compare"), "--with"),
        (("report",), "--heads"),
    ):
        for bad in ("9.9", "1.2:keep"):
            error = run(
                *command,
                "--text",
                "The cat",
                option,
                bad,
                "-o",
                FOLDER / ("no.html" if command == ("report",) else "no.svg"),
                status=1,
            ).err
            assert f"correct {option}." in error, error
