"""Names of options, heads, arguments and values, right, nearly right and wrong."""

import inspect
import os
import re
import subprocess

import headlight
import numpy as np
from given_arrays import WORDS, causal_patterns, sentence_of
from given_mistakes import TEXT
from headlight.option_kinds import OF_THE_COMMAND_LINE, SWITCHES
from headlight.wording import in_python, spelled


def options_are_named_as_python_names_them():
    assert "did you mean head=?" in sentence_of(
        lambda: headlight.figure("stories", text="hi", haed=(1, 2))
    )
    assert "did you mean width_mm=?" in sentence_of(
        lambda: headlight.figure("stories", text="hi", width_mn=85)
    )
    assert "corpus=FILE" in sentence_of(
        lambda: headlight.figure("stories", text="hi", view="corpus")
    )
    for call in (
        lambda: headlight.figure("stories", text="hi", view="nonsense"),
        lambda: headlight.compare("stories", text="hi"),
        lambda: headlight.patch("stories", clean="a"),
        lambda: headlight.heads("stories", text="a", strongest=3),
        lambda: headlight.attribute("stories", "a", method="rollout", steps=3),
    ):
        assert "--" not in sentence_of(call).split(" (`headlight")[0], sentence_of(call)
    for said, here in (
        ("leave --trace out and give --model.", "leave trace= out and give model=."),
        ("a change such as --ablate 1.2.", 'a change such as ablate="1.2".'),
        (
            "--view corpus draws a file: give --corpus FILE.",
            'view="corpus" draws a file: give corpus=FILE.',
        ),
        ("leave --no-labels out.", "leave labels=False out."),
        (
            "x (see `headlight heads --help`)",
            "x (`headlight heads --help` lists the options, here with _ for -)",
        ),
        ("give --tokens 0-5,9; -o", 'give only_tokens="0-5,9"; -o'),
    ):
        assert in_python(said) == here, in_python(said)
    assert "words" in sentence_of(
        lambda: headlight.attribute("stories", TEXT, metric=lambda logits: 0)
    )


def names_that_a_mapping_lacks_are_said_with_those_that_it_has():
    table, trace = (
        headlight.heads(patterns=causal_patterns(2, 2, 5)),
        headlight.trace("stories", "The cat sat."),
    )
    for call, words in (
        (lambda: table["inductoin"], ("induction", "entropy")),
        (lambda: table["cross", "entropy"], ("cross", "blocks")),
        (lambda: trace["blocks.0.attn.hook_patern"], ("hook_pattern",)),
        (lambda: trace["patern", 1], ("blocks.1.attn.hook_pattern",)),
        (lambda: trace["pattern", 9], ("blocks.9",)),
    ):
        assert all(word in sentence_of(call) for word in words), sentence_of(call)
        try:
            call()
        except KeyError:
            pass
    assert table.get("nothing") is None and "nothing" not in trace


def heads_are_named_as_one_head_is():
    assert (
        spelled({"heads": (1, 2)})
        == spelled({"heads": [(1, 2)]})
        == spelled({"heads": "1.2"})
        == ["--heads", "1.2"]
    )
    assert spelled({"only_heads": [(1, 2), "3.0", ("cross", 0, 1)]}) == [
        "--only-heads",
        "1.2,3.0,cross.0.1",
    ]
    assert spelled({"ablate": (3, 5)}) == ["--ablate", "3.5"]
    assert spelled({"ablate": [(3, 5), "4.1:mean"]}) == ["--ablate", "3.5", "--ablate", "4.1:mean"]
    assert spelled({"with": (3, 2), "tokens": (0, 1)}) == ["--with", "3.2", "--tokens", "0,1"]
    assert spelled({"color_bar": True, "labels": False, "values": False}) == [
        "--color-bar",
        "--no-labels",
    ]
    held = {"patterns": causal_patterns(2, 3, 5), "tokens": WORDS}
    assert (
        headlight.figure(**held, only_heads=[(1, 2), (0, 0)]).png
        == headlight.figure(**held, only_heads="1.2,0.0").png
    )
    assert (
        headlight.figure(**held, view="lines", heads=(1, 2), layer=1).png
        == headlight.figure(**held, view="lines", head=(1, 2)).png
    )


def names_that_are_nearly_right_are_named():
    for call, name in (
        (lambda: headlight.figure("stories", text="a", tokeniser=1), "tokenizer="),
        (lambda: headlight.figure("stories", text="a", fromat="svg"), "format="),
        (lambda: headlight.heads("stories", text="a", metirc="ball"), "metric="),
        (lambda: headlight.figure(patterns=causal_patterns(1, 1, 3), token=list("abc")), "tokens="),
        (lambda: headlight.figure("stories", text="a b", tokens=[0]), "only_tokens="),
        (lambda: headlight.patch("stories", claen="a"), "clean="),
        (lambda: headlight.figure("stories", text="a", output="a.png"), ".save(path)"),
        (lambda: headlight.heads("stories", text="a", json=True), "json="),
        (lambda: headlight.figure("stories", text="a", head=(9, 0)), "head="),
        (lambda: headlight.figure("stories", text="a", withh=(1, 1)), "with_="),
    ):
        assert name in sentence_of(call) and "layer=" not in sentence_of(call), sentence_of(call)
    compared = headlight.figure(
        "stories", text="The cat sat", view="compare", with_=(1, 1), head=(1, 0)
    )
    assert (
        compared.png
        == headlight.figure(
            "stories", text="The cat sat", view="compare", head=(1, 0), **{"with": "1.1"}
        ).png
    )
    assert (
        headlight.figure("stories", text="a b", size=(300, 200)).png
        == headlight.figure("stories", text="a b", size="300x200").png
    )
    fine = headlight.figure("stories", text="a b", dpi=300)
    assert fine.svg and fine.png != headlight.figure("stories", text="a b", dpi=100).png


def switches_are_those_of_the_program():
    program, switches = os.environ["HEADLIGHT_PROGRAM"], set()
    verbs = "render heads trace compare attribute patch generate circuits learn info fetch"
    for verb in (*verbs.split(), None):
        said = subprocess.run(
            [program, *([verb] if verb else []), "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        switches |= {
            flag.removeprefix("no-").replace("-", "_")
            for flag in re.findall(
                r"^  (?:-\w,)?--([a-z-]+)(?: (?:Excludes|Needs): [^\n]*|  +\S[^\n]*)?$", said, re.M
            )
        }
    assert switches - {*OF_THE_COMMAND_LINE} == {*SWITCHES}, switches ^ {*SWITCHES}


def a_value_of_the_wrong_type_is_said_of_its_argument():
    """Each function × each argument × each type: one sentence that names it, or an outcome."""
    words = {"model": "stories", "text": "a b"}
    base = {
        "figure": words,
        "trace": words,
        "heads": words,
        "attribute": words,
        "compare": {**words, "text_b": "a c"},
        "corpus": {"texts": ["a b"], "model": "stories"},
        "patch": {"model": "stories", "clean": "a b", "corrupted": "a c"},
    }
    more = {
        "figure": tuple(
            (
                "size with_ only_tokens width_mm values heads mean mask change ids pair title cell"
            ).split()
        ),
        "heads": ("metric", "random_repeat"),
        "attribute": ("steps", "baseline"),
        "patch": ("estimate",),
    }
    wrong = (5, 2.5, object(), [object()], {"a": 1}, b"xy", True, lambda: 0, (), np.zeros((2, 2)))
    for name, given in base.items():
        function = getattr(headlight, name)
        for argument in [
            *(
                a
                for a in inspect.signature(inspect.unwrap(function)).parameters
                if a not in ("options", "path", "client")
            ),
            *more.get(name, ()),
        ]:
            for value in wrong:
                try:
                    function(**{**given, argument: value})
                except headlight.HeadlightError as problem:
                    named = (
                        argument.rstrip("s") in str(problem).lower()
                        or argument.startswith("model")
                        and "attern" in str(problem)
                    )
                    assert named or argument == "corrupted", (
                        f"{name}({argument}={value!r}): {problem}"
                    )
