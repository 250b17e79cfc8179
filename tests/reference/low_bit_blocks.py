#!/usr/bin/env python3
"""Write random blocks in GGUF's formats below four bits, and in MXFP4, with their values as the
gguf package's numpy dequantizes them: gguf_blocks/low_bit.gguf and low_bit_expected.safetensors.
Every point of each grid occurs.

    low_bit_blocks.py
"""

from pathlib import Path

import gguf
import numpy as np
from gguf.quants import dequantize
from safetensors.numpy import save_file

FOLDER = Path(__file__).with_name("gguf_blocks")
T = gguf.GGMLQuantizationType
# Formats: blocks, the high byte of the scale.
FORMATS = {
    T.MXFP4: (48, None),
    T.TQ1_0: (4, 53),
    T.TQ2_0: (4, 65),
    T.IQ1_S: (64, 1),
    T.IQ1_M: (4, None),
    T.IQ2_XXS: (8, 1),
    T.IQ2_XS: (16, 1),
    T.IQ2_S: (32, 1),
    T.IQ3_XXS: (4, 1),
    T.IQ3_S: (8, 1),
}


def high_bits(blocks, at, each, points, bits):
    """Write the bits above the eighth of each point, `each` bits apart from byte `at` on."""
    count = points.shape[1] * each // 8
    words = np.unpackbits(blocks[:, at : at + count], axis=1, bitorder="little")
    for bit in range(bits):
        words[:, bit::each] = points >> 8 + bit & 1
    blocks[:, at : at + count] = np.packbits(words, axis=1, bitorder="little")


def with_every_point(kind, blocks):
    """The same blocks with the points of the grid in turn."""
    name, n = kind.name, len(blocks)
    each = 64 if name.startswith("IQ3") else 32
    points = np.arange(n * each).reshape(n, each)
    if name == "IQ2_XXS":
        blocks[:, 2:].reshape(n, 8, 8)[:, :, :4] = (points & 255).reshape(n, 8, 4)
    elif name == "IQ2_XS":
        words = blocks[:, 2:66].copy().view(np.uint16)
        words[:] = (words & 0xFE00) | (points & 511)
        blocks[:, 2:66] = words.view(np.uint8)
    elif name != "IQ1_M" and name.startswith("IQ"):
        blocks[:, 2 : 2 + each] = points & 255
    if name == "IQ1_S":
        words = blocks[:, 34:50].copy().view(np.uint16)
        three = (points >> 8 & 7).reshape(n, 8, 4)
        words[:] = words & 0xF000 | (three << np.arange(0, 12, 3)).sum(2).astype(np.uint16)
        blocks[:, 34:50] = words.view(np.uint8)
    if name == "IQ2_S":
        high_bits(blocks, 66, 2, points, 2)
    if name == "IQ3_S":
        high_bits(blocks, 66, 1, points, 1)
    return blocks


def main():
    random, expected = np.random.default_rng(8), {}
    w = gguf.GGUFWriter(FOLDER / "low_bit.gguf", "none")
    for kind, (count, scale) in FORMATS.items():
        values, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (count, size)).astype(np.uint8)
        if kind == T.MXFP4:
            blocks[:, 0] = 110 + np.arange(count) % 30
            blocks[:2, 0] = 0, 1
        elif kind == T.IQ1_M:
            blocks[:, 55] = blocks[:, 55] & 0x8F | 0x20
        else:
            blocks[:, scale] = blocks[:, scale] & 0x83 | 0x20
        blocks = with_every_point(kind, blocks)
        rows = blocks.reshape(4 if values == 256 else 2, -1)
        w.add_tensor(kind.name, rows, raw_dtype=kind)
        expected[kind.name] = dequantize(rows, kind)
        assert np.isfinite(expected[kind.name]).all()
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    save_file(expected, FOLDER / "low_bit_expected.safetensors")


if __name__ == "__main__":
    main()
