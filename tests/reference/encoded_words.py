"""State how GPTQ and AWQ pack integers into words of 32 bits, for encodings.py.

GPTQ: AutoGPTQ's and gptqmodel's QuantLinear; AWQ: AutoAWQ's WQLinear_GEMM.
"""

import numpy as np
import torch

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def packed(codes, bits):
    """Neighbors of the first axis as one stream of bits, the first lowest, in words of 32."""
    lines = codes.shape[0] * bits // 32
    stream = (codes[:, None] >> np.arange(bits)[None, :, None]) & 1
    stream = stream.reshape(lines, 32, -1).astype(np.uint32)
    words = (stream << np.arange(32, dtype=np.uint32)[None, :, None]).sum(1, dtype=np.uint32)
    return torch.from_numpy(words.view(np.int32))


def quantized(weight, bits, group, noise):
    """Codes [in, out], zeros and scales [groups, out] of a matrix [out, in]."""
    columns = weight.shape[1]
    size, top = group if group > 0 else columns, 2**bits - 1
    tiles = weight.numpy().T.reshape(columns // size, size, -1)
    low, high = tiles.min(1), tiles.max(1)
    scales = ((high - low) / top).astype(np.float16)
    zeros = np.clip(np.round(-low / scales.astype(np.float32)), 1, top).astype(np.int64)
    codes = np.round(tiles / scales[:, None].astype(np.float32)) + zeros[:, None]
    codes = np.clip(codes, 0, top).astype(np.int64)
    values = (codes - zeros[:, None]) * scales[:, None].astype(np.float32)
    return codes.reshape(columns, -1), zeros, scales, values.reshape(columns, -1)


def gptq(bits, group, ordered, version):
    def encode(name, weight, d):
        module, columns = name.removesuffix("weight"), weight.shape[1]
        noise = np.random.default_rng(d.randrange(1 << 30))
        order = noise.permutation(columns) if ordered else np.arange(columns)
        codes, zeros, scales, values = quantized(weight[:, order], bits, group, noise)
        size, back = group if group > 0 else columns, np.argsort(order)
        stored_zeros = zeros - (version == "gptq")
        return {
            module + "qweight": packed(codes[back], bits),
            module + "qzeros": packed(np.ascontiguousarray(stored_zeros.T), bits).T,
            module + "scales": torch.from_numpy(scales),
            module + "g_idx": torch.from_numpy((back // size).astype(np.int32)),
        }, torch.from_numpy(np.ascontiguousarray(values[back].T.astype(np.float32)))

    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": ordered}
    return encode, {**config, "checkpoint_format": version}


def awq(group):
    def encode(name, weight, d):
        module = name.removesuffix("weight")
        codes, zeros, scales, values = quantized(weight, 4, group, None)

        def pack(lines):
            turned = lines.reshape(len(lines), -1, 8)[:, :, AWQ_ORDER].reshape(len(lines), -1)
            return packed(np.ascontiguousarray(turned.T), 4).T

        return {
            module + "qweight": pack(codes),
            module + "qzeros": pack(zeros),
            module + "scales": torch.from_numpy(scales),
        }, torch.from_numpy(np.ascontiguousarray(values.T.astype(np.float32)))

    return encode, {
        "quant_method": "awq",
        "bits": 4,
        "group_size": group,
        "zero_point": True,
        "version": "gemm",
    }


WORDS = {
    "GPTQ 4 bits, groups of 128": gptq(4, 128, False, "gptq"),
    "GPTQ 4 bits, groups of 32, act-order": gptq(4, 32, True, "gptq"),
    "GPTQ 4 bits, groups of 128, act-order, format v2": gptq(4, 128, True, "gptq_v2"),
    "GPTQ 4 bits, a scale a row": gptq(4, -1, False, "gptq"),
    "GPTQ 2 bits, groups of 64": gptq(2, 64, False, "gptq"),
    "GPTQ 2 bits, groups of 32, act-order, format v2": gptq(2, 32, True, "gptq_v2"),
    "GPTQ 3 bits, groups of 128": gptq(3, 128, False, "gptq"),
    "GPTQ 3 bits, groups of 64, act-order": gptq(3, 64, True, "gptq"),
    "GPTQ 8 bits, groups of 64": gptq(8, 64, False, "gptq"),
    "GPTQ 8 bits, groups of 128, act-order": gptq(8, 128, True, "gptq"),
    "AWQ 4 bits, groups of 128": awq(128),
    "AWQ 4 bits, groups of 64": awq(64),
}
