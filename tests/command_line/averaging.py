"""Averages over prompts: their means are those of single runs, and what cannot be averaged."""

import json
from math import sqrt
from statistics import mean, stdev

from program import FOLDER, refused, run, run_json

T975 = {2: 4.302653, 3: 3.182446, 5: 2.570582}  # Student's t by degrees of freedom
NAMES = {"A": ["Lily", "Tom", "Sue"], "B": "A"}
BALLS = {
    "text": "{A} had a red ball. {B} had a blue ball. {A} gave {B} the red",
    "metric": "ball - {A}",
    "fill": NAMES,
}
SIX = [(a, b) for a in NAMES["A"] for b in NAMES["A"] if a != b]
PAIRS = [
    ("Lily had a red ball. Tom had a blue ball. Lily gave Tom the red", "ball", "hat"),
    ("Ben had a big car. Tom had a blue car. Ben gave Tom the big", "car", "hat"),
    ("Sue had a red dog. Tom had a blue dog. Sue gave Tom the red", "dog", "hat"),
]


def _written(name, value):
    file = FOLDER / name
    text = value if isinstance(value, str) else json.dumps(value)
    file.write_text(text)
    return file


def _pairs():
    rows = [{"clean": t, "corrupted": t.replace(a, b), "metric": f"{a} - {b}"} for t, a, b in PAIRS]
    return _written("pairs.jsonl", "\n".join(map(json.dumps, rows))), rows


def _is_mean_of(found, values):
    half = T975[len(values) - 1] * stdev(values) / sqrt(len(values))
    about = 2e-4 * max(1, max(map(abs, values)))
    assert found["n"] == len(values), found
    assert abs(found["mean"] - mean(values)) < about, (found, values)
    assert abs(found["low"] - (mean(values) - half)) < about, (found, values, half)
    assert abs(found["high"] - (mean(values) + half)) < about, (found, values, half)


def _six_texts():
    for a, b in SIX:
        yield BALLS["text"].format(A=a, B=b), f"ball - {a}"


def the_mean_of_ablating_a_head_is_that_of_single_runs():
    file = _written("balls.json", BALLS)
    found = run_json("heads --json --prompts", file)
    assert found["version"] == 1 and found["metric"] == "ball - {A}", found["metric"]
    assert len(found["prompts"]) == 6 and not found["left_out"]
    single = [run_json("heads --json --text", t, "--metric", m)["heads"] for t, m in _six_texts()]
    for row in found["rows"]:
        of_head = [
            r["effect"]
            for rows in single
            for r in rows
            if (r["layer"], r["head"]) == (row["layer"], row["head"])
        ]
        _is_mean_of(row["effect"], of_head)
    assert len(found["rows"]) == 32


def the_mean_of_a_score_is_that_of_single_runs():
    file = _written("balls.json", BALLS)
    found = run_json("attribute --json --each --prompts", file)
    single = [run_json("attribute --json --text", t, "--metric", m) for t, m in _six_texts()]
    for row in found["rows"]:
        scores = [one["scores"][row["position"]] for one in single]
        _is_mean_of(row["score"], scores)
        assert len(row["score"]["values"]) == 6 and abs(row["score"]["values"][0]) < 40
    assert [r["token"] for r in found["rows"]][:7] == ["{A}", "had", "a", "red", "ball", ".", "{B}"]
    _is_mean_of(found["value"], [one["value"] for one in single])
    changed = run_json("attribute --json --ablate 1.1 --prompts", file)
    assert changed["rows"] != found["rows"], "the changes are in every run"


def the_mean_of_a_direct_path_is_that_of_single_runs():
    found = run_json("explain --json --prompts", _written("balls.json", BALLS))
    single = [run_json("explain --json --text", t, "--metric", m) for t, m in _six_texts()]
    rows = {f"{r['layer']}.{r['head']}": r for r in found["rows"]}
    in_all = set.intersection(*({h["head"] for h in one["heads"]} for one in single))
    assert in_all >= {"0.0", "1.1"}, in_all
    for head in in_all:
        of_head = [h for one in single for h in one["heads"] if h["head"] == head]
        _is_mean_of(rows[head]["direct"], [h["direct"] for h in of_head])
        _is_mean_of(rows[head]["ablated"], [h["ablated"] for h in of_head])


def the_mean_of_patching_is_that_of_single_runs():
    file, rows = _pairs()
    for what, columns in (("resid_pre", 17), ("heads", 8)):
        found = run_json("patch --json --what", what, "--pairs", file)
        maps = []
        for row in rows:
            given = [word for key, value in row.items() for word in ("--" + key, value)]
            lines = run("patch --what", what, *given).out.splitlines()[1:]
            maps.append([[float(x) for x in line.split(",")[1:]] for line in lines])
        assert len(found["rows"]) == 4 * columns
        for cell in found["rows"]:
            at = cell["head"] if what == "heads" else cell["position"]
            _is_mean_of(cell["restored"], [one[cell["layer"]][at] for one in maps])


def averages_are_written_in_every_format():
    file = _written("balls.json", BALLS)
    lines = run("heads --prompts", file).out.splitlines()
    assert lines[0] == "layer,head,effect,effect_low,effect_high,n" and len(lines) == 33
    for verb, option, given in (
        ("heads", "--prompts", file),
        ("explain", "--prompts", file),
        ("attribute", "--prompts", file),
        ("patch", "--pairs", _pairs()[0]),
    ):
        printed = run(verb, option, given).out
        for ending in ("csv", "json", "tsv", "npy", "safetensors"):
            run(verb, option, given, "-o", FOLDER / f"averages.{ending}")
        assert (FOLDER / "averages.csv").read_text() == printed
        read = json.loads((FOLDER / "averages.json").read_text())
        assert read == run_json(verb, "--json", option, given)
        assert len((FOLDER / "averages.tsv").read_text().splitlines()) == len(read["rows"]) + 1


def more_prompts_than_wanted_are_drawn_by_a_seed():
    file = _written("balls.json", BALLS)
    said = run("heads --at-most 3 --prompts", file)
    assert "3 of 6 prompts, drawn with seed 0" in said.err, said.err
    assert said.out == run("heads --at-most 3 --quiet --prompts", file).out
    others = {run("heads --at-most 3 --prompts", file, "--seed", n).out for n in range(5)}
    assert len(others) > 1


def a_prompt_that_does_not_fit_is_left_out_and_named():
    lines = ["Lily had a red", "Tom had a blue", "Tom had", "Sue had a big"]
    file = _written("lines.jsonl", "\n".join(map(json.dumps, lines)))
    said = run("attribute --json --prompts", file)
    assert 'of 4 prompts left out; "Tom had": It has 2 tokens, and most have 4' in said.err
    found = json.loads(said.out)
    assert [left["text"] for left in found["left_out"]] == ["Tom had"]
    assert len(found["prompts"]) == 3
    by_head = run_json("heads --json --prompts", file)
    assert len(by_head["prompts"]) == 4, "heads are the same in every text"


def what_cannot_be_averaged_is_said_in_a_sentence():
    balls = _written("balls.json", BALLS)
    for words, value in (
        ("nothing fills {B}", {**BALLS, "fill": {"A": ["Lily"]}}),
        ("fills nothing", {**BALLS, "fill": {**NAMES, "C": ["x"]}}),
        ("fills no prompt", {**BALLS, "fill": {"A": ["Tom"], "B": ["Tom"]}}),
        ("is not known", {**BALLS, "answer": "ball"}),
        ("None of 6 prompts can be measured", {**BALLS, "metric": "Zuckerberg"}),
        ("it is not an object", [1]),
    ):
        refused(words, "heads --prompts", _written("wrong.json", value))
    refused("has a metric", "heads --metric ball --prompts", balls)
    refused("exclude each other", "attribute --text hi --prompts", balls)
    refused("exclude each other", "heads --sort entropy --prompts", balls)
    refused("goes with --prompts", "explain --text hi --each")
    refused("goes with --pairs", "patch --clean hi --corrupted ho --json")
    refused("It has no corrupted text", "patch --pairs", balls)
    refused("Line 1 of", "heads --prompts", _written("wrong.jsonl", '{"txt": "a"}'))
    refused(
        "mean or zero",
        "attribute --baseline text:hi --method",
        "integrated-gradients",
        "--prompts",
        balls,
    )
