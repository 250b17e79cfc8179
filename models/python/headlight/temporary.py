"""Folders for traces, and partly written files, that live no longer than their process: the next
process removes those of one that was killed."""

from __future__ import annotations

import fcntl
import glob
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from .errors import HeadlightError

LOCK = "headlight.lock"  # held as long as its process lives
YOUNG = 60  # seconds in which a folder may be one that its process has just made and not locked yet
PART = re.compile(r"\.part-[0-9a-f]{8}")  # after the name of a file that is being written
_held: dict[Path, int] = {}


def temporary_path() -> Path:
    """A name in a new folder of its own, for Trace(path, temporary=True)."""
    try:
        _remove_abandoned()
        folder = Path(tempfile.mkdtemp(prefix="headlight-"))
        _held[folder] = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(_held[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        raise HeadlightError(
            f"There is no folder for temporary files ({problem.strerror}); name one in TMPDIR, "
            "or give path=…."
        ) from None
    return folder / "trace.safetensors"


def remove(path: Path) -> None:
    """Remove a path that temporary_path returned, with its folder."""
    shutil.rmtree(path.parent, ignore_errors=True)
    if (held := _held.pop(path.parent, None)) is not None:
        os.close(held)


def new_part(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside `path`, which is to become it. What processes that are no more left of
    writing the same path goes first."""
    for left in path.parent.glob(glob.escape(path.name) + ".part-*"):
        if PART.fullmatch(left.name, len(path.name)):
            with suppress(OSError):  # another process has removed it, or has it
                _remove_unless_held(left, left.unlink)
    while True:
        part = path.with_name(f"{path.name}.part-{secrets.token_hex(4)}")
        file = open_part(part, "x+b")
        if part.exists():
            return part, file
        file.close()  # another process took it for one that was left, before it was held


def open_part(part: Path, mode: str = "r+b") -> IO[bytes]:
    """Held as long as it is open in any process, so that no other takes it for one that was
    left."""
    file = open(part, mode)
    with suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_SH)
    return file


@cache
def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"headlight-*/{LOCK}"):
        with suppress(OSError):  # another process has removed it
            known = lock.stat()
            if known.st_uid == os.getuid() and time.time() - known.st_mtime > YOUNG:
                _remove_unless_held(lock, lambda: shutil.rmtree(lock.parent, ignore_errors=True))


def _remove_unless_held(held: Path, remove_it: Callable[[], None]) -> None:
    file = os.open(held, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_it()
    except BlockingIOError:  # its process lives
        pass
    finally:
        os.close(file)
