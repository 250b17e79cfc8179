"""How far apart the patterns of two runs are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .errors import HeadlightError
from .option_table import CompareOptions, TraceOptions
from .program import spelled
from .recorded import CHANGES, PATTERNS, READ
from .results import drawn
from .signatures import takes
from .sources import Source, ids_read, is_long, named_text, open_source, reads_text
from .tables import Comparison
from .temporary import remove, temporary_path
from .trace_file import Trace

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(CompareOptions)
def compare(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    model_b: Any = None,
    tokenizer_b: Any = None,
    text_b: Any = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Compare the patterns of two runs.

    The second run has another text (text_b), another model or patterns (model_b), or, of models
    that the program runs itself, changes: change="mask:16>10", ablate="3.5", mask="window:4".

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    model_b, tokenizer_b, text_b : optional
        The model and the text of the second run, where they differ.
    **options
        Further options of the program.

    Returns
    -------
    Comparison
        `comparison.distance` is float32 [layer, head], in bits.

    Raises
    ------
    HeadlightError
        The runs do not differ in anything, or their tokens cannot be aligned.

    Examples
    --------
    >>> headlight.compare("stories", text="Lily saw a cat.", text_b="Lily saw a dog.").distance
    """
    given = dict(options)
    tokenizer, text = named_text(tokenizer, text)
    a = open_source(model, tokenizer, text, options)
    if model_b is None and text_b is None and a.weights is not None and options:
        a = a.with_weights()
    if a.trace is None and (model_b is None or isinstance(model_b, (str, os.PathLike))):
        if text_b is not None and is_long(text_b):
            return _beside(a, model if model_b is None else model_b, text_b, options)
        named = {
            "text_b": text_b,
            "model_b": None if model_b is None else os.fspath(model_b),
            **options,
        }
        found = Comparison(a.run("compare", [*spelled(named), "--json"]))
        return drawn(found, a, "compare", named)
    if a.trace is None:
        if text_b is None and reads_text(model_b) and tokenizer_b is None and tokenizer is None:
            given["ids"] = ids_read(a)
            text = None
        b = _other(
            model_b,
            tokenizer_b or tokenizer,
            text if text_b is None and reads_text(model_b) else text_b,
            given,
            True,
        )
        return Comparison(
            a.run(
                "compare",
                [*spelled({"trace_b": b.trace.path if b.trace else None, **options}), "--json"],
            )
        )
    if model_b is None and text_b is None:
        raise HeadlightError(
            "There is nothing to compare with; give text_b=… or model_b=…, or, of a folder, a "
            '.gguf file or a name, a change such as ablate="1.2".'
        )
    if isinstance(model_b, (str, os.PathLike)) and not str(model_b).endswith(".safetensors"):
        b = open_source(model_b, None, text_b, {})
        both = replace(a, given=b.given)
        return Comparison(both.run("compare", [*b.arguments, *spelled(options), "--json"]))
    read = text if text_b is None and reads_text(model_b) else text_b
    b = _other(
        model_b if model_b is not None else model,
        tokenizer_b or tokenizer,
        read,
        given,
        model_b is not None,
    )
    return Comparison(
        a.run(
            "compare",
            [*spelled({"trace_b": b.trace.path if b.trace else None, **options}), "--json"],
        )
    )


def _beside(a: Source, model: Any, text: str, options: Mapping[str, Any]) -> Comparison:
    """Compare with a text that is too long for an argument: as a trace, with the changes, which
    are those of the second run."""
    of_text = (*READ, "chat", "image", "text_file", "token_types")
    of_run = [n for n in TraceOptions.__annotations__ if n in options and n not in of_text]
    b = open_source(model, None, text, {})
    target = temporary_path()
    try:
        b.run("trace", [*spelled({name: options[name] for name in of_run}), "-o", str(target)])
        left = {n: v for n, v in options.items() if n not in (*CHANGES, "adapter")}
        return Comparison(a.run("compare", [*spelled({"trace_b": target, **left}), "--json"]))
    finally:
        remove(target)


def _other(model: Any, tokenizer: Any, text: Any, given: dict[str, Any], by_itself: bool) -> Source:
    if isinstance(model, (Trace, str, os.PathLike)):
        given = {}
    elif by_itself:
        given = {name: value for name, value in given.items() if name not in PATTERNS}
    try:
        return open_source(model, tokenizer, text, given)
    except HeadlightError as problem:
        if not by_itself or not str(problem).startswith("model="):
            raise
        raise HeadlightError(str(problem).replace("model=", "model_b=", 1)) from None
