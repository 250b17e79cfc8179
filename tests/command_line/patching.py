"""Activation patching: an answer is patched back, and what cannot be patched is refused."""

import json
import re
import shutil

from program import FOLDER, MODELS, refused, run


def an_answer_is_patched_back():
    """The verb's maps, in each format; what it cannot do is said in one sentence."""
    clean, corrupted = (
        "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
        "Lily had a red hat. Tom had a blue hat. Lily gave Tom the red",
    )
    both = ("--clean", clean, "--corrupted", corrupted, "--metric", "ball - hat")
    rows = [line.split(",") for line in run("patch", *both).out.splitlines()]
    assert len(rows) == 5 and len(rows[0]) == 18, rows[0]
    cells = [[float(x) for x in row[1:]] for row in rows[1:]]
    assert all(row[i] == 0 for row in cells for i in range(4)), (
        "what stands before the difference is the same in both"
    )
    assert abs(sum(cells[0]) - 1) < 0.5 and max(cells[-1]) > 0.5, cells
    out = FOLDER / "patch.json"
    run("patch --what heads", *both, "-o", out)
    heads = (
        {table["name"]: table for table in json.loads(out.read_text())["tables"]}
        if "tables" in json.loads(out.read_text())
        else json.loads(out.read_text())
    )
    assert "heads" in json.dumps(heads) and "corrupted" in json.dumps(heads), list(heads)
    for ending in ("csv", "tsv", "npy", "safetensors"):
        run("patch --what mlp_out", *both, "-o", FOLDER / f"patch.{ending}")
    assert (FOLDER / "patch.csv").read_text() == run("patch --what mlp_out", *both).out
    assert len(run("patch --head 1.2", *both).out.splitlines()) == 2, "one head by position"
    estimates = run("patch --estimate", *both).out
    assert estimates != run("patch", *both).out
    assert len(estimates.splitlines()) == 5, "all cells from one reverse pass"
    tables = json.loads(out.read_text())
    assert "heads estimated" in json.dumps(tables), tables.keys()
    noised = run("patch --noise 4=3", "--clean", clean, "--metric", "log p ball").out
    assert (
        noised
        == run("patch --noise 4=3", "--clean", clean, "--metric", "log p ball").out
        != run("patch --noise 4=5", "--clean", clean, "--metric", "log p ball").out
    )
    assert [float(x) for x in noised.splitlines()[1].split(",")[1:]][4] == 1, (
        "the token itself put back before all layers"
    )
    render = run(
        "render --view patch --what heads -o patched.npy",
        "--text",
        corrupted,
        "--text-b",
        clean,
        "--metric",
        "ball - hat",
    )
    run("patch --what heads -o verb.npy", *both)
    assert (FOLDER / "patched.npy").read_bytes() == (FOLDER / "verb.npy").read_bytes(), render.err


def what_cannot_be_patched_is_said():
    clean, corrupted = "Lily had a red ball. Lily had a red", "Lily had a red hat. Lily had a red"
    both = ("--clean", clean, "--corrupted", corrupted)
    longer = "Lily had a very red hat. Lily had a red"
    longer = run("patch", "--clean", clean, "--corrupted", longer, status=1).err
    for words in ("10 tokens", "11", "token 3", "red", "very"):
        assert words in longer, longer
    refused("tokens there", "patch", *both, "--metric", "zebracorn - hat")
    refused("position 99", "patch", *both, "--metric", "log p ball@99")
    alike = ("--clean", clean, "--corrupted", clean)
    same = run("patch", *alike, "--metric", "ball - hat", status=1).err
    assert "in both runs" in same and "nothing" in same, same
    assert "noise" in run("patch", "--clean", clean, status=1).err.lower()
    refused("0 … 9", "patch --noise 10", "--clean", clean)
    refused("--head", "patch --what head", *both)
    refused("9.9", "patch --head 9.9", *both)
    refused("leave one of them out", "patch --what mlp_out --head 1.2", *both)
    assert run("patch --what head --head 1.2", *both).out
    refused("--clean", "patch", "--clean", "", "--corrupted", corrupted)
    for more in ([], ["--estimate"]):
        assert "-0" not in re.split("[,\n]", run("patch --metric hat", *both, *more).out), (
            "nothing returned is 0"
        )
    refused(".csv", "patch -o patch.xyz", *both)
    assert not (FOLDER / "patch.xyz").exists()
    mute = FOLDER / "no head"
    mute.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(MODELS / "bert" / name, mute)
    data = (MODELS / "bert" / "model.safetensors").read_bytes()
    header_end = 8 + int.from_bytes(data[:8], "little")
    header = {
        name.removeprefix("bert."): at
        for name, at in json.loads(data[8:header_end]).items()
        if name.startswith("bert.")
    }
    text, kept, offset = {}, b"", 0
    for name, at in header.items():
        begin, end = at["data_offsets"]
        kept += data[header_end + begin : header_end + end]
        text[name] = {**at, "data_offsets": [offset, offset + end - begin]}
        offset += end - begin
    head = json.dumps(text).encode()
    (mute / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + kept)
    refused(
        "no head that predicts tokens",
        "patch --clean-ids 2,5,9 --corrupted-ids 2,6,9",
        "--model",
        mute,
    )
    run("patch --noise 1", "--clean", clean, "--corrupted", corrupted, status=2)
    run("patch --what everything", *both, status=2)
