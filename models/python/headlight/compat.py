"""Calls of BertViz and CircuitsVis, as they write them: change the import, and keep the rest.

    from headlight.compat import head_view, model_view                          # of bertviz
    from headlight.compat import attention_heads, attention_pattern, attention_patterns
                                                        # of circuitsvis.attention

Each shows the interactive page of headlight.figure. What they take and a page has no place for
is refused in a sentence."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal

from .errors import HeadlightError
from .figure import Figure
from .page_edits import Html, acted, data_of, edited, keep
from .showing import figure

__all__ = ["Html", "attention_heads", "attention_pattern", "attention_patterns", "head_view",
           "model_view"]  # fmt: skip
PIECES = (("Ġ", " "), ("▁", " "), ("</w>", ""))  # blanks, and ends of words


def head_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    html_action: Literal["view", "return"] = "view",
) -> Html | None:
    """Show lines from queries to keys, as bertviz.head_view.

    Parameters
    ----------
    attention, tokens
        The attentions of each layer, [batch of 1, head, query, key], and the tokens.
    sentence_b_start : int, optional
        Refused: a page shows the whole pair.
    prettify_tokens : bool
        Write a blank where tokenizers write Ġ or ▁.
    layer, heads : optional
        The layer and the heads to begin with; the page shows one head at a time, the first.
    encoder_attention, decoder_attention, cross_attention, encoder_tokens, decoder_tokens
        Those of encoder-decoder models: all three kinds, or the encoder's or the decoder's alone.
    include_layers : list of int, optional
        Leave out the other layers.
    html_action : str
        "view" shows the page in a notebook; "return" returns it.

    Returns
    -------
    Html or None
        None where a notebook has shown it.

    Raises
    ------
    HeadlightError
        The attentions or the tokens are wrong, or an argument cannot be honored.

    Examples
    --------
    >>> head_view(outputs.attentions, tokens)
    """
    given = _given(attention, tokens, encoder_attention, decoder_attention, cross_attention,
                   encoder_tokens, decoder_tokens, sentence_b_start, prettify_tokens)  # fmt: skip
    first = "encoder." if "cross_patterns" in given else ""
    begin = layer if layer is not None else include_layers[0] if include_layers else 0
    shown = figure(view="lines", head=f"{first}{begin}.{heads[0] if heads else 0}", **given)
    return _shown(shown, html_action, lambda held: keep(held, include_layers, layer))


def model_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: Literal["dark", "light"] = "dark",
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    html_action: Literal["view", "return"] = "view",
) -> Html | None:
    """Show all heads of all layers, as bertviz.model_view.

    Parameters
    ----------
    attention, tokens, sentence_b_start, prettify_tokens, encoder_attention, decoder_attention
        As those of head_view.
    cross_attention, encoder_tokens, decoder_tokens, include_layers, html_action
        As those of head_view.
    display_mode : str
        "dark" or "light".
    include_heads : list of int, optional
        Leave out the other heads. These few are shown as a picture, and not as a page.

    Returns
    -------
    Html or None
        None where a notebook has shown it.

    Raises
    ------
    HeadlightError
        The attentions or the tokens are wrong, or an argument cannot be honored.

    Examples
    --------
    >>> model_view(outputs.attentions, tokens, include_layers=[5, 6])
    """
    if display_mode not in ("dark", "light"):
        raise HeadlightError(f'display_mode is "dark" or "light", not {display_mode!r}.')
    given = _given(attention, tokens, encoder_attention, decoder_attention, cross_attention,
                   encoder_tokens, decoder_tokens, sentence_b_start, prettify_tokens)  # fmt: skip
    if include_heads is not None:
        return _picture(given, include_layers, include_heads, html_action)

    def change(held: dict[str, Any]) -> None:
        held["theme"] = display_mode
        keep(held, include_layers, None)

    return _shown(figure(view="heads", **given), html_action, change)


def attention_patterns(tokens: Sequence[str], attention: Any) -> Html:
    """Show the patterns of a layer's heads, as circuitsvis.attention.attention_patterns.

    Parameters
    ----------
    tokens : list of str
        The tokens.
    attention : array
        [head, query, key].

    Returns
    -------
    Html
        Shown inline by notebooks.

    Raises
    ------
    HeadlightError
        The attention or the tokens are wrong.

    Examples
    --------
    >>> attention_patterns(tokens=model.to_str_tokens(text), attention=cache["pattern", 0][0])
    """
    return attention_heads(attention, tokens)


def attention_heads(
    attention: Any,
    tokens: Sequence[str],
    attention_head_names: Sequence[str] | None = None,
    max_value: float | None = None,
    min_value: float | None = None,
    negative_color: str | None = None,
    positive_color: str | None = None,
    mask_upper_tri: bool | None = None,
) -> Html:
    """Show the patterns of several heads, as circuitsvis.attention.attention_heads.

    Parameters
    ----------
    attention : array
        [head, query, key].
    tokens : list of str
        The tokens.
    attention_head_names : list of str, optional
        A name for each head.
    max_value, min_value, negative_color, positive_color
        Refused: the page has its own scale and colors.
    mask_upper_tri : bool, optional
        Weights above the diagonal are hatched where they are all 0, and shown where not; True
        refuses those that are not.

    Returns
    -------
    Html
        Shown inline by notebooks.

    Raises
    ------
    HeadlightError
        The attention or the tokens are wrong, or an argument cannot be honored.

    Examples
    --------
    >>> attention_heads(cache["pattern", 5][0], tokens, attention_head_names=names)
    """
    _refuse_looks(max_value=max_value, min_value=min_value, negative_color=negative_color,
                  positive_color=positive_color)  # fmt: skip
    shown = figure(patterns=attention, tokens=_labels(tokens), view="heads")
    heads = json.loads(data_of(shown.html))["blocks"][0]["heads"]
    if mask_upper_tri:
        _refuse_later_keys(shown, heads)
    names = list(attention_head_names) if attention_head_names is not None else []
    if names and len(names) != heads:
        raise HeadlightError(
            f"attention_head_names has {len(names)} names for {heads} heads; give one for each."
        )

    def change(held: dict[str, Any]) -> None:
        if names:
            held["names"] = {f"0.{head}": str(name) for head, name in enumerate(names)}

    return Html(edited(shown.html, change), shown)


def attention_pattern(
    tokens: Sequence[str],
    attention: Any,
    max_value: float | None = None,
    min_value: float | None = None,
    negative_color: str | None = None,
    show_axis_labels: bool | None = None,
    positive_color: str | None = None,
    mask_upper_tri: bool | None = None,
) -> Html:
    """Show the pattern of one head, as circuitsvis.attention.attention_pattern.

    Parameters
    ----------
    tokens : list of str
        The tokens.
    attention : array
        [query, key].
    max_value, min_value, negative_color, positive_color
        Refused: the page has its own scale and colors.
    show_axis_labels : bool, optional
        False is refused: the page names its axes.
    mask_upper_tri : bool, optional
        As that of attention_heads.

    Returns
    -------
    Html
        Shown inline by notebooks.

    Raises
    ------
    HeadlightError
        The attention or the tokens are wrong, or an argument cannot be honored.

    Examples
    --------
    >>> attention_pattern(tokens, cache["pattern", 5][0, 1])
    """
    _refuse_looks(max_value=max_value, min_value=min_value, negative_color=negative_color,
                  positive_color=positive_color,
                  show_axis_labels=None if show_axis_labels else show_axis_labels)  # fmt: skip
    shown = figure(patterns=attention, tokens=_labels(tokens), view="head")
    if mask_upper_tri:
        _refuse_later_keys(shown, 1)
    return Html(shown.html, shown)


def _refuse_looks(**given: Any) -> None:
    if named := [name for name, value in given.items() if value is not None]:
        raise HeadlightError(
            f"{named[0]}= has no place in the page, whose scale and colors are Headlight's own; "
            "leave it out, or draw a picture by headlight.figure(…, colormap=…, contrast=…)."
        )


def _refuse_later_keys(shown: Figure, heads: int) -> None:
    for head in range(heads):
        pattern = shown.of_head((0, head)).numbers()["pattern"]
        if any(value > 0 for q, row in enumerate(pattern.tolist()) for value in row[q + 1 :]):
            raise HeadlightError(
                f"mask_upper_tri=True would hide weights above the diagonal of head {head}; leave "
                "it out, or set them to 0."
            )


def _labels(tokens: Any) -> list[str]:
    if tokens is None:
        raise HeadlightError("tokens= is missing: the texts of the tokens, one for each row.")
    return [str(token) for token in tokens]


def _pretty(tokens: Any, prettify: bool) -> list[str]:
    out = _labels(tokens)
    for piece, said in PIECES if prettify else ():
        out = [token.replace(piece, said) for token in out]
    return out


def _given(
    attention: Any,
    tokens: Any,
    encoder: Any,
    decoder: Any,
    cross: Any,
    encoder_tokens: Any,
    decoder_tokens: Any,
    sentence_b_start: Any,
    prettify: bool,
) -> dict[str, Any]:
    """The patterns and tokens as headlight.figure takes them."""
    kinds = {"encoder_patterns": encoder, "decoder_patterns": decoder, "cross_patterns": cross}
    kinds = {name: value for name, value in kinds.items() if value is not None}
    if sentence_b_start is not None:
        raise HeadlightError(
            "sentence_b_start= chooses one part of a pair, and a page shows all of it; leave it "
            "out, or draw a part by headlight.figure(…, only_tokens=…, only_keys=…)."
        )
    if attention is not None:
        if kinds or encoder_tokens is not None or decoder_tokens is not None:
            raise HeadlightError(
                "attention= is of a model with one kind of attention; leave those of encoders and "
                "decoders out."
            )
        return {"patterns": attention, "tokens": _pretty(tokens, prettify)}
    if not kinds:
        raise HeadlightError("There is no attention; give attention=outputs.attentions.")
    if len(kinds) == 1 and cross is None:
        alone = encoder_tokens if encoder is not None else decoder_tokens
        return {"patterns": next(iter(kinds.values())), "tokens": _pretty(alone, prettify)}
    return {
        **kinds,
        "tokens": _pretty(encoder_tokens, prettify),
        "target_tokens": _pretty(decoder_tokens, prettify),
    }


def _shown(
    shown: Figure, html_action: str, change: Callable[[dict[str, Any]], None]
) -> Html | None:
    return acted(Html(edited(shown.html, change), shown), html_action)


def _picture(
    given: dict[str, Any], layers: Sequence[int] | None, heads: Sequence[int], html_action: str
) -> Html | None:
    """A few heads with their own numbers, as the program draws them."""
    if "cross_patterns" in given:
        raise HeadlightError(
            "include_heads= goes with one kind of attention; leave it out of these three."
        )
    count = len(layers) if layers is not None else len(given["patterns"])
    chosen = [(one, head) for one in (layers or range(count)) for head in heads]
    drawn = figure(view="heads", only_heads=chosen, **given)
    image = base64.b64encode(drawn.png).decode()
    data = f'<!doctype html><meta charset="utf-8"><img alt="" src="data:image/png;base64,{image}">'
    return acted(Html(data, drawn), html_action)
