"""The logit lens of any model: its own forward pass, whose layers give rows instead of computing
them, so that whatever stands between the last layer and the logits acts as in the model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import HeadlightError
from ..transformers_models import evaluating, on_device, takes
from .places import first_tensor, read_tensor
from .plans import Cancelled

if TYPE_CHECKING:
    from .model import LiveModel

ROWS = 128  # at a time


class Lens:
    """Works where the last layer's output gives the logits of a pass."""

    def __init__(self, live: LiveModel):
        self.live = live
        self.predicts, self.works, self.vocabulary = False, False, 0
        if not live.alone:
            self._try()

    def _try(self) -> None:
        live = self.live
        text = live.text({"ids": [1, 2, 3], **({"target_ids": [1, 2, 3]} if live.paired else {})})
        try:
            with live.torch.no_grad(), evaluating(live.model):
                last, logits = self._natural(text)
            self.predicts = logits is not None
            if not self.predicts or last is None or live.found.width is None:
                return
            got = self._rows(last)
        except Exception:  # layers that give more than rows
            return
        bar = 1e-4 if logits.dtype == live.torch.float32 else 5e-2
        error = float((got - logits.float()).abs().max())
        self.works = error <= bar * (1 + float(logits.abs().max()))
        self.vocabulary = int(logits.shape[1]) if self.works else 0

    def _natural(self, text: Any) -> tuple[Any, Any]:
        """Return what the last layer gives, and the logits."""
        held: list[Any] = []
        modules = list(self.live.found.parts)
        hooks = (
            [modules[-1].register_forward_hook(lambda _, __, out: held.append(first_tensor(out)))]
            if modules
            else []
        )
        try:
            logits = getattr(
                self.live.model(**on_device(self.live.model, text.arguments)), "logits", None
            )
        finally:
            for hook in hooks:
                hook.remove()
        return (held[-1][0] if held else None), (None if logits is None else logits[0])

    def logits(self, rows: Any, stop: Callable[[], bool]) -> Any:
        """Return float32 [row, vocabulary]. rows: an array [row, d_model]."""
        if not self.works:
            raise HeadlightError(
                f"{type(self.live.model).__name__} does not predict tokens from the output of its "
                "last layer alone, so there is no logit lens of it."
            )
        torch, dtype = self.live.torch, self.live.model.dtype
        given = torch.from_numpy(rows.astype("float32"))
        if given.shape[1] != (width := self.live.found.width):
            raise HeadlightError(f"Rows have {given.shape[1]} numbers, and d_model is {width}.")
        out = []
        for part in given.split(ROWS):
            if stop():
                raise Cancelled
            out.append(self._rows(part.to(dtype)))
        return torch.cat(out) if out else torch.zeros(0, 1)

    def _rows(self, rows: Any) -> Any:
        live = self.live
        ids = live.torch.zeros(1, len(rows), dtype=live.torch.int64)
        arguments = {"input_ids": ids}
        if live.paired:
            outputs = sys.modules["transformers"].modeling_outputs.BaseModelOutput
            encoded = on_device(live.model, {"": rows.new_zeros(1, 1, rows.shape[1])})
            arguments = {"decoder_input_ids": ids, "encoder_outputs": outputs(encoded[""])}
        arguments = on_device(live.model, arguments)
        if takes(live.base, "use_cache"):
            arguments["use_cache"] = False
        with live.torch.no_grad(), evaluating(live.model), self._giving(rows[None]):
            return live.model(**arguments).logits[0].float()

    @contextmanager
    def _giving(self, rows: Any) -> Iterator[None]:
        """The layers of the stack that predicts give these rows."""
        modules = self.live.found.parts

        def give(module: Any) -> Any:
            own, parts = module.forward, modules[module]

            def forward(*arguments: Any, **named: Any) -> Any:
                read = read_tensor(arguments, named)
                held = rows.to(read.device)
                return (held, *[None] * (parts - 1)) if parts else held

            return own, forward

        before = [(module, "forward" in vars(module), *give(module)) for module in modules]
        try:
            for module, _, _, forward in before:
                module.forward = forward
            yield
        finally:
            for module, had, own, _ in before:
                if had:
                    module.forward = own
                else:
                    del module.forward
