"""Save a transformers model in memory to a temporary folder, for what the program computes of
weights."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from .errors import HeadlightError
from .nnsight_models import unwrapped, watches
from .temporary import remove, temporary_path

LARGEST = 8e9  # bytes of weights
State = tuple[object, ...]


class SavedFolder:
    """A folder that lives as long as something names it."""

    def __init__(self, name: str) -> None:
        self.path = temporary_path().with_name(name)
        weakref.finalize(self, remove, self.path)

    def __fspath__(self) -> str:
        return str(self.path)


_saved: weakref.WeakKeyDictionary[Any, tuple[State, SavedFolder]] = weakref.WeakKeyDictionary()


def saved_folder(model: Any, tokenizer: Any = None, quiet: bool = False) -> SavedFolder:
    """The folder of a model's weights as they are now, written again after they changed."""
    model, tokenizer = unwrapped(model, tokenizer)
    model = getattr(model, "_orig_mod", model)  # the module inside torch.compile
    if why := refusal(model):
        raise HeadlightError(
            f"This needs the model's weights as files, and {why}; save what it computes by "
            'model.save_pretrained("folder"), the tokenizer too, and give "folder".'
        )
    state = _state_of(model, tokenizer)
    if (held := _saved.get(model)) is not None and held[0] == state:
        return held[1]
    _saved.pop(model, None)
    if not quiet:
        _say_precision(model)
    name = Path(str(getattr(model.config, "_name_or_path", "") or type(model).__name__)).name
    folder = SavedFolder(name)
    try:
        with _without_bars() if quiet else nullcontext():
            model.save_pretrained(folder.path)
        if tokenizer is not None:
            tokenizer.save_pretrained(folder.path)
    except (OSError, AttributeError) as problem:
        raise HeadlightError(
            f"The model cannot be saved for the program, which reads weights from files "
            f"({problem}); free room in TMPDIR, or give a model's folder."
        ) from None
    _saved[model] = (state, folder)
    return folder


def _say_precision(model: Any) -> None:
    """Say when it is saved that the program computes in float32, and what that changes."""
    kinds = {str(weight.dtype).removeprefix("torch.") for weight in model.parameters()}
    if half := kinds & {"bfloat16", "float16"}:
        warnings.warn(
            f"The model is in {half.pop()}, and the program computes its weights in float32: "
            "probabilities differ by 0.001 (float16) or 0.003 (bfloat16) in a sentence of the "
            "built-in stories; model.float() computes the same.",
            stacklevel=3,
        )


def _state_of(model: Any, tokenizer: Any) -> State:
    """What differs after an optimizer's step, a changed setting or with another tokenizer."""
    return model.config.to_json_string(use_diff=False), id(tokenizer), weights_state(model)


def weights_state(model: Any) -> State:
    """What differs once a model's weights are others; PyTorch counts no writing into .data."""
    weights = [*model.parameters(), *model.buffers()]
    return tuple((weight.data_ptr(), weight._version) for weight in weights)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Show no progress of writing, in a process that serves."""
    logging = sys.modules["transformers"].utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def refusal(model: Any) -> str:
    """Why the saved weights alone would compute something else than the model does, or ""."""
    if not hasattr(model, "save_pretrained") or not hasattr(model, "config"):
        return f"a {type(model).__name__} has no save_pretrained"
    if not type(model).__module__.startswith("transformers."):
        return f"{type(model).__name__} is not a class of transformers"
    if getattr(model, "_hf_peft_config_loaded", False):
        return "it has adapters that are not merged"
    for name, module in model.named_modules():
        own = vars(module).get("forward")
        replaced = own is not None and not hasattr(module, "_hf_hook") and not watches(own)
        hooks = (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
        if replaced or not all(_only_reads(hook) for hook in hooks):
            return f"{name or 'it'} has a hook, or a forward of its own"
    bytes_held = sum(weight.nbytes for weight in model.parameters())
    if bytes_held > LARGEST:
        return f"it has {bytes_held / 1e9:.0f} GB of weights, more than {LARGEST / 1e9:.0f}"
    return ""


def _only_reads(hook: Any) -> bool:
    """Whether it changes nothing in a pass of the user's: transformers' own hand out what passes,
    and ours are gone after our pass."""
    return watches(hook) or str(getattr(hook, "__module__", "")).startswith(
        ("transformers.", "headlight.")
    )
