"""Headlight shows what every attention head of a transformer looks at.

Each function takes a model and a text in one of these forms:

    headlight.show(model, tokenizer, "The cat sat.")        # a transformers model in memory; also
    ids=[…], pair="…", target="…", inputs={…}
    headlight.show(bridge, "The cat sat.")                  # TransformerLens: a TransformerBridge;
    of earlier versions a HookedTransformer
    headlight.show(language_model, "The cat sat.")          # nnsight: a TransformersModel or
    LanguageModel; tracer.cache() with tokens=[…]
    headlight.show(cache, tokens=["The", " cat"])           # an ActivationCache, or a mapping of
    names such as "blocks.0.attn.hook_pattern"
    headlight.show(patterns=array, tokens=["The", " cat"])  # [layer, head, query, key], [head,
    query, key] or [query, key], of any library
    headlight.show(outputs, tokenizer, tokens=ids)          # what a transformers model returns with
    output_attentions=True
    headlight.show("path/to/folder", text="The cat sat.")   # a Hugging Face folder, a .gguf file,
    or the name of a model on this computer
    headlight.show("trace.safetensors")                     # a trace file, or a headlight.Trace;
    show("saved.headlight.json") a workspace headlight.corpus(texts, model="stories", client=client)
    # every head over many texts, on many computers

Further options are those of the program, with _ for -: width_mm=85, colormap="viridis",
mask="window:4", ablate=["3.5", "4.1:mean"]. What cannot be done is a HeadlightError with one
sentence. Layers, heads and tokens are counted from 0.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .errors import HeadlightError
from .figure import Figure
from .head_names import head_parts, spelled_heads
from .measures import Attribution, PatchMap
from .option_kinds import names_what_is_near, whole
from .over_texts import Corpus
from .program import run, spelled
from .shares import in_shares, over_all
from .sources import (
    PATTERNS,
    READ,
    RECORDED,
    Source,
    is_workspace,
    named_text,
    open_source,
    reads_text,
)
from .tables import Comparison, HeadTable
from .temporary import remove, temporary_path
from .trace_file import Trace
from .window import Window, is_notebook, open_window

__version__ = "0.1.0"
__all__ = [
    "Attribution",
    "Comparison",
    "Corpus",
    "Figure",
    "HeadTable",
    "HeadlightError",
    "PatchMap",
    "Trace",
    "Window",
    "attribute",
    "compare",
    "corpus",
    "figure",
    "heads",
    "patch",
    "show",
    "trace",
]


@names_what_is_near((*RECORDED, *READ))
def show(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    view: str | None = None,
    head: Any = None,
    block: bool | None = None,
    inline: bool | None = None,
    **options: Any,
) -> Figure | Window:
    """Opens the window; in a notebook, returns a figure that is shown inline and whose .show()
    opens the window. A workspace (show("saved.headlight.json")) opens in the window.

    view: a view of the window ("head", "lines", "heads", …); head: (layer, head), ("cross", layer,
    head) or "1.2". block: whether to return only when the window is closed; by default where Python
    is not interactive. inline: a figure instead of the window; by default in notebooks."""
    if is_workspace(model):
        return open_window(Source([os.fspath(model)]), view, head, options, block)
    source = open_source(model, tokenizer, text, options)
    if is_notebook() if inline is None else inline:
        return Figure(source, view, head, "png", options)
    return open_window(source, view, head, options, block)


@names_what_is_near((*RECORDED, *READ))
def figure(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    view: str | None = None,
    head: Any = None,
    format: str = "png",
    **options: Any,
) -> Figure:
    """A figure of any view: "heads" (all, by default), "head" (by default where head is given),
    "lines", "graph", "compare", "text", with an encoder and a decoder "alignment", and of models
    that the program runs itself "steps", "delta", "lens", "model", "positions", "patch",
    "influence", "origins", "circuits", "corpus", "learn".

    head: (layer, head), ("cross", layer, head) or "1.2". format: what notebooks show, "png" or
    "svg"."""
    return Figure(open_source(model, tokenizer, text, options), view, head, format, options)


@names_what_is_near((*RECORDED, *READ))
def trace(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Trace:
    """Records a forward pass, or opens a trace file: `trace(…)["pattern", 0]` is float32 [head,
    query, key].

    path: where the file is kept; without it, it lives as long as the Trace. One file is all that
    another computer needs: `headlight --trace FILE`. A model that is spread over several devices
    (device_map) is recorded where it is."""
    source = open_source(model, tokenizer, text, options, path)
    if source.trace is not None:
        if options:
            raise HeadlightError(
                f"{', '.join(f'{name}=' for name in options)}: a model in memory is recorded as "
                "it runs; leave that out, or save_pretrained it and give the folder."
            )
        if path is not None and source.trace.path != Path(path):
            source.trace.save(path)
            return Trace(path)
        return source.trace
    target = temporary_path() if path is None else Path(path)
    try:
        source.run("trace", [*spelled(options), "-o", str(target)])
    except BaseException:
        if path is None:
            remove(target)
        raise
    return Trace(target, temporary=path is None)


@names_what_is_near((*RECORDED, *READ))
def heads(model: Any = None, tokenizer: Any = None, text: Any = None, **options: Any) -> HeadTable:
    """Statistics of every head: `heads(…)["induction"]` is float32 [layer, head]. Options:
    metric="log p ball" adds what ablating each head does to it ("effect"), random_repeat=48
    measures on random tokens; both need a model that the program runs itself."""
    source = open_source(model, tokenizer, text, options)
    return HeadTable(json.loads(source.run("heads", [*spelled(options), "--json"])))


@names_what_is_near((*RECORDED, *READ))
def corpus(
    texts: Any,
    *,
    model: Any = None,
    heads: Any = None,
    client: Any = None,
    strongest: int = 12,
    share: int = 128,
    **options: Any,
) -> Corpus:
    """Every head over many texts, computed by many workers: `corpus(…)["induction"]` is the mean
    over the texts, float32 [layer, head], `["induction_sd"]` their deviation, `.strongest((1, 2))`
    its heaviest pairs of tokens, `.links((1, 2))` [kind of token, kind of token].

    texts: strings (a list, a generator, which is read as workers become free), or the name of a
    file with a text a line, or .jsonl. model: a folder, a .gguf file or a name, which every worker
    can open. heads: those that are kept, [(1, 2), "3.0"]; all by default. client: a client of
    dask.distributed, an executor of concurrent.futures, a function that makes one, or None for this
    computer alone. share: texts of one run of the program. A worker that dies costs the repetition
    of its share; the outcome is that of one run over all texts, to the last bit, whatever the
    shares and the number of workers and threads (among processors with the same instruction set).
    threads: of each share; by default one for each of dask's, and this computer's for None. Further
    options are those of `headlight heads`."""
    if model is not None and not isinstance(model, (str, os.PathLike)):
        raise HeadlightError(
            "The texts of a corpus are run where the workers are; give the model's folder, .gguf "
            "file or name in place of the model in memory."
        )
    named = {
        "model": str(Path(model).resolve())
        if model is not None and Path(model).exists()
        else model,
        "strongest": whole("strongest", strongest),
        **options,
    }
    return Corpus(
        over_all(
            in_shares(texts, share),
            lambda threads: spelled({"threads": threads, **named}),
            spelled_heads(heads),
            client,
            strongest,
        )
    )


@names_what_is_near((*RECORDED, *READ))
def compare(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    model_b: Any = None,
    tokenizer_b: Any = None,
    text_b: Any = None,
    **options: Any,
) -> Comparison:
    """How far apart the patterns of two runs are: `compare(…).distance` is float32 [layer, head],
    in bits.

    The other run has another text (text_b), another model or patterns (model_b), or, of models that
    the program runs itself, changes (change="mask:16>10", ablate="3.5", mask="window:4")."""
    given = dict(options)
    tokenizer, text = named_text(tokenizer, text)
    a = open_source(model, tokenizer, text, options)
    if a.trace is None and (model_b is None or isinstance(model_b, (str, os.PathLike))):
        named = {
            "text_b": text_b,
            "model_b": None if model_b is None else os.fspath(model_b),
            **options,
        }
        return Comparison(a.run("compare", [*spelled(named), "--json"]))
    if a.trace is None:
        if text_b is None and reads_text(model_b) and tokenizer_b is None and tokenizer is None:
            given["ids"] = _ids_of(a)
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
        return Comparison(
            a.run(
                "compare",
                [*spelled({"model": os.fspath(model_b), "text": text_b, **options}), "--json"],
            )
        )
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


def _ids_of(source: Source) -> list[int]:
    """The tokens that the program reads, for a model in memory that comes without a tokenizer."""
    target = temporary_path()
    try:
        source.run("trace", ["--capture", "*input_ids", "-o", str(target)])
        return [int(token) for token in Trace(target)["input_ids"]]
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


@names_what_is_near((*RECORDED, *READ))
def attribute(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    method: str = "gradient",
    metric: str | None = None,
    **options: Any,
) -> Attribution:
    """How much each token of the input counts for what the model says: `attribute(…).scores` is
    float32 [token].

    The model is one that the program runs itself: a folder, a .gguf file, a name. method:
    "gradient", "input-x-gradient", "integrated-gradients" (steps=50, baseline="mean", "zero" or
    "text:A PROMPT"), "contribution", "relevance", "rollout"; "jacobian" without a metric gives how
    every output answers to every token, `.matrix` [output, token] (probes=8 estimates it). metric:
    "log p ball", "ball - car"; by default the log-probability of the most probable next token."""
    source = open_source(model, tokenizer, text, options)
    if source.trace is not None:
        raise HeadlightError(
            "Gradients go through the model's weights, which the program reads itself; give the "
            "model's folder, .gguf file or name in place of the model in memory."
        )
    return Attribution(
        source.run(
            "attribute", [*spelled({"method": method, "metric": metric, **options}), "--json"]
        )
    )


@names_what_is_near((*RECORDED, *READ))
def patch(
    model: Any = None,
    *,
    clean: str | None = None,
    corrupted: str | None = None,
    what: str | None = None,
    head: Any = None,
    metric: str | None = None,
    **options: Any,
) -> PatchMap:
    """Activation patching: what one run computed is put into another, place by place;
    `patch(…).values` is float32 [layer, position] (or [layer, head]): how much of the clean run's
    metric returns.

    model: a folder, a .gguf file or a name. corrupted: a text of as many tokens; or noise="3-5" on
    tokens of the clean one. what: "resid_pre" (by default), "attn_out", "mlp_out", "heads"; head:
    (layer, head), one head by position."""
    if model is not None and not isinstance(model, (str, os.PathLike)):
        raise HeadlightError(
            "Patching runs the model many times, which the program does itself; give the model's "
            "folder, .gguf file or name in place of the model in memory."
        )
    named = ".".join(head_parts(head)) if head is not None else None
    given = {
        "model": None if model is None else os.fspath(model),
        "clean": clean,
        "corrupted": corrupted,
        "what": what,
        "head": named,
        "metric": metric,
        **options,
    }
    return PatchMap(run(["patch", *spelled(given), "--quiet", "-o", "-.json"]))
