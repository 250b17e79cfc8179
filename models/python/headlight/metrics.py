"""Metrics of logits: Python functions, and words that name tokens, for models in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .engine.logits import metric as of_ids
from .errors import HeadlightError

Metric = Callable[[Any], Any]  # logits [position, vocabulary] -> a number
TOKEN = r"(?:#\d+|\"[^\"]+\"|[^\s@()\"#]+)"
WORDS = re.compile(
    rf"(?:(?P<kind>log p|p)\s*(?:\(\s*)?)?(?P<a>{TOKEN})?\)?"
    rf"(?:\s+-\s+(?P<b>{TOKEN}))?(?:@(?P<at>\d+))?"
)


def named(metric: str | Metric | None) -> str:
    """What a metric is called."""
    if metric is None or isinstance(metric, str):
        return metric or ""
    own = getattr(metric, "__name__", type(metric).__name__)
    return "metric" if own == "<lambda>" else own


def as_function(metric: str | Metric | None, tokenizer: Any, logits: Any) -> tuple[str, Metric]:
    """A metric's name and the function. logits: of the clean run, whose most probable token is
    meant where none is named."""
    if callable(metric):
        return named(metric), metric
    found = WORDS.fullmatch((metric or "log p").strip())
    if found is None or not (found["a"] or found["kind"]) or (found["b"] and not found["a"]):
        raise HeadlightError(
            f'The metric "{metric}" cannot be read here; write ball, p(ball), log p(ball) or '
            "ball - car, or give a function of the logits [position, vocabulary]."
        )
    a = _id(found["a"], tokenizer) if found["a"] else int(logits[-1].argmax())
    spelled = f"{found['kind']}(#{a})" if found["kind"] else f"#{a}"
    spelled += f" - #{_id(found['b'], tokenizer)}" if found["b"] else ""
    spelled += f"@{found['at']}" if found["at"] else ""
    of_ids(spelled, logits)  # refuse it before the passes
    return metric or spelled, lambda held: of_ids(spelled, held)


def _id(token: str, tokenizer: Any) -> int:
    """The id of a token: as #17, or a word behind another, or at the beginning."""
    if re.fullmatch(r"#\d+", token):
        return int(token[1:])
    if tokenizer is None:
        raise HeadlightError(f'The word "{token}" needs the tokenizer; give it, or an id as #17.')
    word, ids = token.strip('"'), []
    for spelled in (word,) if token.startswith('"') else (" " + word, word):
        ids = tokenizer.encode(spelled, add_special_tokens=False)
        if len(ids) == 1:
            return int(ids[0])
    raise HeadlightError(
        f'"{word}" is {len(ids)} tokens of this tokenizer; give one of them, or an id as #17.'
    )


def value_of(metric: Metric, logits: Any) -> float:
    """The metric's number for logits [position, vocabulary]."""
    return float(scalar(metric, logits))


def scalar(metric: Metric, logits: Any) -> Any:
    """The metric of logits, float32, as a number that a graph may hang on."""
    try:
        value = metric(logits.float())
    except Exception as problem:  # whatever it raises
        raise HeadlightError(
            f"The metric failed on logits {list(logits.shape)} ({type(problem).__name__}: "
            f"{problem}); correct the function, which takes [position, vocabulary]."
        ) from problem
    if getattr(value, "shape", ()) != () or not hasattr(value, "__float__"):
        raise HeadlightError(
            "A metric takes the logits [position, vocabulary] and returns one number: "
            f"lambda logits: logits[-1, 5] - logits[-1, 7]; this one returned {_shown(value)}."
        )
    return value


def check_differentiable(values: Sequence[Any]) -> None:
    """Refuse numbers that no graph hangs on."""
    if not all(getattr(value, "requires_grad", False) for value in values):
        raise HeadlightError(
            "The metric has no gradient by the logits, as argmax and numbers of NumPy have none; "
            'compute it of the tensor, or choose method="leave-out".'
        )


def _shown(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return f"a {kind} of shape {list(shape)}" if shape else f"a {kind}"


def in_words(metric: Any, call: str) -> None:
    """Refuse a function where the program computes."""
    if callable(metric):
        raise HeadlightError(
            "metric= is a function, which the program cannot call; give the model in memory, "
            f'{call}(model, tokenizer, …), or a metric in words: "ball - car".'
        )
