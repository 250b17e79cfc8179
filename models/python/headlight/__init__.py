"""Show what every attention head of a transformer attends to.

Each function takes a model and a text in one of these forms:

    headlight.show(model, tokenizer, "The cat sat.")
        a transformers model in memory; also ids=[…], pair="…", target="…", inputs={…}
    headlight.show(bridge, "The cat sat.")
        TransformerLens: a TransformerBridge; of earlier versions a HookedTransformer
    headlight.show(language_model, "The cat sat.")
        nnsight: a TransformersModel or LanguageModel; tracer.cache() with tokens=[…]
    headlight.show(cache, tokens=["The", " cat"])
        an ActivationCache, or a mapping of names such as "blocks.0.attn.hook_pattern"
    headlight.show(patterns=array, tokens=["The", " cat"])
        [layer, head, query, key], [head, query, key] or [query, key], of any library
    headlight.show(outputs, tokenizer, tokens=ids)
        the outputs of a transformers model called with output_attentions=True
    headlight.show("path/to/folder", text="The cat sat.")
        a Hugging Face folder, a .gguf file, or the name of a model on this computer
    headlight.show("trace.safetensors")
        a trace file, or a headlight.Trace; show("saved.headlight.json"): a workspace
    headlight.run("stories", text="The cat sat.")
        one pass, and all that is asked of it: run.pattern(1, 2), run.logits, run.changed(…)
    headlight.corpus(texts, model="stories", client=client)
        every head over many texts, on many computers
    headlight.live(model, tokenizer)
        serve a transformers model, or a function, by the protocol of docs/engine.md
    headlight.average(prompts, model="stories", measure="heads")
        means with intervals over a template's prompts, or over a list of texts or pairs

Further options are those of the program, with _ for -: width_mm=85, colormap="viridis",
mask="window:4", ablate=["3.5", "4.1:mean"]. Whatever fails raises HeadlightError with one
sentence. Layers, heads and tokens are counted from 0.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .asking import Circuits, Generation, circuits, fetch, generate, info, learn
from .averaging import Averages, average
from .comparing import compare
from .engine import Live, live
from .errors import HeadlightError
from .explaining import attribute, patch
from .figure import Figure
from .head_names import spelled_heads
from .measures import Attribution, PatchMap
from .measuring import Asked, each_text
from .named_arrays import NamedArray
from .option_kinds import whole
from .option_table import CorpusOptions, HeadsOptions, TraceOptions
from .over_texts import Corpus
from .panel import Panel, panel
from .program import spelled, timeout
from .recorded import READ, RECORDED, RunOptions
from .results import Result, drawn, read_answer
from .runs import Head, Run, checked
from .saved_models import saved_folder
from .shares import in_shares, over_all
from .showing import figure, show, view
from .signatures import takes
from .sources import open_source
from .spreads import Spread, named_statistics
from .tables import Comparison, HeadTable
from .temporary import remove, temporary_path
from .trace_file import Trace
from .window import Window

if TYPE_CHECKING:
    from typing_extensions import Unpack

__version__ = "0.1.0"
__all__ = [
    "Attribution",
    "Averages",
    "Circuits",
    "Comparison",
    "Corpus",
    "Figure",
    "Generation",
    "Head",
    "HeadTable",
    "HeadlightError",
    "Live",
    "NamedArray",
    "Panel",
    "PatchMap",
    "Result",
    "Run",
    "Spread",
    "Trace",
    "Window",
    "attribute",
    "average",
    "circuits",
    "compare",
    "corpus",
    "fetch",
    "figure",
    "generate",
    "heads",
    "info",
    "learn",
    "live",
    "panel",
    "patch",
    "run",
    "show",
    "timeout",
    "trace",
    "view",
]


@takes(TraceOptions)
def trace(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    **options: Unpack[TraceOptions],
) -> Trace:
    """Record a forward pass, or open a trace file.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists. A model spread over
        several devices (device_map) is recorded where it is.
    path : str or PathLike, optional
        The file to keep; without it, the file lives as long as the Trace. The file is all that
        another computer needs: `headlight --trace FILE`.
    **options
        Further options of the program.

    Returns
    -------
    Trace
        `trace["pattern", 0]` is float32 [head, query, key] of layer 0.

    Raises
    ------
    HeadlightError
        The pass cannot be recorded, or the file cannot be written.

    Examples
    --------
    >>> headlight.trace("stories", text="Lily had a red ball.")["pattern", 0].shape
    (8, 7, 7)
    """
    source = open_source(model, tokenizer, text, options, path)
    if source.trace is not None and options:
        source = source.with_weights()
    if source.trace is not None:
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


@takes(HeadsOptions)
def heads(
    model: Any = None, tokenizer: Any = None, text: Any = None, **options: Unpack[HeadsOptions]
) -> HeadTable:
    """Compute the statistics of every head.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    **options
        Options of `headlight heads`. metric="log p ball" adds the effect of ablating each head
        ("effect"), random_repeat=48 measures on random tokens; both need a model that the program
        runs itself.

    Returns
    -------
    HeadTable
        `table["induction"]` is float32 [layer, head].

    Raises
    ------
    HeadlightError
        The model or an option is wrong.

    Examples
    --------
    >>> headlight.heads("stories", text="Lily had a red ball. Lily had")["induction"].max()
    """
    source = open_source(model, tokenizer, text, options)
    said = source.run("heads", [*spelled(options), "--json"])
    table = HeadTable(read_answer(said, "heads")["heads"])
    return drawn(table, source, "heads", options, ("metric", "sort", "random_repeat"))


@takes(RunOptions)
def run(
    model: Any = None, tokenizer: Any = None, text: Any = None, **inputs: Unpack[RunOptions]
) -> Run:
    """Run a model on a text, and keep what it computed.

    Parameters
    ----------
    model, tokenizer, text
        The model and the text, in a form that the module lists.
    **inputs
        ids=, pair=, target=, inputs=, tokens=, … of headlight.trace; and changes:
        mask="window:4", ablate=["1.2"], change=["mask:5>3@1.2"], temperature_attn=0.5. A
        transformers model in memory is changed as a copy that the program runs; one that the
        program does not open, or that has hooks or adapters, by its own passes.

    Returns
    -------
    Run
        `run.pattern(1, 2)` is float32 [query, key], `run.logits` [pos, vocabulary];
        `run.head(1, 2)`, `run.heads()`, `run.figure(view)`, `run.attribute(…)`,
        `run.patch(corrupted)`, `run.compare(other)`, `run.lens()`, `run["resid_post", 3]`,
        `run.save(path)`.

    Raises
    ------
    HeadlightError
        The model, the text or a change is wrong.

    Examples
    --------
    >>> run = headlight.run("stories", text="Lily had a red ball.")
    >>> with run.changed("mask:4>1@1.2") as other:
    ...     other.compare(run).distance.max()
    """
    read = {name: value for name, value in inputs.items() if name in (*RECORDED, *READ)}
    changes = {name: value for name, value in inputs.items() if name not in read}
    return Run(model, tokenizer, text, read, checked(changes))


@takes(CorpusOptions)
def corpus(
    texts: Any,
    *,
    model: Any = None,
    tokenizer: Any = None,
    model_b: Any = None,
    statistics: Any = None,
    heads: Any = None,
    client: Any = None,
    strongest: int = 12,
    share: int = 128,
    **options: Unpack[CorpusOptions],
) -> Corpus | Spread:
    """Compute the statistics of every head over many texts, by many workers.

    The result is that of one run over all texts, to the last bit, whatever the shares and the
    number of workers and threads (among processors with the same instruction set). With model_b or
    statistics each text is measured by itself, and the result has deciles.

    Parameters
    ----------
    texts : iterable of str, or str or PathLike
        A list, a generator (read as workers become free), or a file with one text per line, or
        .jsonl.
    model, tokenizer : optional
        A folder, a .gguf file or a name, which every worker can open; or, of this computer alone,
        a transformers model in memory with its tokenizer.
    model_b : optional
        A second model with the same heads, a fine-tune of the first for example: the difference
        B − A in each text. In memory it reads by the same tokenizer.
    statistics : list, optional
        "entropy", "induction", … or functions of a pattern, float32 [query, key], that return one
        number; a dictionary names them: {"diagonal": lambda pattern: pattern.trace()}. By default
        all that the program has. Workers in other processes need functions of a module.
    heads : list, optional
        The heads to keep, [(1, 2), "3.0"]; all by default.
    client : optional
        A client of dask.distributed, an executor of concurrent.futures, a function that makes one,
        or None for this computer alone.
    strongest : int
        The number of strongest pairs of tokens to keep for each head.
    share : int
        Texts of one run of the program. A share whose worker dies is computed again.
    **options
        Options of `headlight heads`; threads: of each share, by default one for each thread of
        dask's, and all of this computer's for None.

    Returns
    -------
    Corpus
        `corpus["induction"]` is the mean over the texts, float32 [layer, head],
        `["induction_sd"]` their deviation; `.strongest((1, 2))` and `.links((1, 2))` are of one
        head.
    Spread
        With model_b or statistics: `spread["entropy"]` is the mean, of two models of their
        difference, `["entropy_deciles"]` float32 [head, 11]; `.rows` are sorted by effect.

    Raises
    ------
    HeadlightError
        A text, the model or an option is wrong, or a share fails on several workers.

    Examples
    --------
    >>> headlight.corpus(["Lily had a ball.", "Tom ran."], model="stories")["entropy"].shape
    (4, 8)
    """
    models = [_for_workers(one, client) for one in (model, model_b) if one is not None] or [None]
    if model_b is not None or statistics is not None:
        models = [None, *models] if model is None and model_b is not None else models
        asked = Asked(models, tokenizer, named_statistics(statistics), options)
        return each_text(in_shares(texts, share), asked, spelled_heads(heads), client)
    in_memory = not isinstance(models[0], (str, type(None)))
    held = saved_folder(models[0], tokenizer) if in_memory else models[0]  # lives as long
    folder = None if held is None else os.fspath(held)
    named = {"model": folder, "strongest": whole("strongest", strongest), **options}
    return Corpus(
        over_all(
            in_shares(texts, share),
            lambda threads: spelled({"threads": threads, **named}),
            spelled_heads(heads),
            client,
            strongest,
        )
    )


def _for_workers(model: Any, client: Any) -> Any:
    """A model as every worker of this computer or of others finds it."""
    if isinstance(model, (str, os.PathLike)):
        return str(Path(model).resolve()) if Path(model).exists() else os.fspath(model)
    if client is not None:
        raise HeadlightError(
            "The workers of client= do not see a model in memory; leave client out, or give a "
            "folder, a .gguf file or a name that every worker can open."
        )
    return model
