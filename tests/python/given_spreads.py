"""Statistics text by text: deciles, functions of one's own, and a model beside its fine-tune."""

import copy
import json
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import headlight
import numpy as np
from given_corpora import TEXTS
from given_runs import in_memory, near, says

SOME = TEXTS[:5] + ["", "Tom ran."]


def diagonal(pattern):
    return pattern.trace() / len(pattern)


@cache
def tuned():
    """The model after one step on a text."""
    import torch

    model = copy.deepcopy(in_memory()[0])
    ids = in_memory()[1](TEXTS[0], return_tensors="pt").input_ids
    logits = model(ids).logits[0, :-1]
    torch.nn.functional.cross_entropy(logits, ids[0, 1:]).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return model


def by_hand(model, text, statistic):
    """[layer, head] of a statistic of transformers' own patterns."""
    read = in_memory()[1](text, return_tensors="pt")
    layers = model(**read, output_attentions=True).attentions
    return [[statistic(head) for head in layer[0].detach().numpy()] for layer in layers]


def two_models_are_compared_text_by_text():
    tokenizer = in_memory()[1]
    asked = {"model_b": tuned(), "tokenizer": tokenizer, "statistics": ["entropy", diagonal]}
    found = headlight.corpus(SOME, model="stories", **asked)
    assert found.lines == [1, 2, 3, 4, 5, 7] and found.statistics == ["entropy", "diagonal"]
    read = [text for text in SOME if text]
    a, b = (
        np.array([by_hand(model, text, diagonal) for text in read])
        for model in (in_memory()[0], tuned())
    )
    near(found["diagonal"], (b - a).mean(0))
    near(found["diagonal_a"], a.mean(0))
    near(found["diagonal_b"], b.mean(0))
    deciles = np.percentile(b - a, np.arange(0, 101, 10), axis=0)  # [11, layer, head]
    near(found["diagonal_deciles"], deciles.reshape(11, -1).T)
    assert found["diagonal_deciles"].columns[0::5] == ["0 %", "50 %", "100 %"]
    deviation = np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / 2)
    near(found["diagonal_effect"][1:], ((b - a).mean(0) / deviation)[1:], 2e-2)
    near(found["entropy_a"], headlight.corpus(read, model="stories")["entropy"])
    near(found.b["entropy"][1] - found.a["entropy"][1], by_text(read[1]).reshape(-1))
    effects = [abs(row["effect"]) for row in found.rows]
    assert effects == sorted(effects, reverse=True) and len(found.rows) == 64
    both = (in_memory()[0], tuned())
    memory = headlight.corpus(SOME, model=both[0], **asked)
    near(memory["entropy"], found["entropy"])
    near(memory["diagonal"], found["diagonal"])


def by_text(text):
    other = headlight.heads(tuned(), in_memory()[1], text)["entropy"]
    return np.asarray(other - headlight.heads("stories", text=text)["entropy"])


def a_spread_of_one_model_has_deciles():
    last = {"last": lambda pattern: pattern[-1].max()}
    found = headlight.corpus(SOME, model="stories", statistics=last, heads=[(1, 2), "3.0"])
    assert found.heads == ["1.2", "3.0"] and found["last"].shape == (4, 3) and found.b is None
    want = [headlight.run("stories", text).pattern(1, 2)[-1].max() for text in SOME if text]
    near(found.a["last"][:, 0], want)
    near(found["last"][1, 2], np.mean(want))
    near(found["last_deciles"][0], np.percentile(want, np.arange(0, 101, 10)))
    masked = headlight.corpus(SOME, model="stories", statistics=diagonal, mask="window:1")
    near(masked["diagonal"], np.ones((4, 8)))
    model, tokenizer = in_memory()
    asked = {"statistics": ["self", diagonal], "mask": "window:1"}
    near(headlight.corpus(SOME, model=model, tokenizer=tokenizer, **asked)["self"], np.ones((4, 8)))
    paired = headlight.corpus(["A cat."], model="translator", statistics="entropy", target="Eine")
    assert paired["cross.entropy"].shape == (3, 8) and "cross.2.7" in paired.heads


def spreads_are_computed_by_any_workers():
    want = headlight.corpus(SOME, model="stories", statistics=["entropy", diagonal])
    for client in (ThreadPoolExecutor(2), ProcessPoolExecutor(1)):
        asked = {"statistics": ["entropy", diagonal], "client": client, "share": 2}
        found = headlight.corpus(iter(SOME), model="stories", **asked)
        assert found.said == want.said


def a_spread_is_drawn_and_saved():
    found = headlight.corpus(SOME, model="stories", model_b="stories", mask="window:4")
    assert "stories and stories" in repr(found) and found["entropy"].shape == (4, 8)
    assert not np.nan_to_num(found["entropy"]).any()
    drawn = found.figure(width_mm=150)
    assert "entropy, effect" in drawn.svg and "B − A: deciles" in drawn.svg
    assert "over 6 texts" in found._repr_html_()
    with tempfile.TemporaryDirectory() as folder:
        held = json.loads(found.save(Path(folder) / "s.json").read_text())
        assert held["models"] == ["stories", "stories"] and len(held["heads"]) == 32 * 7
        assert (Path(folder) / "s.csv") == found.save(Path(folder) / "s.csv")
        with np.load(found.save(Path(folder) / "s.npz")) as arrays:
            near(arrays["entropy_a"], found["entropy_a"])


def what_no_spread_can_be_is_said():
    ask = lambda **options: headlight.corpus(SOME, **{"model": "stories", **options})
    says('did you mean "entropy"', lambda: ask(statistics="entropi"))
    says("statistics= are names", lambda: ask(statistics=[]))
    says("statistics= are names", lambda: ask(statistics=[7]))
    says("statistics= are names", lambda: ask(statistics=[lambda p: 1, lambda p: 2]))
    says('The statistic "statistic" takes', lambda: ask(statistics=lambda p: p))
    says("There is no head 9.9", lambda: ask(statistics="entropy", heads=["9.9"]))
    says("Only one of the two", lambda: ask(statistics="entropy", model_b="formation"))
    says("metric= has no place", lambda: ask(statistics="entropy", metric="ball"))
    says("There is no text", lambda: headlight.corpus([""], model_b="stories"))
    says("do not see a model", lambda: ask(model_b=tuned(), client=ThreadPoolExecutor(1)))
    says("head=", lambda: ask(statistics="entropy").figure((1, 2)))
    says("There is no", lambda: ask(statistics="entropy")["induction"])
