"""Wrong input, or input in a form that is nearly right: one sentence in Python's words, or what was
meant; nothing is ignored in silence."""

import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import headlight
import numpy as np
import torch
import transformers
from given_arrays import WORDS, causal_patterns, sentence_of, shown
from given_models import IDS, gpt2, tensors
from headlight.wording import in_python

TEXT = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red"
STORIES = Path(__file__).resolve().parents[2] / "models/stories"


def lines_of_one_head_are_its_own():
    held = {"patterns": causal_patterns(2, 3, 5), "tokens": WORDS, "view": "lines"}
    one, other = headlight.figure(**held, head=(1, 2)), headlight.figure(**held, head=(1, 0))
    assert one.png != other.png != headlight.figure(**held, layer=1).png
    assert [name for name in one.numbers()] == ["pattern.1.2"]
    assert np.allclose(np.nan_to_num(one.numbers()["pattern.1.2"]), held["patterns"][1, 2])


def what_a_view_does_not_hear_is_said():
    held = {"patterns": causal_patterns(2, 3, 5), "tokens": WORDS}
    for wrong in (
        {"color_bar": True},
        {"color_bar": False},
        {"head": (1, 2), "view": "heads"},
        {"only_tokens": "0-2"},
    ):
        assert "does not act on" in sentence_of(lambda: headlight.figure(**held, **wrong)), wrong
    figure = headlight.figure(
        **held, head=(1, 2), width_mm=85, colormap="viridis", title="A title", only_tokens=(0, 1, 3)
    )
    assert np.array_equal(
        figure.numbers()["pattern"][:, :2],
        np.where(np.tril(np.ones((5, 5))), held["patterns"][1, 2], np.nan)[[0, 1, 3]][:, [0, 1]],
        equal_nan=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        assert (
            figure.save(Path(folder) / "a.csv").read_text().splitlines()[0]
            == "query\\key,The,cat,on"
        )
    assert "squares" in sentence_of(
        lambda: headlight.figure(**held, head=(1, 2), marks="dots", values=True)
    )


def one_text_of_a_batch_is_named():
    patterns = causal_patterns(2, 3, 5)
    batch = [np.stack([layer, layer[::-1]]) for layer in patterns]
    for given in (batch, np.stack(batch)):
        assert "a batch of 2 texts" in sentence_of(lambda: headlight.figure(patterns=given))
        assert "batch=0 to batch=1" in sentence_of(
            lambda: headlight.figure(patterns=given, batch=2)
        )
        assert np.array_equal(
            shown(headlight.figure(patterns=given, batch=1, head=(0, 0))), patterns[0, 2]
        )
    assert np.array_equal(
        shown(headlight.figure(patterns=batch[0], batch=1, head=(0, 0))), patterns[0, 2]
    ), "one layer of a batch"
    cache = {f"blocks.{i}.attn.hook_pattern": layer for i, layer in enumerate(batch)}
    assert "a batch of 2 texts" in sentence_of(lambda: headlight.figure(cache))
    assert headlight.trace(cache, batch=1)["pattern", 1].shape == (3, 5, 5)
    model = gpt2(1)
    for call in (
        lambda: headlight.figure(model, ids=IDS, patterns=patterns),
        lambda: headlight.figure("stories", text="a", patterns=patterns),
        lambda: headlight.figure(headlight.trace(patterns=patterns), patterns=patterns),
    ):
        assert "leave" in sentence_of(call), sentence_of(call)


def a_cache_is_refused_and_left_as_it_was():
    model = gpt2(1)
    with torch.no_grad():
        past = model(tensors(IDS[:6]), use_cache=True).past_key_values
    for new in (IDS[6:7], IDS[6:]):
        forward = mock.patch.object(type(model), "forward", side_effect=AssertionError("it ran"))
        with forward:
            assert "whole text" in sentence_of(
                lambda: headlight.trace(
                    model, inputs={"input_ids": tensors(new), "past_key_values": past}
                )
            )
        assert past.get_seq_length() == 6, "the caller's cache grew"


def what_a_model_cannot_read_is_said_before_it_runs():
    model, count = gpt2(1), 300
    for ids in ([5, count], [5, -1]):
        assert "from 0 to 299" in sentence_of(lambda: headlight.trace(model, ids=ids))
    t5 = transformers.T5Model(
        transformers.T5Config(
            vocab_size=300,
            d_model=24,
            d_kv=6,
            d_ff=40,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
        )
    ).eval()
    assert "decoder_input_ids" in sentence_of(
        lambda: headlight.trace(t5, ids=IDS, target_ids=[0, 400])
    )
    with torch.device("meta"):
        empty = transformers.GPT2Model(
            transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=30)
        )
    assert "meta" in sentence_of(lambda: headlight.trace(empty, ids=[1, 2]))


def what_needs_the_weights_says_how_to_give_them():
    model = gpt2(1)
    model.h[0].register_forward_hook(lambda *_: None)
    for call in (
        lambda: headlight.figure(model, ids=IDS, ablate="1.2"),
        lambda: headlight.heads(model, ids=IDS, mask="window:2"),
        lambda: headlight.figure(model, ids=IDS, view="steps"),
        lambda: headlight.figure(model, ids=IDS, view="lens"),
        lambda: headlight.heads(model, ids=IDS, metric="#5"),
        lambda: headlight.heads(model, random_repeat=8),
    ):
        assert "save_pretrained" in sentence_of(call), sentence_of(call)
    trace = headlight.trace(model, ids=IDS)
    assert "holds no weights" in sentence_of(lambda: headlight.figure(trace, view="lens")), (
        "it is not said that the model predicts nothing"
    )


def the_output_of_generate_is_known():
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            n_layer=2,
            n_head=4,
            n_embd=24,
            vocab_size=300,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
            attn_implementation="eager",
        )
    ).eval()
    out = model.generate(
        tensors(IDS),
        max_new_tokens=3,
        output_attentions=True,
        return_dict_in_generate=True,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
    )
    assert "tuple of tuples" in sentence_of(lambda: headlight.figure(out))
    assert "sequences" in sentence_of(lambda: headlight.figure(patterns=out.attentions))
    assert headlight.trace(patterns=out.attentions[0], ids=IDS)["pattern", 1].shape == (
        4,
        len(IDS),
        len(IDS),
    )


def a_folder_is_compared_with_a_model_in_memory():
    tokenizer = transformers.AutoTokenizer.from_pretrained(STORIES)
    model = transformers.AutoModelForCausalLM.from_pretrained(STORIES, dtype=torch.float32)
    assert headlight.compare(STORIES, text=TEXT, model_b=model).distance.max() < 1e-7
    assert (
        headlight.compare(
            STORIES, text=TEXT, model_b=model, tokenizer_b=tokenizer, text_b="Lily had a blue ball."
        ).distance.max()
        > 1e-3
    )
    trace = headlight.trace("stories", TEXT)
    assert headlight.compare("stories", text=TEXT, model_b=trace).distance.max() < 1e-7


def estimates_come_alone():
    both = {"clean": TEXT, "corrupted": TEXT.replace("red", "big"), "metric": "ball - car"}
    quick, whole = (
        headlight.patch("stories", estimate=True, **both),
        headlight.patch("stories", **both),
    )
    assert quick.estimated
    assert not whole.estimated
    assert quick.what == whole.what == "resid_pre"
    assert "estimated" in repr(quick)
    assert np.array_equal(quick.values, quick.estimates)
    assert np.allclose(quick.values, whole.estimates, atol=1e-6)
    assert quick.values.shape == whole.values.shape


def a_gradient_is_called_one():
    for method in ("gradient", "jacobian", "rollout"):
        found = headlight.attribute("stories", TEXT, method=method, metric="log p")
        assert found.method == method and method in repr(found)
    assert headlight.attribute("stories", "The cat", method="jacobian").method == "jacobian"


def other_formats_are_no_traces():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("x.h5", "x.npz", "x.zarr", "x.json"):
            for call in (
                lambda: headlight.trace("stories", "a", path=Path(folder) / name),
                lambda: headlight.trace(
                    patterns=causal_patterns(1, 1, 3), path=Path(folder) / name
                ),
            ):
                assert ".safetensors" in sentence_of(call), sentence_of(call)
        assert not list(Path(folder).iterdir())
        assert headlight.trace("stories", "a", path=Path(folder) / "llama-3.1").path.exists()


def a_dossier_is_saved_and_drawn_without_its_model():
    found = headlight.corpus(
        ["The cat sat on the mat.", "Lily had a red ball."], model="stories", strongest=2
    )
    with tempfile.TemporaryDirectory() as folder:
        page, table = found.save(Path(folder) / "c.html"), found.save(Path(folder) / "c.csv")
        kept = found.save(Path(folder) / "c.json")
        assert b"Head 3.7" in page.read_bytes() and len(table.read_text().splitlines()) == 33
        assert headlight.figure(view="corpus", corpus=kept, head=(1, 2)).png.startswith(b"\x89PNG")
        some = headlight.corpus(["The cat sat."], model="stories", heads=[(1, 2)])
        assert "all heads" in sentence_of(lambda: some.save(Path(folder) / "some.html"))
        assert some.save(Path(folder) / "some.json").exists()


def what_names_another_format_is_not_written():
    """A run is a trace, whatever its file is called."""
    run = headlight.run("stories", text="The cat sat.")
    for name in ("x.html", "x.npz", "x.png"):
        assert "another format" in sentence_of(lambda name=name: run.save(name))
        assert not Path(name).exists()
    for name in (None, 3, object()):
        assert "name=" in sentence_of(lambda name=name: headlight.fetch(name))


def a_workspace_opens_in_the_window():
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "ws.headlight.json"
        saved.write_text("{}")
        with mock.patch.object(sys.modules["headlight.showing"], "open_window") as opened:
            headlight.show(saved)
            assert opened.call_args[0][0].arguments == [str(saved)]


def a_missing_display_names_the_function_that_needs_none():
    display = os.environ.pop("DISPLAY", None)
    try:
        assert "headlight.figure" in sentence_of(
            lambda: headlight.show(patterns=causal_patterns(1, 1, 3), block=True)
        )
    finally:
        if display is not None:
            os.environ["DISPLAY"] = display


def keys_that_are_no_tokens_are_said():
    """As of a prefix: more keys than queries, which no text has that attends to itself."""
    for blocks in (
        {"blocks.0.attn.hook_pattern": causal_patterns(1, 2, 8)[0][:, -3:]},
        {"blocks.0.attn.hook_pattern": causal_patterns(1, 2, 8)[0][None, :, -3:]},
    ):
        assert "3 queries and 8 keys" in sentence_of(lambda: headlight.trace(blocks))


def a_figure_has_numbers_whatever_its_picture_alone_hears():
    figure = {
        "delta": {"head": (1, 2)},
        "lines": {"share": 90},
        "graph": {"sink_apart": True},
        "circuits": {"head": (1, 2), "graph": True, "strongest": 5},
        "heads": {"only_heads": [(1, 2)]},
        "head": {"head": (1, 2), "preset": "column"},
        "lens": {"preset": "column"},
    }
    for view, options in figure.items():
        assert headlight.figure(
            "stories", text="Lily had a red ball", view=view, **options
        ).numbers(), view


def what_was_read_of_a_corpus_is_no_corpus_and_a_recording_takes_no_changes():
    with tempfile.TemporaryDirectory() as folder:
        texts, dossier, latin = (
            Path(folder) / "texts.txt",
            Path(folder) / "read.json",
            Path(folder) / "latin.txt",
        )
        texts.write_text("The cat sat.\n")
        headlight.corpus(str(texts)).save(dossier)
        assert "not its texts" in sentence_of(lambda: headlight.corpus(str(dossier)))
        latin.write_bytes(b"The cat\ncaf\xe9 au lait\n")
        assert "UTF-8" in sentence_of(lambda: headlight.corpus(str(latin)))
    recorded = headlight.trace(gpt2(1), inputs={"input_ids": torch.tensor([[5, 9, 7]])})
    assert "recording" in sentence_of(lambda: headlight.trace(recorded, ablate="0.1"))


def sentences_keep_what_a_terminal_takes():
    said = (
        "GLFW says: no display; 'headlight render' draws figures without one, and 'xvfb-run "
        "headlight --screenshot x.png' this window."
    )
    assert in_python(said).endswith(
        "headlight.figure draws figures without one, and 'xvfb-run headlight --screenshot x.png' "
        "this window."
    ), in_python(said)


def a_corpus_has_a_figure():
    found = headlight.corpus(
        ["The cat sat on the mat.", "Lily had a red ball."], model="stories", strongest=2
    )
    with tempfile.TemporaryDirectory() as folder:
        kept = found.save(Path(folder) / "c.json")
        assert len(found.figure((1, 2)).png) > 1000
        assert (
            found.figure("1.2").numbers().keys()
            == headlight.figure(view="corpus", corpus=kept, head=(1, 2)).numbers().keys()
        )
    assert found.figure().svg and "no layer" in sentence_of(lambda: found.figure((9, 9)))
