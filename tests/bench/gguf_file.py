"""A model of GPT-2 small's shape with random weights as GGUF (needs the gguf package and numpy):
F32, or of the formats that llama.cpp's quantizer makes of it."""

import ctypes

import gguf
import numpy as np
from large_model import CONTEXT, HEADS, LAYERS, VOCAB, WIDTH, shapes

FORMATS = {
    "Q8_0": "LLAMA_FTYPE_MOSTLY_Q8_0",
    "Q4_K_M": "LLAMA_FTYPE_MOSTLY_Q4_K_M",
    "Q6_K": "LLAMA_FTYPE_MOSTLY_Q6_K",
}


def byte_letters():
    """The letters in which byte-level tokenizers write the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(others))]


def add_tokenizer(w):
    """Byte-level, with one merge; the other tokens stand for nothing."""
    letters = byte_letters()
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list([*letters, "he", *(f"token{i}" for i in range(VOCAB - 258)), "<|endoftext|>"])
    w.add_token_types([gguf.TokenType.NORMAL] * (VOCAB - 1) + [gguf.TokenType.CONTROL])
    w.add_token_merges(["h e"])
    w.add_bos_token_id(VOCAB - 1)
    w.add_eos_token_id(VOCAB - 1)


def write_f32(path):
    """Write the file and return its path."""
    w = gguf.GGUFWriter(path, "gpt2")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(4 * WIDTH)
    w.add_head_count(HEADS)
    w.add_layer_norm_eps(1e-5)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_tokenizer(w)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GPT2, LAYERS)
    random = np.random.default_rng(1)
    for name, shape in shapes():
        if "ln_" in name:
            value = np.full(shape, float(name.endswith("weight")), np.float32)
        else:
            value = random.standard_normal(shape, np.float32) * np.float32(0.06)
        stored = names.get_name("transformer." + name, try_suffixes=(".weight", ".bias"))
        # [out, in]
        w.add_tensor(stored, value.T.copy() if name.startswith("h.") and value.ndim == 2 else value)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path


def quantized(f32, path, name):
    """A file quantized by llama.cpp's quantizer."""
    import llama_cpp

    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, FORMATS[name])
    params.nthread = 2
    if llama_cpp.llama_model_quantize(str(f32).encode(), str(path).encode(), ctypes.byref(params)):
        raise RuntimeError(f"llama.cpp does not make {name} of {f32}")
    return path
