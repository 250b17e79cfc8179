"""The window, as a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from .errors import HeadlightError
from .program import are_long, cannot_start, environment, failure, find_program, head_parts, spelled
from .sources import Source

FIRST = 0.6  # seconds within which a window that cannot open has said so


class Window:
    """An open window. It goes on when this process ends, and what it shows was read by then."""

    def __init__(self, process: subprocess.Popen[bytes], said: Any, source: Source):
        self._process, self._said, self._source = process, said, source

    @property
    def is_open(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout: float | None = None) -> None:
        """Return when the window is closed. Raises HeadlightError where the program ended
        otherwise."""
        status = self._process.wait(timeout)
        if status:
            self._said.seek(0)
            raise failure(status, self._said.read())

    def close(self) -> None:
        """Close it as the desktop would."""
        self._process.terminate()
        self._process.wait()

    def __repr__(self) -> str:
        return f"<headlight.Window: {'open' if self.is_open else 'closed'}>"


def open_window(
    source: Source, view: str | None, head: Any, options: Mapping[str, object], block: bool | None
) -> Window:
    """block: whether to return only when the window is closed; by default where Python is not
    interactive."""
    named = None if head is None else ".".join(head_parts(head))
    arguments = [*source.arguments, *spelled({"view": view, "head": named, **options})]
    if are_long(arguments):  # which it keeps to open itself again
        raise HeadlightError(
            "The window is opened with texts of at most 64 KiB; give shorter ones, or open the "
            "window and a file in it."
        )
    said = tempfile.TemporaryFile()
    try:
        program = find_program()
        process = subprocess.Popen(
            [str(program), *arguments],
            env=environment(program),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
    except OSError as problem:
        raise cannot_start(problem) from None
    window = Window(process, said, source)
    try:
        window.wait(None if (not is_interactive() if block is None else block) else FIRST)
    except subprocess.TimeoutExpired:
        pass
    except KeyboardInterrupt:
        window.close()
        raise
    return window


def is_interactive() -> bool:
    return hasattr(sys, "ps1") or is_notebook() or bool(sys.flags.interactive)


def is_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
