"""BertViz's and CircuitsVis's calls, as their own documents write them."""

import inspect
import json

import numpy as np
import torch
from given_arrays import WORDS, causal_patterns, sentence_of
from headlight import compat
from headlight.pages import DATA

# As `pip download bertviz==1.4.1 circuitsvis==1.43.3` has them.
SIGNATURES = {
    "head_view": (
        "attention=None tokens=None sentence_b_start=None prettify_tokens=True layer=None "
        "heads=None encoder_attention=None decoder_attention=None cross_attention=None "
        "encoder_tokens=None decoder_tokens=None include_layers=None html_action='view'"
    ),
    "model_view": (
        "attention=None tokens=None sentence_b_start=None prettify_tokens=True "
        "display_mode='dark' encoder_attention=None decoder_attention=None cross_attention=None "
        "encoder_tokens=None decoder_tokens=None include_layers=None include_heads=None "
        "html_action='view'"
    ),
    "attention_patterns": "tokens attention",
    "attention_heads": (
        "attention tokens attention_head_names=None max_value=None min_value=None "
        "negative_color=None positive_color=None mask_upper_tri=None"
    ),
    "attention_pattern": (
        "tokens attention max_value=None min_value=None negative_color=None "
        "show_axis_labels=None positive_color=None mask_upper_tri=None"
    ),
}
HOSTILE = "</script><script>alert(1)</script>"


def data(page):
    return json.loads(DATA.search(page.data)[1])


def layers(count=4, heads=3):
    return tuple(torch.tensor(one)[None] for one in causal_patterns(count, heads, 5))


def signatures_are_those_of_bertviz_and_circuitsvis():
    for name, told in SIGNATURES.items():
        held = inspect.signature(getattr(compat, name)).parameters.values()
        mine = [
            p.name if p.default is p.empty else f"{p.name}={p.default!r}"
            for p in held
            if p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        assert " ".join(mine) == told, name


def a_head_view_opens_on_its_layer_and_head():
    page = compat.head_view(layers(), WORDS, layer=2, heads=[1, 2], html_action="return")
    held = data(page)
    assert (held["view"], held["block"], held["head"]) == ("lines", 2, 1)
    assert [block["label"] for block in held["blocks"]] == ["0", "1", "2", "3"]
    assert page.data.startswith("<!doctype html>") and "srcdoc=" in page._repr_html_()
    few = data(compat.head_view(layers(), WORDS, layer=3, include_layers=[1, 3]))
    assert [block["label"] for block in few["blocks"]] == ["1", "3"] and few["block"] == 1
    pieces = ["ĠThe", "▁cat", "sat</w>", "on", "it"]
    assert data(compat.head_view(layers(), pieces))["sequences"][0]["tokens"][0].strip() == "The"
    plain = data(compat.head_view(layers(), ["a</w>", *pieces[1:]], prettify_tokens=False))
    assert plain["sequences"][0]["tokens"][0] == "a</w>"


def a_model_view_is_dark_or_light_and_has_the_heads_it_is_told():
    assert data(compat.model_view(layers(), WORDS))["theme"] == "dark"
    light = data(compat.model_view(layers(), WORDS, display_mode="light", include_layers=[2]))
    assert light["theme"] == "light" and [b["label"] for b in light["blocks"]] == ["2"]
    few = compat.model_view(layers(), WORDS, include_layers=[1, 2], include_heads=[0, 2])
    assert few.data.count("<img") == 1 and "<script" not in few.data


def encoders_and_decoders_have_their_kinds():
    one = lambda queries, keys: tuple(torch.full((1, 3, queries, keys), 1 / keys) for _ in "ab")
    given = {
        "encoder_attention": one(4, 4),
        "decoder_attention": layers(2),
        "cross_attention": one(5, 4),
        "encoder_tokens": list("abcd"),
        "decoder_tokens": WORDS,
    }
    for view in (compat.head_view, compat.model_view):
        labels = [block["label"] for block in data(view(**given))["blocks"]]
        assert {label.split(".")[0] for label in labels} == {"encoder", "decoder", "cross"}, labels
    alone = compat.head_view(encoder_attention=one(4, 4), encoder_tokens=list("abcd"))
    assert len(data(alone)["blocks"]) == 2
    assert "three kinds" in sentence_of(
        lambda: compat.head_view(
            cross_attention=one(5, 4), encoder_tokens=list("abcd"), decoder_tokens=WORDS
        )
    )


def patterns_of_circuitsvis_have_names():
    attention = causal_patterns(1, 3, 5)[0]
    held = data(compat.attention_patterns(tokens=WORDS, attention=attention))
    assert (held["view"], held["blocks"][0]["heads"]) == ("heads", 3)
    names = ["L0H0", HOSTILE, "copies"]
    page = compat.attention_heads(
        attention=attention, tokens=WORDS, attention_head_names=names, mask_upper_tri=True
    )
    assert data(page)["names"] == {f"0.{i}": name for i, name in enumerate(names)}
    assert page.data.count("</script>") == 2, "no name ends the page's own element"
    one = data(compat.attention_pattern(WORDS, attention[1], show_axis_labels=True))
    assert one["view"] == "head" and one["blocks"][0]["heads"] == 1


def what_a_page_cannot_honor_is_said():
    attention, full = causal_patterns(1, 3, 5)[0], np.full((3, 5, 5), 0.2, np.float32)
    for call, words in (
        (lambda: compat.head_view(layers()), "tokens="),
        (lambda: compat.head_view(tokens=WORDS), "no attention"),
        (lambda: compat.head_view(layers(), WORDS, sentence_b_start=2), "sentence_b_start="),
        (lambda: compat.head_view(layers(), WORDS, encoder_tokens=WORDS), "one kind"),
        (lambda: compat.head_view(layers(), WORDS, include_layers=[9]), "9"),
        (lambda: compat.head_view(layers(), WORDS, layer=0, include_layers=[1]), "layer=0"),
        (lambda: compat.head_view(layers(), WORDS, html_action="save"), "html_action"),
        (lambda: compat.model_view(layers(), WORDS, display_mode="blue"), "display_mode"),
        (lambda: compat.attention_heads(attention, WORDS, max_value=0.5), "max_value="),
        (lambda: compat.attention_heads(attention, WORDS, positive_color="red"), "positive_color="),
        (lambda: compat.attention_heads(attention, WORDS, ["a"]), "1 names for 3"),
        (lambda: compat.attention_heads(full, WORDS, mask_upper_tri=True), "diagonal"),
        (
            lambda: compat.attention_pattern(WORDS, attention[0], show_axis_labels=False),
            "show_axis_labels=",
        ),
    ):
        assert words in sentence_of(call), sentence_of(call)
