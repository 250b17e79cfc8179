#!/usr/bin/env python3
"""The stations of Learn on the built-in translator, against transformers: the reference
translation's probabilities where the decoder reads one position, the last, a window or all; the
norm of a block before and after.

    learn_stations.py build/headlight
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import MarianMTModel, MarianTokenizer

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
FOLDER = HERE.parent.parent / "models/translator"
PAIRS = json.loads((HERE.parent.parent / "assets/held_out.json").read_text(encoding="utf-8"))
TOLERANCE, HALF, POSITION = 1e-4, 2, 1
worst = failed = checks = 0
transformers.utils.logging.disable_progress_bar()


def tables_of(station, *options):
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "page.json"
        run = subprocess.run(
            [
                str(o)
                for o in (PROGRAM, "learn", "--station", station, "-o", path, "--quiet", *options)
            ],
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        return {t["name"]: t for t in json.loads(path.read_text(encoding="utf-8"))["tables"]}


def hold(what, got, want):
    global worst, failed, checks
    error = max(abs(a - b) for a, b in zip(got, want, strict=True))
    worst, checks = max(worst, error), checks + 1
    if error > TOLERANCE:
        failed += 1
        print(f"FAIL {what}: {error:.2e}")


def allowed(way, queries, keys):
    """Which keys the decoder's queries see."""
    seen = torch.zeros(queries, keys, dtype=torch.bool)
    for q in range(queries):
        at = min(q, keys - 1)
        first, last = {
            "all": (0, keys),
            "window": (max(0, at - HALF), at + HALF + 1),
            "last": (keys - 1, keys),
            "one": (min(POSITION, keys - 1), min(POSITION, keys - 1) + 1),
        }[way]
        seen[q, first:last] = True
    return seen


def limits(model, tokenizer):
    for english, german in PAIRS[::9]:
        source = tokenizer(english, return_tensors="pt").input_ids
        target = tokenizer(text_target=german, return_tensors="pt").input_ids
        read = torch.cat([torch.tensor([[model.config.decoder_start_token_id]]), target[:, :-1]], 1)
        encoded = model.model.encoder(source).last_hidden_state
        rows = tables_of(
            "seq2seq",
            "--text",
            english,
            "--set",
            f"right={german}",
            "--set",
            "held-out=off",
            "--set",
            f"window={HALF}",
            "--set",
            f"position={POSITION}",
        )["bars"]["values"]
        for way, got in zip(("all", "window", "last", "one"), rows, strict=True):
            mask = torch.zeros(1, 1, read.shape[1], source.shape[1]).masked_fill(
                ~allowed(way, read.shape[1], source.shape[1]), torch.finfo(torch.float32).min
            )
            out = model.model.decoder(
                input_ids=read,
                encoder_hidden_states=encoded,
                encoder_attention_mask=mask,
                use_cache=False,
            ).last_hidden_state
            probabilities = torch.softmax(model.lm_head(out) + model.final_logits_bias, -1)[
                0, torch.arange(read.shape[1]), target[0]
            ]
            hold(f"{english} {way}", got, probabilities.tolist())


def norms(model, tokenizer):
    """Mean and deviation of the input and output of the norm after encoder layer 1's
    self-attention."""
    text, token = "The man, the woman and the child are here.", 3
    seen = {}
    handle = model.model.encoder.layers[1].self_attn_layer_norm.register_forward_hook(
        lambda _, x, y: seen.update(before=x[0][0, token], after=y[0, token])
    )
    model.model.encoder(tokenizer(text, return_tensors="pt").input_ids)
    handle.remove()
    tables = tables_of(
        "three-uses",
        "--text",
        text,
        "--layer",
        "encoder.1",
        "--head",
        "2",
        "--query",
        str(token),
        "--set",
        "tired-or-wide=off",
    )
    table = next(t for name, t in tables.items() if name.startswith("A block"))
    rows = dict(zip(table["rows"], table["values"]))
    numbers = lambda x: [x.mean().item(), x.std(unbiased=False).item()]
    hold("residual", rows["residual = X + output"][-2:], numbers(seen["before"]))
    hold("LayerNorm", rows["LayerNorm"][-2:], numbers(seen["after"]))


@torch.no_grad()
def main():
    model = MarianMTModel.from_pretrained(
        FOLDER, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    tokenizer = MarianTokenizer.from_pretrained(FOLDER)
    limits(model, tokenizer)
    norms(model, tokenizer)
    print(
        f"{checks} rows of stations equal transformers', largest error {worst:.1e}"
        if not failed
        else f"{failed} of {checks} differ"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
