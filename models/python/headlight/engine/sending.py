"""Send a client the model's weights as the files of a folder, for what no pass says."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import HeadlightError
from ..saved_models import SavedFolder, refusal, saved_folder, weights_state

if TYPE_CHECKING:
    from .model import LiveModel

PART = 1 << 20  # bytes of a file in one answer
ALONE = "it reads pictures, which the server's processor prepares"
SPREAD = "it is spread over processes, none of which has all of them"


def described_weights(live: LiveModel) -> dict[str, Any]:
    """Return how many bytes the weights take, or why they are not sent."""
    if why := SPREAD if live.ranks else ALONE if live.alone else refusal(live.model):
        return {"refused": why}
    held = sum(weight.nbytes for weight in live.model.parameters())
    return {"bytes": held, "version": weights_version(live.model)}


def weights_version(model: Any) -> int:
    """Return a number that changes with the weights: after an optimizer's step, for example."""
    return zlib.crc32(repr(weights_state(model)).encode())


class Sending:
    """The files of the model: those of the weights that it has when a client asks for names."""

    def __init__(self, live: LiveModel):
        self.live = live
        self.folder: SavedFolder | None = None
        self._saving = threading.Lock()

    def files(self) -> dict[str, Any]:
        """Save the model, unless these weights are saved; return its files' names and sizes."""
        if why := SPREAD if self.live.ranks else ALONE if self.live.alone else "":
            raise HeadlightError(
                f"The files of this model's weights are not sent, because {why}; ask for those "
                "of a head."
            )
        with self._saving:
            version, held = weights_version(self.live.model), None
            while held is None or version != weights_version(
                self.live.model
            ):  # it trains meanwhile
                version = weights_version(self.live.model)
                held = saved_folder(self.live.model, self.live.tokenizer, quiet=True)
            self.folder = held
            files = sorted(path for path in Path(held).iterdir() if path.is_file())
        listed = [{"name": file.name, "bytes": file.stat().st_size} for file in files]
        return {"files": listed, "version": version}

    def part(self, name: str, start: int) -> np.ndarray:
        """Return bytes of a file from `start` on, at most PART."""
        folder = Path(self.folder) if self.folder is not None else None
        if folder is None or name not in [file.name for file in folder.iterdir()]:
            raise HeadlightError(
                f'There is no file "{name}" of weights; ask for their names first.'
            )
        with open(folder / name, "rb") as file:
            file.seek(start)
            return np.frombuffer(file.read(PART), np.uint8)
