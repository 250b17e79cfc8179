"""Write random models as GGUF, as llama.cpp's converter does, for gguf_families.py."""

import re

import gguf
import numpy as np
from gguf_mixers import MIXERS, OTHERWISE, add_mixer, mixer_tensors
from gguf_models import turned
from gguf_streams import add_streams, stream_tensors

TURNED = ("granite", "smollm3", "arcee", "olmo", "mixtral", "granitemoe", "granitemoeshared")
TURNED += ("granitemoehybrid",)
LATENT = ("deepseek_v2", "deepseek_v3", "glm4_moe_lite")
# Numbers of the routers that GGUF states; the others follow from the architecture.
ROUTERS = {"glm4_moe": 2, "dots1": 2, "minimax_m2": 2, "deepseek_v2": 1, "deepseek_v3": 2}
ROUTERS["glm4_moe_lite"] = 2
# Architectures that say how experts' weights are made.
WEIGHED = ("glm4_moe", "dots1", *LATENT)
# Keys of configurations: the writer's method.
NUMBERS = {
    "hidden_size": "add_embedding_length",
    "n_embd": "add_embedding_length",
    "d_model": "add_embedding_length",
    "n_layer": "add_block_count",
    "n_layers": "add_block_count",
    "n_head": "add_head_count",
    "n_heads": "add_head_count",
    "n_positions": "add_context_length",
    "max_seq_len": "add_context_length",
    "n_inner": "add_feed_forward_length",
    "ffn_hidden_size": "add_feed_forward_length",
    "layer_norm_epsilon": "add_layer_norm_eps",
    "norm_epsilon": "add_layer_norm_eps",
    "norm_eps": "add_layer_norm_eps",
    "use_parallel_residual": "add_parallel_residual",
    "num_hidden_layers": "add_block_count",
    "num_attention_heads": "add_head_count",
    "num_key_value_heads": "add_head_count_kv",
    "intermediate_size": "add_feed_forward_length",
    "max_position_embeddings": "add_context_length",
    "rms_norm_eps": "add_layer_norm_rms_eps",
    "layer_norm_eps": "add_layer_norm_eps",
    "sliding_window": "add_sliding_window",
    "final_logit_softcapping": "add_final_logit_softcapping",
    "logit_scale": "add_logit_scale",
    "logits_scaling": "add_logit_scale",
    "attention_multiplier": "add_attention_scale",
    "embedding_multiplier": "add_embedding_scale",
    "residual_multiplier": "add_residual_scale",
    "d_ff": "add_feed_forward_length",
    "num_layers": "add_block_count",
    "num_decoder_layers": "add_decoder_block_count",
    "num_heads": "add_head_count",
    "relative_attention_num_buckets": "add_relative_attn_buckets_count",
    "decoder_start_token_id": "add_decoder_start_token_id",
    "local_attention": "add_sliding_window",
    "num_experts": "add_expert_count",
    "num_local_experts": "add_expert_count",
    "n_routed_experts": "add_expert_count",
    "moe_num_experts": "add_expert_count",
    "num_experts_per_tok": "add_expert_used_count",
    "moe_k": "add_expert_used_count",
    "moe_intermediate_size": "add_expert_feed_forward_length",
    "shared_expert_intermediate_size": "add_expert_shared_feed_forward_length",
    "shared_intermediate_size": "add_expert_shared_feed_forward_length",
    "n_shared_experts": "add_expert_shared_count",
    "moe_num_shared_experts": "add_expert_shared_count",
    "num_shared_experts": "add_expert_shared_count",
    "num_dense_layers": "add_leading_dense_block_count",
    "route_scale": "add_expert_weights_scale",
    "first_k_dense_replace": "add_leading_dense_block_count",
    "moe_layer_start_index": "add_leading_dense_block_count",
    "moe_layer_interval": "add_interleave_moe_layer_step",
    "n_group": "add_expert_group_count",
    "topk_group": "add_expert_group_used_count",
    "q_lora_rank": "add_q_lora_rank",
    "kv_lora_rank": "add_kv_lora_rank",
}


def add_routing(w, config, d):
    """What llama.cpp is told of experts beside their numbers."""
    kind = config["model_type"]
    if kind in ROUTERS:
        w.add_expert_gating_func(gguf.ExpertGatingFuncType(ROUTERS[kind]))
    if kind in WEIGHED:
        w.add_expert_weights_scale(config["routed_scaling_factor"])
        if config.get("norm_topk_prob") or (kind not in LATENT):
            w.add_expert_weights_norm(config["norm_topk_prob"])
    if kind == "hunyuan_v1_moe":
        w.add_expert_used_count(config["moe_topk"])
    if kind == "llama4_text":
        w.add_feed_forward_length(config["intermediate_size_mlp"])
        w.add_interleave_moe_layer_step(config["interleave_moe_layer_step"])
    if kind in ("gpt_oss", "minimax_m2", "llama4_text"):
        w.add_expert_feed_forward_length(config["intermediate_size"])
    if kind == "glm4_moe_lite":
        w.add_leading_dense_block_count(1)
    if kind in LATENT:
        d_shared = config["qk_rope_head_dim"]
        w.add_key_length_mla(config["qk_nope_head_dim"] + d_shared)
        w.add_value_length_mla(config["v_head_dim"])


def add_gemma4(w, config):
    """What its layers with and without a window have apart."""
    full = [kind == "full_attention" for kind in config["layer_types"]]
    shared, depth = config["num_kv_shared_layers"], len(full)
    listed = config.get("per_layer_config") or {}
    of = lambda i, key: listed.get(str(i), {}).get(key, config[key])
    wide = of(full.index(True), "head_dim")
    w.add_head_count_kv([of(i, "num_key_value_heads") for i in range(depth)])
    double = config["use_double_wide_mlp"]
    width = config["intermediate_size"]
    w.add_feed_forward_length(
        [width * (1 + (double and i >= depth - shared)) for i in range(depth)]
    )
    w.add_shared_kv_layers(shared)
    w.add_embedding_length_per_layer_input(config["hidden_size_per_layer_input"])
    w.add_sliding_window_pattern([not f for f in full])
    w.add_key_length(wide)
    w.add_value_length(wide)
    w.add_key_length_swa(config["head_dim"])
    w.add_value_length_swa(config["head_dim"])
    w.add_rope_dimension_count(wide)
    w.add_rope_dimension_count_swa(config["head_dim"])
    ropes = config["rope_parameters"]
    w.add_rope_freq_base(ropes["full_attention"]["rope_theta"])
    w.add_rope_freq_base_swa(ropes["sliding_attention"]["rope_theta"])
    turning = int(wide * ropes["full_attention"]["partial_rotary_factor"] / 2)
    factors = [1.0] * turning + [1e30] * (wide // 2 - turning)
    w.add_tensor("rope_freqs.weight", np.array(factors, np.float32))
    if config["enable_moe_block"]:
        w.add_expert_used_count(config["top_k_experts"])


def gemma4_tensors(tensors, config):
    """Names as the converter gives them: scales beside their matrices."""
    if config["model_type"] != "gemma4_text":
        return tensors
    out = {}
    for key, value in tensors.items():
        part = re.match(r"model\.layers\.(\d+)\.router\.(scale|per_expert_scale)$", key)
        if part:
            of = "ffn_gate_inp" if part[2] == "scale" else "ffn_down_exps"
            out[f"blk.{part[1]}.{of}.scale"] = value
        elif key.endswith("layer_scalar") or re.search(r"\.experts\.\w+$", key):
            out[key + ".weight"] = value.reshape(value.shape or (1,))
        else:
            out[key] = value
    return out


def add_rope(w, config, d_head):
    rope = config.get("rope_parameters")
    if not rope:
        return
    if config["model_type"] in ("gemma3_text", "modernbert"):
        w.add_float32(f"{w.arch}.rope.freq_base_swa", rope["sliding_attention"]["rope_theta"])
    rope = rope.get("full_attention", rope)
    w.add_rope_freq_base(rope["rope_theta"])
    w.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1) * d_head))
    if rope["rope_type"] == "linear":
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        w.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        w.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
        w.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
        if rope.get("mscale_all_dim"):
            w.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])
    if config["model_type"] not in ("phi3", "phimoe"):
        return
    original = config.get("original_max_position_embeddings")
    original = original or rope.get("original_max_position_embeddings", 64)
    w.add_rope_scaling_orig_ctx_len(original)
    if rope["rope_type"] == "longrope":
        longer = config["max_position_embeddings"] / original
        w.add_rope_scaling_attn_factors(np.sqrt(1 + np.log(longer) / np.log(original)))
        for kind in ("long", "short"):
            w.add_tensor(
                f"rope_factors_{kind}.weight", np.array(rope[f"{kind}_factor"], np.float32)
            )


def sizes(config):
    """Width of a head, heads, and key/value heads."""
    size = lambda *keys: next((config[k] for k in keys if k in config), 1)
    heads = size("num_attention_heads", "n_head", "n_heads", "num_heads")
    shared = config.get("num_key_value_heads") or heads
    if config["model_type"] == "falcon":
        shared = config["num_kv_heads"]
        if not config["new_decoder_architecture"]:
            shared = 1 if config["multi_query"] else heads
    width = size("hidden_size", "n_embd", "d_model")
    return config.get("head_dim") or config.get("d_kv") or width // heads, heads, shared


def one_after_another(value, d_head, heads, shared):
    """All of q, of k and of v, from those of one key/value head after another."""
    groups = value.reshape(shared, heads // shared + 2, d_head, *value.shape[1:])
    parts = (groups[:, :-2], groups[:, -2:-1], groups[:, -1:])
    return np.concatenate([p.reshape(-1, *value.shape[1:]) for p in parts])


def stacked_norms(tensors):
    """StableLM's norms of heads as one tensor."""
    out, rows = {}, {}
    for key, value in tensors.items():
        if part := re.match(r"(.*_layernorm)\.norms\.(\d+)(\.weight)", key):
            rows.setdefault(part[1] + part[3], {})[int(part[2])] = value
        else:
            out[key] = value
    return {**out, **{k: np.stack([v[i] for i in sorted(v)]) for k, v in rows.items()}}


def stacked_experts(tensors, config, fused):
    """Matrices of all experts as one tensor each; gate and up as two, or as one."""
    out, parts = {}, {}
    for key, value in tensors.items():
        if part := re.match(r"(.*\.experts)\.(\d+)\.(\w+)\.weight", key):
            parts.setdefault(f"{part[1]}.{part[3]}.weight", {})[int(part[2])] = value
        elif config["model_type"] == "gpt_oss" and ".experts." in key:
            bias = key.endswith("_bias")
            value = value if bias else value.swapaxes(1, 2)
            key = key.removesuffix("_bias") + (".bias" if bias else ".weight")
            if "gate_up" in key:
                out[key.replace("gate_up", "gate")] = np.ascontiguousarray(value[:, ::2])
                out[key.replace("gate_up", "up")] = np.ascontiguousarray(value[:, 1::2])
            else:
                out[key] = np.ascontiguousarray(value)
        elif config["model_type"] == "llama4_text" and ".experts." in key:
            value = value.swapaxes(1, 2)
            half = value.shape[1] // 2
            if "gate_up" in key:
                out[key.replace("gate_up_proj", "gate_proj.weight")] = value[:, :half].copy()
                out[key.replace("gate_up_proj", "up_proj.weight")] = value[:, half:].copy()
            else:
                out[key + ".weight"] = value.copy()
        elif "input_linear" in key:
            half = value.shape[-2] // 2
            kind = "_shexp" if "shared_mlp" in key else "_exps"
            kind = kind if config.get("num_local_experts") else ""
            layer = key.split(".")[2]
            out[f"blk.{layer}.ffn_gate{kind}.weight"] = np.ascontiguousarray(value[..., :half, :])
            out[f"blk.{layer}.ffn_up{kind}.weight"] = np.ascontiguousarray(value[..., half:, :])
        elif "shared_mlp.output_linear" in key and not config.get("num_local_experts"):
            out[f"blk.{key.split('.')[2]}.ffn_down.weight"] = value
        elif key.endswith("kv_b_proj.weight") and not fused:
            d_key, d_value = config["qk_nope_head_dim"], config["v_head_dim"]
            heads = value.reshape(-1, d_key + d_value, value.shape[-1])
            keys = heads[:, :d_key].swapaxes(1, 2)
            out[key.replace("kv_b", "k_b")] = np.ascontiguousarray(keys)
            out[key.replace("kv_b", "v_b")] = np.ascontiguousarray(heads[:, d_key:])
        else:
            name = key.replace("e_score_correction_bias", "e_score_correction.bias")
            name = name.replace(".expert_bias", ".expert_bias.bias")
            name += ".weight" if name.endswith("sinks") else ""
            out[name] = value.squeeze() if value.size > 1 else value
    out.update({key: np.stack([v[i] for i in sorted(v)]) for key, v in parts.items()})
    fused = fused and config["model_type"] != "gpt_oss"
    for key in [k for k in out if fused and re.search(r"\.experts\.(gate_proj|w1)\.weight", k)]:
        up = key.replace("gate_proj", "up_proj").replace("w1", "w3")
        layer = key.split(".")[2]
        out[f"blk.{layer}.ffn_gate_up_exps.weight"] = np.concatenate(
            [out.pop(key), out.pop(up)], axis=1
        )
    return out


def gguf_values(key, value, config):
    if config["model_type"] in TURNED and (part := re.search(r"\.([qk])_proj\.", key)):
        heads = "num_attention_heads" if part[1] == "q" else "num_key_value_heads"
        return turned(value, config[heads])
    if "query_key_value" in key:
        return one_after_another(value, *sizes(config))
    shifted = config["model_type"] in ("gemma3_text", "nemotron") and re.search(
        r"norm\.weight$", key
    )
    return value + 1 if shifted else value


def write(path, name, config, tensors, d):
    w = gguf.GGUFWriter(path, name)
    d_head, heads, shared = sizes(config)
    for key, method in NUMBERS.items():
        if key in OTHERWISE.get(config["model_type"], ()):
            continue
        if config.get(key) is not None and (config[key] or key != "sliding_window"):
            getattr(w, method)(config[key])
    if not any(k in config for k in ("max_position_embeddings", "n_positions", "max_seq_len")):
        w.add_context_length(64)  # BLOOM's is not bounded
    if config["model_type"] == "falcon":
        w.add_head_count_kv(shared)
    if config["model_type"] == "mpt":
        w.add_max_alibi_bias(config["attn_config"]["alibi_bias_max"])
        if config["attn_config"]["clip_qkv"]:
            w.add_clamp_kqv(config["attn_config"]["clip_qkv"])
    if name == "modern-bert":
        w.add_string(f"{name}.hidden_activation", config["hidden_activation"])
    if name == "t5":
        w.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
    if config["model_type"] == "olmo":
        w.add_layer_norm_eps(1e-5)
        if config["clip_qkv"]:
            w.add_clamp_kqv(config["clip_qkv"])
    if "kv_lora_rank" in config:  # of one key that all heads share, as llama.cpp computes it
        w.add_key_length(config["kv_lora_rank"] + config["qk_rope_head_dim"])
        w.add_value_length(config["kv_lora_rank"])
    else:
        w.add_key_length(d_head)
        w.add_value_length(d_head)
    add_routing(w, config, d)
    if config["model_type"] == "gemma4_text":
        add_gemma4(w, config)
    if config["model_type"] == "gemma3n_text":
        add_streams(w, config)
        tensors = stream_tensors(tensors)
    if config["model_type"] in MIXERS:
        add_mixer(w, config)
    if config["model_type"] != "gemma4_text":
        add_rope(w, config, config.get("qk_rope_head_dim", d_head))
    slides = [kind == "sliding_attention" for kind in config.get("layer_types") or []]
    if (
        any(slides)
        and name != "gemma4"
        and (name.startswith("gemma") or name == "afmoe" or d.flag())
    ):
        w.add_sliding_window_pattern(slides)
    counts = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    layers = max(
        next(config[k] for k in counts if k in config), config.get("num_decoder_layers", 0)
    )
    names = gguf.get_tensor_name_map(
        next(a for a, n in gguf.MODEL_ARCH_NAMES.items() if n == name), layers
    )
    fused = d.flag()
    tensors = stacked_experts(stacked_norms(tensors), config, fused)
    for key, value in gemma4_tensors(mixer_tensors(tensors, config), config).items():
        plain = key.removeprefix("transformer.") if name == "bloom" else key
        plain = plain.removeprefix("nomic_bert.")
        plain = plain.removeprefix("model.") if name == "modern-bert" else plain
        known = plain.startswith("blk.")
        w.add_tensor(
            plain if known else names.get_name(plain, try_suffixes=(".weight", ".bias")),
            gguf_values(key, value, config),
        )
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
