"""Models of any size for the window tests."""

import json
import math
import struct


def zero_gpt2(folder, layers, width, heads, context, tokenizer, vocab):
    """A GPT-2 of any size whose weights are all 0: a file of holes, which costs nothing to
    write."""
    folder.mkdir()
    shapes = {
        "wte.weight": [vocab, width],
        "wpe.weight": [context, width],
        "ln_f.weight": [width],
        "ln_f.bias": [width],
    }
    for layer in range(layers):
        block = {
            "ln_1.weight": [width],
            "ln_1.bias": [width],
            "attn.c_attn.weight": [width, 3 * width],
            "attn.c_attn.bias": [3 * width],
            "attn.c_proj.weight": [width, width],
            "attn.c_proj.bias": [width],
            "ln_2.weight": [width],
            "ln_2.bias": [width],
            "mlp.c_fc.weight": [width, 4 * width],
            "mlp.c_fc.bias": [4 * width],
            "mlp.c_proj.weight": [4 * width, width],
            "mlp.c_proj.bias": [width],
        }
        shapes.update({f"h.{layer}.{name}": shape for name, shape in block.items()})
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + end)
    (folder / "config.json").write_text(
        json.dumps(
            {
                "model_type": "gpt2",
                "n_embd": width,
                "n_layer": layers,
                "n_head": heads,
                "n_positions": context,
                "vocab_size": vocab,
            }
        )
    )
    (folder / "tokenizer.json").write_text(tokenizer)
    return folder
