"""Open a model, arrays or a file as a source: one function tells each kind by its looks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import arrays, hooked_models, transformers_models
from .errors import HeadlightError, ProgramDied
from .nnsight_models import unwrapped
from .parallel import Group, GroupFile, group_of
from .program import run, spelled
from .recorded import PATTERNS, READ, RECORDED
from .saved_models import saved_folder
from .temporary import remove, temporary_path
from .trace_file import Trace, check_ending, is_trace
from .trace_writer import TensorFile, TraceWriter

# In what the program says of a trace that lacks them.
WEIGHTS = re.compile(r"no weights|need the model|holds no model|cannot be run|reads no other text")


@dataclass
class Source:
    """A trace file, or the options for a model and a text."""

    arguments: list[str]
    trace: Trace | None = None
    weights: Callable[[], Source] | None = None  # the same of a model that was in memory, saved
    held: Any = None  # what has to live as long

    def with_weights(self) -> Source:
        """The source with the model's weights, for what a recording does not hold."""
        if self.weights is not None:
            return self.weights()
        if self.trace is not None:
            raise HeadlightError(
                "This needs the model's weights, which a recording does not hold; give a model of "
                "transformers, a folder, a .gguf file or a name."
            )
        return self

    def run(self, verb: str, arguments: Sequence[str]) -> bytes:
        """Run a command of the program on it."""
        try:
            return run([verb, *self.arguments, *arguments])
        except ProgramDied:
            raise
        except HeadlightError as problem:
            if self.weights is not None and WEIGHTS.search(str(problem)):
                return self.weights().run(verb, arguments)
            raise


def open_source(
    model: Any, tokenizer: Any, text: Any, options: Any, path: str | os.PathLike[str] | None = None
) -> Source:
    """Take the options that describe the input out of `options`; the program is given the rest.
    path: where to keep a trace that is made."""
    if isinstance(model, Source):  # of a run, which is asked once more
        return model
    tokenizer, text = named_text(tokenizer, text)
    if path is not None:
        check_ending(path)
    given = {name: options.pop(name) for name in RECORDED if name in options}
    if model is not None and (beside := [name for name in PATTERNS if given.get(name) is not None]):
        raise HeadlightError(
            f"{beside[0]}= are shown instead of a model, and there is one too; leave one of "
            "them out."
        )
    if isinstance(model, Trace):
        return _of_trace(model, given, text)
    if (
        model is None
        and all(given.get(name) is None for name in PATTERNS)
        or isinstance(model, (str, os.PathLike))
    ):
        return _of_file(model, text, given)
    given |= {name: options.pop(name) for name in READ if name in options}
    if isinstance(text, os.PathLike):
        text = Path(text).read_text(encoding="utf-8")
    if "random_repeat" in options and reads_text(model):
        return _saved(model, tokenizer, text, given)
    recording = _recording(model, tokenizer, text, given)
    weights = (lambda: _saved(model, tokenizer, text, given)) if recording.runs else None
    trace = _record(recording, given, path)
    return Source(["--trace", str(trace.path)], trace, weights=weights)


def ids_read(source: Source) -> list[int]:
    """The tokens that the program reads, of a long text those that the model takes."""
    target = temporary_path()
    try:
        source.run("trace", ["--capture", "*input_ids", "-o", str(target)])
        return [int(token) for token in Trace(target)["input_ids"]]
    finally:
        remove(target)


def named_text(tokenizer: Any, text: Any) -> tuple[Any, Any]:
    """A text that stands in the tokenizer's place, where none is needed, is the text."""
    return (None, tokenizer) if text is None and isinstance(tokenizer, str) else (tokenizer, text)


def is_workspace(model: Any) -> bool:
    """Whether it is a file that the window saved, as the command line knows one."""
    return (
        isinstance(model, (str, os.PathLike))
        and os.fspath(model).endswith(".headlight.json")
        and Path(model).is_file()
    )


def reads_text(model: Any) -> bool:
    """Whether it is a model in memory."""
    return hasattr(model, "forward") or hooked_models.is_hooked(model)


def _of_trace(trace: Trace, given: Mapping[str, Any], text: Any) -> Source:
    if left := [*given, *([] if text is None else ["text"])]:
        raise HeadlightError(f"A trace is a recording: leave {', '.join(left)} out.")
    return Source(["--trace", str(trace.path)], trace)


def _of_file(model: Any, text: Any, given: Mapping[str, Any]) -> Source:
    if given:
        part = "; only_tokens= chooses a part of a figure" if "tokens" in given else ""
        raise HeadlightError(
            f"{', '.join(f'{name}=' for name in given)} belong to a model or arrays in memory; "
            f"leave them out where a file is given{part}."
        )
    if model is not None and not os.fspath(model):
        raise HeadlightError(
            "model= is empty; give a folder, a .gguf file, the name of a model or a trace."
        )
    if model is not None and is_trace(Path(model)):
        return _of_trace(Trace(model), given, text)
    named = {"model": None if model is None else os.fspath(model)}
    named["text_file" if isinstance(text, os.PathLike) else "text"] = text
    return Source(spelled(named))


def _saved(model: Any, tokenizer: Any, text: Any, given: Mapping[str, Any]) -> Source:
    """The model in memory as a folder, with what it read."""
    read = {name: value for name, value in given.items() if value is not None and name in READ}
    if (inputs := given.get("inputs")) is not None:
        read["ids"] = _ids_of(inputs, int(given.get("batch") or 0))
    for name in ("ids", "target_ids"):
        if getattr(read.get(name), "ndim", 0) == 2:
            read[name] = read[name][int(given.get("batch") or 0)]
    if given.get("tokens") is not None:
        raise HeadlightError(
            "What is computed of weights names its tokens by the tokenizer; leave tokens= out."
        )
    folder = saved_folder(model, tokenizer)
    source = _of_file(folder, text, {})
    return Source([*source.arguments, *spelled(read)], held=folder)


def _ids_of(inputs: Mapping[str, Any], batch: int) -> Any:
    """The ids of inputs that are nothing but ids."""
    mask = inputs.get("attention_mask")
    more = set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}
    types = inputs.get("token_type_ids")
    if more or (mask is not None and not bool(mask[batch].all())):
        raise HeadlightError(
            "What is computed of weights reads ids without padding; give a text or ids=[…] "
            "instead of inputs=."
        )
    if types is not None and bool(types[batch].any()):
        raise HeadlightError("What is computed of weights reads two texts by pair=; give them so.")
    return inputs["input_ids"][batch]


Start = Callable[[dict[str, Any]], TraceWriter]


@dataclass
class Recording:
    """How something in memory is written, and what it is called."""

    write: Callable[[Start], TraceWriter]
    model: str
    family: str
    d_model: int = 0
    group: Group | None = None  # the processes that write it together
    runs: bool = False  # a model's own pass


def _recording(model: Any, tokenizer: Any, text: Any, given: Mapping[str, Any]) -> Recording:
    batch = None if given.get("batch") is None else int(given["batch"])
    model, tokenizer = unwrapped(model, tokenizer)
    config = getattr(model, "config", None)
    called = str(
        given.get("name")
        or Path(str(getattr(config, "_name_or_path", "") or "")).name
        or type(model).__name__
    )
    held = lambda patterns, spell: Recording(
        lambda start: _held(patterns, start, given, text, spell),
        str(given.get("name") or "arrays"),
        "arrays",
    )
    if model is None:
        return held(arrays.of_stacks(given, batch), tokenizer)
    if hooked_models.is_hooked(model):
        cfg = model.cfg
        name = str(given.get("name") or getattr(cfg, "model_name", "") or "TransformerLens")
        return Recording(
            lambda start: hooked_models.record(model, text, given, start),
            name,
            "TransformerLens",
            int(getattr(cfg, "d_model", 0) or 0),
            runs=True,
        )
    if hasattr(model, "forward") and hasattr(model, "named_modules") and config is not None:
        d_model = getattr(config, "hidden_size", None) or getattr(config, "d_model", None) or 0
        group = group_of(model)
        return Recording(
            lambda start: transformers_models.record(model, tokenizer, text, given, start, group),
            called,
            str(config.model_type),
            int(d_model),
            group,
            runs=True,
        )
    if (
        hasattr(model, "cache_dict")
        or isinstance(model, Mapping)
        and any(arrays.NAMED.match(str(name)) for name in model)
    ):
        inside = getattr(model, "model", None)
        return held(arrays.of_names(model, batch), tokenizer or getattr(inside, "tokenizer", None))
    if isinstance(model, Mapping) and arrays.has_outputs(model):
        return held(arrays.of_modules(model, batch), tokenizer)
    if any(hasattr(model, name) for name in ("attentions", "encoder_attentions")):
        return held(arrays.of_output(model, batch), tokenizer)
    if hasattr(model, "shape") or isinstance(model, (list, tuple)):
        return held(arrays.of_stacks({"patterns": model}, batch), tokenizer)
    raise HeadlightError(
        f"model= is a value of type {type(model).__name__}, nothing that Headlight knows; give a "
        "model of transformers, TransformerLens or nnsight, an ActivationCache, patterns=…, a "
        "folder, a .gguf file or a trace."
    )


def _held(
    patterns: arrays.Patterns, start: Start, given: Mapping[str, Any], text: Any, tokenizer: Any
) -> TraceWriter:
    if text is not None or isinstance(tokenizer, (list, tuple)):
        raise HeadlightError(
            "Patterns that are there already read no text; name their tokens by tokens=…: texts "
            "or, with a tokenizer, ids."
        )
    named = {
        "": given.get("ids") if given.get("tokens") is None else given["tokens"],
        "decoder_": given.get("target_ids")
        if given.get("target_tokens") is None
        else given["target_tokens"],
    }
    writer = start(arrays.sides_of(patterns.sizes, named, tokenizer))
    try:
        arrays.write(writer, patterns)
    except BaseException:
        writer.drop()
        raise
    return writer


def _record(
    recording: Recording, given: Mapping[str, Any], path: str | os.PathLike[str] | None
) -> Trace:
    if recording.group is not None and path is None:
        raise HeadlightError(
            "Several processes hold this model, and record it into a file that all of them see: "
            "headlight.trace(…, path=…) in each of them."
        )
    target = temporary_path() if path is None else Path(path)
    open_file = lambda room: (
        TensorFile(target, room)
        if recording.group is None
        else GroupFile(target, recording.group, room)
    )
    try:
        writer = recording.write(lambda sides: TraceWriter(sides, open_file))
        try:
            _name_positions(writer)
            writer.close(recording.model, recording.family, recording.d_model)
        finally:
            writer.drop()
        return Trace(target, temporary=path is None)
    except BaseException:
        if path is None:
            remove(target)
        raise


def _name_positions(writer: TraceWriter) -> None:
    """Name the tokens of sides without names by their positions."""
    for (stack, cross, _), held in writer.blocks.items():
        side = "decoder_" if stack == "decoder" else ""
        if not cross and side not in writer.sides:
            names = [str(i) for i in range(held["tokens"])]
            writer.sides[side] = {"tokens": names, "labels": names}
