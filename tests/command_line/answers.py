"""The answers of --json are those of docs/json.md, key by key."""

import json
import re
import shlex
from pathlib import Path

from program import FOLDER, run, run_json

ROOT = Path(__file__).parents[2]


def _sections():
    """Each command of the page with the keys of its table, and whether a key is conditional."""
    for section in re.split(
        r"^## ", (ROOT / "docs/json.md").read_text(encoding="utf-8"), flags=re.M
    )[1:]:
        command = re.search(r"^headlight (.*--json)$", section, re.M)
        keys = {}
        for named, holds in re.findall(r"^\| (`.*`) \| (.*) \|$", section, re.M):
            for key in re.findall(r"`([\w.]+)`", named):
                keys[key] = holds.startswith("*if*")
        if command and keys:
            yield shlex.split(command[1]), keys


def json_answers_are_documented():
    checked = 0
    for command, keys in _sections():
        answer = run_json(command[0], *command[1:])
        assert list(answer)[0] == "version", command
        found = set(answer) - {"version"}
        for name, value in answer.items():
            inside = {key.partition(".")[2] for key in keys if key.startswith(name + ".")}
            if inside:
                rows = {key for row in value for key in row}
                found |= {f"{name}.{key}" for key in rows}
        assert found <= set(keys), (command[0], found - set(keys))
        always = {key for key, conditional in keys.items() if not conditional}
        assert always <= found, (command[0], always - found)
        checked += 1
    assert checked == 8, checked


def files_of_numbers_have_a_version():
    path = FOLDER / "versioned.json"
    run("render --view head --text abc -o", path)
    root = json.loads(path.read_text())
    assert root["version"] == 1 and set(root["tables"][0]) == {
        "name",
        "rows_are",
        "columns_are",
        "rows",
        "columns",
        "values",
    }
