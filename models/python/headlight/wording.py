"""The program's sentences as Python says them, and Python's options as the command line takes
them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .head_names import is_head, spelled_head
from .option_kinds import check_option
from .option_table import OF_WORDS, ON_BY_DEFAULT, REPEATED

# Options that name heads.
OF_HEADS = ("head", "heads", "only_heads", "with", "ablate", "mean", "max", "with_")
# `tokens` names the tokens of arrays, and `with` is a word of Python
RENAMED = {"only_tokens": "tokens", "only_keys": "keys", "with_": "with"}
NAMED = {there: here for here, there in RENAMED.items()}
COMMAND = re.compile(r"('[^']*\bheadlight [^']*')")  # a command, which a terminal takes as it is
NAME = "([a-z]+(?:-[a-z]+)*)"
# Words that follow an option in a sentence and are no value.
NO_VALUES = "out|and|or|in|is|to|with|goes|acts|does|changes|needs|lists|makes|takes|explains"


def spelled(options: Mapping[str, object]) -> list[str]:
    """Options as the command line spells them: width_mm=85 is --width-mm 85, values=True is
    --values, labels=False is
    --no-labels, heads=[(1, 2), "3.0"] is --heads 1.2,3.0, what is None is left out, and the parts
    of a list have commas between them."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + RENAMED.get(name, name).replace("_", "-")
        if value is None:
            continue
        check_option(name, value)
        if name in OF_HEADS:
            value = _heads(value)
        if name == "size" and isinstance(value, Sequence) and not isinstance(value, str):
            value = "x".join(map(str, value))
        if isinstance(value, bool):
            out += [flag] if value else ["--no-" + flag[2:]] if name in ON_BY_DEFAULT else []
        elif name in REPEATED and isinstance(value, Sequence) and not isinstance(value, str):
            for one in value:
                out += _pair(flag, str(one))
        elif isinstance(value, (str, os.PathLike)) or not hasattr(value, "__iter__"):
            out += _pair(flag, str(value))
        else:
            parts: Any = value
            out += _pair(
                flag, ",".join(str(int(part) if hasattr(part, "item") else part) for part in parts)
            )
    return out


def _heads(value: Any) -> Any:
    """Heads as the command line names them: (1, 2) becomes "1.2"."""
    if is_head(value):
        return spelled_head(value)
    if isinstance(value, (list, tuple, set)):
        return [spelled_head(one) if is_head(one) else one for one in value]
    return value


def _pair(flag: str, value: str) -> list[str]:
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def in_python(said: str) -> str:
    """A sentence of the program with its options named as Python names them: --only-heads is
    only_heads=."""
    if found := re.search(r" \(see `headlight(?: [a-z]+)? --help`\)$", said):
        return (
            f"{in_python(said[: found.start()])} ({found[0][6:-1]} lists the options, here with "
            "_ for -)"
        )
    said = said.replace(
        "'headlight render' draws figures without one", "headlight.figure draws figures without one"
    )
    parts = COMMAND.split(said)
    return "".join(part if i % 2 else _reworded(part) for i, part in enumerate(parts))


def _reworded(said: str) -> str:
    said = re.sub(rf"--no-{NAME}", lambda found: f"{_name(found[1])}=False", said)
    said = re.sub(
        rf"--({'|'.join(OF_WORDS).replace('_', '-')}) (?!(?:{NO_VALUES})\b)([a-z][a-z_0-9-]*)",
        lambda found: f'{_name(found[1])}="{found[2]}"',
        said,
    )
    said = re.sub(
        rf"--{NAME} (\d[\d.,-]*\d|\d)", lambda found: f'{_name(found[1])}="{found[2]}"', said
    )
    return re.sub(rf"--{NAME}( (?=[A-Z]{{2}}))?", lambda found: f"{_name(found[1])}=", said)


def _name(option: str) -> str:
    return NAMED.get(option, option.replace("-", "_"))
