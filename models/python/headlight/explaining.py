"""Attribution and activation patching: the inputs and activations that an output depends on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from .attributing import attributed
from .errors import HeadlightError
from .head_names import head_parts
from .measures import Attribution, PatchMap
from .metrics import Metric, in_words
from .nnsight_models import unwrapped
from .option_table import AttributeOptions, PatchOptions
from .patching import WHAT, Pair, along_paths, opened, patched
from .program import run, spelled
from .results import drawn
from .saved_models import saved_folder
from .signatures import takes
from .sources import Source, named_text, open_source, reads_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

What = Literal[
    "resid_pre",
    "resid_mid",
    "attn_out",
    "mlp_out",
    "heads",
    "heads-by-position",
    "head",
    "q",
    "k",
    "v",
    "pattern",
]


@takes(AttributeOptions)
def attribute(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    method: str = "leave-out",
    metric: str | Metric | None = None,
    **options: Unpack[AttributeOptions],
) -> Attribution:
    """Attribute what the model says to the tokens of its input.

    Parameters
    ----------
    model, tokenizer, text
        A folder, a .gguf file or a name, or a transformers model in memory, and the text.
    method : str
        "leave-out" deletes each token and runs the rest again. Others: "gradient",
        "input-x-gradient", "integrated-gradients" (steps="auto" or a number, baseline="mean",
        "zero" or "text:A PROMPT"), "contribution", "relevance" or "rollout". "jacobian" without a
        metric gives `.matrix` [output, token], every output's response to every token (probes=8
        estimates it).
    metric : str or function, optional
        "log p ball" or "ball - car"; by default the log-probability of the most probable next
        token. Of a model in memory also a function that takes the logits, a tensor float32
        [position, vocabulary], and returns one number: lambda logits: logits[-1, 5] - logits[-1,
        7]. The model's own passes compute then, with changes too, by "leave-out" (count positions
        from the end, which leaving out moves), "gradient", "input-x-gradient",
        "integrated-gradients" or "relevance".
    **options
        Further options of the program.

    Returns
    -------
    Attribution
        `attribution.scores` is float32 [token], NaN for a token that cannot be left out;
        `attribution.adds_up` is False where the scores miss what they should sum to by more than a
        tenth.

    Raises
    ------
    HeadlightError
        The model's weights cannot be had, or the method or the metric is wrong.

    Examples
    --------
    >>> headlight.attribute("stories", text="Lily had a red", metric="log p ball").scores
    """
    if callable(metric) and reads_text(model):
        return attributed(model, *named_text(tokenizer, text), method, metric, options)
    in_words(metric, "headlight.attribute")
    source = open_source(model, tokenizer, text, options).with_weights()
    given = {"method": method, "metric": metric, **options}
    found = Attribution(source.run("attribute", [*spelled(given), "--json"]))
    points = options.get("steps")
    steps = {"points": points} if isinstance(points, int) else {}
    return drawn(found, source, "influence", {**given, **steps}, ("steps", "over"))


@takes(PatchOptions)
def patch(
    model: Any = None,
    tokenizer: Any = None,
    *,
    clean: str | None = None,
    corrupted: str | None = None,
    what: What | None = None,
    head: Any = None,
    metric: str | Metric | None = None,
    sender: Any = None,
    receivers: Any = None,
    part: Literal["q", "k", "v"] | None = None,
    **options: Unpack[PatchOptions],
) -> PatchMap:
    """Patch the activations of one run into another, place by place, or along a path.

    Over many pairs, with means and intervals: headlight.average(pairs, model, measure="patch").

    Parameters
    ----------
    model, tokenizer : optional
        A folder, a .gguf file or a name, or a transformers model in memory with its tokenizer.
    clean, corrupted : str, optional
        Texts with the same number of tokens; instead of corrupted, noise="3-5" on tokens of the
        clean one.
    what : str, optional
        "resid_pre" (by default), "resid_mid", "attn_out" or "mlp_out": of a layer, by position.
        "heads" (z), "q", "k", "v" or "pattern": of a head, at all positions. "heads-by-position":
        z of a head, by position.
    head : tuple or str, optional
        (layer, head): patch one head by position.
    metric : str or function, optional
        "log p ball" or "ball - car". Of a model in memory also a function that takes the logits,
        a tensor float32 [position, vocabulary], and returns one number:
        lambda logits: logits[-1, 5] - logits[-1, 7]. The model's own passes compute then.
    sender, receivers, part : optional
        Path patching as in Wang et al. 2022, of a model in memory. sender: the head, (layer,
        head), whose z is that of the clean run; without one every head in turn. All other heads
        are frozen to the corrupted run; MLPs are computed again. receivers: heads, [(9, 6),
        (9, 9)], whose part, "q", "k" or "v", enters the corrupted run, or "logits", by default.
    **options
        Further options of the program.

    Returns
    -------
    PatchMap
        `patch_map.values` is float32 [layer, position], [layer, head] or [layer, head, position],
        as `.dims` says: the share of the clean run's metric that returns.

    Raises
    ------
    HeadlightError
        The model's weights cannot be had, or the texts cannot be patched into each other.

    Examples
    --------
    >>> headlight.patch("stories", clean="Lily saw a cat", corrupted="Lily saw a dog").values
    """
    in_memory = model is not None and not isinstance(model, (str, os.PathLike))
    paths = sender is not None or receivers is not None
    if part is not None and not paths:
        raise HeadlightError("part= belongs to receivers=; give the heads that receive.")
    if in_memory and (callable(metric) or paths):
        pair = opened(model, tokenizer, clean, corrupted, metric, options)
        return _by_own_passes(pair, what, head, (sender, receivers, part) if paths else None)
    in_words(metric, "headlight.patch")
    if paths:
        raise HeadlightError(
            "sender= and receivers= are followed in a model in memory; give one of transformers "
            "and its tokenizer."
        )
    if in_memory:
        if unwrapped(model, tokenizer)[1] is None and "clean_ids" not in options:
            raise HeadlightError(
                "The texts are read by the model's tokenizer; give it after the model, or give ids."
            )
        model = saved_folder(model, tokenizer)
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
    found = PatchMap(run(["patch", *spelled(given), "-o", "-.json"]))
    if options.get("estimate") or None in (given.get("clean"), given.get("corrupted")):
        return found
    shown = {"text_b": clean, "what": "head" if head is not None else what, "metric": metric}
    source = Source(spelled({"model": given["model"], "text": corrupted}), held=model)
    return drawn(found, source, "patch", {**shown, **options})


def _by_own_passes(pair: Pair, what: Any, head: Any, path: Any) -> PatchMap:
    """What the program does not compute of a model in memory."""
    if path and (what is not None or head is not None):
        raise HeadlightError("sender= and receivers= say what is patched; leave what and head out.")
    if path:
        return along_paths(pair, *path)
    chosen = what or ("head" if head is not None else "resid_pre")
    if chosen not in WHAT:
        raise HeadlightError(f'what= is one of {", ".join(WHAT)}, not "{chosen}".')
    if (chosen == "head") != (head is not None):
        raise HeadlightError("head=(layer, head) is patched by position, without another what=.")
    return patched(pair, chosen, head)
