"""Patterns that are arrays already: figures, numbers, memory, and sentences for what is none."""

import os
import tempfile
import tracemalloc
from pathlib import Path

import headlight
import numpy as np

WORDS = ["The", " cat", " sat", " on", " it"]


def causal_patterns(layers, heads, tokens, seed=1):
    """Random rows that sum to 1, later keys 0: [layer, head, query, key]."""
    weights = np.tril(np.random.default_rng(seed).random((layers, heads, tokens, tokens)))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def shown(figure):
    return np.nan_to_num(figure.numbers()["pattern"])


def sentence_of(call):
    """The one sentence of what fails."""
    try:
        call()
    except headlight.HeadlightError as problem:
        said = str(problem)
        assert len(said.splitlines()) == 1, said
        assert len(said) > 30, said
        assert "Traceback" not in said, said
        assert not said.startswith("headlight:"), said
        return said
    raise AssertionError("nothing was said")


def skipped(why):
    """Say that a library is missing. In ./test long, whose Python has all of them, that is a
    failure."""
    assert not os.environ.get("HEADLIGHT_LONG"), why
    print("     " + why)


def a_figure_shows_the_given_numbers():
    patterns = causal_patterns(2, 3, 5)
    for layer, head in ((0, 0), (1, 2)):
        assert np.array_equal(
            shown(headlight.figure(patterns=patterns, tokens=WORDS, head=(layer, head))),
            patterns[layer, head],
        )
    assert np.array_equal(
        shown(headlight.figure(patterns, tokens=WORDS, head="1.2")), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=patterns[1], head=(0, 2))), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=patterns[1, 2], view="head")), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=list(patterns), head=(1, 2))), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=list(patterns[1]), head=(0, 2))), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=patterns[1].tolist(), head=(0, 2))), patterns[1, 2]
    )
    assert np.array_equal(
        shown(headlight.figure(patterns=[p[None] for p in patterns], head=(1, 2))), patterns[1, 2]
    ), "a batch of one"
    assert np.array_equal(
        shown(
            headlight.figure(patterns=np.stack([patterns, patterns[::-1]], 1), batch=1, head=(0, 2))
        ),
        patterns[1, 2],
    )


def notebooks_get_a_picture():
    figure = headlight.figure(patterns=causal_patterns(1, 2, 5), tokens=WORDS, title="A title")
    shown_as, size = figure._repr_mimebundle_()
    png = shown_as["image/png"]
    assert png.startswith(b"\x89PNG")
    assert 2 * size["image/png"]["width"] == int.from_bytes(png[16:20], "big")
    assert "image/png" not in figure._repr_mimebundle_(exclude=["image/png"])[0]
    vector = headlight.figure(patterns=causal_patterns(1, 2, 5), format="svg", labels=False)
    assert "<svg" in vector._repr_mimebundle_()[0]["image/svg+xml"]
    assert vector._repr_mimebundle_()[1] == {}
    assert headlight.figure(patterns=causal_patterns(1, 2, 5), tokens=WORDS).png != png, (
        "options are the program's"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.png", "b.svg", "c.pdf", "d.csv", "e.npy"):
            assert figure.save(Path(folder) / name).stat().st_size > 50, name
        assert np.load(Path(folder) / "e.npy").shape[0] == 2
    for view in ("lines", "graph", "text", "heads"):
        assert headlight.figure(patterns=causal_patterns(2, 2, 5), tokens=WORDS, view=view).png


def statistics_are_those_of_the_definition():
    patterns = causal_patterns(2, 3, 6)
    table = headlight.heads(patterns=patterns)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(patterns > 0, patterns * np.log2(patterns), 0).sum(-1).mean(-1)
    assert table["entropy"].shape == (2, 3) and np.allclose(table["entropy"], entropy, atol=1e-5)
    assert np.allclose(table["previous"], np.diagonal(patterns, -1, 2, 3).mean(-1), atol=1e-6)
    assert {"entropy", "previous", "induction"} <= set(table) and len(table.rows) == 6


def two_patterns_are_compared():
    a, b = causal_patterns(2, 3, 5, seed=1), causal_patterns(2, 3, 5, seed=2)
    middle = (a + b) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        part = [np.where(p > 0, p * np.log2(p / middle), 0).sum(-1) for p in (a, b)]
    expected = ((part[0] + part[1]) / 2).mean(-1)
    said = headlight.compare(patterns=a, model_b=b, tokens=WORDS)
    assert said.distance.shape == (2, 3)
    assert np.allclose(said.distance, expected, atol=1e-6), (said.distance, expected)
    assert headlight.compare(patterns=a, model_b=a, tokens=WORDS).distance.max() < 1e-7
    assert said.next == []
    assert "nothing to compare" in sentence_of(lambda: headlight.compare(patterns=a, tokens=WORDS))
    assert "layers or heads" in sentence_of(
        lambda: headlight.compare(patterns=a, model_b=b[:1], tokens=WORDS)
    )


def an_encoder_and_a_decoder_have_three_kinds():
    rng = np.random.default_rng(3)
    rows = lambda *shape: (lambda w: (w / w.sum(-1, keepdims=True)).astype(np.float32))(
        rng.random(shape)
    )
    given = {
        "encoder_patterns": rows(2, 2, 4, 4),
        "decoder_patterns": causal_patterns(2, 2, 5),
        "cross_patterns": rows(2, 2, 5, 4),
    }
    trace = headlight.trace(**given, tokens=list("abcd"), target_tokens=list("vwxyz"))
    assert np.array_equal(trace["pattern", 1, "cross"], given["cross_patterns"][1])
    assert trace.target_tokens == list("vwxyz")
    for kind in ("encoder", "decoder", "cross"):
        assert np.array_equal(
            shown(headlight.figure(trace, head=(kind, 1, 1))), given[f"{kind}_patterns"][1, 1]
        ), kind
    assert headlight.heads(trace)["cross", "entropy"].shape == (2, 2)
    assert headlight.figure(trace, view="alignment").png
    assert "decoder_patterns and cross_patterns" in sentence_of(
        lambda: headlight.figure(encoder_patterns=given["encoder_patterns"])
    )


def one_head_is_copied_at_a_time():
    class Stored:
        """Patterns that are made when they are asked for, as those of a file or of a device."""

        shape = (6, 6, 256, 256)

        def __getitem__(self, at):
            assert len(at) == 2, "a whole layer was asked for"
            pattern = np.tril(np.ones(self.shape[2:], np.float16))
            return pattern / pattern.sum(-1, keepdims=True)

    with tempfile.TemporaryDirectory() as folder:
        tracemalloc.start()
        trace = headlight.trace(patterns=Stored(), path=Path(folder) / "t.safetensors")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        head = 4 * 256 * 256
        assert trace.path.stat().st_size > 36 * head
        assert peak < 4 * head, f"{peak / head:.1f} heads in memory"
        assert [p.name for p in Path(folder).iterdir()] == ["t.safetensors"]
        assert np.allclose(trace["pattern", 5][5, 255], 1 / 256, atol=1e-4)
        # a header longer than the room that it was given
        named = headlight.trace(patterns=Stored(), name="é" * 9999)
        assert named.metadata["model"] == "é" * 9999
        assert np.allclose(named["pattern", 5], trace["pattern", 5])
        assert headlight.figure(named, head=(5, 5)).png
        assert headlight.Trace(trace.save(Path(folder) / "copy.safetensors")).config == trace.config


def what_cannot_be_shown_is_said_in_a_sentence():
    patterns = causal_patterns(2, 2, 5)
    broken = patterns.copy()
    broken[1, 1, 3, 2] = np.nan
    assert "Head 1 of blocks.1.attn" in sentence_of(lambda: headlight.trace(patterns=broken))
    assert "after the softmax" in sentence_of(lambda: headlight.trace(patterns=patterns * 3))
    assert "one for each position" in sentence_of(
        lambda: headlight.figure(patterns=patterns, tokens=["a"])
    )
    assert "list of them" in sentence_of(
        lambda: headlight.figure(patterns=patterns, tokens="abcde")
    )
    assert "3 queries and 5 keys" in sentence_of(
        lambda: headlight.figure(patterns=patterns[:, :, :3])
    )
    assert "shape [5]" in sentence_of(lambda: headlight.figure(patterns=np.ones(5)))
    assert "arrays of numbers" in sentence_of(lambda: headlight.figure(patterns=[["a"]]))
    assert "no patterns" in sentence_of(lambda: headlight.figure(patterns=[]))
    assert all(
        "eager" in sentence_of(lambda: headlight.figure(patterns=kept))
        for kept in ((None, None), ())
    ), "what transformers returns without eager attention"
    assert all(
        "names no head" in sentence_of(lambda: headlight.figure(patterns=patterns, head=head))
        for head in (1, (1,), "L1H2", (1, 0.5))
    )
    assert all(
        "tokens=" in sentence_of(lambda: headlight.figure(patterns, *more))
        for more in (["a text"], [WORDS])
    ), "no text is left out without a word"
    assert "nonsense" in sentence_of(lambda: headlight.figure(patterns=patterns, view="nonsense"))
    assert "nothing that Headlight knows" in sentence_of(lambda: headlight.figure(5))
    assert "hook_pattern" in sentence_of(
        lambda: headlight.figure(type("Cache", (dict,), {"cache_dict": {}})())
    )
    trace = headlight.trace(patterns=patterns)
    assert "need the model" in sentence_of(lambda: headlight.figure(trace, mask="none"))
    assert "leave tokens out" in sentence_of(lambda: headlight.figure(trace, tokens=WORDS))
    assert all(
        "leave text out" in sentence_of(lambda: headlight.figure(held, text="a"))
        for held in (trace, trace.path)
    )
    assert "weights" in sentence_of(lambda: headlight.figure(trace, view="steps"))
    assert "/nowhere" in sentence_of(
        lambda: headlight.trace(patterns=patterns, path="/nowhere/t.safetensors")
    )
    assert "/dev/full" in sentence_of(lambda: headlight.figure(trace).save("/dev/full/x.png"))
    assert "/nowhere" in sentence_of(lambda: headlight.Trace("/nowhere"))


def names_of_transformer_lens_are_read():
    patterns = causal_patterns(2, 3, 5)
    cache = {f"blocks.{layer}.attn.hook_pattern": patterns[layer][None] for layer in range(2)} | {
        "hook_embed": np.ones(3)
    }
    trace = headlight.trace(cache, tokens=WORDS)
    assert trace.tokens == WORDS
    assert np.array_equal(trace["blocks.1.attn.hook_pattern"], patterns[1])
    assert trace.config["kind"] == "decoder"
    assert np.array_equal(shown(headlight.figure(cache, tokens=WORDS, head=(1, 1))), patterns[1, 1])


def a_trace_is_known_by_what_it_holds():
    with tempfile.TemporaryDirectory() as folder:
        kept = headlight.trace(patterns=causal_patterns(1, 2, 5), path=Path(folder) / "kept")
        assert headlight.figure(kept.path).png
        assert np.array_equal(headlight.trace(kept.path)["pattern", 0], kept["pattern", 0])
