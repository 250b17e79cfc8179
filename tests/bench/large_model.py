"""A model of GPT-2 small's shape with random weights, written without any package: 12 x 12 heads, context 1,024, 50,257 tokens."""
import json
import random
import shutil
import struct
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS, WIDTH, HEADS, CONTEXT, VOCAB = 12, 768, 12, 1024, 50257


def shapes():
    yield "wte.weight", (VOCAB, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    for layer in range(LAYERS):
        for name, shape in (("ln_1.weight", (WIDTH,)), ("ln_1.bias", (WIDTH,)), ("attn.c_attn.weight", (WIDTH, 3 * WIDTH)), ("attn.c_attn.bias", (3 * WIDTH,)),
                            ("attn.c_proj.weight", (WIDTH, WIDTH)), ("attn.c_proj.bias", (WIDTH,)), ("ln_2.weight", (WIDTH,)), ("ln_2.bias", (WIDTH,)),
                            ("mlp.c_fc.weight", (WIDTH, 4 * WIDTH)), ("mlp.c_fc.bias", (4 * WIDTH,)), ("mlp.c_proj.weight", (4 * WIDTH, WIDTH)), ("mlp.c_proj.bias", (WIDTH,))):
            yield f"h.{layer}.{name}", shape
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def write_large_model(folder):
    """Writes the folder (half a gigabyte); the story model's tokenizer reads its first 4,096 tokens."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json"):
        if (ROOT / "models/stories" / name).exists():
            shutil.copy(ROOT / "models/stories" / name, folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": LAYERS, "n_embd": WIDTH, "n_head": HEADS, "n_positions": CONTEXT, "vocab_size": VOCAB}))
    header, at = {}, 0
    for name, shape in shapes():
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # numbers begin where floats may
    source = random.Random(1)
    some = array("f", (source.gauss(0, 0.06) for _ in range(1 << 16))).tobytes()  # one block of numbers, from a new place each time
    with open(folder / "model.safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes():
            count = 4
            for n in shape:
                count *= n
            if "ln_" in name:
                out.write(array("f", [1.0 if name.endswith("weight") else 0.0] * (count // 4)).tobytes())
                continue
            while count > 0:
                begin = source.randrange(len(some) // 4) * 4
                piece = some[begin:begin + count]
                out.write(piece)
                count -= len(piece)
    return folder
