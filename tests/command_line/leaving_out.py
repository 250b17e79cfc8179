"""attribute by leaving out: what each word adds, in every kind of model."""

from attributing import BIG, RED, attribute
from program import MODELS, refused, run, run_json


def the_word_that_matters_comes_first():
    """The last two words ask for ball 4, whatever the slope of a flat log p says."""
    found = attribute()
    first = sorted(zip(found["scores"], found["tokens"], range(17)), reverse=True)[:3]
    assert [(name, at) for _, name, at in first] == [("the", 15), ("red", 16), ("ball", 4)], first
    assert [round(score, 3) for score, *_ in first] == [0.352, 0.319, 0.078], first
    assert round(found["p"], 3) == 0.989 and round(found["p_without"][4], 3) == 0.915, found
    assert found["adds_up"] is None and found["note"].startswith("exact, 17 runs"), found
    shorter = attribute("--metric", "log p ball", text=RED.replace("red ball", "red", 1))
    assert abs(found["value"] - found["scores"][4] - shorter["value"]) < 1e-4
    flat = attribute("--method", "input-x-gradient")
    assert flat["adds_up"] is False and flat["gap"] > 0.1, flat
    said = run("attribute --method input-x-gradient", "--text", RED).err
    assert "does not add up" in said and said.count("\n") == 1, said
    refused("nothing to leave out", "attribute --text Lily")
    sentences = attribute("--parts", "sentences")
    assert [s is None for s in sentences["scores"]] == [False, False, False], sentences
    rest = attribute("--metric", "log p ball", text=RED.partition(". ")[2])
    assert abs(sentences["value"] - sentences["scores"][0] - rest["value"]) < 0.1, (sentences, rest)


def words_are_left_out_of_every_kind_of_model():
    """Under a mask that moves with its tokens, too; what predicts a masked token stays."""
    masked = attribute("--change", "mask:16>10", "--change", "mask:*>2-3")
    assert masked["scores"] != attribute()["scores"] and None not in masked["scores"]
    bert = run_json(
        "attribute --json --ids 5,9,20,31,5 --metric", "logit #7@3", "--model", MODELS / "bert"
    )
    assert [score is None for score in bert["scores"]] == [i == 3 for i in range(5)], bert
    both = run_json(
        "attribute --json --ids 5,9,20,31,5 --metric", "logit #7@0", "--model", MODELS / "marian"
    )
    assert both["scores"][:5].count(None) == 0 and both["scores"][5] is None, both
    written = attribute("--over", "written", "--tokens", "3")
    assert len(written["scores"]) == 17 and None not in written["scores"], written
    parts = attribute("--over", "written", "--tokens", "3", "--parts", "sentences")
    assert len(parts["scores"]) == 3 and None not in parts["scores"], parts
    refused("names tokens by number", "attribute --text", RED, "--change", "patch-resid:3@2=" + BIG)
