"""Write the weights of a model as other programs may have stored them: tied tensors under some of
their names, several copies that differ, float64; and add a tensor that no model of the family
has."""

import json

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


# Families: models whose text part they are, and a tensor of what sees.
WHOLES = {
    "qwen3_5_text": ("qwen3_5", "model.visual.patch_embed.proj.weight"),
    "qwen3_5_moe_text": ("qwen3_5_moe", "model.visual.patch_embed.proj.weight"),
    "mistral": ("mistral3", "vision_tower.patch_conv.weight"),
    "llama": ("llava", "multi_modal_projector.linear_1.weight"),
}


def wrap(folder, d):
    """Now and then, the same model as the text part of one that also sees, as the Hub has it:
    tensors under language_model, matrices of all experts in one."""
    path, text = folder / FILE, json.loads((folder / "config.json").read_text())
    if text["model_type"] not in WHOLES or d.flag():
        return
    whole, seen = WHOLES[text["model_type"]]
    prefix = d.choice(["model.language_model.", "language_model.model."])
    tensors = {}
    for name, value in load_file(path).items():
        name = name.removeprefix("model.") if name.startswith("model.") else name
        head = "language_model." if prefix == "language_model.model." else ""
        tensors[(head if name.startswith("lm_head") else prefix) + name] = value
    for name in [n for n in tensors if n.endswith("experts.0.gate_proj.weight")]:
        at, each = name.removesuffix("0.gate_proj.weight"), range(text["num_experts"])
        take = lambda e, part: tensors.pop(f"{at}{e}.{part}_proj.weight")
        tensors[at + "gate_up_proj"] = np.stack(
            [np.concatenate([take(e, "gate"), take(e, "up")]) for e in each]
        )
        tensors[at + "down_proj"] = np.stack([take(e, "down") for e in each])
    tensors[seen] = np.ones((2, 3), np.float32)
    save_file(tensors, path, metadata={"format": "pt"})
    config = {"model_type": whole, "text_config": text, "vision_config": {"depth": 1}}
    config["tie_word_embeddings"] = text["tie_word_embeddings"]
    (folder / "config.json").write_text(json.dumps(config))


def rewrite(folder, model, d):
    """The same folder with other tensors, and what transformers reads in it."""
    path, state = folder / FILE, model.state_dict()
    tensors, noise = load_file(path), np.random.default_rng(d.randrange(1 << 30))
    for group in tied_groups(model):
        values, differ = state[group[0]].numpy(), d.flag()
        saved = [n for n, t in tensors.items() if n in group or np.array_equal(t, values)]
        # Classes may save it under a name of their own (EXAONE).
        own = [n for n in saved if n not in group]
        if own and group[0] not in saved:
            group[0] = own[0]
        stored = d.sample(group, d.randint(1, len(group)))
        for name in saved:
            del tensors[name]
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
