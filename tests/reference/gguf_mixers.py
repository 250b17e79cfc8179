"""What llama.cpp's converter writes of recurrences, for gguf_writing.py."""

import re

import numpy as np

DELTA_NETS = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
STATE_SPACES = ("mamba2", "granitemoehybrid", "nemotron_h", "falcon_h1")
SELECTIVE = ("mamba", "falcon_mamba", "jamba")
CONVOLUTIONS = ("lfm2", "lfm2_moe")
MIXERS = DELTA_NETS + STATE_SPACES + SELECTIVE + CONVOLUTIONS
# Keys of configurations that the converter writes otherwise for these.
OTHERWISE = {
    "mamba2": ("num_heads", "head_dim"),
    "jamba": ("num_key_value_heads",),
    "falcon_h1": ("embedding_multiplier",),
    "granitemoehybrid": ("num_key_value_heads",),
    "nemotron_h": ("num_key_value_heads", "intermediate_size"),
    "gemma4_text": ("num_key_value_heads", "intermediate_size"),
    "lfm2": ("num_key_value_heads", "norm_eps", "rms_norm_eps"),
    "lfm2_moe": ("num_key_value_heads", "norm_eps", "rms_norm_eps"),
}


def first(config, *keys):
    return next(config[key] for key in keys if config.get(key) is not None)


def groups_of(config):
    return first(config, "n_groups", "mamba_n_groups")


def kinds_of(config):
    if config["model_type"] == "jamba":
        period, offset = config["attn_layer_period"], config["attn_layer_offset"]
        layers = range(config["num_hidden_layers"])
        return ["attention" if i % period == offset else "mamba" for i in layers]
    return config.get("layers_block_type") or config.get("layer_types")


def add_key_heads(w, config):
    """Which layers are attention."""
    attends = [k in ("attention", "full_attention") for k in kinds_of(config)]
    w.add_head_count_kv([config["num_key_value_heads"] * a for a in attends])


def add_mixer(w, config):
    """The sizes of the mixer, and which layers have it."""
    kind = config["model_type"]
    if kind in CONVOLUTIONS:
        add_key_heads(w, config)
        w.add_shortconv_l_cache(config["conv_L_cache"])
        w.add_layer_norm_rms_eps(config["norm_eps"])
        if kind == "lfm2_moe":
            w.add_expert_weights_scale(config["routed_scaling_factor"])
        return
    if kind in SELECTIVE:
        width = config["hidden_size"]
        w.add_ssm_conv_kernel(first(config, "mamba_d_conv", "conv_kernel"))
        w.add_ssm_state_size(first(config, "mamba_d_state", "state_size"))
        w.add_ssm_time_step_rank(first(config, "mamba_dt_rank", "time_step_rank"))
        w.add_ssm_inner_size(first(config, "mamba_expand", "expand") * width)
        if kind == "jamba":
            return add_key_heads(w, config)
        w.add_head_count(0)
        w.add_feed_forward_length(0)
        w.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
        w.add_ssm_dt_b_c_rms(kind == "falcon_mamba")
        return
    if kind in DELTA_NETS:
        heads, width = config["linear_num_value_heads"], config["linear_value_head_dim"]
        w.add_ssm_conv_kernel(config["linear_conv_kernel_dim"])
        w.add_ssm_state_size(config["linear_key_head_dim"])
        w.add_ssm_group_count(config["linear_num_key_heads"])
        w.add_full_attention_interval(config["full_attention_interval"])
    else:
        heads = first(config, "mamba_num_heads", "mamba_n_heads", "num_heads")
        width = first(config, "mamba_head_dim", "mamba_d_head", "head_dim")
        w.add_ssm_conv_kernel(first(config, "mamba_d_conv", "conv_kernel"))
        w.add_ssm_state_size(first(config, "mamba_d_state", "ssm_state_size", "state_size"))
        w.add_ssm_group_count(groups_of(config))
    w.add_ssm_time_step_rank(heads)
    w.add_ssm_inner_size(heads * width)
    if kind == "mamba2":
        w.add_head_count(0)
        w.add_feed_forward_length(0)
        w.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
    elif kind != "falcon_h1" and kind in STATE_SPACES:
        add_key_heads(w, config)
    if kind == "granitemoehybrid":
        w.add_rope_scaling_finetuned(config["position_embedding_type"] == "rope")
    if kind == "nemotron_h":
        widths = {"mlp": config["intermediate_size"], "moe": config.get("moe_intermediate_size")}
        w.add_feed_forward_length([widths.get(kind, 0) for kind in kinds_of(config)])
        w.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
        if "moe" in kinds_of(config):
            w.add_expert_shared_feed_forward_length(config["moe_shared_expert_intermediate_size"])
            w.add_expert_weights_norm(config["norm_topk_prob"])
            w.add_expert_weights_scale(config["routed_scaling_factor"])


def by_turn(value, config, axis=0, width=None):
    """Value heads: the first of each key head, then the second of each, and so on."""
    keys, heads = config["linear_num_key_heads"], config["linear_num_value_heads"]
    value = np.moveaxis(value, axis, 0)
    width = width or value.shape[0] // heads
    turned = value.reshape(keys, heads // keys, width, *value.shape[1:]).swapaxes(0, 1)
    return np.ascontiguousarray(np.moveaxis(turned.reshape(value.shape), 0, axis))


def delta_net(key, value, config):
    """Names and values of one tensor, which may hold several."""
    d_key, d_value = config["linear_key_head_dim"], config["linear_value_head_dim"]
    keys, heads = config["linear_num_key_heads"], config["linear_num_value_heads"]
    if "in_proj_qkvz" in key:
        layer, share = key.split(".")[2], heads // keys * d_value
        groups = value.reshape(keys, 2 * d_key + 2 * share, -1)
        q, k, v, z = np.split(groups, np.cumsum([d_key, d_key, share]), axis=1)
        flat = [np.ascontiguousarray(x.reshape(-1, value.shape[-1])) for x in (q, k, v, z)]
        return {
            f"blk.{layer}.attn_qkv.weight": np.concatenate(flat[:3]),
            f"blk.{layer}.attn_gate.weight": flat[3],
        }
    if key.endswith(".A_log"):
        value = -np.exp(value)
    if key.endswith("conv1d.weight"):
        value = value.reshape(value.shape[0], -1)
    if config["model_type"] != "qwen3_next" and ".linear_attn." in key:
        first_value = 2 * keys * d_key
        if re.search(r"in_proj_qkv|conv1d", key):
            value = np.concatenate([value[:first_value], by_turn(value[first_value:], config)])
        elif re.search(r"in_proj_[zab]|A_log|dt_bias", key):
            value = by_turn(value, config)
        elif "out_proj" in key:
            value = by_turn(value, config, 1, d_value)
    if key.endswith("norm.weight") and not key.endswith("linear_attn.norm.weight"):
        value = value + 1
    return {key.replace("dt_bias", "dt_proj.bias"): value}


def falcon_h1(key, value, config):
    """A tensor with the factors that the converter puts into it."""
    of = lambda name: config[f"{name}_multiplier"]
    if "in_proj" in key:
        keys = config["mamba_n_groups"] * config["mamba_d_state"]
        inner = config["mamba_n_heads"] * config["mamba_d_head"]
        parts = np.split(value, np.cumsum([inner, inner, keys, keys]))
        by = config["ssm_multipliers"]
        return of("ssm_in") * np.concatenate([m * part for m, part in zip(by, parts)])
    for name, factor in (
        ("down_proj", lambda: config["mlp_multipliers"][1]),
        ("gate_proj", lambda: config["mlp_multipliers"][0]),
        ("k_proj", lambda: of("key") * of("attention_in")),
        ("q_proj", lambda: of("attention_in")),
        ("v_proj", lambda: of("attention_in")),
        ("o_proj", lambda: of("attention_out")),
        ("out_proj", lambda: of("ssm_out")),
        ("lm_head", lambda: of("lm_head")),
        ("embed_tokens", lambda: of("embedding")),
    ):
        if name in key:
            return value * np.float32(factor())
    return value


def mixer(key, value, config):
    if config["model_type"] == "falcon_h1":
        value = falcon_h1(key, value, config)
    if "feed_forward.experts" in key and config["model_type"] == "lfm2_moe":
        key = key.removeprefix("model.")
    if config["model_type"] in SELECTIVE and key.endswith(".A_log"):
        value = -np.exp(value)
    elif config["model_type"] in SELECTIVE and key.endswith(".D"):
        pass
    elif key.endswith((".A_log", ".D")):
        value = (-np.exp(value) if key.endswith("A_log") else value)[:, None]
    elif key.endswith(("conv1d.weight", "conv.conv.weight")):
        value = value.reshape(value.shape[0], -1)
    elif re.search(r"(mixer|mamba)\.norm\.weight$", key):
        value = value.reshape(groups_of(config), -1)
    if config["model_type"] == "nemotron_h" and ".experts." in key:
        key = key.replace("backbone.", "model.").replace(".mixer.", ".mlp.")
    return {key.replace("dt_bias", "dt_proj.bias"): value}


def mixer_tensors(tensors, config):
    if config["model_type"] not in MIXERS:
        return tensors
    of = delta_net if config["model_type"] in DELTA_NETS else mixer
    return {k: v for key, value in tensors.items() for k, v in of(key, value, config).items()}
