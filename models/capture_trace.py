#!/usr/bin/env python3
"""Records what every attention head of a transformers model looks at, for Headlight to open without the model's weights:

    python capture_trace.py MODEL --text "The cat sat on the mat." -o trace.safetensors
    python capture_trace.py meta-llama/Llama-3.1-70B --device-map auto --dtype bfloat16 --text-file long.txt -o trace.safetensors
    headlight render --trace trace.safetensors --view head --layer 3 --head 5 -o head.pdf

Needs torch and transformers 5 (and accelerate for --device-map). Each layer's queries and keys go to the file as soon as they are
computed, so that memory holds one layer's. From q, k, the scale and the soft cap Headlight computes the patterns; where an
architecture adds something else to the scores (T5, BLOOM), or does not use transformers' attention interface, patterns are stored:
heads x tokens x tokens numbers a layer. Size: q and k of 80 layers of 64 + 8 heads of 128 at 4,096 tokens are 12 GB; patterns of the
same 344 GB.
"""
import argparse
import json
import os
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import AttentionInterface, AutoConfig, AutoTokenizer
from transformers.masking_utils import AttentionMaskInterface, eager_mask

NAME = "headlight_capture"
CROSS = re.compile(r"encoder_attn|crossattention|EncDecAttention|cross_attn|enc_dec", re.I)


class Stream:
    """A safetensors file that grows: tensors go to a temporary file beside it, the header is written at the end."""

    def __init__(self, path):
        self.path = Path(path)
        self.data = tempfile.NamedTemporaryFile(dir=self.path.parent, prefix=self.path.name + ".part-", delete=False)
        self.header, self.offset = {}, 0

    def add(self, name, tensor, dtype="F32"):
        array = tensor.detach().to("cpu", torch.int64 if dtype == "I64" else torch.float32).contiguous().numpy()
        self.header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [self.offset, self.offset + array.nbytes]}
        self.data.write(array.tobytes())
        self.offset += array.nbytes

    def close(self, metadata):
        self.data.close()
        text = json.dumps({"__metadata__": metadata, **self.header}).encode()
        text += b" " * (-len(text) % 8)
        whole = Path(self.data.name + ".whole")
        try:
            with open(whole, "wb") as out, open(self.data.name, "rb") as data:
                out.write(struct.pack("<Q", len(text)) + text)
                shutil.copyfileobj(data, out, 1 << 24)
            os.replace(whole, self.path)
        finally:
            whole.unlink(missing_ok=True)
            self.drop()

    def drop(self):
        self.data.close()
        Path(self.data.name).unlink(missing_ok=True)


class Recorder:
    """Names attention blocks in the order in which they run, and writes what they compute."""

    def __init__(self, stream, two_stacks):
        self.stream, self.two_stacks = stream, two_stacks
        self.names, self.counts, self.blocks = {}, {}, {}
        self.patterns = False  # whether some block needs its pattern stored

    def place(self, module):
        """("decoder", True): the stack, and whether it reads the other one; with the layer's number."""
        name = self.names[module]
        stack = "blocks" if not self.two_stacks else "encoder" if re.search(r"(^|\.)encoder\.", name) else "decoder"
        cross = self.two_stacks and stack == "decoder" and (bool(CROSS.search(name)) or bool(getattr(module, "is_cross_attention", False)))
        layer = self.counts.get((stack, cross), 0)
        self.counts[stack, cross] = layer + 1
        return stack, cross, layer

    def note(self, module, query, key, value, scaling, cap, window, pattern):
        stack, cross, layer = self.place(module)
        at = f"{stack}.{layer}.{'cross_attn' if cross else 'attn'}."
        self.blocks[stack, cross, layer] = {"heads": query.shape[1], "kv_heads": key.shape[1], "d_head": query.shape[3], "scale": scaling, "cap": cap or 0.0, "window": window or 0,
                                            "causal": bool(getattr(module, "is_causal", False)) and not cross}
        if pattern is not None:
            self.patterns = True
            self.stream.add(at + "hook_pattern", pattern[0])
            return
        for hook, tensor in (("hook_q", query), ("hook_k", key)):
            self.stream.add(at + hook, tensor[0].transpose(0, 1))

    def note_pattern(self, module, pattern):
        stack, cross, layer = self.place(module)
        self.patterns = True
        causal = not cross and not bool(torch.triu(pattern[0], 1).any())
        self.blocks[stack, cross, layer] = {"heads": pattern.shape[1], "kv_heads": pattern.shape[1], "d_head": 1, "scale": 1.0, "cap": 0.0, "window": 0, "causal": causal}
        self.stream.add(f"{stack}.{layer}.{'cross_attn' if cross else 'attn'}.hook_pattern", pattern[0])


def attention(recorder):
    """An attention function for transformers' interface: records, then attends."""

    def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, softcap=None, sliding_window=None, position_bias=None, **more):
        if more.get("s_aux") is not None:
            sys.exit(f"{type(module).__name__} lets weight flow into a sink that is no token; its patterns cannot be recorded yet.")
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        groups = query.shape[1] // key.shape[1]
        keys, values = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        pattern = None
        if softcap is not None or position_bias is not None:
            scores = query.float() @ keys.float().transpose(2, 3) * scaling
            if softcap is not None:
                scores = softcap * torch.tanh(scores / softcap)
            for added in (position_bias, attention_mask):
                scores = scores if added is None else scores + added[..., :scores.shape[-1]].float()
            pattern = scores.softmax(-1)
            out = (pattern.to(values.dtype) @ values)
        else:
            out = torch.nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=attention_mask, scale=scaling)
        recorder.note(module, query, key, value, scaling, softcap, sliding_window, pattern if position_bias is not None else None)
        return out.transpose(1, 2).contiguous(), None

    return attend


def record_outputs(model, recorder):
    """For models that do not use the interface: takes the patterns from what attention modules return, and drops them there."""

    def hook(module, _, output):
        found = [t for t in output if isinstance(t, torch.Tensor) and t.dim() == 4] if isinstance(output, tuple) else []
        if not found or any(child in recorder.seen for child in module.modules() if child is not module):
            return None
        recorder.seen.add(module)
        recorder.note_pattern(module, found[0])
        return tuple(None if t is found[0] else t for t in output)

    recorder.seen = set()
    for module in model.modules():
        module.register_forward_hook(hook)


def load(options, config, implementation):
    kind = "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModel"
    more = {"device_map": options.device_map} if options.device_map else {}
    return getattr(transformers, kind).from_pretrained(options.model, attn_implementation=implementation, dtype=getattr(torch, options.dtype), trust_remote_code=options.trust_remote_code, **more).eval()


def describe(recorder, config):
    """What Headlight asks of the metadata: stacks, heads, and how q and k meet."""
    names = ["encoder", "decoder"] if recorder.two_stacks else ["blocks"]
    first = next(iter(recorder.blocks.values()))
    stacks, order = [], []
    for name in names:
        layers = [recorder.blocks[b] for b in sorted(recorder.blocks) if b[0] == name and not b[1]]
        stacks.append({"name": name, "layers": len(layers), **{key: layers[0][key] for key in ("heads", "kv_heads", "d_head")}, "causal": layers[0]["causal"], "cross": any(b[0] == name and b[1] for b in recorder.blocks), "windows": [b["window"] for b in layers]})
    for name, cross in [(n, False) for n in names] + [(n, True) for n in names]:
        order += [recorder.blocks[b] for b in sorted(recorder.blocks) if b[:2] == (name, cross)]
    kind = "encoder_decoder" if recorder.two_stacks else "decoder" if stacks[0]["causal"] else "encoder"
    described = {"kind": kind, "family": config.model_type, "d_model": getattr(config, "hidden_size", None) or config.d_model, "stacks": stacks}
    metadata = {"config": json.dumps(described)}
    if not recorder.patterns:
        metadata["attention"] = json.dumps({"scale": [b["scale"] for b in order], "cap": first["cap"]})
    return metadata


def read_inputs(options, config):
    """Ids, tokens and labels of the text and, where there is one, of the target."""
    numbers = {"": options.ids, "decoder_": options.target_ids}
    texts = {"": Path(options.text_file).read_text(encoding="utf-8") if options.text_file else options.text, "decoder_": options.target}
    tokenizer = None if options.ids else AutoTokenizer.from_pretrained(options.model, trust_remote_code=options.trust_remote_code)
    inputs, metadata = {}, {}
    for side in ("", "decoder_") if config.is_encoder_decoder else ("",):
        if numbers[side]:
            ids = [int(i) for i in numbers[side].split(",")]
        elif side:
            ids = [config.decoder_start_token_id] + tokenizer(text_target=texts[side] or "")["input_ids"][:-1]
        else:
            ids = tokenizer(texts[side] or "")["input_ids"]
        inputs[side] = torch.tensor([ids])
        metadata[side + "tokens"] = json.dumps(tokenizer.convert_ids_to_tokens(ids) if tokenizer else [f"#{i}" for i in ids])
        metadata[side + "labels"] = json.dumps([tokenizer.decode([i]) for i in ids] if tokenizer else [f"#{i}" for i in ids])
    return inputs, metadata


def run(options, config, implementation, inputs, recorder):
    """One forward pass; the recorder writes while it goes on."""
    try:
        model = load(options, config, implementation)
    except ValueError as problem:
        if implementation == "eager":
            sys.exit(f"{options.model} cannot be opened: {problem}")
        return
    recorder.names = {module: name for name, module in model.named_modules()}
    if implementation == "eager":
        record_outputs(model, recorder)
    device = next(model.parameters()).device
    arguments = {"input_ids": inputs[""].to(device), "use_cache": False, "output_attentions": implementation == "eager"}
    if "decoder_" in inputs:
        arguments["decoder_input_ids"] = inputs["decoder_"].to(device)
    model(**arguments)


@torch.no_grad()
def capture(options):
    config = AutoConfig.from_pretrained(options.model, trust_remote_code=options.trust_remote_code)
    inputs, metadata = read_inputs(options, config)
    stream = Stream(options.output)
    try:
        for side, ids in inputs.items():
            stream.add(side + "input_ids", ids[0], "I64")
        recorder = Recorder(stream, config.is_encoder_decoder)
        AttentionInterface.register(NAME, attention(recorder))
        AttentionMaskInterface.register(NAME, eager_mask)
        for implementation in (NAME, "eager"):  # eager: architectures that attend by code of their own
            if not recorder.blocks:
                run(options, config, implementation, inputs, recorder)
        if not recorder.blocks:
            sys.exit(f"{options.model} showed no attention that could be recorded.")
        metadata.update({"format": "headlight-trace", "version": "1", "model": Path(options.model).name or options.model, "mask": "own"}, **describe(recorder, config))
        stream.close(metadata)
    finally:
        stream.drop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a folder, or a name on the hub")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--text", default="")
    parser.add_argument("--text-file")
    parser.add_argument("--target", default="", help="what the decoder of an encoder-decoder model reads")
    parser.add_argument("--ids", help="token ids instead of a text, 1,2,3")
    parser.add_argument("--target-ids", help="ids of the target, its start token included")
    parser.add_argument("--device-map", help="auto: over all GPUs, with accelerate")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--trust-remote-code", action="store_true")
    capture(parser.parse_args())


if __name__ == "__main__":
    main()
