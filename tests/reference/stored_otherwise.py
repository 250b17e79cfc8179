"""Write the weights of a model as other programs may have stored them: tied tensors under some of
their names, several copies that differ, float64; and add a tensor that no model of the family
has."""

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

FILE = "model.safetensors"


def tied_groups(model):
    """Names of the tensors that are one, the one that the others are tied to first."""
    groups = {}
    for target, source in model.all_tied_weights_keys.items():
        groups.setdefault(source, [source]).append(target)
    return list(groups.values())


def rewrite(folder, model, d):
    """The same folder with other tensors, and what transformers reads in it."""
    path, state = folder / FILE, model.state_dict()
    tensors, noise = load_file(path), np.random.default_rng(d.randrange(1 << 30))
    for group in tied_groups(model):
        stored = d.sample(group, d.randint(1, len(group)))
        values, differ = state[group[0]].numpy(), d.flag()
        for name in [n for n, t in tensors.items() if n in group or np.array_equal(t, values)]:
            del tensors[name]  # classes may save it under a name of their own
        for i, name in enumerate(stored):
            tensors[name] = (
                values + (0.3 * noise.standard_normal(values.shape) if differ and i else 0)
            ).astype(np.float32)
    wide = d.choice(["none", "vectors", "all"])
    for name, value in tensors.items():
        if value.dtype == np.float32 and (wide == "all" or wide == "vectors" and value.ndim == 1):
            tensors[name] = value.astype(np.float64)
    save_file(tensors, path, metadata={"format": "pt"})
    return (
        type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    )


def add_unread(folder, d):
    """The name of a tensor that is put beside another one of a layer."""
    path = folder / FILE
    tensors = load_file(path)
    # Of a model that also sees or hears the text part alone is opened.
    of_layers = [
        k
        for k in tensors
        if (".0." in k or ".1." in k) and "vision" not in k and "embed_tokens_extend" not in k
    ]
    beside = d.choice(sorted(of_layers))
    name = beside.rsplit(".", 1)[0] + d.choice([".bias", ".gate", "_norm.weight", ".lora_A.weight"])
    if name in tensors:
        name += "_more"
    tensors[name] = np.ones(d.choice([1, 8]), np.float32)
    save_file(tensors, path, metadata={"format": "pt"})
    return name
