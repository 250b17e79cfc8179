"""How far apart the patterns of two runs are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .errors import HeadlightError
from .option_table import CompareOptions
from .program import spelled
from .recorded import PATTERNS
from .results import drawn
from .signatures import takes
from .sources import Source, ids_read, named_text, open_source, reads_text
from .tables import Comparison
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
        return Comparison(a.run("compare", [*b.arguments, *spelled(options), "--json"]))
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
