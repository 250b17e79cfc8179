#!/usr/bin/env python3
"""Masks and changes against transformers given the same 4-D mask, the same hook or the same
attention (changed_attention.py), in a pass and while generating, on decoders, encoders and
encoder-decoders of the reference folder:

    python changes.py build/headlight [SEED]

The tokens are drawn from the seed, which is printed.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from change_cases import BLOCKS, PAIRS, PUT_BLOCKS, PUT_PAIRS
from changed_attention import Changes, changed
from hooks import hooked
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
IDS, TARGET = (
    random.Random(SEED).choices(range(4, 110), k=10),
    [3, *random.Random(SEED + 1).choices(range(4, 110), k=4)],
)
TOLERANCE = 2e-4
worst = 0.0
failed = 0


def allowed(name, n, causal):
    """The mask that the name means, as rows of booleans."""
    kind, *numbers = name.split(":")
    numbers = list(map(int, numbers))
    q, k = torch.arange(n)[:, None], torch.arange(n)[None, :]
    below = (k <= q) if causal else torch.ones(n, n, dtype=torch.bool)
    return {
        "none": lambda: torch.ones(n, n, dtype=torch.bool),
        "causal": lambda: k <= q,
        "window": lambda: below & ((q - k).abs() < numbers[0]),
        "prefix": lambda: (k <= q) | ((q < numbers[0]) & (k < numbers[0])),
        "global": lambda: (
            below & ((q < numbers[0]) | (k < numbers[0]) | ((q - k).abs() < numbers[1]))
        ),
    }[kind]()


def additive(mask):
    return torch.zeros(1, 1, *mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)


def ours(folder, *options, ids=IDS):
    return trace_of(folder, *options, ids=ids)["logits"]


def trace_of(folder, *options, ids=IDS, capture="logits"):
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "t.safetensors"
        command = [
            PROGRAM,
            "trace",
            "--model",
            folder,
            "--ids",
            ",".join(map(str, ids)),
            "-o",
            path,
            "--capture",
            capture,
            "--quiet",
            *options,
        ]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return load_file(path)


def hold(what, got, want):
    global worst, failed
    error = (got - want).abs().max().item() / max(1.0, want.abs().max().item() / 8)
    worst = max(worst, error)
    if not error <= TOLERANCE:
        failed += 1
        print(f"FAIL {what}: {error:.2e}")


def zero_head(module, head, width):
    """The output projection's input without one head."""

    def hook(_, inputs):
        x = inputs[0].clone()
        x[..., head * width : (head + 1) * width] = 0
        return (x, *inputs[1:])

    return module.register_forward_pre_hook(hook)


def every_kind(folder, model, texts):
    """Each change alone, each with the next, and rows put in place beside a change, in a pass:
    logits, and all that a trace holds, equal what stands at the same hook."""
    pair = model.config.is_encoder_decoder
    more = {"decoder_input_ids": torch.tensor([TARGET])} if pair else {}
    given = ["--target-ids", ",".join(map(str, TARGET))] if pair else []
    lists = (
        [[text] for text in texts]
        + [[a, b] for a, b in zip(texts, texts[1:])]
        + (PUT_PAIRS if pair else PUT_BLOCKS)
    )
    run = lambda: model(torch.tensor([IDS]), use_cache=False, **more).logits[0]
    checks = 0
    with changed(model, Changes([])) as none, hooked(model, none) as natural:
        run()
    for texts in lists:
        changes, entrance = Changes(texts), f"{'encoder' if pair else 'blocks'}.0.hook_resid_pre"
        got = trace_of(
            folder, *given, *(w for text in texts for w in ("--change", text)), capture="*"
        )
        with (
            changed(model, changes),
            hooked(model, changes, natural, {entrance: got[entrance]}) as want,
        ):
            logits = run()
        for name, tensor in {**want, "logits": logits}.items():
            hold(f"{folder.name} {' '.join(texts)}: {name}", got[name], tensor)
            checks += 1
    return checks


def while_generating(folder, model, texts, start):
    """Every written token has the probability that a whole pass over what stands before it gives
    it."""
    global worst, failed
    pair = model.config.is_encoder_decoder
    for text in texts:
        begin = [start] if pair else IDS
        command = [
            PROGRAM,
            "generate",
            "--model",
            folder,
            "--ids",
            ",".join(map(str, IDS)),
            *(["--target-ids", str(start)] if pair else []),
            "--tokens",
            14,
            "--json",
            "--change",
            text,
        ]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        steps = json.loads(run.stdout)["steps"]
        written = [step["id"] for step in steps]
        with changed(model, Changes([text])):
            for i, step in enumerate(steps):
                read = torch.tensor([begin + written[:i]])
                out = (
                    model(torch.tensor([IDS]), decoder_input_ids=read, use_cache=False)
                    if pair
                    else model(read, use_cache=False)
                )
                error = abs(
                    torch.softmax(out.logits[0, -1].float(), -1)[step["id"]].item() - step["p"]
                )
                worst = max(worst, error)
                if error > TOLERANCE:
                    failed += 1
                    print(f"FAIL {folder.name} while generating, {text}, step {i}: {error:.2e}")
                    break
    return len(texts)


def frozen(folder, model):
    """Heads with the pattern of another text, token by token the same length."""
    texts, checks = ("the cat", "a cat"), 0
    read = subprocess.run(
        [PROGRAM, "tokenize", "--model", folder],
        input="".join(json.dumps({"text": t}) + "\n" for t in texts),
        capture_output=True,
        text=True,
    )
    ids, other = (json.loads(line)["ids"] for line in read.stdout.splitlines())
    if len(ids) != len(other):
        return 0
    for head in ("encoder.0.1", "cross.1.0"):
        with changed(model, Changes([])) as natural:
            model(torch.tensor([other]), decoder_input_ids=torch.tensor([TARGET]), use_cache=False)
        kind, layer, number = head.split(".")
        pattern = natural.patterns[kind, int(layer)][int(number)]
        with changed(model, Changes([], {head: pattern})):
            want = model(
                torch.tensor([ids]), decoder_input_ids=torch.tensor([TARGET]), use_cache=False
            ).logits[0]
        hold(
            f"{folder.name} freeze {head}",
            ours(
                folder,
                "--target-ids",
                ",".join(map(str, TARGET)),
                "--change",
                f"freeze:{head}={texts[1]}",
                ids=ids,
            ),
            want,
        )
        checks += 1
    return checks


@torch.no_grad()
def main():
    print(f"seed {SEED}")
    ids = torch.tensor([IDS])
    checks = 0
    for name, projection in (
        ("gpt2", lambda m: m.transformer.h[1].attn.c_proj),
        ("llama", lambda m: m.model.layers[1].self_attn.o_proj),
        ("qwen2", lambda m: m.model.layers[1].self_attn.o_proj),
        ("phi", lambda m: m.model.layers[1].self_attn.dense),
    ):
        folder = HERE / "models" / name
        model = AutoModelForCausalLM.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        ).eval()
        for mask in ("none", "causal", "window:3", "prefix:4", "global:2:3"):
            hold(
                f"{name} {mask}",
                ours(folder, "--mask", mask),
                model(ids, attention_mask=additive(allowed(mask, len(IDS), True))).logits[0],
            )
            checks += 1
        for head in range(2):
            width = model.config.hidden_size // model.config.num_attention_heads
            handle = zero_head(projection(model), head, width)
            hold(
                f"{name} ablate 1.{head}",
                ours(folder, "--ablate", f"1.{head}"),
                model(ids).logits[0],
            )
            handle.remove()
            checks += 1
    for name, projection in (
        ("bert", lambda m: m.bert.encoder.layer[1].attention.output.dense),
        ("distilbert", lambda m: m.distilbert.transformer.layer[1].attention.out_lin),
    ):
        folder = HERE / "models" / name
        model = AutoModelForMaskedLM.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        ).eval()
        width = model.config.hidden_size // model.config.num_attention_heads
        handle = zero_head(projection(model), 1, width)
        hold(f"{name} ablate 1.1", ours(folder, "--ablate", "1.1"), model(ids).logits[0])
        handle.remove()
        checks += 1
        padded = IDS[:7] + [model.config.pad_token_id] * 3
        as_tensor = torch.tensor([padded])
        want = model(
            as_tensor, attention_mask=(as_tensor != model.config.pad_token_id).long()
        ).logits[0]
        hold(f"{name} padding", ours(folder, "--mask", "padding", ids=padded), want)
        handles = [
            zero_head(projection(model), head, width)
            for head in range(model.config.num_attention_heads)
            if head != 1
        ]
        hold(f"{name} keep 1.1", ours(folder, "--ablate", "1.1:keep"), model(ids).logits[0])
        for handle in handles:
            handle.remove()
        checks += 2
        if name != "bert":
            continue
        for mask in ("none", "causal", "window:3", "prefix:4", "global:2:3"):
            hold(
                f"{name} {mask}",
                ours(folder, "--mask", mask),
                model(ids, attention_mask=additive(allowed(mask, len(IDS), False))).logits[0],
            )
            checks += 1
    folder = HERE / "models" / "gpt2"
    model = AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    for forbidden in ((6, 2), (9, 0)):
        mask = allowed("causal", len(IDS), True)
        mask[forbidden] = False
        hold(
            f"gpt2 forbid {forbidden}",
            ours(folder, "--change", f"mask:{forbidden[0]}>{forbidden[1]}"),
            model(ids, attention_mask=additive(mask)).logits[0],
        )
        checks += 1
    for name in ("marian", "bart"):
        folder = HERE / "models" / name
        model = AutoModelForSeq2SeqLM.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        ).eval()
        target = torch.tensor([TARGET])
        layers = {
            "encoder.0.1": (model.model.encoder.layers[0].self_attn.out_proj, 1),
            "decoder.1.0": (model.model.decoder.layers[1].self_attn.out_proj, 0),
            "cross.0.2": (model.model.decoder.layers[0].encoder_attn.out_proj, 2),
        }
        for head, (module, number) in layers.items():
            width = model.config.d_model // model.config.decoder_attention_heads
            handle = zero_head(module, number, width)
            hold(
                f"{name} ablate {head}",
                ours(folder, "--target-ids", ",".join(map(str, TARGET)), "--ablate", head),
                model(ids, decoder_input_ids=target).logits[0],
            )
            handle.remove()
            checks += 1
    for name, kind in (
        ("gpt2", AutoModelForCausalLM),
        ("llama", AutoModelForCausalLM),
        ("marian", AutoModelForSeq2SeqLM),
        ("bart", AutoModelForSeq2SeqLM),
    ):
        folder = HERE / "models" / name
        model = kind.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        ).eval()
        pair = model.config.is_encoder_decoder
        checks += every_kind(folder, model, PAIRS if pair else BLOCKS)
        checks += while_generating(
            folder,
            model,
            [
                "mask:*>0@*",
                "mask:12..>3",
                "temperature:0.5",
                "ablate:1.0:mean",
                "positions:off",
                "positions:shuffle:5",
            ]
            if not pair
            else """
                mask:*>1@cross mask:3..>0@cross.1 mask:*>0@* mask:4..>1@decoder temperature:0.4
                temperature:0@cross ablate:cross.1.0:mean skip-attention:cross.0 mask:0>0@decoder
                positions:off positions:shuffle:5@decoder
            """.split(),
            TARGET[0],
        )
        checks += frozen(folder, model) if pair else 0
    for name in ("qwen2", "phi"):
        folder = HERE / "models" / name
        checks += every_kind(
            folder,
            AutoModelForCausalLM.from_pretrained(
                folder, attn_implementation="eager", dtype=torch.float32
            ).eval(),
            [],
        )
    print(
        (
            f"{checks} masks and changes, and tensors under them, equal transformers', largest "
            "error "
            f"{worst:.1e}"
        )
        if not failed
        else f"{failed} of {checks} differ"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
