"""The server of the engine's protocol (docs/engine.md): one thread accepts, one per connection
reads, one computes. The newest request of a slot cancels those before it."""

from __future__ import annotations

import os
import queue
import re
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import HeadlightError
from .addresses import Listener
from .frames import CLIENT, SHARED, BadFrame, Closed, Frame, Wire
from .plans import Cancelled, Lost

PROTOCOL = 1
HELLO_SECONDS = 10.0
MAX_STRANGERS = 16
MAX_WAITING = 64
LEAVING = 0.5  # seconds that a client which has just ended may still hold the seat
VERBS = "describe encode decode chat run outcomes generate lens gradient weights".split()


class Answers(Protocol):
    """What answers requests: a model's, or a function's."""

    @property
    def AT_ONCE(self) -> tuple[str, ...]: ...

    def answer(self, verb: str, request: Any, tensors: Any, stop: Any) -> Iterator[Any]: ...
    def forget(self) -> None: ...
    def left(self) -> None: ...
    def close(self) -> None: ...


@dataclass
class Job:
    """A request that is not answered yet."""

    verb: str
    frame: Frame
    wire: Wire
    slot: str | None
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def id(self) -> Any:
        return self.frame.header.get("id")


class Server:
    """Serves one client at a time."""

    def __init__(self, answers: Answers, listener: Listener, about: Mapping[str, Any]):
        self.answers, self.listener, self.about = answers, listener, dict(about)
        self.address, self.token = listener.address, listener.token
        self._seat = threading.Lock()
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._open: list[Job] = []  # waiting or running
        self._wires: set[Wire] = set()
        self._lock = threading.Lock()
        self.closed = threading.Event()
        self.lost = ""  # why it can answer nothing more
        self._threads = [
            threading.Thread(target=target, name=f"headlight {name}", daemon=True)
            for name, target in (("accept", self._accept), ("compute", self._compute))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Cancel what runs, and end all threads; the model is then as it was."""
        if self.closed.is_set():
            return
        self.closed.set()
        self.listener.close()
        with self._lock:
            for job in self._open:
                job.stopped.set()
            wires = list(self._wires)
        for wire in wires:
            wire.close()
        self._jobs.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    # ---- connections

    def _accept(self) -> None:
        while not self.closed.is_set():
            try:
                wire = Wire(self.listener.accept())
            except OSError:
                continue
            with self._lock:
                crowded = len(self._wires) >= MAX_STRANGERS
                if not crowded:
                    self._wires.add(wire)
            if crowded:
                wire.close()
                continue
            threading.Thread(target=self._serve, args=(wire,), daemon=True).start()

    def _serve(self, wire: Wire) -> None:
        seated = False
        try:
            wire.connection.settimeout(HELLO_SECONDS)
            seated = self._welcome(wire)
            wire.connection.settimeout(None)
            while seated:
                self._take(wire, wire.receive())
        except BadFrame as problem:
            self._tell(wire, {"error": str(problem), "code": "frame"})
        except (Closed, OSError):
            pass
        finally:
            self._leave(wire, seated)

    def _welcome(self, wire: Wire) -> bool:
        """Read hello; return whether the client may go on."""
        hello = wire.receive().header
        problem = self._stranger(hello)
        if problem is None and not self._seat.acquire(timeout=LEAVING):
            problem = (
                "busy",
                "Another window is connected to this server; close it, or start another server.",
            )
        if problem is not None:
            code, sentence = problem
            self._tell(wire, {"id": hello.get("id"), "error": sentence, "code": code})
            return False
        wire.bounds, wire.shares = CLIENT, _shares(hello.get("shared"))
        told = {"id": hello.get("id"), "protocol": PROTOCOL, "shared": wire.shares}
        try:
            wire.send({**told, **self.about})
        except Closed:
            self._seat.release()
            raise
        return True

    def _stranger(self, hello: Mapping[str, Any]) -> tuple[str, str] | None:
        if hello.get("verb") != "hello":
            return "hello", 'The first frame of a connection is "hello"; see docs/engine.md.'
        if not self.listener.admits(hello.get("token")):
            return "token", "The token is wrong; copy the one that the server printed."
        if hello.get("protocol") != PROTOCOL:
            return "version", (
                f"This server speaks version {PROTOCOL} of the protocol, and the window another; "
                "install the same version of Headlight on both sides."
            )
        return None

    def _tell(self, wire: Wire, header: Mapping[str, Any]) -> None:
        try:
            wire.send(header)
        except (Closed, OSError):
            pass

    def _leave(self, wire: Wire, seated: bool) -> None:
        with self._lock:
            for job in self._open:
                if job.wire is wire:
                    job.stopped.set()
            self._wires.discard(wire)
        wire.close()
        if seated:
            self.answers.left()
            self._seat.release()

    # ---- requests

    def _take(self, wire: Wire, frame: Frame) -> None:
        header = frame.header
        verb, slot = header.get("verb"), header.get("slot", header.get("verb"))
        if verb == "cancel":
            return self._cancel(wire, header)
        if verb not in VERBS:
            sentence = f'A request is one of {", ".join(VERBS)} or cancel; send it as "verb".'
            return self._tell(wire, {"id": header.get("id"), "error": sentence, "code": "request"})
        job = Job(verb, frame, wire, slot if isinstance(slot, str) else None)
        if verb in self.answers.AT_ONCE:
            return self._answer(job)
        with self._lock:
            crowded = len(self._open) >= MAX_WAITING
            if not crowded:
                for other in self._open:
                    if job.slot is not None and other.slot == job.slot:
                        other.stopped.set()
                self._open.append(job)
        if crowded:
            sentence = f"{MAX_WAITING} requests wait already; wait for their answers."
            return self._tell(wire, {"id": job.id, "error": sentence, "code": "request"})
        self._jobs.put(job)

    def _cancel(self, wire: Wire, header: Mapping[str, Any]) -> None:
        with self._lock:
            waiting = [job for job in self._open if not job.stopped.is_set()]
            found = [job for job in waiting if job.id == header.get("of")]
            for job in found:
                job.stopped.set()
        self._tell(wire, {"id": header.get("id"), "cancelled": len(found)})

    def _compute(self) -> None:
        client: Wire | None = None
        while (job := self._jobs.get()) is not None:
            if job.wire is not client:
                self._forget()
                client = job.wire
            self._answer(job)
            with self._lock:
                self._open.remove(job)
        self._forget()
        self.answers.close()

    def _forget(self) -> None:
        try:
            self.answers.forget()
        except Lost as problem:
            self.lost = str(problem)

    def _answer(self, job: Job) -> None:
        """Send one answer or several; whatever goes wrong is a sentence."""
        stop = job.stopped.is_set
        try:
            if stop():
                raise Cancelled
            given = job.verb, job.frame.header, job.frame.tensors, stop
            with closing(self.answers.answer(*given)) as parts:
                for part in parts:
                    if stop():
                        raise Cancelled
                    job.wire.send({"id": job.id, **part.header}, part.tensors)
        except Closed:
            job.stopped.set()
        except Cancelled:
            self._tell(job.wire, {"id": job.id, "error": "Cancelled.", "code": "cancelled"})
        except Lost as problem:
            self._tell(job.wire, {"id": job.id, "error": str(problem), "code": "model"})
            self.lost = str(problem)
        except HeadlightError as problem:
            code = getattr(problem, "code", "request")
            self._tell(job.wire, {"id": job.id, "error": str(problem), "code": code})
        except Exception as problem:  # a model may raise anything
            self._tell(job.wire, {"id": job.id, **_failure(problem)})


def _failure(problem: Exception) -> dict[str, str]:
    """One sentence about what a model raised."""
    kind = type(problem).__name__
    if (
        isinstance(problem, MemoryError)
        or "OutOfMemory" in kind
        or "can't allocate" in str(problem)
    ):
        return {
            "error": "The model ran out of memory; give a shorter text, or ask for less.",
            "code": "memory",
        }
    first = re.sub(r"\s+", " ", str(problem)).strip()[:200]
    return {"error": f"The model failed ({kind}: {first}).", "code": "model"}


def _shares(told: Any) -> bool:
    """Whether the client sits on this machine: it has written a nonce into a file in /dev/shm that
    is the user's alone."""
    if not isinstance(told, dict):
        return False
    path, nonce = told.get("path"), told.get("nonce")
    if not isinstance(path, str) or not re.fullmatch(
        re.escape(SHARED) + r"/headlight-\w{1,64}", path
    ):
        return False
    if not isinstance(nonce, str) or not 32 <= len(nonce) <= 128:
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as file:
        held = os.fstat(file.fileno())
        if not stat.S_ISREG(held.st_mode) or held.st_uid != os.getuid():
            return False
        return file.read(256) == nonce.encode()
