"""Models in memory, made of a configuration: what is recorded equals what transformers returns as
attentions."""

import os
import tempfile
import types
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from given_arrays import sentence_of, shown

IDS, TARGET = [5, 9, 200, 31, 5, 9, 77, 12], [0, 4, 7, 9, 5]
SMALL = {
    "vocab_size": 300,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
}
# Sums of float32 in another order; transformers' own are up to 4.3e-7 off those of float64.
BAR = 1e-6
WORST = [0.0]


def made(kind, seed=1, wide=8, **config):
    """A random model; its attention as transformers chooses it by itself. wide: what its weights
    are multiplied by, so that patterns are far from uniform."""
    torch.manual_seed(seed)
    model = getattr(transformers, kind + "Model")(
        getattr(transformers, kind + "Config")(**config)
    ).eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "embed" not in name:
                weights.mul_(wide)
    return model


def gpt2(seed):
    return made(
        "GPT2",
        seed,
        n_layer=3,
        n_head=4,
        n_embd=24,
        vocab_size=300,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=0,
    )


def attentions(model, **inputs):
    """The attentions that transformers returns with eager attention; the model is left as it
    was."""
    own = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**inputs, output_attentions=True, use_cache=False)
    model.set_attn_implementation(own)
    return out


def same(trace, expected, kind=""):
    for layer, pattern in enumerate(expected):
        got = trace["pattern", layer, kind]
        assert got.shape == tuple(pattern.shape[1:]) and got.dtype == np.float32
        difference = float(np.abs(got - pattern[0].numpy()).max())
        WORST[0] = max(WORST[0], difference)
        assert difference < BAR, f"{kind} layer {layer}: {difference:.1e}"


def tensors(ids):
    return torch.tensor([ids])


def gpt2_is_recorded_as_transformers_computes_it():
    model = gpt2(1).train()
    own = model.config._attn_implementation
    trace = headlight.trace(model, ids=IDS, name="tiny")
    assert model.training
    assert model.config._attn_implementation == own, "the model is left as it was"
    model.eval()
    expected = attentions(model, input_ids=tensors(IDS)).attentions
    same(trace, expected)
    assert "blocks.0.attn.hook_q" in trace
    assert "blocks.0.attn.hook_pattern" not in trace
    assert trace.metadata["model"] == "tiny"
    for layer, head in ((0, 0), (2, 3)):
        assert (
            np.abs(
                shown(headlight.figure(model, ids=IDS, head=(layer, head)))
                - expected[layer][0, head].numpy()
            ).max()
            < BAR
        )
    table = headlight.heads(model, ids=IDS)
    assert np.allclose(table["first"], torch.stack(expected)[:, 0, :, 1:, 0].mean(-1), atol=1e-5)
    assert (
        headlight.compare(
            trace, model_b=torch.stack(expected)[:, 0], align="position"
        ).distance.max()
        < 1e-6
    )
    other = headlight.compare(model, ids=IDS, model_b=gpt2(2))
    assert other.distance.shape == (3, 4) and other.distance.min() > 1e-3


def a_tokenizer_reads_the_text():
    stories = Path(__file__).resolve().parents[2] / "models/stories"
    tokenizer = transformers.AutoTokenizer.from_pretrained(stories)
    model = transformers.AutoModelForCausalLM.from_pretrained(stories, dtype=torch.float32)
    text = "The cat sat on the mat."
    trace = headlight.trace(model, tokenizer, text)
    assert "".join(trace.tokens) == text
    assert trace["input_ids"].tolist() == tokenizer(text)["input_ids"]
    live = headlight.compare(trace, model_b=stories)
    assert live.distance.max() < 1e-7, "the program's own pass of the same tokens"
    same(trace, attentions(model, **tokenizer(text, return_tensors="pt")).attentions)
    outputs = attentions(model, **tokenizer(text, return_tensors="pt"))
    assert (
        headlight.compare(
            outputs, tokenizer, tokens=tokenizer(text)["input_ids"], model_b=trace
        ).distance.max()
        < 1e-7
    )
    assert (
        headlight.compare(model, tokenizer, text, text_b="The dog sat on the mat.").distance.max()
        > 1e-3
    )
    assert "tokenizer" in sentence_of(lambda: headlight.trace(model, text="a"))


def bert_is_recorded_with_and_without_padding():
    model = made("Bert", **SMALL)
    inputs = {"input_ids": tensors(IDS), "token_type_ids": tensors([0] * 4 + [1] * 4)}
    trace = headlight.trace(model, inputs=inputs)
    same(trace, attentions(model, **inputs).attentions)
    assert trace.config["kind"] == "encoder" and "blocks.0.attn.hook_q" in trace
    inputs["attention_mask"] = tensors([1] * 6 + [0] * 2)
    padded = headlight.trace(model, inputs=inputs)
    same(padded, attentions(model, **inputs).attentions)
    assert "blocks.0.attn.hook_pattern" in padded and padded["pattern", 1][:, :, 6:].max() == 0


def a_batch_has_one_that_is_shown():
    model = gpt2(1)
    both = {"input_ids": torch.tensor([IDS, IDS[::-1]])}
    expected = attentions(model, input_ids=tensors(IDS[::-1])).attentions
    same(headlight.trace(model, inputs=both, batch=1), expected)
    same(headlight.trace(model, ids=both["input_ids"], batch=1), expected)
    assert all(
        "batch=0 to batch=1" in sentence_of(lambda: headlight.trace(model, **given))
        for given in (
            {"ids": both["input_ids"]},
            {"inputs": both},
            {"inputs": both, "batch": 2},
            {"inputs": both, "batch": -1},
        )
    )
    assert headlight.trace(model, ids=both["input_ids"], batch=0)["input_ids"].tolist() == IDS, (
        "two rows are not one text"
    )


def a_model_that_fails_leaves_no_file_behind():
    model = gpt2(1)
    own = model.config._attn_implementation
    folder = Path(headlight.trace(model, ids=IDS).path).parents[1]
    before = set(folder.iterdir())
    for ids in ([5, 99999], []):
        try:
            headlight.trace(model, ids=ids)
            raise AssertionError("nothing was said")
        except (IndexError, RuntimeError, headlight.HeadlightError):
            assert set(folder.iterdir()) <= before and model.config._attn_implementation == own
    assert "no attention" in sentence_of(
        lambda: headlight.trace(
            made("Mamba", hidden_size=8, num_hidden_layers=1, vocab_size=300), ids=IDS
        )
    )


def what_is_no_text_is_said():
    tokenizer, model = (
        lambda text, pair, return_tensors: {"input_ids": torch.zeros(1, 0, dtype=torch.int64)},
        gpt2(1),
    )
    for text in (IDS, tensors(IDS), {"input_ids": tensors(IDS)}, ["a", "b"]):
        assert "ids=[…]" in sentence_of(lambda: headlight.figure(model, tokenizer, text))
    assert "no tokens" in sentence_of(lambda: headlight.figure(model, tokenizer, ""))
    assert "65 tokens are more than this model's 64 positions" in sentence_of(
        lambda: headlight.trace(model, ids=[5] * 65)
    )


def each_module_keeps_its_mode():
    model = gpt2(1)
    model.drop.train()  # as for Monte Carlo dropout
    modes = [module.training for module in model.modules()]
    same(headlight.trace(model, ids=IDS), attentions(gpt2(1), input_ids=tensors(IDS)).attentions)
    assert [module.training for module in model.modules()] == modes and any(modes)


class Hooked:
    """A model of TransformerLens, known by its methods and the names of its hooks."""

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer, self.training = model, tokenizer, True
        self.cfg = types.SimpleNamespace(
            n_layers=model.config.n_layer, d_model=model.config.n_embd, model_name="hooked"
        )

    def to_tokens(self, text):
        return self.tokenizer(text, return_tensors="pt")["input_ids"]

    def modules(self):
        return [self]

    def eval(self):
        self.training = False

    def run_with_cache(self, ids):
        raise AssertionError("all patterns at once")

    def run_with_hooks(self, ids, return_type, fwd_hooks):
        assert not self.training and not torch.is_grad_enabled() and return_type is None
        for (name, hook), pattern in zip(
            fwd_hooks, attentions(self.model, input_ids=ids).attentions
        ):
            hook(pattern, types.SimpleNamespace(name=name))


def the_lines_of_the_readme_work():
    """Each line of README's section Four lines of Python; where it opens the window, the figure of
    the same."""
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    lines = [
        line[4:]
        for line in text.split("## Four lines of Python")[1].split("\n## ")[0].splitlines()
        if line.startswith("    headlight.")
    ]
    assert len(lines) == 4 and any("show(" in line for line in lines), lines
    stories = Path(__file__).resolve().parents[2] / "models/stories"
    tokenizer = transformers.AutoTokenizer.from_pretrained(stories)
    model = transformers.AutoModelForCausalLM.from_pretrained(stories, dtype=torch.float32)
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("The cat sat.")["input_ids"])
    known = {
        "model": model,
        "tokenizer": tokenizer,
        "hooked_model": Hooked(model, tokenizer),
        "tokens": tokens,
        "attentions": attentions(
            model, **tokenizer("The cat sat.", return_tensors="pt")
        ).attentions,
    }
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for line in lines:
                exec(
                    line.replace("headlight.show(", "headlight.figure("),
                    {"headlight": headlight, **known},
                )
        finally:
            os.chdir(before)
        assert (Path(folder) / "head.pdf").read_bytes().startswith(b"%PDF")
    same(headlight.trace(known["hooked_model"], "The cat sat."), known["attentions"])
    assert known["hooked_model"].training, "the model is left as it was"


def tokens_are_scored_as_autograd_scores_them():
    stories = Path(__file__).resolve().parents[2] / "models/stories"
    tokenizer = transformers.AutoTokenizer.from_pretrained(stories)
    model = transformers.AutoModelForCausalLM.from_pretrained(stories, dtype=torch.float32)
    text = "Lily had a red ball. Tom had a"
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    embedded = model.get_input_embeddings()(ids).detach().requires_grad_()
    logits = model(inputs_embeds=embedded).logits[0, -1]
    torch.log_softmax(logits, -1)[logits.argmax()].backward()
    expected = embedded.grad[0].norm(dim=-1).numpy()
    found = headlight.attribute(stories, text, metric="log p", method="gradient")
    assert found.scores.dtype == np.float32
    assert found.scores.shape == (len(found.tokens),) == expected.shape
    assert found.tokens == [tokenizer.decode([i]).strip() for i in ids[0].tolist()]
    assert np.abs(found.scores - expected).max() < 1e-4 * expected.max(), np.abs(
        found.scores / expected - 1
    ).max()
    assert abs(found.value - float(torch.log_softmax(logits, -1).max())) < 1e-4
    assert np.array_equal(np.asarray(found), found.scores)
    several = headlight.attribute(
        "stories", text, method="integrated-gradients", steps=20, baseline="zero"
    )
    assert several.said["steps"] == 20 and several.gap < 0.2 and "log p" in repr(several)
    left_out = headlight.attribute("stories", text)
    assert left_out.method == "leave-out" and left_out.adds_up is None and left_out.note
    assert len(left_out.said["p_without"]) == len(left_out.scores)
    table = headlight.attribute("stories", text, method="jacobian", probes=2)
    assert table.matrix.shape == table.standard_error.shape == (len(found.tokens),) * 2
    assert table.scores is None
    assert not np.triu(table.matrix, 1).any()
    try:
        import pandas

        assert list(found.to_pandas().columns) == ["token", "score"]
        assert isinstance(table.to_pandas(), pandas.DataFrame)
    except ImportError:
        assert "pandas" in sentence_of(found.to_pandas)
    in_memory = headlight.attribute(model, tokenizer, text)
    assert np.abs(in_memory.scores - left_out.scores).max() < 1e-4, "a model in memory is saved"
    assert "magic" in sentence_of(lambda: headlight.attribute("stories", text, method="magic"))


def patches_bring_the_clean_answer_back():
    clean, corrupted = (
        f"Mia had a {a}. Tom had a {b}. Mia gave Tom the red"
        for a, b in (("red ball", "blue car"), ("blue ball", "red car"))
    )
    both = {"clean": clean, "corrupted": corrupted, "metric": "ball - car"}
    found = headlight.patch("stories", **both)
    values = {
        text: headlight.attribute("stories", text, metric="ball - car").value
        for text in (clean, corrupted)
    }
    assert abs(found.clean - values[clean]) < 1e-4
    assert abs(found.corrupted - values[corrupted]) < 1e-4
    assert found.what == "resid_pre"
    assert found.values.shape == (4, len(found.columns))
    assert found.values.dtype == np.float32
    assert found.estimates.shape == found.values.shape
    assert np.corrcoef(found.estimates.ravel(), found.values.ravel())[0, 1] > 0.9
    last = found.values[:, -1]
    assert abs(last[0]) < 1e-5
    assert last[3] > 0.5, "the last token is the same; what it knows at the end is the clean answer"
    assert headlight.patch("stories", what="heads", **both).values.shape == (4, 8)
    assert (
        headlight.patch("stories", head=(1, 2), **both).values.shape
        == headlight.patch(head="1.2", **both).values.shape
        == (1, len(found.columns))
    )
    assert headlight.patch("stories", clean=clean, noise="1").values.shape == found.values.shape
    assert "corrupted" in sentence_of(lambda: headlight.patch("stories", clean=clean))
    assert "tokenizer" in sentence_of(lambda: headlight.patch(gpt2(1), **both))
