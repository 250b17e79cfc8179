"""`headlight.live`: serve a model in memory."""

from __future__ import annotations

import atexit
import sys
from typing import Any

from ..errors import HeadlightError
from ..hooked_models import is_hooked
from ..nnsight_models import unwrapped
from .addresses import Listener
from .function import FunctionRequests
from .leading import Follower, Leading
from .model import LiveModel
from .pictures import parameters_of, reads_alone
from .ranks import Ranks
from .requests import Requests, versions
from .server import Server


class Live:
    """A server in this process; a context manager. Closing it leaves the model as it was. Where
    torchrun spreads the model over processes, each has one: the first one's serves, the others'
    follow it, and close when it does.

    Attributes
    ----------
    address : str
        "unix:PATH" or "127.0.0.1:PORT", where a client connects; "" of a process that follows.
    token : str
        What a client of a port must know; "" for a socket.
    """

    def __init__(self, server: Server | Follower, about: dict[str, Any]):
        self.address, self.token, self.about = server.address, server.token, about
        self._server = server
        atexit.register(self.close)

    def close(self) -> None:
        """Stop serving."""
        self._server.close()
        atexit.unregister(self.close)

    def wait(self) -> None:
        """Return when it is closed, by Ctrl+C too; raise HeadlightError when a process that holds a
        part of the model has died."""
        try:
            while not (self._server.closed.wait(1.0) or self._server.lost):
                pass
        finally:
            self.close()
        if self._server.lost:
            raise HeadlightError(self._server.lost)

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<headlight.Live of {self.about['name']} at {self.address}>"


def live(
    model: Any, tokenizer: Any = None, *, port: int | None = None, name: str | None = None
) -> Live:
    """Serve a model in memory, to a client that asks by docs/engine.md.

    Parameters
    ----------
    model
        A transformers model (of any number of devices, or of processes of torchrun, each of which
        calls this), a model of TransformerLens or nnsight, or a function from ids to patterns
        [layer, head, query, key]; or to a mapping with "patterns" and "residuals" [layer + 1, pos,
        d_model].
    tokenizer : optional
        What reads texts; without one, the client sends ids. Of a model that reads pictures beside
        texts, its processor; of one that reads pictures alone, its image processor.
    port : int, optional
        Listen on 127.0.0.1 at this port (0: any), with a token, instead of a socket that only you
        can open.
    name : str, optional
        The model's name, as a client shows it.

    Returns
    -------
    Live
        `.address` is where a client connects; `.close()` stops serving.

    Raises
    ------
    HeadlightError
        The model cannot be served, or the address is taken.

    Examples
    --------
    >>> with headlight.live(model, tokenizer) as server:
    ...     print(server.address)
    """
    model, tokenizer = unwrapped(model, tokenizer)
    parts = ("forward", "named_modules", "config")
    if all(hasattr(model, part) for part in parts) and not is_hooked(model):
        named = getattr(model, "main_input_name", "input_ids")
        if named != "input_ids" and "input_ids" not in parameters_of(model):
            if not reads_alone(model):
                raise HeadlightError(
                    f"{type(model).__name__} reads neither texts nor pictures alone; open its "
                    "folder in Headlight, or record a pass by headlight.trace."
                )
        return _of_model(LiveModel(model, tokenizer, name, Ranks.of(model)), port)
    if not callable(model) and not hasattr(model, "run_with_cache"):
        raise HeadlightError(
            f"model= is a value of type {type(model).__name__}; give a model of transformers, "
            "TransformerLens or nnsight, or a function from ids to patterns."
        )
    called = name or getattr(model, "__name__", type(model).__name__)
    about = {"name": called, "runs": f"Python {sys.version.split()[0]}", "device": "cpu"}
    about["dtype"] = "float32"
    answers = FunctionRequests(model, tokenizer, called)
    return Live(Server(answers, Listener(called, port), about), about)


def _of_model(held: LiveModel, port: int | None) -> Live:
    weights, ranks = next(held.model.parameters()), held.ranks
    devices = getattr(held.model, "hf_device_map", None) or {"": weights.device}
    about = {
        "name": held.name,
        "runs": versions() + (f", {ranks.size} processes" if ranks else ""),
        "device": ", ".join(sorted({str(device) for device in devices.values()})),
        "dtype": str(weights.dtype).removeprefix("torch."),
    }
    answers = Requests(held)
    if ranks and ranks.rank:
        return Live(Follower(answers, ranks), about)
    serving = Leading(answers, ranks) if ranks else answers
    return Live(Server(serving, Listener(held.name, port), about), about)
