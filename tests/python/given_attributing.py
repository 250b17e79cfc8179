"""Attribution of a metric that is a function, beside the program's and beside gradients by hand."""

import headlight
import numpy as np
from given_patching import grouped, tiny
from given_runs import in_memory, says

TEXT = "Lily had a red ball. Lily had a"
IDS = [5, 9, 14, 22, 31, 9]


def first_probable():
    return int(headlight.run("stories", TEXT).logits[-1].argmax())


def close(got, want, bar=1e-3):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.abs(want).max() > 1e-2, "nothing to compare"
    assert np.abs(got - want).max() <= bar * max(1, np.abs(want).max()), np.abs(got - want).max()


def a_function_is_attributed_as_the_same_in_words():
    model, tokenizer = in_memory()
    token = first_probable()
    own = lambda logits: logits[-1].log_softmax(-1)[token]
    both = ({"steps": 12}, {"baseline": "zero"}, {"baseline": "text:Tom saw a big dog. Tom saw a"})
    for method, options in (
        ("leave-out", {}),
        ("gradient", {}),
        ("jacobian", {}),
        ("input-x-gradient", {}),
        ("integrated-gradients", {}),
        *(("integrated-gradients", one) for one in both),
    ):
        want = headlight.attribute(
            "stories", text=TEXT, method=method, metric=f"log p(#{token})", **options
        )
        got = headlight.attribute(model, tokenizer, TEXT, method=method, metric=own, **options)
        close(got.scores, want.scores)
        assert got.tokens == want.tokens
        assert got.adds_up == want.adds_up, (method, options, got.note, want.note)
        close(got.value, want.value)
        if "baseline_value" in want.said:
            assert got.said["steps"] == want.said["steps"], (got.said["steps"], want.said["steps"])
            close(got.said["baseline_value"], want.said["baseline_value"])
    run = headlight.run(model, tokenizer, TEXT)
    close(run.attribute(metric=own).scores, headlight.attribute("stories", text=TEXT).scores)


OTHER = "Tom saw a big dog. Tom saw a"
CHANGES = (
    {"mask": "window:3"},
    {"ablate": ["1.2", "0.3:mean"], "temperature_attn": 0.5},
    {"change": ["mask:5>3@1.2", "score:6>2@2.1=3", "skip-mlp:1"]},
    {"change": [f"patch-resid:3@2={OTHER}", f"freeze:1.2={OTHER}", "noise:3-4=7"]},
    {"change": ["positions:shuffle:3"]},
    {"temperature_attn": 0},
)
METHODS = ("leave-out", "gradient", "input-x-gradient", "integrated-gradients", "relevance")


def changes_act_where_a_function_is_attributed():
    """As they do in the program; where tokens are named by number, none is left out."""
    model, tokenizer = in_memory()
    token = first_probable()
    own, words = lambda logits: logits[-1].log_softmax(-1)[token], f"log p(#{token})"
    for method in METHODS:
        for changes in ({}, *CHANGES):
            asked = {"text": TEXT, "method": method, **changes}
            if method == "leave-out" and changes in CHANGES[3:5]:
                ask = lambda: headlight.attribute(model, tokenizer, metric=own, **asked)
                says("moves the tokens after it", ask)
                continue
            want = headlight.attribute("stories", metric=words, **asked)
            got = headlight.attribute(model, tokenizer, metric=own, **asked)
            close(got.scores, want.scores)
            close(got.value, want.value)
    changed = headlight.run(model, tokenizer, TEXT).changed("ablate:1.2")
    want = headlight.attribute("stories", text=TEXT, metric=words, ablate="1.2").scores
    close(changed.attribute(metric=own).scores, want)


def relevance_adds_over_the_positions_of_a_metric():
    """To first order a function of several is a sum over them; frozen weights change nothing."""
    model, tokenizer = in_memory()
    one, two = (lambda logits: logits[3, 5], lambda logits: logits[-1, 7] * 2)
    ask = lambda metric: (
        headlight.attribute(model, tokenizer, TEXT, method="relevance", metric=metric).scores
    )
    want = ask(one) + ask(two)
    close(ask(lambda logits: one(logits) + two(logits)), want)
    try:
        model.requires_grad_(False)
        close(ask(lambda logits: one(logits) + two(logits)), want)
    finally:
        model.requires_grad_(True)


def gradients_are_those_by_hand():
    """Of embeddings with positions (GPT-2), and without (Llama, whose heads share keys)."""
    import torch

    metric = lambda logits: logits[-1, 5] - logits[-1, 7] + logits[2].logsumexp(-1)
    for model in (tiny(), grouped()):
        ids = torch.tensor([IDS])
        rows = model.get_input_embeddings()(ids).detach().requires_grad_()
        (slope,) = torch.autograd.grad(metric(model(inputs_embeds=rows).logits[0]), rows)
        read = lambda **more: headlight.attribute(model, ids=IDS, metric=metric, **more)
        close(read(method="gradient").scores, slope[0].norm(dim=-1), 1e-4)
        added = model.transformer.wpe.weight[: len(IDS)] if hasattr(model, "transformer") else 0
        product = (slope[0] * (rows[0] + added)).sum(-1).detach()
        close(read(method="input-x-gradient").scores, product, 1e-4)
        assert model is tiny() or read(method="integrated-gradients").gap <= 0.01
        assert all(weight.grad is None for weight in model.parameters())
    assert torch.is_grad_enabled()


def what_no_function_takes_is_said():
    model, tokenizer = in_memory()
    one = lambda logits: logits[-1, 5]
    ask = lambda **more: headlight.attribute(model, tokenizer, TEXT, **{"metric": one, **more})
    says("model in memory", lambda: headlight.attribute("stories", text=TEXT, metric=one))
    says('method="rollout" takes no metric', lambda: ask(method="rollout"))
    says("does not act on", lambda: ask(parts="words"))
    says("does not act on", lambda: ask(steps=5))
    says("steps=", lambda: ask(method="integrated-gradients", steps=0))
    says("baseline=", lambda: ask(method="integrated-gradients", baseline="median"))
    says("same number", lambda: ask(method="integrated-gradients", baseline="text:Tom"))
    says("one number", lambda: ask(metric=lambda logits: logits[-1]))
    says(
        "no gradient", lambda: ask(method="gradient", metric=lambda logits: logits.argmax().float())
    )


def a_model_that_reads_both_ways_is_not_left_out():
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(5)
    size = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}
    model = BertForMaskedLM(BertConfig(vocab_size=64, intermediate_size=48, **size)).eval()
    read = lambda **more: headlight.attribute(
        model, ids=IDS, metric=lambda logits: logits[2, 7], **more
    )
    says("both directions", read)
    assert read(method="gradient").scores.shape == (len(IDS),)


def a_metric_that_fails_is_named():
    ask = lambda: headlight.attribute(*in_memory(), "The cat", metric=lambda logits: logits[999])
    says("The metric failed", ask)
    says("IndexError", ask)
