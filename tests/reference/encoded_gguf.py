"""Write a tiny random Llama as GGUF with its matrices in one format, for encodings.py."""

import gguf
import numpy as np
import torch
import transformers
from gguf.quants import dequantize, quantize

T = gguf.GGMLQuantizationType
GGUF_KINDS = (
    *(T.MXFP4, T.IQ1_S, T.IQ1_M, T.IQ2_XXS, T.IQ2_XS, T.IQ2_S, T.IQ3_XXS, T.IQ3_S),
    *(T.TQ1_0, T.TQ2_0, T.IQ4_NL, T.IQ4_XS),
)
LLAMA = dict(
    vocab_size=160,
    hidden_size=256,
    intermediate_size=384,
    num_hidden_layers=2,
    num_attention_heads=8,
    num_key_value_heads=4,
    max_position_embeddings=128,
    tie_word_embeddings=False,
    initializer_range=0.06,
)
# Where a block's scale lies, and one that keeps random codes near 0.05.
SCALES = {T.IQ1_S: (0, 0.008), T.IQ2_XXS: (0, 6e-4), T.IQ2_XS: (0, 6e-4), T.IQ2_S: (0, 6e-4)}
SCALES |= {T.IQ3_XXS: (0, 3e-4), T.IQ3_S: (0, 4e-4), T.IQ4_NL: (0, 8e-4), T.IQ4_XS: (0, 4e-5)}


def random_blocks(kind, shape, noise):
    """Random codes: no library quantizes to these formats without a table of importance."""
    values, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = noise.integers(0, 256, (shape[0], shape[1] // values, size)).astype(np.uint8)
    if kind == T.IQ1_M:  # its scale is the high bits of four words
        bits = np.array([0.008], np.float16).view(np.uint16)[0]
        for i in range(4):
            blocks[..., 49 + 2 * i] = blocks[..., 49 + 2 * i] & 15 | (bits >> 4 * i & 15) << 4
    else:
        at, scale = SCALES[kind]
        scales = (scale * noise.uniform(0.5, 1.5, blocks.shape[:2])).astype(np.float16)
        blocks[..., at : at + 2] = scales[..., None].view(np.uint8)
    return blocks.reshape(shape[0], -1)


def unturned(value, heads):
    """Rows of q or k as transformers has them; GGUF's llama turns neighbors."""
    d = len(value) // heads
    return value.reshape(heads, d // 2, 2, -1).swapaxes(1, 2).reshape(value.shape)


def encoded(kind, value, noise):
    if kind in (T.MXFP4, T.TQ1_0, T.TQ2_0):
        return quantize(value, kind)
    return random_blocks(kind, value.shape, noise)


def write_gguf(folder, name, d):
    kind = T[name.removeprefix("GGUF ")]
    torch.manual_seed(d.randrange(1 << 30))
    noise = np.random.default_rng(d.randrange(1 << 30))
    config = transformers.LlamaConfig(**LLAMA | {"intermediate_size": 512})
    model = transformers.LlamaForCausalLM(config).eval()
    path = folder / "model.gguf"
    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(128)
    w.add_embedding_length(256)
    w.add_block_count(2)
    w.add_feed_forward_length(512)
    w.add_head_count(8)
    w.add_head_count_kv(4)
    w.add_layer_norm_rms_eps(config.rms_norm_eps)
    names, state = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2), model.state_dict()
    for key, value in state.items():
        stored = names.get_name(key, try_suffixes=(".weight",))
        value = value.numpy()
        if value.ndim == 1 or "embed" in key:
            w.add_tensor(stored, value)
            continue
        blocks = encoded(kind, value, noise)
        w.add_tensor(stored, blocks, raw_dtype=kind)
        values = dequantize(blocks, kind)
        if ".q_proj" in key or ".k_proj" in key:
            values = unturned(values, 8 if ".q_proj" in key else 4)
        state[key] = torch.from_numpy(np.ascontiguousarray(values))
    model.load_state_dict(state)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path, model
