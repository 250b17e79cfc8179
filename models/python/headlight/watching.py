"""Follow the program's progress bar, and show it as one of tqdm's."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

BAR = re.compile(rb"\r\[[#.]*\] (\d+) of (\d+)")  # app/cli/progress.cpp


class _Reader(threading.Thread):
    """Reads the other end of the program's terminal."""

    def __init__(self, end: int, bar: Any, verb: str):
        super().__init__(daemon=True)
        self.end, self.make, self.verb = end, bar, verb
        self.said, self.bar = b"", None

    def run(self) -> None:
        try:
            while part := os.read(self.end, 1 << 16):
                self.said += part
                self._show()
        except OSError:  # the program has ended
            pass
        if self.bar is not None:
            self.bar.update(self.bar.total - self.bar.n)  # one that stops before its end stays, red
            self.bar.close()

    def _show(self) -> None:
        found = list(BAR.finditer(self.said))
        if not found:
            return
        done, total = map(int, found[-1].groups())
        self.said = BAR.sub(b"", self.said)
        if self.bar is None:
            self.bar = self.make(total=total, desc=self.verb, leave=False)
        self.bar.update(done - self.bar.n)


def watched(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    given: bytes,
    limit: float | None,
    bar: Any,
) -> subprocess.CompletedProcess[bytes]:
    """subprocess.run, with a terminal as the program's standard error, where it draws its bar.
    bar: tqdm."""
    import pty

    end, terminal = pty.openpty()
    reader = _Reader(end, bar, arguments[1])
    reader.start()
    try:
        done = subprocess.run(
            arguments,
            env=environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=terminal,
            timeout=limit,
        )
    finally:
        os.close(terminal)
        reader.join()
        os.close(end)
    done.stderr = reader.said
    return done
