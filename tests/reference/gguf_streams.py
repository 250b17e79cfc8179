"""What llama.cpp's converter writes of Gemma 3n, for gguf_writing.py."""

import re

import numpy as np
import torch


def add_streams(w, config):
    """Its streams, the keys and values that layers share, and the points at which gates are cut."""
    w.add_altup_active_idx(config["altup_active_idx"])
    w.add_altup_num_inputs(config["altup_num_inputs"])
    w.add_embedding_length_per_layer_input(config["hidden_size_per_layer_input"])
    w.add_shared_kv_layers(config["num_kv_shared_layers"])
    shares = torch.tensor(config["activation_sparsity_pattern"], dtype=torch.float32)
    w.add_activation_sparsity_scale(torch.distributions.Normal(0, 1).icdf(shares).tolist())


def stream_tensors(tensors):
    """Matrices of streams in one tensor, scales called weights."""
    out, parts = {}, {}
    for key, value in tensors.items():
        part = re.match(r"(model\.altup_\w*projections)\.(\d+)\.weight$", key)
        if part:
            parts.setdefault(part[1] + ".weight", {})[int(part[2])] = value
        else:
            out[key + (".weight" if key.endswith("_scale") else "")] = value
    out.update({key: np.stack([v[i] for i in sorted(v)]) for key, v in parts.items()})
    return out
