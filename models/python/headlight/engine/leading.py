"""Requests to a model that several processes hold: the first one answers, and the others compute
their part of the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from .plans import Lost
from .ranks import Ranks
from .requests import Requests
from .texts import Answer, Stop

FORGET, END = "forget", "end"  # beside the verbs of clients


class Leading:
    """The first process: tells the others each request that needs a pass. Whether to stop is its
    decision, which all take at the same layer."""

    AT_ONCE = Requests.AT_ONCE  # they need no pass

    def __init__(self, own: Requests, ranks: Ranks):
        self.own, self.ranks = own, ranks

    def answer(
        self, verb: str, request: Mapping[str, Any], tensors: Mapping[str, Any], stop: Stop
    ) -> Iterator[Answer]:
        if verb in self.AT_ONCE:
            yield from self.own.answer(verb, request, tensors, stop)
            return
        ranks = self.ranks
        ranks.tell(request, tensors)
        agreed = lambda: bool(ranks.number(stop()))
        answers = self.own.answer(verb, request, tensors, agreed)
        with ranks.request(), closing(answers):
            for part in answers:
                try:
                    yield part
                except GeneratorExit:  # nobody reads on
                    ranks.number(1)
                    raise
                ranks.number(0)

    def forget(self) -> None:
        """Forget what belongs to a client that is gone, everywhere."""
        self.ranks.tell({"verb": FORGET})
        self.own.forget()

    def left(self) -> None:
        """Forget the pictures of a client that leaves, which are here alone."""
        self.own.left()

    def close(self) -> None:
        """Let the others go."""
        try:
            self.ranks.tell({"verb": END})
        except Lost:  # they are gone
            pass


class Follower:
    """Another process: does what the first one says, in a thread of its own, until that closes."""

    address = token = ""  # nobody connects here

    def __init__(self, own: Requests, ranks: Ranks):
        self.own, self.ranks = own, ranks
        self.closed = threading.Event()
        self.lost = ""  # why it no longer follows
        self._thread = threading.Thread(target=self._follow, name="headlight follow", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until the first process closes."""
        self._thread.join()

    def _follow(self) -> None:
        try:
            while (verb := (told := self.ranks.told()).header["verb"]) != END:
                if verb == FORGET:
                    self.own.forget()
                else:
                    self._answer(verb, told.header, told.tensors)
        except Lost as problem:
            self.lost = str(problem)
        finally:
            self.closed.set()

    def _answer(self, verb: str, request: Any, tensors: Any) -> None:
        """Compute what the first process answers, and drop it."""
        ranks = self.ranks
        answers = self.own.answer(verb, request, tensors, lambda: bool(ranks.number()))
        try:
            with ranks.request(), closing(answers):
                for _ in answers:
                    if ranks.number():
                        break
        except Lost:
            raise
        except Exception:  # the first one failed too, and says so to its client
            pass
