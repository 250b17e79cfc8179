"""Attribution and activation patching: the inputs and activations that an output depends on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .head_names import head_parts
from .measures import Attribution, PatchMap
from .option_kinds import names_what_is_near
from .option_table import AttributeOptions, PatchOptions
from .program import run, spelled
from .recorded import READ, RECORDED
from .results import drawn
from .saved_models import saved_folder
from .sources import Source, open_source

if TYPE_CHECKING:
    from typing_extensions import Unpack


@names_what_is_near((*RECORDED, *READ))
def attribute(
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *,
    method: str = "leave-out",
    metric: str | None = None,
    **options: Unpack[AttributeOptions],
) -> Attribution:
    """Attribute what the model says to the tokens of its input.

    Parameters
    ----------
    model, tokenizer, text
        A folder, a .gguf file or a name, which the program runs itself, and the text.
    method : str
        "leave-out" deletes each token and runs the rest again. Others: "gradient",
        "input-x-gradient", "integrated-gradients" (steps="auto" or a number, baseline="mean",
        "zero" or "text:A PROMPT"), "contribution", "relevance" or "rollout". "jacobian" without a
        metric gives `.matrix` [output, token], every output's response to every token (probes=8
        estimates it).
    metric : str, optional
        "log p ball" or "ball - car"; by default the log-probability of the most probable next
        token.
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
        The model is in memory, or the method or the metric is wrong.

    Examples
    --------
    >>> headlight.attribute("stories", text="Lily had a red", metric="log p ball").scores
    """
    source = open_source(model, tokenizer, text, options)
    source = source.with_weights()
    given = {"method": method, "metric": metric, **options}
    found = Attribution(source.run("attribute", [*spelled(given), "--json"]))
    points = options.get("steps")
    steps = {"points": points} if isinstance(points, int) else {}
    return drawn(found, source, "influence", {**given, **steps}, ("steps", "over"))


@names_what_is_near((*RECORDED, *READ))
def patch(
    model: Any = None,
    tokenizer: Any = None,
    *,
    clean: str | None = None,
    corrupted: str | None = None,
    what: str | None = None,
    head: Any = None,
    metric: str | None = None,
    **options: Unpack[PatchOptions],
) -> PatchMap:
    """Patch the activations of one run into another, place by place.

    Parameters
    ----------
    model, tokenizer : optional
        A folder, a .gguf file or a name, or a transformers model in memory with its tokenizer.
    clean, corrupted : str, optional
        Texts of equally many tokens; instead of corrupted, noise="3-5" on tokens of the clean one.
    what : str, optional
        "resid_pre" (by default), "attn_out", "mlp_out" or "heads".
    head : tuple or str, optional
        (layer, head): patch one head by position.
    metric : str, optional
        "log p ball" or "ball - car".
    **options
        Further options of the program.

    Returns
    -------
    PatchMap
        `patch_map.values` is float32 [layer, position] or [layer, head]: the share of the clean
        run's metric that returns.

    Raises
    ------
    HeadlightError
        The model's weights cannot be had, or the texts cannot be patched into each other.

    Examples
    --------
    >>> headlight.patch("stories", clean="Lily saw a cat", corrupted="Lily saw a dog").values
    """
    if model is not None and not isinstance(model, (str, os.PathLike)):
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
    found = PatchMap(run(["patch", *spelled(given), "--quiet", "-o", "-.json"]))
    if corrupted is None or options.get("estimate"):
        return found
    named = {"text_b": clean, "what": "head" if head is not None else what, "metric": metric}
    source = Source(spelled({"model": given["model"], "text": corrupted}), held=model)
    return drawn(found, source, "patch", {**named, **options})
