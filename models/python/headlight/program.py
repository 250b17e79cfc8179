"""The program that computes and draws: where it is, how its options are spelled, and how it is asked."""
from __future__ import annotations

import operator
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .errors import HeadlightError, ProgramDied

INSIDE = Path(__file__).parent / "bin" / "headlight"
FONTS = Path(__file__).parent / "share/headlight/fonts/fonts.conf"  # in the wheel that models/python/distribute.py makes, as are
SPARE = Path(__file__).parent / "spare"  # the libraries of X11, for servers that have none
THERE_BY_DEFAULT = ("labels", "axis_titles", "color_bar")  # switches that the command line spells --no-…
REPEATED = ("change", "ablate", "capture")  # options of which each value is given by itself
RENAMED = {"only_tokens": "tokens", "only_keys": "keys"}  # `tokens` names the tokens of arrays


def find_program() -> Path:
    """The program: $HEADLIGHT_PROGRAM, else the one inside this package, else the first on PATH."""
    named = os.environ.get("HEADLIGHT_PROGRAM")
    if named:
        if shutil.which(named) is None:
            raise HeadlightError(f'HEADLIGHT_PROGRAM names "{named}", which is not a program; name the file that ./run --build-only leaves at build/headlight.')
        return Path(named)
    if INSIDE.exists():
        return INSIDE
    for folder in os.get_exec_path():
        found = shutil.which("headlight", path=folder)
        if found and not _is_python(found):
            return Path(found)
    raise HeadlightError("The program headlight is neither in this package nor on PATH; install the package with 'pip install headlight-attention', or name the program in HEADLIGHT_PROGRAM.")


def environment(program: Path) -> dict[str, str]:
    """The variables that the program runs with. The one inside this package finds the fonts that came with it and, where the system lacks
    libraries that it starts with, those too."""
    out = dict(os.environ)
    if program != INSIDE:
        return out
    if FONTS.exists() and not {"FONTCONFIG_FILE", "FONTCONFIG_PATH"} & out.keys():
        out["FONTCONFIG_FILE"] = str(FONTS)
    if SPARE.exists() and _lacks_libraries(program):
        out["LD_LIBRARY_PATH"] = ":".join(filter(None, (out.get("LD_LIBRARY_PATH"), str(SPARE))))
    return out


@cache
def _lacks_libraries(program: Path) -> bool:
    """Whether the loader, which only lists them here, finds some of the program's libraries nowhere."""
    listed = subprocess.run([str(program)], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, stdin=subprocess.DEVNULL, capture_output=True)
    return b"not found" in listed.stdout


def _is_python(path: str) -> bool:
    """Whether it is the command that pip makes of `python -m headlight`, which looks for the program itself."""
    with open(path, "rb") as file:
        return b"python" in file.readline(200) if file.read(2) == b"#!" else False


def spelled(options: Mapping[str, object]) -> list[str]:
    """Options as the command line spells them: width_mm=85 is --width-mm 85, values=True is --values, labels=False is
    --no-labels, what is None is left out, and the parts of a list have commas between them."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + RENAMED.get(name, name).replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            by_default = name in THERE_BY_DEFAULT
            out += [] if value == by_default else ["--no-" + flag[2:] if by_default else flag]
        elif name in REPEATED and isinstance(value, Sequence) and not isinstance(value, str):
            for one in value:
                out += _pair(flag, str(one))
        elif isinstance(value, (str, os.PathLike)) or not hasattr(value, "__iter__"):
            out += _pair(flag, str(value))
        else:
            out += _pair(flag, ",".join(str(int(part) if hasattr(part, "item") else part) for part in value))
    return out


def _pair(flag: str, value: str) -> list[str]:
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def head_parts(head: Any) -> list[str]:
    """(1, 2), "1.2", ("cross", 1, 2) or "cross.1.2": the layer, with the kind of attention before it where one is named, and the head."""
    try:
        parts = head.split(".") if isinstance(head, str) else [part if isinstance(part, str) else str(operator.index(part)) for part in head]
    except TypeError:
        parts = []
    if len(parts) < 2:
        raise HeadlightError(f'{head!r} names no head; give (layer, head), ("cross", layer, head) or "1.2", counted from 0.')
    return parts


def run(arguments: Sequence[str], given: bytes = b"") -> bytes:
    """What the program writes to standard output. Raises HeadlightError with the sentence it ends with where it fails, and ProgramDied
    where something ended it. given: its standard input."""
    try:
        program = find_program()
        done = subprocess.run([str(program), *arguments], env=environment(program), input=given, capture_output=True)
    except OSError as problem:
        raise HeadlightError(f"The program headlight cannot be started: {problem.strerror}.") from None
    if done.returncode:
        raise failure(done.returncode, done.stderr)
    return done.stdout


def failure(status: int, stderr: bytes) -> HeadlightError:
    """What to raise for a program that ended with this status: ProgramDied where a signal ended it, else its own sentence."""
    if status < 0:
        return ProgramDied(f"The program headlight was ended by {signal.Signals(-status).name}; run the same again, or report it with the text and the model.")
    lines = stderr.decode(errors="replace").strip().splitlines()
    return HeadlightError(lines[-1].removeprefix("headlight: ") if lines else f"The program headlight ended with status {status} and said nothing.")
