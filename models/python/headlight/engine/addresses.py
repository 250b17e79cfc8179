"""Where a server listens: a socket in a directory that only its owner can read, or a port of this
computer with a token."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import socket
import stat
from pathlib import Path

from ..errors import HeadlightError

TOKEN_BYTES = 32
LONGEST = 100  # bytes of a socket's path; the system takes 107


def socket_folder() -> Path:
    """Return the directory of sockets, which no one else can enter."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(runtime or cache) / "headlight"
    if not runtime:
        folder /= "sockets"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        held = folder.lstat()
    except OSError as problem:
        raise HeadlightError(
            f"{folder} cannot be made ({problem.strerror}); set XDG_RUNTIME_DIR, or give a port."
        ) from None
    if held.st_uid != os.getuid() or not stat.S_ISDIR(held.st_mode) or held.st_mode & 0o077:
        raise HeadlightError(f"{folder} is open to others; make it yours alone, or give a port.")
    return folder


class Listener:
    """A listening socket, its address, and the token that strangers must know (of a port)."""

    def __init__(self, name: str, port: int | None = None):
        self.path: Path | None = None
        self.token = "" if port is None else secrets.token_hex(TOKEN_BYTES)
        self.socket = self._unix(name) if port is None else self._port(port)
        self.socket.listen(8)

    def _unix(self, name: str) -> socket.socket:
        short = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name)[:32] or "model"
        folder = socket_folder()
        _remove_dead(folder)
        self.path = folder / f"{short}-{os.getpid()}-{secrets.token_hex(3)}.sock"
        if len(os.fsencode(self.path)) > LONGEST:
            raise HeadlightError(f"{folder} is too long for a socket; give a port.")
        held = socket.socket(socket.AF_UNIX)
        held.bind(str(self.path))
        self.path.chmod(0o600)
        self.address = f"unix:{self.path}"
        return held

    def _port(self, port: int) -> socket.socket:
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            held.close()
            raise HeadlightError(f"Port {port} is taken; give another, or 0 for any.") from None
        self.address = f"127.0.0.1:{held.getsockname()[1]}"
        return held

    def accept(self) -> socket.socket:
        connection, _ = self.socket.accept()
        if self.path is None:  # notice a client that is gone without a word
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
                if hasattr(socket, name):
                    connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def admits(self, token: object) -> bool:
        """Compare in constant time."""
        given = token if isinstance(token, str) else ""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def close(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _remove_dead(folder: Path) -> None:
    """Remove sockets of servers that died."""
    for path in folder.glob("*.sock"):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError:
                continue
