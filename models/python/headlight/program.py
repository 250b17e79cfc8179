"""The program that computes and draws: where it is, how its options are spelled, and how it is
asked."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from .errors import HeadlightError, ProgramDied
from .head_names import head_parts as head_parts
from .optional import shown_bar
from .temporary import remove, temporary_path
from .watching import watched
from .wording import in_python
from .wording import spelled as spelled

INSIDE = Path(__file__).parent / "bin" / "headlight"
# In the wheel that models/python/distribute.py makes, as are.
FONTS = Path(__file__).parent / "share/headlight/fonts/fonts.conf"
SPARE = Path(__file__).parent / "spare"  # the libraries of X11, for servers that have none

LONG = 1 << 16  # bytes of arguments; Linux hands a program 128 KiB in one

SAYS = "headlight: "  # before what it says on standard error
LOG = logging.getLogger("headlight")
_limit: ContextVar[float | None] = ContextVar("limit", default=None)  # seconds


@contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """Let every run of the program inside take at most so long.

    Parameters
    ----------
    seconds : float
        Of one run; what takes longer is ended and raises HeadlightError. It counts for calls of
        this thread.

    Examples
    --------
    >>> with headlight.timeout(60):
    ...     headlight.heads("stories", text="Lily had a red ball.")
    """
    if not seconds > 0:
        raise HeadlightError(f"timeout({seconds!r}) leaves no time; give seconds above 0.")
    before = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(before)


def find_program() -> Path:
    """The program: $HEADLIGHT_PROGRAM, else the one inside this package, else the first on PATH."""
    named = os.environ.get("HEADLIGHT_PROGRAM")
    if named:
        if shutil.which(named) is None:
            raise HeadlightError(
                f'HEADLIGHT_PROGRAM names "{named}", which is not a program; name the file that '
                "./run --build-only leaves at build/headlight."
            )
        return Path(named)
    if INSIDE.exists():
        return INSIDE
    for folder in os.get_exec_path():
        found = shutil.which("headlight", path=folder)
        if found and not _is_python(found):
            return Path(found)
    raise HeadlightError(
        "The program headlight is neither in this package nor on PATH; install the package with "
        "'pip install headlight-attention', or name the program in HEADLIGHT_PROGRAM."
    )


def environment(program: Path) -> dict[str, str]:
    """The variables that the program runs with. The one inside this package finds the fonts that
    came with it and, where the system lacks libraries that it starts with, those too."""
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
    """Whether the loader, which only lists them here, finds some of the program's libraries
    nowhere."""
    listed = subprocess.run(
        [str(program)],
        env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return b"not found" in listed.stdout


def _is_python(path: str) -> bool:
    """Whether it is the command that pip makes of `python -m headlight`, which looks for the
    program itself."""
    with open(path, "rb") as file:
        return b"python" in file.readline(200) if file.read(2) == b"#!" else False


def run(arguments: Sequence[str], given: bytes = b"") -> bytes:
    """Run the program and return its standard output. Raises HeadlightError with the sentence it
    ends with where it fails, and ProgramDied where a signal ended it. given: its standard input.
    Its progress is shown by tqdm where that is installed."""
    try:
        program = find_program()
        LOG.debug("%s", arguments)
        with _handed(arguments) as handed:
            done = _ended(program, [str(program), *handed], given)
    except subprocess.TimeoutExpired:
        raise HeadlightError(
            f"headlight {arguments[0]} took longer than the {_limit.get():g} seconds of "
            "headlight.timeout; give it more, or a shorter text."
        ) from None
    except OSError as problem:
        raise cannot_start(problem) from None
    if done.returncode:
        raise failure(done.returncode, done.stderr)
    for line in done.stderr.decode(errors="replace").splitlines():
        if line.startswith(SAYS):  # that it read a part of the text, for example
            warnings.warn(in_python(line.removeprefix(SAYS)), stacklevel=2)
    return done.stdout


def _ended(program: Path, command: list[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    """The program after its run."""
    if (bar := shown_bar()) is not None:
        return watched(command, environment(program), given, _limit.get(), bar)
    return subprocess.run(
        command, env=environment(program), input=given, capture_output=True, timeout=_limit.get()
    )


def are_long(arguments: Sequence[str]) -> bool:
    """Whether they may be more than the system hands to a program."""
    return sum(len(_bytes(one)) + 1 for one in arguments) > LONG


def _bytes(argument: str) -> bytes:
    """An argument in bytes; half of a character that UTF-16 writes in two becomes "?"."""
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError:
        return argument.encode(errors="replace")


@contextmanager
def _handed(arguments: Sequence[str]) -> Iterator[list[str]]:
    """The arguments; where they are long, or hold a NUL, the verb and a file that lists the
    others."""
    verb, *options = arguments
    if not are_long(options) and not any("\0" in one for one in options):
        yield [verb, *(os.fsdecode(_bytes(one)) for one in options)]
        return
    listed = temporary_path().with_name("arguments.json")
    try:
        with open(os.open(listed, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            read = [_bytes(one).decode(errors="replace") for one in options]
            file.write(json.dumps(read, ensure_ascii=False).encode())
        yield [verb, f"@{listed}"]
    finally:
        remove(listed)


def cannot_start(problem: OSError) -> HeadlightError:
    return HeadlightError(f"The program headlight cannot be started: {problem.strerror}.")


def failure(status: int, stderr: bytes) -> HeadlightError:
    """The error for a program that ended with this status: ProgramDied where a signal ended it,
    else its own sentence."""
    if status < 0:
        return ProgramDied(
            f"The program headlight was ended by {signal.Signals(-status).name}; run the same "
            "again, or report it with the text and the model."
        )
    lines = stderr.decode(errors="replace").strip().splitlines()
    return HeadlightError(
        in_python(lines[-1].removeprefix(SAYS))
        if lines
        else f"The program headlight ended with status {status} and said nothing."
    )
