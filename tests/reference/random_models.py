#!/usr/bin/env python3
"""Make a random tiny model of every family with Hugging Face transformers, and compare what
Headlight computes with what transformers computes, tensor by tensor, so that nothing rests on the
fixed reference files alone.

    random_models.py build/headlight [--seed N] [--rounds R] [--only llama,t5] [--keep FOLDER]

Sizes and options (rotary scalings, shared key/value heads, windows, tied or untied heads, post- or
pre-norm, …) are drawn from the seed, which is printed: the same seed makes the same models. So is
what the file holds: tied tensors under some of their names or in copies that differ, weights in
float64; a tensor that nothing reads must be refused. Needs torch and transformers.

The first round of every seed reads 300 tokens where the model allows, under a window of 70 where it
has one: more than a block of queries (64), of the MLP's rows (256) and of the window's reach over
two blocks.
"""

import argparse
import importlib
import inspect
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import random_families
import stored_otherwise
import torch
import transformers
from expected_hybrids import expected_of_hybrid
from expected_streams import STREAMS, expected_of_streams
from random_families import Draw
from random_hybrids import HYBRIDS, with_layers
from random_kinds import (
    ATTN_OUT,
    BANDS,
    BERT_LIKE,
    CROSS_OUT,
    DECODERS_ALONE,
    DINO,
    HALVES,
    ONE_HEAD,
    WITHOUT_HEAD_DIM,
)
from rounding import allowed
from safetensors.numpy import load_file

TOLERANCE = {
    "hook_pattern": 5e-5,
    "_out": 1e-4,
    "hook_z": 1e-4,
    "resid_pre": 2e-4,
    "resid_mid": 2e-4,
    "resid_post": 2e-4,
    "hook_normalized": 1e-4,
    "logits": 1e-4,
}
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def randomize(model, generator):
    """Weights that leave attention neither flat nor one-hot, biases and gains that are not 0 and
    1."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if name.endswith(("e_score_correction_bias", "expert_bias")):
                p.copy_(0.3 * noise)
                continue
            if not p.requires_grad:  # a table of sines
                continue
            if p.ndim == 1 or name.endswith("_norm.weight"):
                p.copy_(
                    0.3 * noise
                    + (
                        1.0
                        if name.endswith("weight")
                        and "norm" in name.lower()
                        or re.search(r"ln_\w+\.weight$|LayerNorm\.weight$", name)
                        else 0.0
                    )
                )
            elif (
                "embed" in name
                or "wte" in name
                or "wpe" in name
                or "shared" in name
                or "relative_attention_bias" in name
            ):
                p.copy_(0.7 * noise)
            elif ".experts." in name and p.ndim == 3:  # all experts in one tensor
                p.copy_(noise / p.shape[1] ** 0.5)
            else:
                p.copy_(noise * 1.0 / p[0].numel() ** 0.5)
                if name.endswith("Attention.q.weight"):  # T5 does not scale its scores
                    p.div_(model.config.d_kv**0.5)
            if name.endswith("q_norm.weight") and re.match("gemma(3n|4)", model.config.model_type):
                p.div_(p.shape[0] ** 0.5)  # nor do Gemma 3n and 4
            if name.endswith("altup.modality_router.weight"):  # whose scores are divided by this
                p.mul_(p.shape[1])
        for name, b in model.named_buffers():
            if name.endswith(("final_logits_bias", "e_score_correction_bias")):
                b.copy_(0.3 * torch.randn(b.shape, generator=generator))
            if name.endswith("layer_scalar"):
                b.copy_(1 + 0.3 * torch.randn(b.shape, generator=generator))


def pattern_of(model, attention):
    """SqueezeBERT returns its scores."""
    return attention.softmax(-1) if model.config.model_type == "squeezebert" else attention


def rows_of(module, output):
    """[n, width]: what a module puts out."""
    output = output[0] if isinstance(output, tuple) else output
    if type(module).__module__.endswith("fsmt"):  # the sequence is its first axis
        output = output.transpose(0, 1)
    output = output[0].detach()
    if isinstance(module, torch.nn.Conv1d):  # [width, n]
        output = output.T
    return output.numpy().reshape(-1, output.shape[-1])


def watch(model, pattern, into):
    for name, module in model.named_modules():
        if pattern and re.search(pattern, name):
            module.register_forward_hook(lambda m, i, o: into.append(rows_of(m, o)))


def expected_of(kind, model, inputs):
    """Tensors by Headlight's names."""
    added, crossed = [], []
    model.config._experts_implementation = "eager"  # others know no float64
    if kind in HYBRIDS:
        return expected_of_hybrid(model, inputs, watch)
    if kind in STREAMS:
        return expected_of_streams(model, inputs)
    watch(model, ATTN_OUT.get(kind, r"self_attn$"), added)
    watch(model, CROSS_OUT.get(kind), crossed)
    with torch.no_grad():
        out = model(**inputs, output_attentions=True, output_hidden_states=True)
    numpy = lambda t: t[0].numpy()
    want = {} if kind in DINO else {"logits": numpy(out.logits)}  # theirs reads the mean patch too
    if kind == "gpt_neox_japanese":  # its last layer's attention returns its bias apart
        last = model.gpt_neox_japanese.layers[-1].attention
        added[-1] = added[-1] + last.dense_bias.detach().numpy()
    if model.config.is_encoder_decoder:
        for i, p in enumerate(out.encoder_attentions):
            tokens = inputs["input_ids"].shape[1]
            if kind not in BANDS:
                want[f"encoder.{i}.attn.hook_pattern"] = numpy(p)
            want[f"encoder.{i}.hook_attn_out"] = added.pop(0)[:tokens]  # LED pads
            want[f"encoder.{i}.hook_resid_pre"] = numpy(out.encoder_hidden_states[i])
        for i, p in enumerate(out.decoder_attentions):
            want[f"decoder.{i}.attn.hook_pattern"] = numpy(p)
            want[f"decoder.{i}.cross_attn.hook_pattern"] = numpy(out.cross_attentions[i])
            want[f"decoder.{i}.hook_attn_out"] = added.pop(0)
            want[f"decoder.{i}.hook_cross_attn_out"] = crossed.pop(0)
            want[f"decoder.{i}.hook_resid_pre"] = numpy(out.decoder_hidden_states[i])
        want["encoder.ln_final.hook_normalized"] = numpy(out.encoder_last_hidden_state)
    else:
        scale = getattr(model.config, "residual_multiplier", 1.0)  # of what blocks add
        for i, p in enumerate(out.attentions):
            want[f"blocks.{i}.attn.hook_pattern"] = numpy(pattern_of(model, p))
            want[f"blocks.{i}.hook_attn_out"] = scale * added.pop(0)
            want[f"blocks.{i}.hook_resid_pre"] = numpy(out.hidden_states[i])
        if kind not in ("vit", "opt", *DINO):  # theirs ends before or after what the name means
            want["ln_final.hook_normalized"] = numpy(out.hidden_states[-1])
    assert not added and not crossed, f"{kind}: a module was watched that belongs to no layer"
    return want


def inputs_of(kind, model, d, folder):
    """Inputs of transformers, and the same as options of `headlight trace`."""
    c = model.config
    if kind in ("vit", *DINO):
        from PIL import Image

        pixels = np.frombuffer(d.randbytes(c.image_size * c.image_size * 3), np.uint8).reshape(
            c.image_size, c.image_size, 3
        )
        Image.fromarray(pixels).save(folder / "picture.png")
        values = torch.tensor((pixels / 255.0 - 0.5) / 0.5, dtype=torch.float32).permute(2, 0, 1)[
            None
        ]
        return {"pixel_values": values}, ["--image", folder / "picture.png"]
    longest = 300 if d.long else 90 if kind in ("t5", "mt5", "umt5", "longt5") else 60
    rope = getattr(c, "rope_parameters", None) or {}
    if rope.get("rope_type") == "dynamic" and not rope.get("alpha"):  # which stretches once for all
        longest = max(longest, 100)  # beyond the context, where the scaling sets in
    if hasattr(model, "lm_head") and kind in BERT_LIKE:  # positions begin past the padding id
        longest = 290 if d.long else 50
    ids = [d.randrange(4, 90) for _ in range(longest if d.long else d.choice([1, 9, longest]))]
    inputs = {"input_ids": torch.tensor([ids])}
    options = ["--ids", ",".join(map(str, ids))]
    if getattr(c, "type_vocab_size", 0) > 1:
        types = [int(i > len(ids) // 2) for i in range(len(ids))]
        inputs["token_type_ids"] = torch.tensor([types])
        options += ["--token-types", ",".join(map(str, types))]
    if kind == "fsmt" or kind in DECODERS_ALONE:
        inputs["use_cache"] = False  # FSMT's has no causal mask; others' count the encoder's layers
    if c.is_encoder_decoder:
        start = getattr(c, "decoder_start_token_id", None)
        target = [start if start is not None else 0] + [
            d.randrange(4, 90) for _ in range(d.choice([130] if d.long else [0, 11]))
        ]
        inputs["decoder_input_ids"] = torch.tensor([target])
        options += ["--target-ids", ",".join(map(str, target))]
    return inputs, options


def add_unread_keys(path, d):
    """Add keys that these classes do not read, with any value: their heads are as wide as the width
    divided by their number."""
    config = json.loads(path.read_text())
    path.write_text(
        json.dumps(
            {
                **config,
                "head_dim": d.choice([5, 6, 64, 16384, "x"]),
                "n_ctx": d.choice([None, [1], "?"]),
            }
        )
    )


def in_float64(kind, model, inputs):
    wide = lambda v: v.double() if torch.is_tensor(v) and v.is_floating_point() else v
    return expected_of(kind, model.double(), {k: wide(v) for k, v in inputs.items()})


def run(*command):
    return subprocess.run([str(x) for x in command], capture_output=True, text=True)


def traced(headlight, folder, out, *options):
    return run(headlight, "trace", "--model", folder, "-o", out, "--quiet", *options)


def run_with_unread(folder, d, again):
    """None, or how a tensor that nothing reads was taken."""
    name = stored_otherwise.add_unread(folder, d)
    done = again()
    if done.returncode == 1 and f"the tensor {name} " in done.stderr:
        return None
    return f"{name} is read in silence: {done.stderr.strip()}"


def compare(headlight, kind, seed, folder, long):
    d = Draw(f"{kind} {seed}")
    d.long = long
    config, head = getattr(random_families, "make_" + kind)(d)
    config._attn_implementation = "eager"
    torch.manual_seed(d.randrange(1 << 30))
    model = head(config).eval()
    randomize(model, torch.Generator().manual_seed(d.randrange(1 << 30)))
    model.save_pretrained(folder)
    if d.flag():
        model = stored_otherwise.rewrite(folder, model, d)
    stored_otherwise.wrap(folder, d)
    if kind in WITHOUT_HEAD_DIM and d.flag():
        add_unread_keys(folder / "config.json", d)
    inputs, options = inputs_of(kind, model, d, folder)
    want = expected_of(kind, model, inputs)
    out = folder / "trace.safetensors"
    captured = ["--capture", "*"] if kind in (*HYBRIDS, *STREAMS) else []
    again = lambda: traced(headlight, folder, out, *options, *captured)
    done = again()
    if not done.returncode and not long and (refused := run_with_unread(folder, d, again)):
        return refused, 0.0
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.strip()}", 0.0
    got, worst, exact = load_file(out), 0.0, None
    for name, w in want.items():
        if name not in got:
            return f"no tensor {name}", 0.0
        if name.endswith("hook_z"):  # the mixing matrix times the values, as it stands in the file
            m, v = (
                got[name.replace("hook_z", "hook_pattern")],
                got[name.replace("hook_z", "hook_v")],
            )
            got[name] = np.einsum("hqk,khd->qhd", m, v).reshape(w.shape)
        if got[name].shape != w.shape:
            return f"{name} has the shape {got[name].shape} instead of {w.shape}", 0.0
        error = float(np.abs(got[name].astype(np.float64) - w).max())
        limit = next(t for k, t in TOLERANCE.items() if name.endswith(k)) * max(
            1.0, float(np.abs(w).max()) / 8
        )
        # Some random models magnify rounding: transformers in float64 tells which side is off.
        if not error <= limit:
            exact = exact or in_float64(kind, model, inputs)
            from_exact = lambda x: float(np.abs(x.astype(np.float64) - exact[name]).max())
            ours, theirs = from_exact(got[name]), from_exact(w)
            limit = allowed(
                ours,
                limit,
                theirs,
                model,
                lambda: from_exact(in_float64(kind, model, inputs)[name]),
            )
            if not ours <= limit:
                said = f"{name} is off by {error:.2e}, from float64 by {ours:.2e} (transformers' "
                return f"{said}float32: {theirs:.2e})", error
            error = ours
        worst = max(worst, error / limit)
    return "", worst


def open_another_head(headlight, kind, d, folder):
    """None, or how a model of the same layers that does another task was not opened, or its
    patterns differ."""
    d.long = False
    config, head = getattr(random_families, "make_" + kind)(d)
    config._attn_implementation, module = "eager", importlib.import_module(head.__module__)
    tasks = [
        name
        for name, made in vars(module).items()
        if inspect.isclass(made)
        and issubclass(made, transformers.PreTrainedModel)
        and made.__module__ == module.__name__
        and not re.search("Pre[Tt]rained", name)
        and not re.search(HALVES.get(kind, "Embeddings$|Layer$|Encoder$"), name)
    ]
    task = d.choice(sorted(tasks))
    model = getattr(module, task)(config).eval()
    for p in (p for p in model.parameters() if p.ndim == 2 and not p.any()):
        torch.nn.init.normal_(p, 0, 0.02)  # a router that begins at 0 leaves ties to chance
    model.save_pretrained(folder)
    inputs, options = inputs_of(kind, model, d, folder)
    out = folder / "trace.safetensors"
    done = traced(headlight, folder, out, *options)
    if done.returncode:
        return f"{task}: {done.stderr.strip()}"
    layers = (
        model.get_encoder()
        if config.is_encoder_decoder
        else getattr(model, model.base_model_prefix, model)
    )
    with torch.no_grad():
        known = {k: v for k, v in inputs.items() if not k.startswith("decoder")}
        attentions = layers(**known, output_attentions=True).attentions
    last, pattern = with_layers(model.config, attentions)[-1]
    side = "encoder" if config.is_encoder_decoder else "blocks"
    error = np.abs(
        load_file(out)[f"{side}.{last}.attn.hook_pattern"] - pattern_of(model, pattern)[0].numpy()
    ).max()
    return None if error <= TOLERANCE["hook_pattern"] else f"{task}: patterns differ by {error:.1e}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--sample", type=int, default=0, help="so many families; 0: all")
    p.add_argument("--keep", type=Path)
    a = p.parse_args()
    kinds = random_families.kinds(a.only, a.sample, a.seed)
    print(f"seed {a.seed}, transformers {transformers.__version__}")
    failed = 0
    for kind in kinds:
        worst = 0.0
        for i in range(a.rounds):
            with tempfile.TemporaryDirectory() as temporary:
                folder = a.keep / f"{kind}-{a.seed + i}" if a.keep else Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                problem, share = compare(a.headlight, kind, a.seed + i, folder, long=i == 0)
            worst = max(worst, share)
            if problem:
                failed += 1
                print(f"FAIL {kind}, seed {a.seed + i}: {problem}")
        with tempfile.TemporaryDirectory() as temporary:
            draw = Draw(f"{kind} head {a.seed}")
            other = None
            if kind not in ONE_HEAD:
                other = open_another_head(a.headlight, kind, draw, Path(temporary))
            if other:
                failed += 1
                print(f"FAIL {kind}, seed {a.seed}: {other}")
        print(f"{kind}: largest error {worst:.2f} of its tolerance")
    print(f"{len(kinds) * a.rounds} random models, {failed} differ (seed {a.seed})")
    import random_configs  # the other way round, it needs this module

    failed += random_configs.compare_all(a.headlight, kinds, a.seed, max(1, a.rounds // 3), a.keep)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
