#!/usr/bin/env python3
"""Record the attention of every head of a transformers model, for Headlight to open without
the model's weights:

    python capture_trace.py MODEL --text "The cat sat on the mat." -o trace.safetensors
    python capture_trace.py meta-llama/Llama-3.1-70B --device-map auto --dtype bfloat16 --text-file
    long.txt -o trace.safetensors torchrun --nproc-per-node 4 capture_trace.py
    meta-llama/Llama-3.1-70B --tp-plan auto --dtype bfloat16 --text-file long.txt -o
    trace.safetensors headlight render --trace trace.safetensors --view head --head 3.5 -o
    head.pdf

Loads the model with transformers 5 (and accelerate for --device-map; for --tp-plan one that has
DistributedConfig(tp_plan=…)) and hands it to headlight.trace, which records a model in memory as
well; the package is found where it is installed, or in the folder "python" beside this file. Each
layer's queries and keys go to the file as soon as they are computed, so that memory holds one
layer's; with --tp-plan, each process writes those of its heads. From q, k, the scale and the soft
cap Headlight computes the patterns; where something else acts on the scores (T5, BLOOM), or a model
does not use transformers' attention interface, patterns are stored: heads x tokens x tokens numbers
a layer. Size: q and k of 80 layers of 64 + 8 heads of 128 at 4,096 tokens are 12 GB; patterns of
the same 344 GB.
"""

import argparse
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer

sys.path.append(str(Path(__file__).resolve().parent / "python"))
try:
    import headlight
except ImportError as problem:
    sys.exit(
        f"{problem.name} is missing: 'pip install headlight-attention numpy', or keep the folder "
        "python of Headlight's models beside this file."
    )


def load(options, config):
    """With eager attention, which returns its patterns where the interface cannot be used."""
    kind = "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModel"
    more = (
        {"device_map": options.device_map}
        if options.device_map
        else over_processes(options.tp_plan)
        if options.tp_plan
        else {}
    )
    return (
        getattr(transformers, kind)
        .from_pretrained(
            options.model,
            attn_implementation="eager",
            dtype=getattr(torch, options.dtype),
            trust_remote_code=options.trust_remote_code,
            **more,
        )
        .eval()
    )


def over_processes(plan):
    """Ask for tensor parallelism over the processes of torchrun."""
    from transformers.distributed import DistributedConfig

    try:
        return {"distributed_config": DistributedConfig(tp_plan=plan)}
    except TypeError:
        sys.exit(
            f"transformers {transformers.__version__} has no DistributedConfig(tp_plan=…), which "
            "--tp-plan asks for; install a newer one."
        )


def numbers(text):
    return [int(i) for i in text.split(",")] if text else None


def capture(options):
    config = AutoConfig.from_pretrained(options.model, trust_remote_code=options.trust_remote_code)
    tokenizer = (
        None
        if options.ids
        else AutoTokenizer.from_pretrained(
            options.model, trust_remote_code=options.trust_remote_code
        )
    )
    text = (
        Path(options.text_file).read_text(encoding="utf-8") if options.text_file else options.text
    )
    try:
        model = load(options, config)
    except ValueError as problem:
        sys.exit(f"{options.model} cannot be opened: {problem}")
    two = (
        {"target": options.target, "target_ids": numbers(options.target_ids)}
        if config.is_encoder_decoder
        else {}
    )
    headlight.trace(
        model,
        tokenizer,
        text,
        ids=numbers(options.ids),
        name=Path(options.model).name or options.model,
        path=options.output,
        **two,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a folder, or a name on the hub")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--text", default="")
    parser.add_argument("--text-file")
    parser.add_argument(
        "--target", default="", help="what the decoder of an encoder-decoder model reads"
    )
    parser.add_argument("--ids", help="token ids instead of a text, 1,2,3")
    parser.add_argument("--target-ids", help="ids of the target, its start token included")
    parser.add_argument("--device-map", help="auto: over all GPUs, with accelerate")
    parser.add_argument(
        "--tp-plan",
        help="auto: the heads of each layer over the processes of torchrun, into one file",
    )
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--trust-remote-code", action="store_true")
    try:
        capture(parser.parse_args())
    except headlight.HeadlightError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
