#!/usr/bin/env python3
"""Configurations as published models have them: old, new and contradicting spellings of rotary
positions, aliases, keys that are absent or null, is_decoder. Each is read by transformers, which
makes a random tiny model of it, and by Headlight, whose patterns and logits must be the same. What
transformers cannot make or run, Headlight must refuse with a sentence or open; it must not crash.

    random_configs.py build/headlight [--seed N] [--rounds R] [--only llama,bert]
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import random_families
import torch
import transformers
from random_families import Draw
from random_hybrids import with_layers
from random_kinds import BANDS, BART_LIKE, BERT_LIKE
from random_models import inputs_of, pattern_of, randomize, run
from rounding import allowed
from safetensors.numpy import load_file

TURNED_PARTLY = ("phi", "gpt_neox", "glm", "glm4", "nemotron", "persimmon", "stablelm")
ROTARY = (
    tuple(
        """
    llama mistral qwen2 qwen3 gemma gemma2 modernbert vaultgemma olmo2
    olmo3 exaone4 granite hyperclovax smollm3 seed_oss internlm3 iquestcoder arcee helium
    ernie4_5 ministral cwm cohere cohere2 nanochat falcon starcoder2 jais2 olmo
""".split()
    )
    + TURNED_PARTLY
)
BY_KIND_OF_LAYER = ("modernbert", "gemma3_text", "olmo3")
DECODERS_TOO = tuple(k for k in BERT_LIKE if k not in ("ibert", "mpnet", "big_bird"))
# Names that a class has for the same, and the sizes that must stay small.
OF_GPT2 = {
    "n_embd": "hidden_size",
    "n_head": "num_attention_heads",
    "n_layer": "num_hidden_layers",
    "n_positions": "max_position_embeddings",
}
ALIASES = {
    **dict.fromkeys(("gpt2", "gptj", "codegen", "gpt_bigcode", "openai_gpt", "ctrl"), OF_GPT2),
    "xglm": {
        "d_model": "hidden_size",
        "attention_heads": "num_attention_heads",
        "num_layers": "num_hidden_layers",
    },
    "gpt_neo": {"num_heads": "num_attention_heads", "num_layers": "num_hidden_layers"},
    "mpt": {
        "d_model": "hidden_size",
        "n_heads": "num_attention_heads",
        "n_layers": "num_hidden_layers",
    },
    "distilbert": {
        "dim": "hidden_size",
        "n_heads": "num_attention_heads",
        "n_layers": "num_hidden_layers",
    },
    "bloom": {
        "n_head": "num_attention_heads",
        "n_layer": "num_hidden_layers",
        "hidden_size": "n_embed",
    },
    **dict.fromkeys(
        BART_LIKE,
        {
            "d_model": "hidden_size",
            "encoder_attention_heads": "num_attention_heads",
            "encoder_layers": "num_hidden_layers",
        },
    ),
    **dict.fromkeys(
        ("t5", "mt5", "umt5"),
        {
            "d_model": "hidden_size",
            "num_heads": "num_attention_heads",
            "num_layers": "num_hidden_layers",
            "d_kv": "head_dim",
        },
    ),
}
SIZES = tuple(
    """
    model_type vocab_size decoder_vocab_size hidden_size intermediate_size num_hidden_layers
    num_attention_heads num_key_value_heads embedding_size n_embd n_layer n_head dim n_layers
    n_heads hidden_dim ffn_dim word_embed_proj_dim d_model d_ff num_layers num_heads head_dim
    image_size encoder_layers decoder_layers encoder_ffn_dim decoder_ffn_dim encoder_attention_heads
    decoder_attention_heads patch_size pad_token_id layer_types eos_token_id bos_token_id
    decoder_start_token_id forced_eos_token_id cls_token_id sep_token_id id2label label2id
    num_hidden_groups num_decoder_layers attention_heads dff rotary_dim attention_types
    attention_layers num_kv_heads new_decoder_architecture n_group topk_group num_experts_per_tok
    num_local_experts num_experts n_routed_experts moe_intermediate_size
    shared_expert_intermediate_size text_config vision_config encoder decoder
""".split()
)
STAY = ("conv_act",)  # without it DeBERTa's convolution takes tanh, which is refused by name
NULLABLE = tuple(
    """
    num_key_value_heads rope_parameters rope_scaling layer_types n_inner word_embed_proj_dim
    decoder_vocab_size num_decoder_layers sliding_window head_dim pad_token_id eos_token_id
    ffn_hidden_size num_kv_heads num_ln_in_parallel_attn alibi bias
""".split()
)


def rope_object(d, turned):
    """A value of rope_parameters or rope_scaling, each key there or not."""
    kind = d.choice(["default", "linear", "linear", "dynamic", "llama3", "yarn", "yarn"])
    out = {}
    for key in d.choice([["rope_type"], ["type"], ["rope_type", "type"], ["rope_type"]]):
        out[key] = kind if key == "rope_type" or len(out) == 0 else d.choice(["default", "linear"])
    if d.random() < 0.1:
        out = {}
        kind = "default"
    if kind != "default" or d.flag():
        out["factor"] = d.choice([2, 4.0, 3.5])
    if d.random() < 0.4:
        out["rope_theta"] = d.choice([500.0, 1e6, 10000, 77])
    if kind == "llama3":
        out.update(low_freq_factor=d.choice([1, 1.5]), high_freq_factor=d.choice([4.0, 8]))
    if kind in ("llama3", "yarn", "dynamic") and d.flag():
        out["original_max_position_embeddings"] = d.choice([8, 16, 32])
    if kind == "yarn":
        for key, values in (
            ("beta_fast", (16, 32.0, None, 0)),
            ("beta_slow", (2, None)),
            ("mscale", (1.0, 0.7, 0)),
            ("mscale_all_dim", (0.5, 0, None)),
            ("attention_factor", (0.7, None)),
            ("truncate", (False, True)),
        ):
            if d.random() < 0.3:
                out[key] = d.choice(values)
        if d.random() < 0.1:
            out["factor"] = None
    if d.random() < (0.5 if turned else 0.15):
        out["partial_rotary_factor"] = (
            d.choice([0.25, 0.3, 0.5, 0.7, 1.0]) if turned else d.choice([1.0, 0.9, 0.5])
        )
    return out


def respell_rope(kind, c, d):
    """Rotary positions in any of their spellings, several of them at once."""
    c.pop("rope_parameters", None)
    turned = kind in TURNED_PARTLY
    if d.random() < 0.6:
        c["rope_parameters"] = d.choice([None, {}]) if d.random() < 0.15 else rope_object(d, turned)
    if d.random() < 0.5:
        c["rope_scaling"] = d.choice([None, {}]) if d.random() < 0.2 else rope_object(d, turned)
    for key, values in (
        ("rope_theta", (500.0, 1000000, 300.5)),
        ("rotary_emb_base", (700, 900.0)),
        ("rotary_pct", (0.25, 0.3, 0.7)),
        ("partial_rotary_factor", (0.25, 0.5, 0.75)),
        ("original_max_position_embeddings", (8, 24)),
        ("global_rope_theta", (900.0, 80000)),
        ("local_rope_theta", (300.0, 20000)),
    ):
        if d.random() < (0.35 if turned or not key.startswith("partial") else 0.05):
            c[key] = d.choice(values)
    if kind in BY_KIND_OF_LAYER or d.random() < 0.05:
        c["rope_parameters"] = d.choice(
            [
                None,
                {},
                {"full_attention": rope_object(d, False)},
                {
                    "full_attention": rope_object(d, False),
                    "sliding_attention": rope_object(d, False),
                },
                {
                    "full_attention": None,
                    "sliding_attention": rope_object(d, False),
                    "truncate": False,
                },
            ]
        )
    if turned and d.flag():  # a share of a head that is no whole number of pairs
        heads = c["num_attention_heads"]
        c["hidden_size"] = heads * d.choice([10, 12, 14, 20])
    if kind == "gpt_neox" and d.random() < 0.2:
        c["head_dim"] = d.choice([4, 6, 12, 20])


def respell(kind, c, d):
    """The same for what is not rotary: aliases beside or in place of a key, keys away, null."""
    for key, alias in ALIASES.get(kind, {}).items():
        what = d.choice(["key", "alias", "both", "key"])
        if what != "key":
            c[alias] = c[key]
            if what == "alias":
                del c[key]
            elif key in ("n_layer", "n_layers", "encoder_layers", "num_layers"):
                c[alias] = d.choice([1, 2, 3])
    if kind in DECODERS_TOO and d.flag():
        c["is_decoder"] = True
    for key in list(c):
        if key not in (*SIZES, *STAY) and not key.startswith("_") and d.random() < 0.25:
            del c[key]
        elif key in NULLABLE and d.random() < 0.1:
            c[key] = None


def patterns_of(model, inputs):
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    want = {}
    if model.config.is_encoder_decoder:
        for i, p in enumerate(out.encoder_attentions):
            if model.config.model_type not in BANDS:
                want[f"encoder.{i}.attn.hook_pattern"] = p
        for i, p in enumerate(out.decoder_attentions):
            want[f"decoder.{i}.attn.hook_pattern"] = p
            want[f"decoder.{i}.cross_attn.hook_pattern"] = out.cross_attentions[i]
    else:
        name = "encoder" if type(model).__name__.endswith("EncoderModel") else "blocks"
        for i, p in with_layers(model.config, out.attentions):
            want[f"{name}.{i}.attn.hook_pattern"] = pattern_of(model, p)
    if hasattr(out, "logits") and not model.config.model_type.startswith("dinov2"):
        want["logits"] = out.logits
    return {k: v[0].numpy() for k, v in want.items()}


def transformers_model(kind, config, head, d):
    """The model that transformers makes of it, or why it makes none."""
    try:
        parsed = type(config).from_dict(json.loads(json.dumps(d.mutated)))
        parsed._attn_implementation = "eager"
        torch.manual_seed(d.randrange(1 << 30))
        model = head(parsed).eval()
        randomize(model, torch.Generator().manual_seed(d.randrange(1 << 30)))
        d.inputs, options = inputs_of(kind, model, d, d.folder)
        return model, patterns_of(model, d.inputs), options, None
    except Exception as problem:
        return None, None, None, f"{type(problem).__name__}: {problem}"


def difference(got, want):
    worst, where = 0.0, ""
    for name, w in want.items():
        if name not in got:
            return 1e9, f"no tensor {name}"
        if got[name].shape != w.shape:
            return 1e9, f"{name} has the shape {got[name].shape} instead of {w.shape}"
        scale = max(1.0, float(np.abs(w).max()) / 8)
        error = float(np.abs(got[name].astype(np.float64) - w).max()) / (
            (5e-5 if name.endswith("pattern") else 2e-4) * scale
        )
        if not error <= worst:
            worst, where = error, name
    return worst, where


def compare(headlight, kind, seed, folder):
    """(what is wrong, largest error as a share of its tolerance, whether transformers could)"""
    d = Draw(f"config {kind} {seed}")
    d.long, d.folder = False, folder
    config, head = getattr(random_families, "make_" + kind)(d)
    if kind in ("t5", "mt5", "umt5") and d.random() < 0.3:
        head = getattr(transformers, type(config).__name__.replace("Config", "EncoderModel"))
    c = {
        k: v
        for k, v in config.to_dict().items()
        if not k.startswith("_") and k not in ("transformers_version", "dtype", "architectures")
    }
    respell(kind, c, d)
    if kind in ROTARY:
        respell_rope(kind, c, d)
    c["model_type"] = config.model_type
    d.mutated = c
    model, want, options, problem = transformers_model(kind, config, head, d)
    if model is None:
        shown = run(headlight, "info", write(folder, c, head))
        return (
            (
                ""
                if shown.returncode in (0, 1)
                else f"info ends with {shown.returncode}: {shown.stderr}"
            ),
            0.0,
            problem,
        )
    model.save_pretrained(folder)
    write(folder, c, head)
    out = folder / "trace.safetensors"
    done = run(headlight, "trace", "--model", folder, "-o", out, "--quiet", *options)
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.strip()}", 0.0, None
    got = load_file(out)
    error, where = difference(got, want)
    if 1 < error < 1e9:  # some magnify rounding, as in random_models
        exact = patterns_of(model.double(), d.inputs)
        from_exact = lambda patterns: difference(patterns, exact)[0]
        error = from_exact(got)
        error /= allowed(
            error, 1, from_exact(want), model, lambda: from_exact(patterns_of(model, d.inputs))
        )
    return ("" if error <= 1 else f"{where} is off by {error:.1f} of its tolerance"), error, None


def write(folder, c, head):
    path = folder / "config.json"
    path.write_text(json.dumps({**c, "architectures": [head.__name__]}))
    return path


def explicit_defaults(kind):
    """Every number of a class written out, as transformers has it where the file says nothing."""
    config = type(getattr(random_families, "make_" + kind)(plain_draw())[0])()
    said = {
        k: v
        for k, v in config.to_dict().items()
        if not k.startswith("_") and k not in ("transformers_version", "dtype", "architectures")
    }
    return {"model_type": config.model_type}, {**said, "model_type": config.model_type}


def plain_draw():
    d = Draw(0)
    d.long = False
    return d


def compare_defaults(headlight, kinds):
    """A config.json that names its model_type alone is the one that writes every default out."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        for kind in kinds:
            shown, explicit = [], explicit_defaults(kind)
            sizes = (explicit[1].get(key, 0) for key in ("vocab_size", "n_routed_experts"))
            # ESM, dots.llm1: transformers builds none either; TrOCR's call it half of a pair, and a
            # pair of two models has no sizes of its own
            if None in sizes or kind in ("trocr", "encoder_decoder"):
                continue
            for config in explicit:
                path.write_text(json.dumps(config))
                done = run(headlight, "info", "--json", path)
                shown.append(json.loads(done.stdout) if done.returncode == 0 else done.stderr)
            if shown[0] != shown[1]:
                failed += 1
                different = (
                    [k for k in shown[0] if shown[0][k] != shown[1][k]]
                    if all(isinstance(x, dict) for x in shown)
                    else shown
                )
                print(f"FAIL defaults of {kind}: {different}")
    print(f"random configs: defaults of {len(kinds)} classes, {failed} differ")
    return failed


def compare_all(headlight, kinds, seed, rounds, keep=None):
    """Print the differences, and return how many."""
    failed, refused, worst = compare_defaults(headlight, kinds), 0, 0.0
    for kind in kinds:
        for i in range(rounds * (3 if kind in ROTARY else 1)):
            with tempfile.TemporaryDirectory() as temporary:
                folder = keep / f"config-{kind}-{seed + i}" if keep else Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                problem, error, reason = compare(headlight, kind, seed + i, folder)
                if problem:
                    failed += 1
                    print(
                        f"FAIL config of {kind}, seed {seed + i}: {problem}\n     "
                        f"{(folder / 'config.json').read_text()}"
                    )
                if reason and keep:
                    (folder / "transformers.txt").write_text(reason)
            refused += reason is not None
            worst = max(worst, error if not problem else 0.0)
    count = rounds * sum(3 if k in ROTARY else 1 for k in kinds)
    print(
        f"{count} random configs, {refused} of them beyond transformers, {failed} differ, "
        f"largest error {worst:.2f} of its tolerance (seed {seed})"
    )
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--keep", type=Path)
    a = p.parse_args()
    return bool(compare_all(a.headlight, random_families.kinds(a.only), a.seed, a.rounds, a.keep))


if __name__ == "__main__":
    sys.exit(main())
