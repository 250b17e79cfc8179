"""A corpus in shares of some texts each, which any executor computes; one that is lost is computed
again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import HeadlightError, ProgramDied
from .option_kinds import whole
from .over_texts import add_part, settle
from .program import run

NO_TEXT = "There is no text in the corpus; give some that are not empty."
TRIES = 4  # of a share whose worker is lost
# Errors that say that a share is not computed any more.
LOST = (BrokenExecutor, CancelledError, ConnectionError, EOFError, ProgramDied)


@dataclass
class Share:
    """Consecutive texts of a corpus."""

    first: int  # the line of the first, counted from 1
    texts: list[str]
    tries: int = 0

    @property
    def lines(self) -> str:
        return f"Lines {self.first} to {self.first + len(self.texts) - 1} of the texts"


def compute(
    first: int, texts: list[str], arguments: list[str], heads: Collection[str] | None
) -> dict[str, Any]:
    """Compute a share, on the worker. heads: keep these alone."""
    given = "\n".join(json.dumps(text) for text in texts).encode()
    try:
        said = json.loads(
            run(
                [
                    "heads",
                    *arguments,
                    "--corpus",
                    "-.jsonl",
                    "--first-line",
                    str(first),
                    "--json",
                    "--sums",
                ],
                given,
            )
        )
    except HeadlightError as problem:
        raise type(problem)(str(problem).replace("of standard input", "of the texts")) from None
    if heads is not None:
        if missing := set(heads) - {head["head"] for head in said["heads"]}:
            raise HeadlightError(
                f"{said['model']} has no head {min(missing)}; its heads go from "
                f"{said['heads'][0]['head']} to {said['heads'][-1]['head']}."
            )
        said["heads"] = [head for head in said["heads"] if head["head"] in heads]
    return said


def in_shares(texts: Any, size: int) -> Iterator[Share]:
    """Shares that have something to read, made as they are asked for. texts: an iterable, or a file
    with one per line (or .jsonl)."""
    size = whole("share", size)
    share = Share(1, [])
    for line, text in enumerate(
        _lines(texts) if isinstance(texts, (str, os.PathLike)) else _checked(texts), 1
    ):
        share.texts.append(text.encode("utf-8", "replace").decode())
        if len(share.texts) == size:
            if any(share.texts):
                yield share
            share = Share(line + 1, [])
    if any(share.texts):
        yield share


def _checked(texts: Any) -> Iterator[str]:
    if not isinstance(texts, Iterable) or isinstance(texts, bytes):
        raise HeadlightError(
            f"A {type(texts).__name__} is no corpus; give a list of texts, or the name of a file "
            "with one text per line."
        )
    for line, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise HeadlightError(
                f"Text {line} (counted from 1) is of the type {type(text).__name__}; give strings."
            )
        yield text


def _lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """As the program reads them."""
    line = 0
    try:
        with open(path, "rb") as file:
            if b'"headlight-dossier"' in file.read(64):
                raise HeadlightError(
                    f"{path} is what was read of a corpus, not its texts; "
                    f'headlight.figure(view="corpus", corpus="{path}") draws it.'
                )
        with open(path, encoding="utf-8", newline="\n") as file:
            for line, written in enumerate(file, 1):
                written = written.removesuffix("\n").rstrip("\r ")
                yield (
                    written
                    if not written or Path(path).suffix != ".jsonl"
                    else _text_of_json(written, line, path)
                )
    except OSError as problem:
        raise HeadlightError(
            f"{path} cannot be read ({problem.strerror}); check its name, or give a list of texts."
        ) from None
    except UnicodeDecodeError:
        raise HeadlightError(
            f"{path} is not text in UTF-8 (after line {line}); save it as UTF-8, with iconv for "
            "example."
        ) from None


def _text_of_json(written: str, line: int, path: str | os.PathLike[str]) -> str:
    try:
        held = json.loads(written)
        text = held["text"] if isinstance(held, dict) else held
    except (ValueError, KeyError):
        text = None
    if not isinstance(text, str):
        raise HeadlightError(
            f'Line {line} of {path} is neither a JSON string nor an object with a string "text"; '
            "correct it."
        )
    return text


@dataclass
class Workers:
    """The executor that computes, how to make another after a death (where that can be done), and
    how many shares wait there at most."""

    executor: Executor
    renew: Callable[[], Executor] | None = None
    waiting: int = 64
    threads: int | None = 1  # of the program, for each share; None: all
    owned: list[Executor] = field(default_factory=list)

    def submit(self, *task: Any) -> tuple[Executor, Future[Any]]:
        try:
            return self.executor, self.executor.submit(*task)
        except BrokenExecutor:
            if self.renew is None:
                raise HeadlightError(
                    "This executor is of no use since a worker of it died; give a function that "
                    "makes one, client=lambda: …, so that it can be made again."
                ) from None
            self.replace(self.executor)
            return self.executor, self.executor.submit(*task)

    def replace(self, broken: Executor) -> None:
        """After the death of a worker an executor of processes is of no use; the first to notice
        makes another."""
        if broken is not self.executor or self.renew is None:
            return
        self.executor = self.renew()
        self.owned.append(self.executor)

    def close(self) -> None:
        for executor in self.owned:
            executor.shutdown(wait=False, cancel_futures=True)


def workers_of(client: Any) -> Workers:
    """client: a client of dask.distributed, an executor, a function that makes one, or None for
    this computer alone."""
    if client is None:
        executor = ThreadPoolExecutor(1)
        return Workers(executor, waiting=1, threads=None, owned=[executor])
    if hasattr(client, "get_executor") and hasattr(client, "scheduler_info"):
        # a thread of dask's is a core
        return Workers(
            client.get_executor(pure=False), waiting=max(64, 2 * sum(client.nthreads().values()))
        )
    if isinstance(client, Executor):
        count = int(getattr(client, "_max_workers", 0) or 0)
        return Workers(
            client,
            _twin(client),
            max(64, 2 * count),
            max(1, (os.cpu_count() or 1) // count) if count else 1,
        )
    if callable(client):
        renew: Callable[[], Any] = client
        out = workers_of(renew())
        return Workers(out.executor, renew, out.waiting, out.threads, [out.executor])
    raise HeadlightError(
        f"A {type(client).__name__} computes nothing; give client= a dask.distributed.Client, a "
        "concurrent.futures executor, or a function that makes one."
    )


def _twin(executor: Any) -> Callable[[], Executor] | None:
    if not isinstance(executor, ProcessPoolExecutor):
        return None
    made: Any = executor
    return lambda: ProcessPoolExecutor(
        made._max_workers, made._mp_context, made._initializer, made._initargs
    )


def over_all(
    shares: Iterator[Share],
    arguments: Callable[[int | None], list[str]],
    heads: Collection[str] | None,
    client: Any,
    strongest: int,
) -> dict[str, Any]:
    """Compute every share, and add them up as they come. arguments(threads): the program's."""
    whole: dict[str, Any] | None = None
    task = lambda share, threads: (compute, share.first, share.texts, arguments(threads), heads)
    for part in outcomes(shares, task, client):
        if whole is None:
            whole = part
        else:
            add_part(whole, part, strongest)
    if whole is None:
        raise HeadlightError(NO_TEXT)
    return settle(whole)


def outcomes(
    shares: Iterator[Share], task: Callable[[Share, int | None], tuple[Any, ...]], client: Any
) -> Iterator[Any]:
    """What is computed of every share, as it comes; of one whose worker is lost, again.
    task(share, threads): a function and what it takes."""
    workers = workers_of(client)
    running: dict[Future[Any], tuple[Executor, Share]] = {}

    def begin(share: Share) -> None:
        executor, future = workers.submit(*task(share, workers.threads))
        running[future] = executor, share

    try:
        more = True
        while more or running:
            while more and len(running) < workers.waiting:
                share = next(shares, None)
                more = share is not None
                if share is not None:
                    begin(share)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                executor, share = running.pop(future)
                part = _outcome(future, share)
                if part is None:
                    workers.replace(executor)
                    begin(share)
                else:
                    yield part
    finally:
        for future in running:
            future.cancel()
        workers.close()


def _outcome(future: Future[Any], share: Share) -> Any:
    """None where the share has to be computed again."""
    try:
        return future.result()
    except LOST as problem:
        share.tries += 1
        if share.tries == TRIES:
            raise HeadlightError(
                f"{share.lines} ended {TRIES} workers one after another "
                f"({type(problem).__name__}); give smaller shares (share=…), or look at what "
                "ends them there."
            ) from problem
        return None
    except HeadlightError:
        raise
    except Exception as problem:
        said = (str(problem).splitlines() or [""])[0]
        raise HeadlightError(
            f"{share.lines} were not computed ({type(problem).__name__}: {said}); see that the "
            "workers have the package headlight and the model."
        ) from problem
