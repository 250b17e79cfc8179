#!/usr/bin/env python3
"""The built-in translator, and small models of the other families that write, against transformers:
logits, the three kinds of attention, greedy texts token for token, beam search.

    python translator.py build/headlight [SENTENCES.txt]

Without a file: translator_sentences.txt, 500 sentences of the generated templates that training
held out.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, MarianMTModel, MarianTokenizer

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
SENTENCES = (
    Path(sys.argv[2] if len(sys.argv) > 2 else HERE / "translator_sentences.txt")
    .read_text(encoding="utf-8")
    .splitlines()
)
FOLDER = HERE.parent.parent / "models/translator"
TOLERANCE = 1e-4
failed = 0
torch.set_num_threads(2)
transformers.utils.logging.disable_progress_bar()


def headlight(*options):
    run = subprocess.run([str(o) for o in (PROGRAM, *options)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def hold(what, fine, note=""):
    global failed
    if not fine:
        failed += 1
        print(f"FAIL {what} {note}")


def open_translator():
    model = MarianMTModel.from_pretrained(
        FOLDER, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    model.generation_config.forced_eos_token_id = None  # see compare_families
    return model, MarianTokenizer.from_pretrained(FOLDER)


@torch.no_grad()
def compare_tensors(model, tokenizer, sentences):
    """Logits and patterns of encoder, decoder and cross-attention while the translation is read."""
    worst = 0.0
    for text in sentences:
        source = tokenizer(text, return_tensors="pt").input_ids
        target = model.generate(source, num_beams=1)[:, :-1]
        theirs = model(input_ids=source, decoder_input_ids=target, output_attentions=True)
        with tempfile.TemporaryDirectory() as out:
            path = Path(out) / "t.safetensors"
            headlight(
                "trace",
                "--model",
                FOLDER,
                "--text",
                text,
                "--target-ids",
                ",".join(map(str, target[0].tolist())),
                "--capture",
                "logits",
                "--capture",
                "*.hook_pattern",
                "-o",
                path,
                "--quiet",
            )
            ours = load_file(path)
        pairs = {"logits": theirs.logits[0]}
        for kind, patterns in (
            ("encoder.{}.attn", theirs.encoder_attentions),
            ("decoder.{}.attn", theirs.decoder_attentions),
            ("decoder.{}.cross_attn", theirs.cross_attentions),
        ):
            for layer, pattern in enumerate(patterns):
                pairs[kind.format(layer) + ".hook_pattern"] = pattern[0]
        for name, want in pairs.items():
            error = (ours[name] - want).abs().max().item()
            worst = max(worst, error)
            hold(f"{name} of “{text}”", error <= TOLERANCE, f"{error:.2e}")
    print(f"{len(sentences)} sentences: largest error of logits and patterns {worst:.1e}")


@torch.no_grad()
def compare_texts(model, tokenizer, sentences, beams, **options):
    """Ids that both write."""
    differ = 0
    for text in sentences:
        source = tokenizer(text, return_tensors="pt")
        theirs = model.generate(**source, num_beams=beams, do_sample=False, **options)[
            0, 1:
        ].tolist()
        theirs = [i for i in theirs if i != tokenizer.eos_token_id]
        extra = (
            ["--length-penalty", options["length_penalty"]] if "length_penalty" in options else []
        )
        ours = headlight(
            "generate",
            "--model",
            FOLDER,
            "--text",
            text,
            "--tokens",
            95,
            "--beams",
            beams,
            *extra,
            "--ids-out",
        )
        ours = [int(i) for i in ours.strip().split(",") if i]
        differ += ours != theirs
        hold(f"beams {beams} “{text}”", ours == theirs, f"{ours} {theirs}")
    print(
        f"{beams} beams {options or ''}: {len(sentences) - differ} of {len(sentences)} texts equal"
    )


@torch.no_grad()
def compare_families():
    """A few tokens of every reference model that writes. transformers ends a text that grows too
    long with an end token of its own accord (forced_eos_token_id); Headlight stops and says that
    the text did not end."""
    ids = [5, 9, 200, 31, 5, 9, 77]
    for folder in sorted((HERE / "models").iterdir()):
        kind = (
            json.loads((folder / "config.json").read_text()).get("model_type")
            if (folder / "config.json").exists()
            else None
        )
        loader = {
            "marian": AutoModelForSeq2SeqLM,
            "bart": AutoModelForSeq2SeqLM,
            "t5": AutoModelForSeq2SeqLM,
            "mt5": AutoModelForSeq2SeqLM,
            "gpt2": AutoModelForCausalLM,
            "llama": AutoModelForCausalLM,
            "qwen3": AutoModelForCausalLM,
        }.get(kind)
        if not loader or not (folder / "model.safetensors").exists():
            continue
        model = loader.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        model.generation_config.forced_eos_token_id = None
        for beams in (1, 3):
            whole = model.generate(
                torch.tensor([ids]), num_beams=beams, do_sample=False, max_new_tokens=8
            )[0].tolist()
            end = model.generation_config.eos_token_id
            theirs = whole[len(ids) :] if loader is AutoModelForCausalLM else whole[1:]
            if not isinstance(end, list) and end in theirs:
                theirs = theirs[: theirs.index(end)]
            given = (
                ["--target-ids", model.generation_config.decoder_start_token_id]
                if loader is AutoModelForSeq2SeqLM
                else []
            )
            out = json.loads(
                headlight(
                    "generate",
                    "--model",
                    folder,
                    "--ids",
                    ",".join(map(str, ids)),
                    *given,
                    "--tokens",
                    8,
                    "--beams",
                    beams,
                    "--json",
                )
            )
            hold(
                f"{folder.name} with {beams} beams", out["ids"] == theirs, f"{out['ids']} {theirs}"
            )


def main():
    model, tokenizer = open_translator()
    compare_tensors(model, tokenizer, SENTENCES[:12])
    every = bool(os.environ.get("HEADLIGHT_LONG"))
    compare_texts(model, tokenizer, SENTENCES[: 500 if every else 150], 1)
    compare_texts(model, tokenizer, SENTENCES[: 100 if every else 40], 4)
    compare_texts(model, tokenizer, SENTENCES[100:130], 3, length_penalty=0.6)
    compare_families()
    print("failed" if failed else "all equal", failed or "")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
