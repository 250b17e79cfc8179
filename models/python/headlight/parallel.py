"""Models that torchrun spreads over processes (transformers' tensor parallelism): each process
writes the heads that it computes into one file, at their place. No process sees the heads of
another; what they tell each other are numbers of heads and whether all went well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .errors import HeadlightError
from .temporary import open_part
from .trace_writer import Heads, TensorFile, as_array, writing


class Group(Protocol):
    """Processes that hold a model together; all of them make the same calls in the same order."""

    rank: int
    size: int

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, in the order of their ranks."""
        ...


class TorchGroup:
    """The processes of torch.distributed."""

    def __init__(self) -> None:
        self._distributed = sys.modules["torch"].distributed
        self.rank: int = self._distributed.get_rank()
        self.size: int = self._distributed.get_world_size()

    def gather(self, value: Any) -> list[Any]:
        out: list[Any] = [None] * self.size
        self._distributed.all_gather_object(out, value)
        return out


def group_of(model: Any) -> TorchGroup | None:
    """The processes over which transformers has spread the model, or None where one process has it
    all."""
    model = getattr(model, "_orig_mod", model)
    size = int(getattr(model, "_tp_size", None) or 1)
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if (
        distributed is None
        or not distributed.is_available()
        or not distributed.is_initialized()
        or distributed.get_world_size() == 1
    ):
        return None
    layers = int(getattr(getattr(model.config, "distributed_config", None), "pp_size", None) or 1)
    if size == 1 and layers == 1:
        return None
    if size != distributed.get_world_size():
        raise HeadlightError(
            f"This model is spread over {size} of {distributed.get_world_size()} processes by "
            'tensor parallelism; load it with DistributedConfig(tp_plan="auto") over all of '
            "them and without "
            "other kinds of parallelism."
        )
    return TorchGroup()


def check_divides(group: Group | None, config: Any) -> None:
    """After a pass that failed: says so where heads cannot be divided among the processes, which
    transformers does not look at."""
    counts = (
        [
            getattr(config, name, None) or group.size
            for name in ("num_attention_heads", "num_key_value_heads")
        ]
        if group
        else []
    )
    if group and any(isinstance(count, int) and count % group.size for count in counts):
        raise HeadlightError(
            f"{group.size} processes cannot share "
            f"{' and '.join(map(str, dict.fromkeys(counts)))} heads; start a number that divides "
            "the heads and the key-value heads of the model."
        )


def heads_here(group: Group, held: int, total: int) -> Heads:
    """Of a process that has `held` heads of a block of `total`."""
    counts: list[int] = group.gather(held)
    if all(count == total for count in counts):
        return Heads(0, total, whole=True)
    if sum(counts) == total:
        return Heads(sum(counts[: group.rank]), total)
    raise HeadlightError(
        f"The processes have {' + '.join(map(str, counts))} heads of {total}; load the model "
        "with a number of processes that divides its heads and key-value heads."
    )


class GroupFile(TensorFile):
    """A file that all processes of a group write: they must see the same folder. What goes wrong in
    one is said by all, when they close it: a process that left before would keep the others waiting
    for its part of the pass. Whoever gives up removes the file, so that one that died, the first
    one too, leaves none where another saw it die."""

    def __init__(self, path: str | os.PathLike[str], group: Group, header_bytes: int):
        self.group = group
        self._problem = ""
        try:
            self._begin(Path(path), header_bytes)
        except BaseException:
            if hasattr(self, "_file"):
                self.drop()
            raise

    def _begin(self, path: Path, header_bytes: int) -> None:
        """The first process makes the file, the others open it."""
        told = None
        try:
            if self.group.rank == 0:
                super().__init__(path, header_bytes)
                told = self._part.name, self._room
        except HeadlightError as problem:
            self._problem = str(problem)
        made = self.group.gather(told)[0]
        if made is not None and self.group.rank:
            self._join(path, *made)
        if problem := self._first_problem():
            raise HeadlightError(problem)

    def _join(self, path: Path, part: str, room: int) -> None:
        self.path, self._part, self._room = path, path.with_name(part), room
        self._header, self._offset = {}, 0
        try:
            self._file = open_part(self._part)
        except OSError:
            self._problem = (
                f"Process {self.group.rank} does not see {self._part.parent}; give a path in a "
                "folder that all computers share."
            )

    def _first_problem(self) -> str:
        return next(filter(None, self.group.gather(self._problem)), "")

    def add(
        self,
        name: str,
        shape: Sequence[int],
        parts: Iterable[Any],
        dtype: str = "F32",
        heads: Heads | None = None,
    ) -> None:
        """heads: which of the heads are here, where `shape` begins with them (parts are single
        heads) or has them second (one part). What all processes have, the first one writes."""
        kind = np.dtype("<i8" if dtype == "I64" else "<f4")
        begin, size = self._offset, kind.itemsize * int(np.prod(shape, dtype=np.int64))
        self._offset += size
        self._header[name] = {
            "dtype": dtype,
            "shape": list(shape),
            "data_offsets": [begin, self._offset],
        }
        if self._problem or ((heads is None or heads.whole) and self.group.rank):
            return
        try:
            with writing(self.path):
                at = 8 + self._room + begin
                for place, row in _placed(
                    (as_array(part, kind) for part in parts), shape, heads.first if heads else 0
                ):
                    _write_at(self._file.fileno(), row, at + kind.itemsize * place)
        except HeadlightError as problem:
            self._problem = str(problem)

    def agree(self, blocks: Mapping[Any, dict[str, Any]]) -> None:
        """Patterns are causal where every process found those of its heads so."""
        seen = self.group.gather([block["causal"] for block in blocks.values()])
        for block, causal in zip(blocks.values(), zip(*seen)):
            block["causal"] = all(causal)

    def close(self, metadata: dict[str, str]) -> None:
        if problem := self._first_problem():
            raise HeadlightError(problem)
        try:
            if self.group.rank == 0:
                super().close(metadata)
        except HeadlightError as wrong:
            self._problem = str(wrong)
        if problem := self._first_problem():
            raise HeadlightError(problem)


def _placed(
    parts: Iterable[np.ndarray], shape: Sequence[int], first: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Runs of numbers that lie together in the file, each with its place there, counted in
    numbers."""
    place = first * int(np.prod(shape[1:], dtype=np.int64))
    for part in parts:
        if part.ndim < len(shape):  # a head of [head, query, key]
            yield place, part
            place += part.size
        elif part.shape == tuple(shape):
            yield 0, part
        else:  # some heads of [pos, head, d_head]
            for position, row in enumerate(part):
                yield (position * shape[1] + first) * shape[2], row


def _write_at(file: int, row: np.ndarray, at: int) -> None:
    left = np.ascontiguousarray(row).reshape(-1).view(np.uint8).data
    while left:
        done = os.pwrite(file, left, at)
        left, at = left[done:], at + done
