#!/usr/bin/env python3
"""Write a tiny random model in every encoding of weights, and compare what Headlight computes of it
with what transformers computes of the same weights dequantized: by the library that defines the
encoding where it runs on a processor (torch, transformers, bitsandbytes, compressed-tensors, gguf),
else by a page of numpy (encoded_words.py).

    encodings.py build/headlight [--seed N] [NAME...]
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from encoded_gguf import GGUF_KINDS, LLAMA, write_gguf
from encoded_words import WORDS
from safetensors.numpy import load_file
from safetensors.torch import save_file

E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2
IDS = [5, 9, 20, 31, 44, 7, 5, 9, 60, 71, 12, 13]
LIMIT = 3e-5


def scaled_floats(weight, blocks, dtype):
    """FP8 as DeepSeek-V3 and compressed-tensors store it: the largest magnitude of each block is
    the format's."""
    rows, columns = weight.shape
    down, across = (blocks[0] or rows), (blocks[1] or columns)
    padded = torch.nn.functional.pad(weight, (0, -columns % across, 0, -rows % down))
    tiles = padded.reshape(padded.shape[0] // down, down, padded.shape[1] // across, across)
    scales = tiles.abs().amax((1, 3)) / torch.finfo(dtype).max
    codes = (tiles / scales[:, None, :, None]).to(dtype)
    values = (codes.float() * scales[:, None, :, None]).reshape(padded.shape)[:rows, :columns]
    return codes.reshape(padded.shape)[:rows, :columns].contiguous(), scales, values.contiguous()


def fp8(blocks, dtype, ending, shape=None, scale_type=torch.float32):
    def encode(name, weight, d):
        codes, scales, values = scaled_floats(weight, blocks, dtype)
        if scale_type != torch.float32:  # powers of two
            scales = torch.exp2(torch.ceil(torch.log2(scales)))
            whole = scales.repeat_interleave(blocks[0], 0).repeat_interleave(blocks[1], 1)
            whole = whole[: len(weight), : weight.shape[1]]
            codes = (weight / whole).to(dtype)
            values = codes.float() * whole
        stored = scales.to(scale_type)
        return {
            name: codes,
            name + ending: stored if shape is None else stored.reshape(shape),
        }, values

    return encode


def int8_rows(name, weight, d):
    """Integers with a scale for each row, and no configuration that says so."""
    scale = weight.abs().amax(1, keepdim=True) / 127
    codes = torch.round(weight / scale).to(torch.int8)
    return {name: codes, name + "_scale": scale}, codes.float() * scale


def bitsandbytes4(kind, nested, blocksize=64):
    def encode(name, weight, d):
        from bitsandbytes import functional

        packed, state = functional.quantize_4bit(
            weight, quant_type=kind, compress_statistics=nested, blocksize=blocksize
        )
        values = functional.dequantize_4bit(packed, state).float()
        if (
            weight.shape[1] % blocksize
        ):  # its kernel for processors takes the scales of other blocks
            codes = torch.stack([packed.reshape(-1) >> 4, packed.reshape(-1) & 15], 1)
            levels = state.code[codes.reshape(-1).long()].reshape(-1, blocksize)
            values = (levels * state.absmax[:, None]).reshape(weight.shape)
        parts = {f"{name}.{k}": v for k, v in state.as_dict(packed=True).items()}
        return {name: packed, **parts}, values

    return encode


def bitsandbytes8(name, weight, d):
    from bitsandbytes import functional

    codes, scb, _ = functional.int8_vectorwise_quant(weight.half())
    values = functional.int8_vectorwise_dequant(codes, scb).float()
    return {name: codes, name.replace("weight", "SCB"): scb}, values


def compressed(compressor, bits, strategy, kind="int", group=None, symmetric=True):
    """As compressed-tensors writes it, and reads it back."""

    def encode(name, weight, d):
        from compressed_tensors.compressors import BaseCompressor
        from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
        from compressed_tensors.quantization.utils import calculate_qparams

        block = [128, 128] if strategy == "block" else None
        args = QuantizationArgs(
            num_bits=bits,
            type=kind,
            strategy=strategy,
            group_size=group,
            symmetric=symmetric,
            block_structure=block,
        )
        tiles = {
            "tensor": lambda w: w.reshape(1, -1),
            "channel": lambda w: w.unsqueeze(1),
            "group": lambda w: w.reshape(len(w), -1, group),
            "block": lambda w: (
                w.reshape(w.shape[0] // 128, 128, -1, 128).transpose(1, 2).flatten(2)
            ),
        }[strategy](weight)
        scale, zero = calculate_qparams(tiles.amin(-1), tiles.amax(-1), args)
        if strategy == "tensor":
            scale, zero = scale.reshape(1), zero.reshape(1)
        scheme = QuantizationScheme(targets=["Linear"], weights=args)
        reader = BaseCompressor.get_value_from_registry(compressor)
        state = {"weight": weight, "weight_scale": scale, "weight_zero_point": zero}
        stored = reader.compress(dict(state), scheme)
        stored = {k: v for k, v in stored.items() if v is not None}
        values = reader.decompress(dict(stored), scheme)["weight"].float()
        return {name.removesuffix("weight") + k: v for k, v in stored.items()}, values

    return encode


def nvfp4(name, weight, d):
    """Packed and unpacked by compressed-tensors, whose dequantization rounds to bfloat16: scaled
    here."""
    from compressed_tensors.compressors.nvfp4.helpers import (
        quantize_and_pack_fp4,
        unpack_fp4_from_uint8,
    )
    from compressed_tensors.quantization.utils import generate_gparam

    tiles = weight.reshape(len(weight), -1, 16)
    largest = generate_gparam(weight.min(), weight.max()).reshape(1)
    scale = (largest * tiles.abs().amax(-1) / 6).to(E4)
    packed = quantize_and_pack_fp4(weight, scale.float(), global_scale=largest, group_size=16)
    codes = unpack_fp4_from_uint8(packed, *weight.shape, dtype=torch.float32)
    values = codes.reshape(tiles.shape) * (scale.float() / largest)[..., None]
    module = name.removesuffix("weight")
    return {
        module + "weight_packed": packed,
        module + "weight_scale": scale,
        module + "weight_global_scale": largest,
    }, values.reshape(weight.shape)


def scheme_config(form, bits, strategy, kind="int", group=None):
    weights = {"num_bits": bits, "type": kind, "strategy": strategy, "group_size": group}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
        "ignore": ["lm_head"],
    }


BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
BNB = {"quant_method": "bitsandbytes", "load_in_4bit": True}
INT = "int-quantized", "naive-quantized"
PACK = "pack-quantized"
# Names: the encoder of a matrix, and quantization_config.
FOLDERS = {
    "F8_E4M3, blocks of 128 × 128": (fp8((128, 128), E4, "_scale_inv"), BLOCKS),
    "F8_E4M3, blocks of 128 × 64": (
        fp8((128, 64), E4, "_scale_inv"),
        {**BLOCKS, "weight_block_size": [128, 64]},
    ),
    "F8_E4M3, scales F8_E8M0": (
        fp8((128, 128), E4, "_scale_inv", scale_type=torch.float8_e8m0fnu),
        BLOCKS,
    ),
    "F8_E4M3, one scale": (fp8((0, 0), E4, "_scale_inv", ()), {"quant_method": "fp8"}),
    "F8_E4M3, scales of rows": (fp8((1, 0), E4, "_scale"), {"quant_method": "fbgemm_fp8"}),
    "F8_E5M2, one scale": (fp8((0, 0), E5, "_scale", (1,)), {"quant_method": "fp8"}),
    "F8_E4M3 without scales": (lambda n, w, d: ({n: w.to(E4)}, w.to(E4).float()), None),
    "F8_E5M2 without scales": (lambda n, w, d: ({n: w.to(E5)}, w.to(E5).float()), None),
    "F64": (lambda n, w, d: ({n: w.double()}, w), None),
    "I8 with scales": (int8_rows, None),
    "bitsandbytes nf4": (bitsandbytes4("nf4", False), BNB),
    "bitsandbytes nf4, nested": (bitsandbytes4("nf4", True), BNB),
    "bitsandbytes nf4, blocks of 512": (bitsandbytes4("nf4", False, 512), BNB),
    "bitsandbytes fp4, nested": (bitsandbytes4("fp4", True), BNB),
    "bitsandbytes int8": (bitsandbytes8, {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    "compressed-tensors int8 of rows": (
        compressed("int-quantized", 8, "channel"),
        scheme_config("int-quantized", 8, "channel"),
    ),
    "compressed-tensors int8, one scale and zero": (
        compressed("int-quantized", 8, "tensor", symmetric=False),
        scheme_config("int-quantized", 8, "tensor"),
    ),
    "compressed-tensors fp8, one scale": (
        compressed("float-quantized", 8, "tensor", "float"),
        scheme_config("float-quantized", 8, "tensor", "float"),
    ),
    "compressed-tensors fp8 of rows": (
        compressed("float-quantized", 8, "channel", "float"),
        scheme_config("naive-quantized", 8, "channel", "float"),
    ),
    "compressed-tensors NVFP4": (
        nvfp4,
        scheme_config("nvfp4-pack-quantized", 4, "tensor_group", "float", 16),
    ),
    "compressed-tensors fp8, blocks": (
        compressed("float-quantized", 8, "block", "float"),
        scheme_config("float-quantized", 8, "block", "float"),
    ),
    **{
        f"compressed-tensors int{bits} packed, {strategy}{'' if even else ', zeros'}": (
            compressed(PACK, bits, strategy, group=group, symmetric=even),
            scheme_config(PACK, bits, strategy, group=group),
        )
        for bits, strategy, group, even in (
            (4, "group", 128, True),
            (4, "group", 32, False),
            (4, "channel", None, True),
            (3, "group", 64, True),
            (8, "group", 128, True),
            (8, "channel", None, False),
        )
    },
    **WORDS,
}


def llama(d):
    torch.manual_seed(d.randrange(1 << 30))
    config = transformers.LlamaConfig(**LLAMA)
    return transformers.LlamaForCausalLM(config).eval()


def is_coded(name, value):
    return value.ndim == 2 and "embed" not in name and "lm_head" not in name


def write_folder(folder, name, d):
    """The model in this encoding; returns the model of its values."""
    model = llama(d)
    encode, config = FOLDERS[name]
    tensors, state = {}, model.state_dict()
    for key, value in state.items():
        if is_coded(key, value):
            stored, state[key] = encode(key, value.float(), d)
            assert state[key].shape == value.shape
            tensors |= {k: v.contiguous().clone() for k, v in stored.items()}
        else:
            tensors[key] = value.clone()
    model.load_state_dict(state)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    root = json.loads(model.config.to_json_string())
    if config:
        root["quantization_config"] = config
    (folder / "config.json").write_text(json.dumps(root))
    return folder, model


def write_gpt2(folder, name, d):
    """GPT-2, whose matrices are stored [in, out] until bitsandbytes quantizes them."""
    torch.manual_seed(d.randrange(1 << 30))
    config = transformers.GPT2Config(
        vocab_size=160, n_positions=128, n_embd=128, n_layer=2, n_head=4, initializer_range=0.08
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    encode, tensors, state = bitsandbytes4("nf4", True), {}, model.state_dict()
    for key, value in state.items():
        if ".c_" in key and value.ndim == 2:
            stored, values = encode(key, value.T.contiguous(), d)
            state[key] = values.T.contiguous()
            tensors |= {k: v.contiguous().clone() for k, v in stored.items()}
        elif "lm_head" not in key:
            tensors[key] = value.clone()
    model.load_state_dict(state)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    root = {**json.loads(model.config.to_json_string()), "quantization_config": BNB}
    (folder / "config.json").write_text(json.dumps(root))
    return folder, model


def write_mxfp4(folder, name, d):
    """gpt-oss as it is shipped: the matrices of experts as blocks and scales."""
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    torch.manual_seed(d.randrange(1 << 30))
    config = transformers.GptOssConfig(
        vocab_size=160,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        num_local_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=128,
        initializer_range=0.1,
        attn_implementation="eager",
        experts_implementation="eager",
    )
    model = transformers.GptOssForCausalLM(config).eval()
    tensors, state = {}, model.state_dict()
    for key, value in state.items():
        if not key.endswith(("gate_up_proj", "down_proj")):
            tensors[key] = value.clone()
            continue
        count, columns, rows = value.shape  # [experts, in, out]
        blocks = torch.randint(0, 256, (count, rows, columns // 32, 16), dtype=torch.uint8)
        scales = torch.randint(121, 126, (count, rows, columns // 32), dtype=torch.uint8)
        tensors |= {key + "_blocks": blocks, key + "_scales": scales}
        state[key] = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
        assert state[key].shape == value.shape
    model.load_state_dict(state)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    root = json.loads(model.config.to_json_string())
    root["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
    (folder / "config.json").write_text(json.dumps(root))
    return folder, model


def largest_error(headlight, path, model, out):
    command = [headlight, "trace", "--model", path, "-o", out, "--quiet", "--ids"]
    subprocess.run([*command, ",".join(map(str, IDS))], check=True)
    got = load_file(out)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        want = model(torch.tensor([IDS]), output_attentions=True)
    error = np.abs(got["logits"] - want.logits[0].float().numpy()).max()
    for layer, pattern in enumerate(want.attentions):
        own = got[f"blocks.{layer}.attn.hook_pattern"].reshape(pattern.shape)
        error = max(error, np.abs(own - pattern.numpy()).max())
    assert np.isfinite(error)
    return float(error), float(want.logits.abs().max())


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("names", nargs="*")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    a = p.parse_args()
    print(f"seed {a.seed}")
    cases = {name: write_folder for name in FOLDERS}
    cases |= {"bitsandbytes nf4 of GPT-2": write_gpt2, "MXFP4 of gpt-oss": write_mxfp4}
    cases |= {f"GGUF {kind.name}": write_gguf for kind in GGUF_KINDS}
    worst, failed = 0.0, []
    for name, write in cases.items():
        if a.names and not any(part in name for part in a.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, model = write(Path(folder), name, random.Random(f"{name} {a.seed}"))
            except ImportError as missing:
                print(f"skipped {name}: {missing}")
                continue
            out = Path(folder) / "trace.safetensors"
            error, size = largest_error(a.headlight.resolve(), path, model, out)
        print(f"{name}: largest error {error:.1e} of logits to {size:.1f} and patterns", flush=True)
        worst = max(worst, error)
        if error > LIMIT:
            failed.append(name)
    print(f"{len(cases)} encodings, largest error {worst:.1e}")
    if failed:
        print("FAIL", *failed, sep="\n  ")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
