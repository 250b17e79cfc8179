"""Each request of the engine's protocol, beside what transformers and autograd give."""

import json
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from engine_client import Client, Refused
from given_live_native import loaded
from given_models import IDS, SMALL, made

TEXT = "the cat sat on the mat"


def refusal(call):
    try:
        call()
    except Refused as problem:
        return str(problem)
    raise AssertionError("it was not refused")


def it_describes_itself():
    model, tokenizer = loaded("qwen3")
    with headlight.live(model, tokenizer, name="mine") as server:
        with Client(server.address) as client:
            assert client.about["name"] == "mine" and client.about["dtype"] == "float32"
            told, files = client.ask("describe", tokenizer="file")
    config = model.config
    assert told["kind"] == "decoder" and told["family"] == "qwen3"
    assert told["config"]["hidden_size"] == told["d_model"] == config.hidden_size
    assert [b["path"] for b in told["blocks"]] == list(map(str, range(config.num_hidden_layers)))
    assert told["blocks"][1]["module"] == "layers.1"
    assert told["blocks"][0]["kv_heads"] == config.num_key_value_heads
    assert told["blocks"][0]["d_head"] == told["blocks"][0]["d_value"] == config.head_dim
    assert told["can"]["reuse"] and told["can"]["lens"] and told["can"]["generate"]
    read = transformers.PreTrainedTokenizerFast(
        tokenizer_object=__import__("tokenizers").Tokenizer.from_str(
            files["tokenizer.json"].tobytes().decode()
        )
    )
    assert read(TEXT)["input_ids"] == tokenizer(TEXT, add_special_tokens=False)["input_ids"]


def texts_are_encoded_and_decoded():
    model, tokenizer = loaded("bert", "AutoModelForMaskedLM")
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        told, _ = client.ask("encode", text=TEXT, pair="a dog")
        want = tokenizer(TEXT, "a dog", return_offsets_mapping=True)
        assert told["ids"] == want["input_ids"] and told["types"] == want["token_type_ids"]
        assert told["offsets"] == [list(pair) for pair in want["offset_mapping"]]
        plain, _ = client.ask("encode", text=TEXT, special=False)
        assert plain["ids"] == tokenizer(TEXT, add_special_tokens=False)["input_ids"]
        back, _ = client.ask("decode", ids=plain["ids"])
        assert back["text"] == tokenizer.decode(plain["ids"])
        assert back["tokens"] == tokenizer.convert_ids_to_tokens(plain["ids"])
        header, _ = client.ask("run", text=TEXT, pair="a dog")
        assert header["sides"]["input"]["ids"] == told["ids"]
        messages = [{"role": "user", "content": "hi"}]
        assert "chat template" in refusal(lambda: client.ask("chat", messages=messages))
        assert "continues none" in refusal(lambda: client.ask("generate", text=TEXT))
    with headlight.live(model) as server, Client(server.address) as client:
        assert "no tokenizer" in refusal(lambda: client.ask("encode", text=TEXT))


def tokenizers_in_python_alone_spell_their_tokens():
    """What has no tokenizer.json of its own is spelled out, and a target is read as one."""
    folder = Path(__file__).resolve().parents[2] / "models/translator"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert getattr(tokenizer, "backend_tokenizer", None) is None
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        _, files = client.ask("describe", tokenizer="file")
        vocab = json.loads(files["tokenizer.json"].tobytes())["model"]["vocab"]
        ids = client.ask("encode", text="Tom ran home.", special=False)[0]["ids"]
        assert "".join(vocab[i][0] for i in ids) == "▁Tom▁ran▁home."
        start = model.config.decoder_start_token_id
        assert vocab[start][0] == tokenizer.convert_ids_to_tokens(start)
        target = client.ask("encode", target="Tom lief nach Hause.")[0]["ids"]
        assert target == tokenizer(text_target="Tom lief nach Hause.")["input_ids"]
        for wrong in ({}, {"text": "a", "target": "b"}):
            assert "target" in refusal(lambda wrong=wrong: client.ask("encode", **wrong))


def conversations_follow_the_template():
    model, tokenizer = loaded("qwen3")
    messages = [{"role": "user", "content": "hi"}]
    with headlight.live(model, tokenizer) as server, Client(server.address) as client:
        told, _ = client.ask("chat", messages=messages)
    want = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert told["text"] == want
    assert told["ids"] == tokenizer(want, add_special_tokens=False)["input_ids"]


def rows_of_a_prefix_are_those_of_a_fresh_pass():
    """Token by token, after a change inside, and under changes that keep rows."""
    everything = ["*hook_q", "*hook_k", "*hook_z", "*hook_resid_*", "*_out", "logits"]
    for name in ("gpt2", "llama", "gemma2"):
        model, tokenizer = loaded(name)
        with headlight.live(model, tokenizer) as server, Client(server.address) as client:
            ask = lambda ids, have, **more: client.ask(
                "run", **{"ids": ids, "from": have}, capture=everything, **more
            )
            for changes in ([], ["ablate:0.1", "temperature:0.5", "mask:4..>2"]):
                ids = [7, 9, 20, 31, 44]
                ask(ids, 0, changes=changes)
                steps = [([*ids, 50], 5, 5), ([*ids, 50, 61], 6, 6), ([*ids, 51], 7, 5)]
                steps += [([*ids[:2], 80, 81], 2, 2), ([*ids[:2], 80, 81], 1, 1)]
                for longer, have, expected in steps:
                    header, got = ask(longer, have, changes=changes)
                    assert header["from"] == expected, (name, longer, header["from"])
                    fresh, whole = ask(longer, 0, changes=changes)
                    assert fresh["from"] == 0
                    for tensor, rows in got.items():
                        error = np.abs(whole[tensor][expected:] - rows).max()
                        error /= max(1, np.abs(rows).max())
                        assert error < 1e-5, f"{name} {tensor}: {error:.1e}"
                assert ask(ids, 4, changes=[*changes, "skip-mlp:0"])[0]["from"] == 0
            for changes in (["ablate:0.1:mean"], ["unmask:0>3"], ["positions:off"]):
                ask(ids, 0, changes=changes)
                assert ask([*ids, 50], 5, changes=changes)[0]["from"] == 0


def what_crosses_is_linear_in_the_tokens():
    model = made("Llama", num_key_value_heads=2, **{**SMALL, "max_position_embeddings": 600})
    with headlight.live(model) as server, Client(server.address) as client:
        sizes = []
        for count in (128, 256, 512):
            before = client.bytes
            client.ask("run", ids=[i % 300 for i in range(count)])
            sizes.append(client.bytes - before)
        assert sizes[2] - sizes[1] < 2.1 * (sizes[1] - sizes[0]), sizes


def patterns_are_those_of_the_heads_asked_for():
    model, _ = loaded("llama")
    with headlight.live(model) as server, Client(server.address) as client:
        at = "blocks.1.attn.hook_pattern"
        _, whole = client.ask("run", ids=IDS, capture=["*hook_pattern"])
        _, one = client.ask("run", ids=IDS, capture=["*hook_pattern"], heads=["1.1"])
        assert list(one) == [at] and np.array_equal(one[at][0], whole[at][1])
        assert "no head" in refusal(lambda: client.ask("run", ids=IDS, heads=["9.9"]))
        assert "called" in refusal(lambda: client.ask("run", ids=IDS, capture=["*hook_nothing"]))


def steps(client, **fields):
    number, out = client.send("generate", **fields), []
    while True:
        header, _ = client.receive()
        assert header["id"] == number
        if "done" in header:
            return out, header["done"]
        out.append(header)


def tokens_are_generated_as_transformers_does():
    for name, auto in (("llama", "AutoModelForCausalLM"), ("t5", "AutoModelForSeq2SeqLM")):
        model, tokenizer = loaded(name, auto)
        with headlight.live(model, tokenizer) as server, Client(server.address) as client:
            out, done = steps(client, text=TEXT, tokens=8, stop=[])
            ids, pair = tokenizer(TEXT)["input_ids"], bool(model.config.is_encoder_decoder)
            want = [model.config.decoder_start_token_id] if pair else list(ids)
            for step in out:
                given = {"decoder_input_ids": torch.tensor([want])} if pair else {}
                with torch.no_grad():
                    logits = model(torch.tensor([ids if pair else want]), **given).logits[0, -1]
                assert step["ids"] == int(logits.argmax())
                p = float(logits.log_softmax(-1).max())
                assert abs(step["log_p"] - p) < 1e-4
                want.append(step["ids"])
            assert len(out) == 8 and done == "length"
            draws = [
                [s["ids"] for s in steps(client, text=TEXT, tokens=6, seed=s, temperature=1.0)[0]]
                for s in (1, 1, 2)
            ]
            assert draws[0] == draws[1]
            ended, done = steps(client, text=TEXT, tokens=8, stop=[out[2]["ids"]])
            assert done == "end" and ended[-1]["ids"] == out[2]["ids"]
            client.send("generate", text=TEXT, tokens=1000, stop=[])
            client.receive()
            client.send("cancel", of=client.number)
            while True:
                try:
                    client.receive()
                except Refused as problem:
                    assert problem.code == "cancelled"
                    break
            assert steps(client, text=TEXT, tokens=1, stop=[])[0][0]["ids"] == out[0]["ids"]


def gradients_are_those_of_autograd():
    model, _ = loaded("gpt2")
    seen = []
    hook = model.transformer.h[1].register_forward_pre_hook(
        lambda _, given: (seen.append(given[0]), given[0].retain_grad()) and None
    )
    out = model(torch.tensor([IDS])).logits[0, 5]
    (out[7] - out[9]).backward()
    hook.remove()
    with headlight.live(model) as server, Client(server.address) as client:
        by = ["blocks.1.hook_resid_pre", "*hook_pattern"]
        header, got = client.ask("gradient", ids=IDS, metric="#7 - #9@5", by=by)
        assert abs(header["value"] - float(out[7] - out[9])) < 1e-5
        want = seen[0].grad[0].numpy()
        assert (
            np.abs(got["blocks.1.hook_resid_pre"] - want).max() < 1e-5 * np.abs(want).max() + 1e-6
        )
        at = "blocks.1.attn.hook_pattern"
        assert got[at].shape == (model.config.n_head, len(IDS), len(IDS))
        assert np.abs(got[at] - _by_patterns(model, 1)).max() < 1e-5 * np.abs(got[at]).max() + 1e-6
        for metric in ("p(#7)", "log p(#7)", "#7"):
            client.ask("gradient", ids=IDS, metric=metric)
        for wrong in ("cat", "#999999", "p(#7) - #9", "#7@99", "kl"):
            refusal(lambda: client.ask("gradient", ids=IDS, metric=wrong))
    assert all(p.requires_grad for p in model.parameters())


def _by_patterns(model, layer):
    """∂ (logit 7 - logit 9 at position 5) / ∂ a layer's patterns, by eager attention."""
    model.set_attn_implementation("eager")
    out = model(torch.tensor([IDS]), output_attentions=True)
    pattern, logits = out.attentions[layer], out.logits[0, 5]
    (gradient,) = torch.autograd.grad(logits[7] - logits[9], [pattern])
    model.set_attn_implementation("sdpa")
    return gradient[0].numpy()


def weights_of_a_head_are_the_models():
    for name, auto in (
        ("gpt2", "AutoModelForCausalLM"),
        ("llama", "AutoModelForCausalLM"),
        ("bert", "AutoModelForMaskedLM"),
        ("t5", "AutoModelForSeq2SeqLM"),
    ):
        model, _ = loaded(name, auto)
        head = "encoder.1.1" if name == "t5" else "1.1"
        at = "encoder.1." if name == "t5" else "blocks.1."
        more = {"target_ids": [0, 4]} if name == "t5" else {}
        with headlight.live(model) as server, Client(server.address) as client:
            _, w = client.ask("weights", head=head)
            capture = ["*hook_z", "*hook_v", "*hook_attn_out"]
            _, got = client.ask("run", ids=IDS, capture=capture, **more)
            changes = [f"ablate:{head}"]
            _, off = client.ask("run", ids=IDS, capture=capture, changes=changes, **more)
        z = got[at + "attn.hook_z"][:, 1]
        removed = got[at + "hook_attn_out"] - off[at + "hook_attn_out"]
        assert np.abs(z @ w["W_O"] - removed).max() < 1e-5, name
        assert w["W_Q"].shape == w["W_O"].T.shape
    model = made("DeepseekV2", **DEEPSEEK)
    with headlight.live(model) as server, Client(server.address) as client:
        assert "does not know" in refusal(lambda: client.ask("weights", head="0.0"))


DEEPSEEK = {
    **SMALL,
    "num_key_value_heads": 4,
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4,
    "v_head_dim": 6,
    "first_k_dense_replace": 3,
    "n_group": 1,
    "topk_group": 1,
}


def what_an_architecture_cannot_do_is_refused():
    bloom = made("Bloom", hidden_size=24, n_layer=2, n_head=4, vocab_size=300)
    with headlight.live(bloom) as server, Client(server.address) as client:
        for change in ("mask:3>1", "ablate:0.1", "temperature:2", "patch-head:1@0.0"):
            said = refusal(lambda: client.ask("run", ids=IDS, changes=[change]))
            assert "BloomModel" in said and change in said, said
        assert "BloomModel" in refusal(lambda: client.ask("run", ids=IDS, mask="none"))
        assert "positions" in refusal(lambda: client.ask("run", ids=IDS, changes=["positions:off"]))
        client.ask("run", ids=IDS, capture=["*"], changes=["skip-mlp:1", "noise:1=3"])
        assert "predicts no tokens" in refusal(
            lambda: client.ask("run", ids=IDS, capture=["logits"])
        )
    model, _ = loaded("gpt2")
    with headlight.live(model) as server, Client(server.address) as client:
        for change in ("nonsense", "mask:1", "mask:1>2@9.9", "ablate:9.9", "temperature:-1"):
            assert change in refusal(lambda: client.ask("run", ids=IDS, changes=[change]))
        for change in ("ablate-expert:0.1", "skip-mlp:9", "positions:on", "score:*>1=3", "noise:x"):
            assert change in refusal(lambda: client.ask("run", ids=IDS, changes=[change]))
        for mask in ("file:x.json", "window", "window:0", "red", "rows"):
            refusal(lambda: client.ask("run", ids=IDS, mask=mask))
        rows = np.tril(np.ones((len(IDS), len(IDS)), np.uint8))
        fields = {"ids": IDS, "capture": ["*hook_pattern"]}
        _, got = client.ask("run", {"mask": rows}, mask="rows", **fields)
        _, own = client.ask("run", **fields)
        assert all(np.abs(got[name] - own[name]).max() < 1e-5 for name in own)


def a_function_of_the_users_is_served():
    calls = []

    def mine(ids):
        calls.append(ids)
        n = len(ids)
        causal = np.tril(np.ones((2, 3, n, n), np.float32))
        residuals = np.arange(3 * n * 4, dtype=np.float32).reshape(3, n, 4)
        return {"patterns": causal / causal.sum(-1, keepdims=True), "residuals": residuals}

    _, tokenizer = loaded("gpt2")
    with headlight.live(mine, tokenizer) as server, Client(server.address) as client:
        header, got = client.ask("run", text=TEXT)
        assert calls == [tokenizer(TEXT)["input_ids"]] == [header["sides"]["input"]["ids"]]
        assert got["blocks.1.attn.hook_pattern"].shape == (3, len(calls[0]), len(calls[0]))
        assert np.array_equal(got["blocks.0.hook_resid_post"], got["blocks.1.hook_resid_pre"])
        told = client.ask("describe")[0]
        assert told["name"] == "mine" and told["kind"] == "decoder"
        assert [block["heads"] for block in told["blocks"]] == [3, 3]
        for verb, fields in (("lens", {}), ("run", {"ids": IDS, "changes": ["ablate:0.1"]})):
            assert "mine is a function" in refusal(lambda: client.ask(verb, **fields))


class Hooked:
    """A model of TransformerLens, known by its methods and the names of its hooks."""

    tokenizer = None

    def to_tokens(self, text):
        raise AssertionError("ids are given")

    def run_with_hooks(self, *given, **named):
        raise AssertionError("the cache is enough")

    def run_with_cache(self, ids, names_filter):
        n = ids.shape[1]
        held = {
            "blocks.0.attn.hook_pattern": torch.full((1, 2, n, n), 1 / n),
            "blocks.0.hook_resid_pre": torch.ones(1, n, 4),
            "blocks.0.hook_mlp_out": None,
        }
        return None, {name: held[name] for name in held if names_filter(name)}


def models_of_transformerlens_are_served_by_their_cache():
    with headlight.live(Hooked()) as server, Client(server.address) as client:
        _, got = client.ask("run", ids=IDS)
        assert got["blocks.0.attn.hook_pattern"].shape == (2, len(IDS), len(IDS))
        assert got["blocks.0.hook_resid_pre"].shape == (len(IDS), 4)
