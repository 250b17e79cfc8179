"""Over prompts: the form, means that fill in, cancelling, and the numbers that are saved."""

import csv
import json
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM

EXAMPLE = {
    "text": "{A} had a {X} ball. {B} had a {Y} ball. {A} gave {B} the {X}",
    "metric": "ball - hat",
    "fill": {"A": ["Lily", "Tom", "Sue", "Ben"], "B": "A", "X": ["red", "blue", "green"], "Y": "X"},
}


def _measured(r):
    shown = any(t.startswith("Mean of 20 of 72 prompts") for t in r["texts"])
    return shown and "prompts/row/0.0" in r["widgets"] and not r["busy"]


def heads_that_matter_are_averaged_over_prompts(display):
    """From the ranking to the example, its means, another measure, and a head of the list."""
    options = ("--text", LILY, "--do", "heads sort effect; view heads", "--report-texts")
    with Window(PROGRAM, display, *options) as w:
        w.wait(lambda r: r["swept"] == "ended" and not r["busy"])  # nothing moves any more
        w.click("prompts/open")
        r = w.wait(lambda r: r["door"] == "Over prompts")
        assert any("Type a template" in t for t in r["texts"]), r["texts"]
        assert r["prompts_of"] == 0
        w.click("prompts/example")
        w.wait(lambda r: {f"prompts/fill/{n}" for n in "ABXY"} <= set(r["widgets"]))
        w.click("prompts/measure")
        r = w.wait(_measured)
        rows = {p[12:]: at[1] for p, at in r["widgets"].items() if p.startswith("prompts/row/")}
        assert min(rows, key=rows.get) == "0.0" and "1.1" in rows, rows
        assert "Change of ball − hat when a head is ablated" in r["texts"]
        w.click("prompts/of")
        w.click("prompts/of/tokens left out")
        w.wait(lambda r: "prompts/row/4 ball" in r["widgets"] and not r["busy"])
        w.click("prompts/of")
        w.click("prompts/of/heads ablated")
        w.wait(_measured)
        w.click("prompts/row/1.1")
        w.wait(lambda r: r["door"] == "Heat map" and r["shown_head"] == [1, 1])


def averages_are_saved_as_the_verb_writes_them(display):
    folder = Path(tempfile.mkdtemp(prefix="headlight-prompts-"))
    (folder / "balls.json").write_text(json.dumps(EXAMPLE))
    saved, written = folder / "saved.csv", folder / "written.tsv"
    command = [PROGRAM, "heads", "--quiet", "--prompts", folder / "balls.json", "--at-most", "20"]
    subprocess.run([*command, "--each", "-o", written], check=True)
    asked = ("--text", LILY, "--do", "prompts example; prompts measure", "--report-texts")
    with Window(PROGRAM, display, *asked) as w:
        w.wait(_measured)
        w.key("ctrl+k")
        w.type(f"save figure {saved}")
        w.key("Return")
        w.wait(lambda _: saved.exists())
    rows = [list(csv.reader(saved.open())), [x.split("\t") for x in written.open()]]
    assert [r[0] for r in rows[0]][1:] == [r[0] for r in rows[1]][1:] and len(rows[0]) == 33
    for mine, verbs in zip(rows[0][1:], rows[1][1:]):
        assert [float(x) for x in mine[1:]] == [float(x) for x in verbs[1:]], (mine, verbs)


def what_the_form_lacks_is_said(display):
    text, answer = "prompts text {A} saw a", "prompts answer {A}"
    words = "prompts fill A: Zuckerberg, Xylophon"
    for commands, said in (
        ([text], "Give the answer"),
        ([text, answer], "Give {A} words"),
        ([text, answer, words, "prompts measure"], "None of 2 prompts can be measured"),
    ):
        asked = ("--text", LILY, "--do", "; ".join(commands), "--report-texts")
        with Window(PROGRAM, display, *asked) as w:
            w.wait(lambda r, said=said: any(said in t for t in r["texts"]))


def a_long_average_is_cancelled(display):
    asked = "prompts example; prompts count 72; prompts of patched; prompts measure"
    with Window(PROGRAM, display, "--text", LILY, "--do", asked) as w:
        w.wait(lambda r: "prompts/row/1.1" in r["widgets"])
        w.click("prompts/cancel")
        w.wait(lambda r: "prompts/cancelled" in r["widgets"] and "prompts/row/1.1" in r["widgets"])
