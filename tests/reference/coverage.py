#!/usr/bin/env python3
"""Build a tiny random model of every architecture that transformers has, and see what Headlight
does with it: right (patterns and logits equal), refused in one sentence, or wrong.

    coverage.py build/headlight [causal] [masked] [seq2seq] [--only TYPE,…] [--refused]

Fails if a model is wrong, if one is refused without a sentence, or if fewer are right than the
last time that this file was changed (FLOOR). Needs torch and transformers.
"""

import argparse
import collections
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import torch
import transformers
from random_hybrids import HYBRIDS, with_layers
from safetensors import safe_open
from transformers.models.auto import configuration_auto, modeling_auto

FLOOR = {"causal": 130, "masked": 31, "seq2seq": 21}
IDS = [5, 9, 14, 22, 31, 40, 9, 14, 60, 7, 33, 21]
TARGET = [1, 9, 14, 22]
# Classes whose patterns leave the weight of the sink out.
SINKS_APART = ("granite_swa", "granitemoe_swa")
MAX_PARAMETERS = 30_000_000
KINDS = {
    "causal": (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, transformers.AutoModelForCausalLM),
    "masked": (modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, transformers.AutoModelForMaskedLM),
    "seq2seq": (
        modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        transformers.AutoModelForSeq2SeqLM,
    ),
}
# The value of every key of size, under all its spellings.
SIZES = {
    64: "hidden_size n_embd d_model dim embedding_size",
    96: "vocab_size intermediate_size n_inner ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim "
    "vocab_size_per_layer_input",
    3: "num_hidden_layers n_layer n_layers num_layers",
    2: "encoder_layers decoder_layers num_key_value_heads num_experts_per_tok mamba_expand "
    "linear_num_key_heads eos_token_id",
    4: "encoder_attention_heads decoder_attention_heads num_attention_heads n_head n_heads "
    "num_heads num_local_experts num_experts n_routed_experts linear_num_value_heads index_topk "
    "mamba_n_heads",
    16: "head_dim d_kv kv_lora_rank qk_nope_head_dim v_head_dim linear_key_head_dim "
    "linear_value_head_dim hidden_size_per_layer_input",
    128: "max_position_embeddings n_positions max_seq_len",
    32: "moe_intermediate_size shared_expert_intermediate_size image_size mamba_d_head",
    8: "qk_rope_head_dim sliding_window patch_size mamba_d_state laurel_rank",
    24: "q_lora_rank",
    1: "n_shared_experts n_group topk_group first_k_dense_replace bos_token_id "
    "decoder_start_token_id mamba_n_groups",
    0: "pad_token_id num_kv_shared_layers",
}
SMALL = {key: size for size, keys in SIZES.items() for key in keys.split()}


def small_config(cls):
    """A configuration of the class with small sizes; layer types as the class makes them."""
    usual = cls().to_dict()
    sizes = {
        key: size
        for key, size in SMALL.items()
        if key in usual and not (usual[key] is None and key == "head_dim")
    }
    for key, value in vars(cls()).items():
        if hasattr(value, "to_diff_dict"):
            sizes[key] = {k: v for k, v in SMALL.items() if k in value.to_dict()}
    if "layer_types" in usual:
        sizes["layer_types"] = None
    try:
        return cls(**sizes)
    except (TypeError, ValueError, KeyError, AttributeError):
        sizes.pop("layer_types", None)
        return cls(**sizes)


def build(model_type, auto):
    """A random model with an eager attention, and weights that make patterns uneven."""
    config = small_config(configuration_auto.CONFIG_MAPPING[model_type])
    torch.manual_seed(0)
    model = auto.from_config(config, attn_implementation="eager").eval().float()
    if sum(p.numel() for p in model.parameters()) > MAX_PARAMETERS:
        raise ValueError("too large to compare")
    for parameter in model.parameters():
        if not parameter.requires_grad:  # a table of sinusoids, which the class makes itself
            continue
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.08)
        else:
            parameter.data.add_(torch.randn_like(parameter) * 0.02)
    return model


def largest_errors(model, kind, path):
    """The largest error of logits, relative to the largest logit, and of patterns."""
    inputs = {"input_ids": torch.tensor([IDS])}
    if kind == "seq2seq":
        inputs["decoder_input_ids"] = torch.tensor([TARGET])
    # FSMT's decoder is causal without a cache alone; recurrences alone have no cache of keys.
    if model.config.model_type == "fsmt" or model.config.model_type in HYBRIDS:
        inputs["use_cache"] = False
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    patterns = getattr(out, "decoder_attentions" if kind == "seq2seq" else "attentions", None) or []
    name = "decoder.{}.attn.hook_pattern" if kind == "seq2seq" else "blocks.{}.attn.hook_pattern"
    worst = 0.0
    with safe_open(path, "pt") as file:
        held = set(file.keys())
        logits = file.get_tensor("logits")
        error = (logits - out.logits[0]).abs().max() / out.logits[0].abs().max().clamp(min=1e-9)
        hybrid = model.config.model_type in HYBRIDS
        for layer, pattern in (
            with_layers(model.config, patterns) if hybrid else enumerate(patterns)
        ):
            if pattern is not None and name.format(layer) in held:
                shown = file.get_tensor(name.format(layer))
                if shown.shape != pattern[0].shape:  # a band of the pattern (Longformer)
                    continue
                if pattern.min() < 0:  # SqueezeBERT gives its scores
                    pattern = pattern.softmax(-1)
                if model.config.model_type in SINKS_APART:
                    shown = shown / shown.sum(-1, keepdim=True)
                worst = max(worst, (shown - pattern[0]).abs().max().item())
    return error.item(), worst


def state_of(program, model_type, kind, folder):
    """What becomes of one architecture, and why."""
    try:
        model = build(model_type, KINDS[kind][1])
        model.save_pretrained(folder)
        if model.config.is_encoder_decoder and kind != "seq2seq":
            return "not built", "counted with encoder–decoders"
    except Exception as problem:  # transformers itself cannot build or save it so small
        return "not built", repr(problem)[:100]
    ids, target = (",".join(map(str, each)) for each in (IDS, TARGET))
    trace = f"{folder}/trace.safetensors"
    command = [program, "trace", "--model", str(folder), "--ids", ids, "-o", trace]
    if kind == "seq2seq":
        command += ["--target-ids", target]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if run.returncode:
        sentence = run.stderr.strip().replace(str(folder), model_type)
        plain = run.returncode == 1 and len(sentence.splitlines()) == 1
        return ("refused" if plain else "crashed"), sentence[-300:]
    logits, patterns = largest_errors(model, kind, trace)
    return ("right" if max(logits, patterns) < 1e-3 else "wrong"), f"{logits:.1e} {patterns:.1e}"


def main():
    """Prints a line for each architecture that is not refused, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--only", default="")
    parser.add_argument("--refused", action="store_true", help="print what is refused too")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    failed = False
    for kind in options.kinds:
        counts = collections.Counter()
        for model_type in sorted(KINDS[kind][0]):
            if options.only and model_type not in options.only.split(","):
                continue
            with tempfile.TemporaryDirectory() as folder:
                state, why = state_of(options.program, model_type, kind, Path(folder))
            counts[state] += 1
            if state in ("wrong", "crashed"):
                failed = True
                print(f"FAIL {kind} {model_type}: {state}, {why}", flush=True)
            elif state == "right" or (options.refused and state == "refused"):
                print(f"{kind} {model_type}: {state}, {why}", flush=True)
        built = sum(counts.values()) - counts["not built"]
        print(f"{counts['right']} of {built} {kind} architectures right, {counts['wrong']} wrong")
        if not options.only and counts["right"] < FLOOR[kind]:
            failed = True
            print(f"FAIL {kind}: fewer than {FLOOR[kind]} are right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
