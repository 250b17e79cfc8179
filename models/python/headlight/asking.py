"""Ask the program's other verbs: continue a text, read weights, describe and fetch models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import HeadlightError
from .head_names import head_parts, spelled_head
from .named_arrays import NamedArray
from .option_table import CircuitsOptions, GenerateOptions, LearnOptions
from .program import run, spelled
from .results import Result, read_answer
from .saved_models import saved_folder
from .signatures import takes
from .sources import open_source

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Generation(Result):
    """A continued text: `text`, the new `ids`, and `p`, float32 [step], the probability of each;
    `steps` have the alternatives too."""

    def __init__(self, said: str | bytes):
        self.said = read_answer(said, "steps")
        self.text: str = self.said["text"]
        self.ids: list[int] = self.said["ids"]
        self.steps: list[dict[str, Any]] = self.said.get("steps", [])  # none in a full context
        self.p = np.array([step["p"] for step in self.steps], np.float32)

    def arrays(self) -> dict[str, NamedArray]:
        """The probabilities of the new tokens."""
        return {"p": NamedArray(self.p, "p", None, [step["token"] for step in self.steps])}

    def records(self) -> list[dict[str, Any]]:
        """A row for each new token."""
        return [{name: step[name] for name in ("id", "token", "p")} for step in self.steps]

    def __repr__(self) -> str:
        return f"<headlight.Generation of {len(self.ids)} tokens: {self.text!r}>"


class Circuits(Result):
    """Heads by their weights alone: `rows` has the scores of each head; of one head, `said` has its
    QK and OV pairs and its compositions."""

    def __init__(self, said: str | bytes):
        self.said = read_answer(said, "heads")
        self.rows: list[dict[str, Any]] = self.said.get("heads") or [
            {"head": self.said["head"], **self.said["scores"]}
        ]

    def arrays(self) -> dict[str, NamedArray]:
        """Each score by head."""
        heads = [row["head"] for row in self.rows]
        return {
            name: NamedArray(
                np.array([row[name] for row in self.rows], np.float32), name, None, heads
            )
            for name in self.rows[0]
            if name != "head"
        }

    def records(self) -> list[dict[str, Any]]:
        """A row for each head."""
        return self.rows

    def __getitem__(self, name: str) -> NamedArray:
        return self.arrays()[name]

    def __repr__(self) -> str:
        return f"<headlight.Circuits of {len(self.rows)} heads: {', '.join(self.arrays())}>"


@takes(GenerateOptions)
def generate(
    model: Any = None, tokenizer: Any = None, text: Any = None, **options: Unpack[GenerateOptions]
) -> Generation:
    """Continue a text, translate it, or fill its masks.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    **options
        Options of `headlight generate`: only_tokens=40 (at most so many new
        ones), temperature, top_k, seed, beams, …

    Returns
    -------
    Generation
        `.text`, `.ids` and `.p`, the probability of each new token, float32 [step].

    Raises
    ------
    HeadlightError
        The model or an option is wrong.

    Examples
    --------
    >>> headlight.generate("stories", text="Once upon a time").text
    """
    source = open_source(model, tokenizer, text, options).with_weights()
    return Generation(source.run("generate", [*spelled(options), "--json"]))


@takes(CircuitsOptions)
def circuits(
    model: Any = None,
    tokenizer: Any = None,
    *,
    head: Any = None,
    **options: Unpack[CircuitsOptions],
) -> Circuits:
    """Analyze heads by their weights alone.

    Parameters
    ----------
    model, tokenizer : optional
        A folder, a .gguf file or a name, or a transformers model in memory with its tokenizer.
    head : tuple or str, optional
        One head, (1, 2) or "1.2": its QK and OV pairs of tokens too, in `.said`.
    **options
        Options of `headlight circuits`.

    Returns
    -------
    Circuits
        `circuits["copying"]` is float32 [head].

    Raises
    ------
    HeadlightError
        The model or an option is wrong.

    Examples
    --------
    >>> headlight.circuits("stories").to_pandas()
    """
    model = _on_disk(model, tokenizer)
    named = {"model": model, "head": None if head is None else spelled_head(head), **options}
    return Circuits(run(["circuits", *spelled(named), "--json"]))


@takes(LearnOptions)
def learn(
    station: str,
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    head: Any = None,
    **options: Unpack[LearnOptions],
) -> dict[str, Any]:
    """Answer a station of Learn on a sentence.

    Parameters
    ----------
    station : str
        "qkv", "scale", "masks", … (`headlight learn --list`).
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    head : tuple or str, optional
        (1, 2) or "1.2"; by default the station's own choice.
    **options
        Options of `headlight learn`.

    Returns
    -------
    dict
        The question, the answer and the finding.

    Raises
    ------
    HeadlightError
        The station, the model or an option is wrong.

    Examples
    --------
    >>> headlight.learn("scale")["questions"]
    """
    source = open_source(model, tokenizer, text, options).with_weights()
    named = {"head": None if head is None else ".".join(head_parts(head)), **options}
    return read_answer(source.run("learn", [station, *spelled(named), "--json"]), "questions")


def info(model: Any = None, tokenizer: Any = None) -> dict[str, Any]:
    """Describe a model: configuration, shapes and counts of parameters.

    Parameters
    ----------
    model, tokenizer : optional
        A folder, a .gguf file or a name, or a transformers model in memory.

    Returns
    -------
    dict
        `["layers"]`, `["heads"]`, `["parameters"]`, …

    Raises
    ------
    HeadlightError
        The model is none that the program knows.

    Examples
    --------
    >>> headlight.info("stories")["heads"]
    8
    """
    said = run(["info", *spelled({"model": _on_disk(model, tokenizer)}), "--json"])
    return read_answer(said, "parameters")


def fetch(name: str, *, revision: str | None = None, gguf: str | None = None) -> Path:
    """Download a model from the Hugging Face hub.

    Parameters
    ----------
    name : str
        "openai-community/gpt2", also with @REVISION, or the URL of its page.
    revision : str, optional
        A branch, tag or commit.
    gguf : str, optional
        A GGUF file, by its name or a unique part of it: "Q4_K_M".

    Returns
    -------
    Path
        What headlight.run opens.

    Raises
    ------
    HeadlightError
        The hub has no such model, or is not reached.

    Examples
    --------
    >>> headlight.run(headlight.fetch("openai-community/gpt2"), text="The cat sat.")
    """
    if not isinstance(name, str):
        raise HeadlightError(
            f"name= is a value of type {type(name).__name__}; write a model's name on the hub, "
            '"openai-community/gpt2" for example.'
        )
    named = spelled({"revision": revision, "gguf": gguf})
    return Path(run(["fetch", name, *named, "--quiet"]).decode().strip())


def _on_disk(model: Any, tokenizer: Any) -> Any:
    """A model that the program opens."""
    if model is None or isinstance(model, (str, os.PathLike)):
        return model
    return os.fspath(saved_folder(model, tokenizer))
