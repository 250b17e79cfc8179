"""Averages over prompts: of a template, a list and a file, each as the program prints it."""

import json
import subprocess
import tempfile
from os import environ
from pathlib import Path

import headlight
from given_arrays import sentence_of

TEMPLATE = {
    "text": "{A} had a red ball. {B} had a blue ball. {A} gave {B} the red",
    "metric": "ball - {A}",
    "fill": {"A": ["Lily", "Tom", "Sue"], "B": "A"},
}
PAIRS = [
    {
        "clean": f"{name} had a red ball. {name} had the red",
        "corrupted": f"{name} had a red hat. {name} had the red",
        "metric": "ball - hat",
    }
    for name in ("Lily", "Tom")
]


def averages_are_those_of_the_program():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "prompts.json"
        file.write_text(json.dumps(TEMPLATE))
        command = [environ["HEADLIGHT_PROGRAM"], "heads", "--json", "--quiet", "--prompts", file]
        said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        for given in (TEMPLATE, file):
            found = headlight.average(given, "stories")
            assert found.rows == said["rows"] and found.metric == "ball - {A}"
    words = headlight.average(TEMPLATE, "stories", measure="attribute", each=True, at_most=4)
    assert len(words.rows) == 17 and len(words.rows[4]["score"]["values"]) == 4
    assert "17 values over 4 prompts" in repr(words)


def pairs_are_patched():
    found = headlight.average(PAIRS, "stories", measure="patch", what="heads")
    assert len(found.rows) == 32 and found.rows[0]["restored"]["n"] == 2
    assert {row["clean"] for row in PAIRS} == {row["text"] for row in found.prompts}


def what_cannot_be_averaged_is_said():
    for words, given, options in (
        ("is one of heads", TEMPLATE, {"measure": "head"}),
        ("Prompts are a template", 3, {}),
        ("has a metric", TEMPLATE, {"metric": "ball"}),
        ("None of 1 prompts", ["Lily saw a"], {"metric": "Zuckerberg"}),
    ):
        said = sentence_of(lambda g=given, o=options: headlight.average(g, "stories", **o))
        assert words in said, said


def a_head_is_named_as_elsewhere():
    pairs = [{"clean": "Lily saw a cat", "corrupted": "Lily saw a dog"}]
    ask = lambda head: headlight.average(
        pairs, "stories", measure="patch", what="head", head=head, metric="and"
    )
    assert ask((1, 2)).records() == ask("1.2").records()
