"""Folders for traces that live no longer than this process: what one that was killed left behind, the next one removes."""
from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

from .errors import HeadlightError

LOCK = "headlight.lock"  # held as long as its process lives
YOUNG = 60  # seconds in which a folder may be one that its process has just made and not locked yet
_held: dict[Path, int] = {}


def temporary_path() -> Path:
    """A name in a new folder of its own, for Trace(path, temporary=True)."""
    try:
        _remove_abandoned()
        folder = Path(tempfile.mkdtemp(prefix="headlight-"))
        _held[folder] = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(_held[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        raise HeadlightError(f"There is no folder for temporary files ({problem.strerror}); name one in TMPDIR, or give path=….") from None
    return folder / "trace.safetensors"


def remove(path: Path) -> None:
    """Removes a path that temporary_path returned, with its folder."""
    shutil.rmtree(path.parent, ignore_errors=True)
    if (held := _held.pop(path.parent, None)) is not None:
        os.close(held)


@cache
def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"headlight-*/{LOCK}"):
        try:
            known = lock.stat()
            if known.st_uid == os.getuid() and time.time() - known.st_mtime > YOUNG:
                _remove_unless_held(lock)
        except OSError:  # another process has removed it
            continue


def _remove_unless_held(lock: Path) -> None:
    file = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.parent, ignore_errors=True)
    except BlockingIOError:  # its process lives
        pass
    finally:
        os.close(file)
