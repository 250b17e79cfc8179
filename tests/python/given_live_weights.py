"""Views that need weights, of live models: fetched from the server, what they show equals what
they show of the same model's files; what cannot be fetched is said."""

import os
import re
import tempfile
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from engine_client import Client, Refused
from given_live_native import IDS, MODELS, loaded
from given_live_program import numbers, ran, same, values

TEXT = ("--text", "the cat sat on the mat")
CHANGES = [(), ("--ablate", "0.1:mean"), ("--change", "patch-resid:1@1=the dog ran")]
OF_MODEL = ("circuits", "positions", "model")
VIEWS = [
    ("circuits", "--head", "1.1"),
    ("origins", "--head", "1.1", "--cell", "4,2"),
    ("steps", "--head", "1.1", "--cell", "3,1"),
    ("positions",),
    ("model",),
    ("delta",),
    ("lens",),
    ("graph", "--origins", "contribution"),
    ("influence", "--method", "relevance"),
    ("influence", "--method", "integrated-gradients"),
    ("explain",),
]


def without_signs(tables):
    """The axes of a plane may point either way."""
    return [t for t in tables if "plane" not in t["name"] and "axis" not in t["name"]]


def views_of_weights_are_the_same():
    for name, auto in (("gpt2", "AutoModelForCausalLM"), ("gemma2", "AutoModelForCausalLM")):
        model, tokenizer = loaded(name, auto)
        with headlight.live(model, tokenizer) as server:
            for view in VIEWS:
                for change in CHANGES if view[0] not in OF_MODEL else CHANGES[:1]:
                    asked = ("--view", *view, *TEXT, *change)
                    got = numbers("--engine", server.address, *asked)
                    want = numbers("--model", MODELS / name, *asked)
                    assert want and any(t["values"] for t in want), asked
                    same(f"{name} {asked}", without_signs(got), without_signs(want), 1e-3)


def attributions_are_the_same():
    """By passes there, by weights here, and tables of all outputs."""
    model, tokenizer = loaded("gpt2")
    asked = (
        ("--method", "leave-out"),
        ("--method", "relevance"),
        ("--method", "contribution"),
        ("--method", "jacobian"),
        ("--method", "relevance", "--over", "outputs"),
    )
    with headlight.live(model, tokenizer) as server:
        for more in asked:
            got = ran("attribute", "--engine", server.address, *TEXT, *more, "--quiet")
            want = ran("attribute", "--model", MODELS / "gpt2", *TEXT, *more, "--quiet")
            assert got.returncode == want.returncode == 0, got.stderr + want.stderr
            near(got.stdout, want.stdout, more)


def near(got, want, what):
    """Two tables with the same words and nearly the same numbers."""
    for one, other in zip(re.split(r"[\t\n,]", got), re.split(r"[\t\n,]", want), strict=True):
        try:
            a, b = float(one), float(other)
        except ValueError:
            assert one == other, what
        else:
            assert abs(a - b) <= 1e-3 * max(1, abs(b)), (what, a, b)


def learn_is_drawn():
    """A station as a figure, which is drawn apart from its numbers."""
    model, tokenizer = loaded("gpt2")
    with headlight.live(model, tokenizer) as server, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.svg"
        done = ran("render", "--engine", server.address, *TEXT, "--view", "learn", "-o", path)
        assert done.returncode == 0 and path.stat().st_size > 5000, done.stderr


def circuits_are_the_same():
    model, tokenizer = loaded("llama")
    with headlight.live(model, tokenizer) as server:
        for more in ((), ("--composition",), ("--head", "1.2", "--json")):
            got = ran("circuits", "--engine", server.address, *more)
            want = ran("circuits", "--model", MODELS / "llama", *more)
            assert got.returncode == want.returncode == 0, got.stderr + want.stderr
            assert len(got.stdout) > 100
            assert got.stdout == want.stdout, more


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}> {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


def conversations_are_the_same():
    """The template comes from the server; its tokenizer reads what the template writes."""
    model, tokenizer = loaded("gpt2")
    tokenizer.chat_template = TEMPLATE
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        told = Path(folder) / "chat.json"
        told.write_text(
            '[{"role": "user", "content": "the cat sat"}, '
            '{"role": "assistant", "content": "on the mat"}, {"role": "user", "content": "a dog"}]'
        )
        with headlight.live(model, tokenizer) as server:
            for view in (("chat",), ("chat", "--chat-measure", "contribution"), ("head",)):
                asked = ("--chat", told, "--view", *view)
                got = numbers("--engine", server.address, *asked)
                same(f"{view}", got, numbers("--model", folder, *asked), 1e-4)
    model, tokenizer = loaded("gpt2")
    with headlight.live(model, tokenizer) as server, tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "chat.json"
        told.write_text('[{"role": "user", "content": "the cat sat"}]')
        done = ran("heads", "--engine", server.address, "--chat", told)
        assert done.returncode == 1 and "no chat template" in done.stderr, done.stderr


def weights_are_fetched_again_after_a_step():
    """What trained on in the notebook is not shown with the weights of before."""
    model, tokenizer = loaded("gpt2")
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        first, _ = client.ask("run", ids=IDS)
        listed, _ = client.ask("weights")
        files = {f["name"]: f["bytes"] for f in listed["files"]}
        assert listed["version"] == first["version"] and files["model.safetensors"] > 1000
        with torch.no_grad():
            model.transformer.h[0].attn.c_attn.weight.mul_(1.5)
        held, got = client.ask("run", ids=[*IDS, 7], **{"from": len(IDS)})
        assert held["version"] != first["version"]
        assert held["from"] == 0, "rows of the old weights are not used"
        again, _ = client.ask("weights")
        assert again["version"] == held["version"]
        parts, start = [], 0
        while start < files["model.safetensors"]:
            _, part = client.ask("weights", file="model.safetensors", **{"from": start})
            parts.append(part["bytes"].tobytes())
            start += len(parts[-1])
        folder = Path(tempfile.mkdtemp())
        (folder / "model.safetensors").write_bytes(b"".join(parts))
        stored = transformers.modeling_utils.load_state_dict(str(folder / "model.safetensors"))
        own = model.transformer.h[0].attn.c_attn.weight
        assert torch.equal(stored["transformer.h.0.attn.c_attn.weight"], own)
        os.remove(folder / "model.safetensors")
        for name in ("../config.json", "/etc/passwd", "none"):
            try:
                client.ask("weights", file=name)
            except Refused as problem:
                assert "no file" in str(problem)
            else:
                raise AssertionError(name)


def what_is_not_fetched_is_said():
    """Another architecture, a model with a hook, a function."""
    _, tokenizer = loaded("gpt2")
    config = transformers.BitNetConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        attn_implementation="eager",
    )
    unknown = transformers.AutoModelForCausalLM.from_config(config).eval()
    hooked, _ = loaded("gpt2")
    hooked.transformer.h[0].register_forward_hook(lambda module, given, out: out)

    def function(ids):
        n = len(ids)
        return np.tril(np.ones((1, 2, n, n))) / np.arange(1, n + 1)[:, None]

    picture = transformers.ViTForImageClassification(
        transformers.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
    )
    try:
        headlight.live(picture)
    except headlight.HeadlightError as problem:
        assert "image processor" in str(problem)
    else:
        raise AssertionError("a model of pictures was served without its processor")
    for model, part in ((unknown, "family"), (hooked, "hook"), (function, "files")):
        with headlight.live(model, tokenizer) as server:
            for view in ("circuits", "steps"):
                done = ran(
                    "render", "--engine", server.address, "--view", view, *TEXT, "-o", "x.png"
                )
                assert done.returncode == 1 and "needs the weights here" in done.stderr, done.stderr
                assert part in done.stderr, (part, done.stderr)
            heads = ("--view", "head", "--head", "0.1", *TEXT)
            assert values(numbers("--engine", server.address, *heads)[0]).size
