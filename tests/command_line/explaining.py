"""What 'headlight explain' finds and refuses."""

from program import FOLDER, run, run_json

LILY = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"


def logit(*changes):
    """The logit of ball, as attribution prints it."""
    words = ("--text", LILY, "--metric", "ball", "--method", "jacobian", "--json", *changes)
    return run_json("attribute", *words)["value"]


def a_circuit_is_found_and_its_numbers_recompute():
    found = run_json("explain", "--text", LILY, "--json")
    heads = {row["head"]: row for row in found["heads"]}
    assert list(heads) == ["0.0", "1.0", "1.1", "2.5", "3.3"], list(heads)
    edges = {(e.get("from", e.get("token")), e["to"]): e for e in found["edges"]}
    assert abs(edges["0.0", "1.1"]["effect"] - 2.29) < 0.02, edges["0.0", "1.1"]
    for path, change in ((15, "mask:*>15@0.0"), (3, "mask:*>3@0.0")):
        whole, cut = (logit(), logit("--change", change))
        assert abs(edges[path, "0.0"]["effect"] - (whole - cut)) < 2e-3, (path, whole, cut)
    words = {row["token"]: row["effect"] for row in found["words"]}
    assert len(words) == 17 and max(words, key=words.get) == 15, words
    assert len(found["all_heads"]) == 32, len(found["all_heads"])
    for row in (found["all_heads"][0], found["all_heads"][-1]):
        cut = logit() - logit("--ablate", row["head"])
        assert abs(row["ablated"] - cut) < 2e-3, (row, cut)
    assert found["only_these"]["probability"] > 0.999 > 0.1 > found["all_but_these"]["probability"]


def a_circuit_is_written_as_its_ending_says():
    file = FOLDER / "circuit.csv"
    run("explain", "--text", LILY, "-o", file)
    assert file.read_text().startswith(
        "path\\effect,effect,by queries,by keys,by values\nthe 15 → 0.0,"
    )
    said = run("explain", "--text", LILY, "-o", FOLDER / "circuit.txt", status=1).err
    assert "render --view explain" in said, said
