"""Models of GPT-2 small's shape with random weights, written without any package: 12 x 12 heads,
50,257 tokens, context 1,024; one with rotary positions and context 8,192."""

import json
import random
import shutil
import struct
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS, WIDTH, HEADS, CONTEXT, VOCAB, ROTARY_MLP = 12, 768, 12, 1024, 50257, 2048


def shapes(layers):
    yield "wte.weight", (VOCAB, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    for layer in range(layers):
        for name, shape in (
            ("ln_1.weight", (WIDTH,)),
            ("ln_1.bias", (WIDTH,)),
            ("attn.c_attn.weight", (WIDTH, 3 * WIDTH)),
            ("attn.c_attn.bias", (3 * WIDTH,)),
            ("attn.c_proj.weight", (WIDTH, WIDTH)),
            ("attn.c_proj.bias", (WIDTH,)),
            ("ln_2.weight", (WIDTH,)),
            ("ln_2.bias", (WIDTH,)),
            ("mlp.c_fc.weight", (WIDTH, 4 * WIDTH)),
            ("mlp.c_fc.bias", (4 * WIDTH,)),
            ("mlp.c_proj.weight", (4 * WIDTH, WIDTH)),
            ("mlp.c_proj.bias", (WIDTH,)),
        ):
            yield f"h.{layer}.{name}", shape
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def rotary_shapes():
    """As a Llama has them; its gated MLP makes the layer as large as GPT-2's."""
    yield "model.embed_tokens.weight", (VOCAB, WIDTH)
    for layer in range(LAYERS):
        for part in "qkvo":
            yield f"model.layers.{layer}.self_attn.{part}_proj.weight", (WIDTH, WIDTH)
        for part, shape in (
            ("gate", (ROTARY_MLP, WIDTH)),
            ("up", (ROTARY_MLP, WIDTH)),
            ("down", (WIDTH, ROTARY_MLP)),
        ):
            yield f"model.layers.{layer}.mlp.{part}_proj.weight", shape
        for norm in ("input", "post_attention"):
            yield f"model.layers.{layer}.{norm}_layernorm.weight", (WIDTH,)
    yield "model.norm.weight", (WIDTH,)


def copy_tokenizer(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json"):
        if (ROOT / "models/stories" / name).exists():
            shutil.copy(ROOT / "models/stories" / name, folder)


def write_long_model(folder):
    """Write the folder of the rotary one, with the same tokenizer."""
    copy_tokenizer(folder)
    config = {
        "model_type": "llama",
        "num_hidden_layers": LAYERS,
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "intermediate_size": ROTARY_MLP,
        "max_position_embeddings": 8192,
        "vocab_size": VOCAB,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
    }
    return write_model(folder, config, list(rotary_shapes()))


def write_large_model(folder, layers=LAYERS):
    """Write the folder (half a gigabyte with 12 layers); the story model's tokenizer reads its
    first 4,096 tokens."""
    copy_tokenizer(folder)
    return write_model(
        folder,
        {
            "model_type": "gpt2",
            "n_layer": layers,
            "n_embd": WIDTH,
            "n_head": HEADS,
            "n_positions": CONTEXT,
            "vocab_size": VOCAB,
        },
        list(shapes(layers)),
    )


def write_model(folder, config, tensors):
    """A folder with these tensors: norms of ones and zeros, the rest random."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    header, at = {}, 0
    for name, shape in tensors:
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # numbers begin where floats may
    source = random.Random(1)
    some = array(
        "f", (source.gauss(0, 0.06) for _ in range(1 << 16))
    ).tobytes()  # one block of numbers, from a new place each time
    with open(folder / "model.safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors:
            count = 4
            for n in shape:
                count *= n
            if "ln_" in name or "norm" in name:
                out.write(
                    array("f", [1.0 if name.endswith("weight") else 0.0] * (count // 4)).tobytes()
                )
                continue
            while count > 0:
                begin = source.randrange(len(some) // 4) * 4
                piece = some[begin : begin + count]
                out.write(piece)
                count -= len(piece)
    return folder
