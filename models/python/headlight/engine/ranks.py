"""The processes that hold a model together (torchrun, transformers' tensor parallelism): the first
one serves and says what to do, all run the same pass, and heads come together in the first one.

What they tell each other goes over a gloo group of its own, in the order of one thread, as JSON and
raw numbers: nothing is unpickled."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from ..parallel import group_of
from .frames import Frame, packed, parse_header, parse_tensors
from .plans import Lost

IDLE = timedelta(days=365)  # how long a process waits for the next request
ALONE = timedelta(seconds=60)  # how long one that failed waits for the others
Parts = Mapping[str, tuple[int, Sequence[int]]]  # by tensor: its dimension of heads, their counts


class Ranks:
    """All of them make the same calls in the same order."""

    def __init__(self, rank: int, size: int):
        self.torch, self.rank, self.size = sys.modules["torch"], rank, size
        self._distributed = self.torch.distributed
        self._group = self._distributed.new_group(backend="gloo", timeout=IDLE)
        self.problem = ""  # why they no longer work together

    @classmethod
    def of(cls, model: Any) -> Ranks | None:
        """The processes that hold this model, or None where this one has it all."""
        group = group_of(model)
        return None if group is None else cls(group.rank, group.size)

    def _do(self, call: str, *given: Any, wait: timedelta | None = None, **more: Any) -> None:
        if self.problem:
            raise Lost(self.problem)
        try:
            work = getattr(self._distributed, call)(
                *given, group=self._group, async_op=True, **more
            )
            work.wait(*(() if wait is None else (wait,)))
        except RuntimeError:  # a connection that is closed, or nobody came
            raise self._lost() from None

    def _lost(self, why: str = "") -> Lost:
        who = "the first one" if self.rank else "another that holds a part of the model"
        self.problem = (
            f"Process {self.rank} of {self.size} ends, because {who} has died or does not "
            f"answer{why}; start torchrun again."
        )
        return Lost(self.problem)

    # ---- the first one says, all others hear

    def tell(self, header: Mapping[str, Any], tensors: Mapping[str, Any] | None = None) -> None:
        """Tell all others a request."""
        listed, parts, _ = packed(tensors or {})
        text = json.dumps({**header, "tensors": listed}).encode()
        data = bytearray(b"".join([text, *parts]))
        self._do("broadcast", self.torch.tensor([len(text), len(data)]), src=0)
        self._do("broadcast", self.torch.frombuffer(data, dtype=self.torch.uint8), src=0)

    def told(self) -> Frame:
        """Wait for a request of the first one."""
        sizes = self.torch.zeros(2, dtype=self.torch.int64)
        self._do("broadcast", sizes, src=0)
        data = self.torch.zeros(int(sizes[1]), dtype=self.torch.uint8)
        self._do("broadcast", data, src=0)
        held = data.numpy().tobytes()
        header = parse_header(held[: int(sizes[0])])
        return Frame(header, parse_tensors(header, held[int(sizes[0]) :]))

    def number(self, value: int = 0) -> int:
        """What the first one says."""
        held = self.torch.tensor([int(value)])
        self._do("broadcast", held, src=0)
        return int(held)

    @contextmanager
    def request(self) -> Iterator[None]:
        """Meet the others after a request. One that failed alone would leave them waiting in the
        middle of a pass, so that it gives up."""
        wait, why = None, ""
        try:
            yield
        except Exception as problem:
            first = " ".join(str(problem).split())[:200]
            wait, why = ALONE, f" ({type(problem).__name__}: {first})"
            raise
        finally:
            try:
                self._numbers(0, wait)
            except Lost:
                raise self._lost(why) from None

    # ---- what each one has

    def numbers(self, value: int) -> list[int]:
        """One number of each."""
        return self._numbers(value, None)

    def _numbers(self, value: int, wait: timedelta | None) -> list[int]:
        own = self.torch.tensor([int(value)])
        held = [self.torch.empty_like(own) for _ in range(self.size)]
        self._do("all_gather", held, own, wait=wait)
        return list(map(int, held))

    def gathered(
        self, kept: Mapping[str, Any], parts: Parts, everywhere: bool = False
    ) -> dict[str, Any]:
        """Tensors with the heads of all; in the first process, or everywhere."""
        return {
            name: self.whole(tensor, *parts[name], everywhere) if name in parts else tensor
            for name, tensor in kept.items()
        }

    def whole(self, tensor: Any, dim: int, counts: Sequence[int], everywhere: bool = False) -> Any:
        """A tensor whose dimension `dim` has counts[rank] of the heads in each process."""
        own = tensor.detach().to("cpu").movedim(dim, 0)
        if not max(counts):
            return own.movedim(0, dim)
        padded = own.new_zeros(max(counts), *own.shape[1:])
        padded[: len(own)] = own
        sent = padded.reshape(-1).view(self.torch.uint8)
        each = [self.torch.empty_like(sent) for _ in counts]
        if everywhere:
            self._do("all_gather", each, sent)
        else:
            self._do("gather", sent, each if self.rank == 0 else None, dst=0)
            if self.rank:
                return tensor
        heads = [
            part.view(own.dtype).reshape(padded.shape)[:count] for part, count in zip(each, counts)
        ]
        return self.torch.cat(heads).movedim(0, dim)


def full(weight: Any) -> Any:
    """A weight of which each process may have a part (a DTensor); all of them ask."""
    return weight.full_tensor() if hasattr(weight, "full_tensor") else weight
