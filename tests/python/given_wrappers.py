"""Models that another library has wrapped, TransformerLens or nnsight, and what their caches
hold."""

import types
from pathlib import Path

import headlight
import numpy as np
import torch
import transformers
from engine_client import Client
from given_arrays import sentence_of, skipped
from given_models import BAR, IDS, SMALL, TARGET, attentions, made, same, tensors


def transformer_lens_is_recorded_where_it_is_installed():
    try:
        import transformer_lens
    except ImportError:
        skipped("TransformerLens is not installed here: only the names of its cache were tried")
        return
    if "HookedTransformer" in vars(transformer_lens):
        model = transformer_lens.HookedTransformer(
            transformer_lens.HookedTransformerConfig(
                n_layers=2,
                d_model=32,
                n_ctx=32,
                d_head=8,
                n_heads=4,
                d_vocab=300,
                act_fn="gelu",
                seed=1,
            )
        )
    else:
        from transformer_lens.model_bridge import TransformerBridge

        hf = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_layer=2, n_head=4, n_embd=32, vocab_size=4096, n_positions=64)
        ).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            Path(__file__).resolve().parents[2] / "models/stories"
        )
        model = TransformerBridge.boot_transformers(
            "gpt2", hf_model=hf, tokenizer=tokenizer, device="cpu"
        ).eval()
    _, cache = model.run_with_cache(tensors(IDS))
    trace = headlight.trace(model, ids=IDS)
    for layer in range(2):
        assert (
            np.abs(trace["pattern", layer] - cache["pattern", layer][0].detach().numpy()).max()
            < BAR
        )
        assert np.array_equal(
            headlight.trace(cache, ids=IDS)["pattern", layer],
            cache["pattern", layer][0].detach().numpy(),
        )
    assert headlight.figure(cache, tokens=IDS, head=(1, 2)).png
    assert np.array_equal(
        headlight.trace(model, ids=[IDS[::-1], IDS], batch=1)["pattern", 1], trace["pattern", 1]
    ), "two rows are not one text"
    if "HookedTransformer" not in vars(transformer_lens):
        other = headlight.compare(
            model, "The cat sat.", model_b=hf, tokenizer_b=tokenizer, align="position"
        )
        assert other.distance.shape == (2, 4), (
            "the text is the other model's too, though it stands in the tokenizer's place"
        )


def outputs_of(model, **inputs):
    """The output of every module, by its name, as the cache of a trace of nnsight has it."""
    cache, own = {}, model.config._attn_implementation
    note = lambda name: (
        lambda module, given, output: cache.setdefault(
            "model" + "." * bool(name) + name, []
        ).append(types.SimpleNamespace(output=output))
    )
    hooks = [module.register_forward_hook(note(name)) for name, module in model.named_modules()]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        model(**inputs, output_attentions=True, use_cache=False)
    model.set_attn_implementation(own)
    [hook.remove() for hook in hooks]
    return cache


def outputs_of_modules_are_patterns():
    model = made("Llama", num_key_value_heads=2, **{**SMALL, "num_hidden_layers": 11})
    same(
        headlight.trace(outputs_of(model, input_ids=tensors(IDS)), tokens=IDS),
        attentions(model, input_ids=tensors(IDS)).attentions,
    )
    model = made(
        "T5", wide=1, d_model=24, d_kv=6, d_ff=40, num_layers=2, num_heads=4, vocab_size=300
    )
    inputs = {"input_ids": tensors(IDS), "decoder_input_ids": tensors(TARGET)}
    out, trace = (
        attentions(model, **inputs),
        headlight.trace(outputs_of(model, **inputs), tokens=IDS, target_tokens=TARGET),
    )
    for kind, expected in (
        ("encoder", out.encoder_attentions),
        ("decoder", out.decoder_attentions),
        ("cross", out.cross_attentions),
    ):
        same(trace, expected, kind)
    assert "eager" in sentence_of(
        lambda: headlight.trace({"model": types.SimpleNamespace(output=torch.zeros(1))})
    )


def nnsight_is_recorded_where_it_is_installed():
    try:
        import nnsight
    except ImportError:
        skipped("nnsight is not installed here: only outputs of modules by their names were tried")
        return
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        Path(__file__).resolve().parents[2] / "models/stories"
    )
    inside = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            n_layer=3,
            n_head=4,
            n_embd=32,
            vocab_size=4096,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
            attn_implementation="eager",
        )
    ).eval()
    model, text = nnsight.LanguageModel(inside, tokenizer=tokenizer), "The cat sat on the mat."
    expected = attentions(inside, **tokenizer(text, return_tensors="pt")).attentions
    trace = headlight.trace(model, text)
    same(trace, expected)
    assert "".join(trace.tokens) == text and headlight.figure(model, text, head=(1, 2)).png
    assert headlight.compare(model, text, text_b="The dog sat on the mat.").distance.shape == (3, 4)
    with model.trace(text) as tracer:
        cache = tracer.cache()
        patterns = nnsight.save([layer.attn.output[1] for layer in model.transformer.h])
    for given in ({"patterns": patterns}, {"model": cache}):
        same(
            headlight.trace(**given, tokenizer=tokenizer, tokens=tokenizer(text)["input_ids"]),
            expected,
        )


def nnsight_is_served_where_it_is_installed():
    try:
        import nnsight
    except ImportError:
        skipped("nnsight is not installed here: only a stand-in for its models was served")
        return
    inside, told = made("Llama", num_key_value_heads=2, **SMALL), {}
    with torch.no_grad():
        expected = inside(tensors(IDS)).last_hidden_state[0].numpy()
    for model in (inside, nnsight.NNsight(inside)):
        with headlight.live(model) as server, Client(server.address) as client:
            _, told[model] = client.ask("run", ids=IDS, changes=["ablate:1.2", "skip-mlp:0"])
            assert "bytes" in client.ask("describe")[0]["weights"]
            _, plain = client.ask("run", ids=IDS, capture=["hook_resid_final"])
    with model.trace(tensors(IDS)):
        traced = model.norm.output.save()
    assert np.abs(traced[0].detach().numpy() - expected).max() < BAR, "the wrapper is as it was"
    plain_told, wrapped_told = told.values()
    assert plain["hook_resid_final"].shape == expected.shape and set(plain_told) == set(
        wrapped_told
    )
    assert all(np.array_equal(plain_told[name], wrapped_told[name]) for name in plain_told)


def a_stand_in_for_nnsight_is_served_without_edits():
    """nnsight keeps the model in _module, its edits in _edits, and puts a forward of its own on
    each module."""
    kind = type("NNsight", (), {"__module__": "nnsight.stand_in"})
    passing = type(
        "Controller",
        (),
        {
            "__module__": "nnsight.stand_in",
            "__init__": lambda self, module: vars(self).update(forward=module.forward),
            "__call__": lambda self, *given, **named: self.forward(*given, **named),
        },
    )
    model = kind()
    model._module, model._edits = made("Llama", num_key_value_heads=2, **SMALL), []
    with headlight.live(model._module) as server, Client(server.address) as client:
        _, expected = client.ask("run", ids=IDS, changes=["ablate:1.2"])
    for module in model._module.layers.modules():
        module.forward = passing(module)
    with headlight.live(model) as server, Client(server.address) as client:
        _, got = client.ask("run", ids=IDS, changes=["ablate:1.2"])
        assert "bytes" in client.ask("describe")[0]["weights"], "a forward that only watches"
    assert all(np.array_equal(got[name], expected[name]) for name in expected)
    model._edits.append("layers.1.mlp.output[:] = 0")
    assert "edits" in sentence_of(lambda: headlight.live(model))
    assert "edits" in sentence_of(lambda: headlight.trace(model, ids=IDS))
