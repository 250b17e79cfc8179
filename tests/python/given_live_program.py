"""The program as a client of a live model: what it shows of one equals what it shows of the same
model when it computes itself, and what transformers computes of models that it does not open."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from given_live_native import MODELS, loaded

PROGRAM = os.environ["HEADLIGHT_PROGRAM"]
BAR = 2e-5
WORST = [0.0]
CHANGES = [
    (),
    ("--mask", "window:3"),
    ("--mask", "none"),
    ("--temperature-attn", "0.5"),
    ("--change", "mask:4-7>1-3@0.1"),
    ("--change", "unmask:2>7"),
    ("--change", "score:4>1=3.5"),
    ("--change", "skip-mlp:0"),
    ("--ablate", "0.1:mean"),
    ("--ablate", "1.1:uniform"),
    ("--ablate", "1.0:hard"),
    ("--change", "patch-resid:1@1=the dog ran"),
]


def ran(verb, *arguments):
    return subprocess.run(
        [PROGRAM, verb, *map(str, arguments)], capture_output=True, text=True, timeout=900
    )


def numbers(option, *arguments):
    """The tables that `headlight render` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        done = ran("render", option, *arguments, "--quiet", "-o", path)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return json.loads(path.read_text())["tables"]


def values(table):
    return np.array([[np.nan if v is None else v for v in row] for row in table["values"]], float)


def same(what, got, want, bar=BAR):
    assert [t["name"] for t in got] == [t["name"] for t in want], what
    for one, other in zip(got, want):
        assert one["rows"] == other["rows"] and one["columns"] == other["columns"], what
        a, b = values(one), values(other)
        assert a.shape == b.shape and (np.isnan(a) == np.isnan(b)).all(), f"{what}: {one['name']}"
        error = float(np.nanmax(np.abs(a - b) / np.maximum(1, np.abs(b)), initial=0))
        WORST[0] = max(WORST[0], error)
        assert error <= bar, f"{what}: {one['name']} differs by {error:.1e}"


def equal(name, auto="AutoModelForCausalLM", changes=CHANGES):
    """A head's map under each change, by an engine and by itself."""
    model, tokenizer = loaded(name, auto)
    text = ("--text", "the cat sat on the mat")
    if model.config.is_encoder_decoder:
        text += ("--target", "the cat")
    with headlight.live(model, tokenizer) as server:
        for change in changes:
            head = ("--view", "head", "--head", "1.1", *text, *change)
            same(
                f"{name} {change}",
                numbers("--engine", server.address, *head),
                numbers("--model", MODELS / name, *head),
            )


def gpt2_shows_the_same():
    equal("gpt2")


def llama_shows_the_same():
    equal("llama")


def windows_and_caps_show_the_same():
    equal("gemma2")


def an_encoder_shows_the_same():
    equal("bert", "AutoModelForMaskedLM", [c for c in CHANGES if "patch-resid" not in str(c)])


def biases_of_distances_show_the_same():
    whole = [
        c for c in CHANGES if not any(part in str(c) for part in ("4-7", "4>1", "2>7", "patch"))
    ]
    equal(
        "t5",
        "AutoModelForSeq2SeqLM",
        [c for c in whole if "--ablate" not in c and "skip" not in str(c)],
    )


def predictions_and_the_lens_are_the_same():
    model, tokenizer = loaded("gpt2")
    view = ("--view", "lens", "--text", "the cat sat on the mat")
    with headlight.live(model, tokenizer) as server:
        got = numbers("--engine", server.address, *view)
        want = numbers("--model", MODELS / "gpt2", *view)
        names = {t["name"] for t in got}
        same("lens", got, [t for t in want if t["name"] in names])
        assert len(got) >= 2, names


def patching_every_cell_is_the_same():
    """The client gives the rows: those of a text of its own, or of the run before a change. A cell
    is a quotient of two differences of the metric."""
    for name in ("gpt2", "llama"):
        model, tokenizer = loaded(name)
        text = ("--view", "patch", "--text", "the cat sat on the mat")
        with headlight.live(model, tokenizer) as server:
            for more in (
                ("--text-b", "the mat sat on the cat"),
                ("--text-b", "the mat sat on the cat", "--what", "heads"),
                ("--text-b", "the mat sat on the cat", "--what", "q"),
                ("--text-b", "the mat sat on the cat", "--what", "pattern"),
                ("--text-b", "the mat sat on the cat", "--what", "resid_mid"),
                ("--change", "mask:3..>1"),
            ):
                got = numbers("--engine", server.address, *text, *more)
                want = numbers("--model", MODELS / name, *text, *more)
                same(f"patch {name} {more}", got, want, 2e-4)
                assert np.isfinite(values(got[0])).any()


def words_that_matter_are_the_same():
    """Gradients come from the server's reverse pass."""
    for name in ("gpt2", "llama"):
        model, tokenizer = loaded(name)
        view = ("--view", "influence", "--text", "the cat sat on the mat")
        with headlight.live(model, tokenizer) as server:
            for method in ("jacobian", "input-x-gradient", "rollout", "leave-out"):
                for more in ((), ("--change", "mask:3..>1"), ("--metric", "#5 - #9")):
                    asked = (*view, "--method", method, *more)
                    if method == "rollout" and "--metric" in more:
                        continue
                    same(
                        f"{name} {asked}",
                        numbers("--engine", server.address, *asked),
                        numbers("--model", MODELS / name, *asked),
                        2e-4,
                    )


def updates_are_the_same():
    """Lengths and cosines; signs of the plane's axes are free."""
    for name in ("gpt2", "llama"):
        model, tokenizer = loaded(name)
        view = ("--view", "delta", "--text", "the cat sat on the mat")
        with headlight.live(model, tokenizer) as server:
            got = numbers("--engine", server.address, *view)[:3]
            want = numbers("--model", MODELS / name, *view)[:3]
        same(f"delta {name}", got, want)
        assert "norm of delta" in [t["name"] for t in got]


def lists_of_heads_are_the_same():
    model, tokenizer = loaded("qwen3")
    with headlight.live(model, tokenizer) as server:
        lists = [
            json.loads(ran("heads", *of, "--text", "the cat sat on the cat", "--json").stdout)[
                "heads"
            ]
            for of in (("--engine", server.address), ("--model", MODELS / "qwen3"))
        ]
    for got, want in zip(*lists):
        for key in ("layer", "head", "entropy", "previous", "first", "self", "distance"):
            a, b = got[key], want[key]
            assert a == b or abs(a - b) < 1e-4, (key, got, want)


def models_that_the_program_does_not_open_are_shown():
    """Tiny random models of architectures that the native engine refuses."""
    _, tokenizer = loaded("gpt2")
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    for made in (transformers.BitNetConfig, transformers.DogeConfig, transformers.JetMoeConfig):
        torch.manual_seed(3)
        config = made(**{k: v for k, v in sizes.items() if k in made().to_dict()})
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.3 * torch.randn_like(p))
        ids = tokenizer("the cat sat on the mat", return_tensors="pt")
        with torch.no_grad():
            out = model(**ids, output_attentions=True)
        with headlight.live(model, tokenizer) as server:
            head = ("--view", "head", "--head", "1.1", "--text", "the cat sat on the mat")
            got = values(numbers("--engine", server.address, *head)[0])
        if out.attentions is None or out.attentions[1] is None:
            continue
        want = out.attentions[1][0, 1].numpy()
        seen = ~np.isnan(got)
        error = float(np.abs(got - want)[seen].max())
        assert error <= 1e-5 and want[~seen].max(initial=0) < 1e-6, f"{made.__name__}: {error:.1e}"


def one_connection_reads_two_texts():
    """A server has one client: both runs of a comparison use it, also beside a native model."""
    model, tokenizer = loaded("gpt2")
    texts = ("--text", "the cat sat on the mat", "--text-b", "the mat sat on the cat")
    folder = str(MODELS / "gpt2")
    with headlight.live(model, tokenizer) as server:
        got, want = (
            json.loads(ran("compare", *of, *texts, "--json").stdout)
            for of in (("--engine", server.address), ("--model", folder))
        )
        beside = ran(
            "compare", "--engine", server.address, *texts[:2], "--model-b", folder, "--json"
        )
    for one, other in zip(got["heads"], want["heads"]):
        assert abs(one["distance"] - other["distance"]) < 1e-4, (one, other)
    assert max(h["distance"] for h in json.loads(beside.stdout)["heads"]) < 1e-4, beside.stderr


def what_goes_wrong_is_one_sentence():
    """Nothing there, another host, a port without its token."""
    model, tokenizer = loaded("gpt2")
    text = ("--text", "the cat")
    with headlight.live(model, tokenizer, port=0) as server:
        wrong = {
            ("heads", "--engine", "unix:/no/such.sock", *text): (1, "No server answers"),
            ("heads", "--engine", "example.org:7", *text): (2, "ssh -L"),
            ("heads", "--engine", server.address, *text): (2, "token"),
            ("heads", "--engine", f"{server.address}/{'0' * 64}", *text): (1, "token is wrong"),
            ("heads", "--engine", "here", *text): (2, "no address"),
            ("heads", "--engine", "unix:/x", "--model", "stories", *text): (2, "together"),
        }
        for arguments, (status, part) in wrong.items():
            done = ran(*arguments)
            assert done.returncode == status and part in done.stderr, (arguments, done.stderr)
        held = ran("heads", "--engine", f"{server.address}/{server.token}", *text)
        assert held.returncode == 0, held.stderr


def a_refused_change_is_the_servers_sentence():
    model, tokenizer = loaded("gpt2")
    with headlight.live(model, tokenizer) as server:
        done = ran(
            *("heads", "--engine", server.address, "--text", "the cat"),
            *("--change", "patch-resid:5@1=a"),
        )
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("headlight: "), done.stderr
