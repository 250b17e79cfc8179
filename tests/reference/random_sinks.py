"""Random small configurations of families with sinks in their softmax, gates of attention, chunked
masks or experts of other kinds, for random_families.py."""

import importlib

import torch
import transformers
from random_draw import llama_like
from random_experts import experts


def sliding(d, depth, usual=True):
    """Kinds of layers; None: those of the class."""
    if usual and d.flag():
        return None
    rest = [d.choice(["full_attention", "sliding_attention"]) for _ in range(depth - 1)]
    return [*rest, "sliding_attention"]


def make_gpt_oss(d):
    rope = d.rope()
    if rope["rope_type"] == "yarn":
        rope["truncate"] = d.flag()
    return llama_like(
        d,
        transformers.GptOssConfig,
        transformers.GptOssForCausalLM,
        num_hidden_layers=3,
        layer_types=sliding(d, 3),
        sliding_window=d.window(3, 7),
        attention_bias=d.flag(),
        swiglu_limit=d.choice([0.4, 1.0, 7.0]),
        swiglu_alpha=d.choice([1.702, 0.8]),
        rope_parameters=d.choice([None, rope, rope]),
        **experts(d, count="num_local_experts", normalizes=False),
    )


def make_flint(d):
    return llama_like(
        d,
        transformers.FlintConfig,
        transformers.FlintForCausalLM,
        num_hidden_layers=5,
        layer_types=sliding(d, 5),
        sliding_window=d.window(3, 7),
        attention_bias=d.flag(),
        mlp_only_layers=d.choice([None, [], [3]]),
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        **experts(d),
    )


def count_sinks(kind):
    """Let the class return the weights by which z sums the values: it scales z by the keys' share
    instead."""
    module = importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    if hasattr(module, "own_attention_forward"):
        return
    module.own_attention_forward = module.eager_attention_forward

    def counted(layer, query, key, value, attention_mask, scaling, **more):
        z, weights = module.own_attention_forward(
            layer, query, key, value, attention_mask, scaling, **more
        )
        keys = module.repeat_kv(key, layer.num_key_value_groups)
        scores = torch.matmul(query, keys.transpose(2, 3)) * scaling
        if attention_mask is not None:
            scores = scores + attention_mask
        share = (scores.logsumexp(-1) - layer.sinks.view(1, -1, 1)).sigmoid()
        return z, weights * share[..., None]

    module.eager_attention_forward = counted


def granite(d, depth):
    """Granite's factors, and the layers of Granite SWA."""
    return {
        "embedding_multiplier": d.choice([1.0, 3.0]),
        "residual_multiplier": d.choice([1.0, 0.4]),
        "attention_multiplier": d.choice([1.0, 0.25]),
        "logits_scaling": d.choice([1.0, 4.0]),
        "num_hidden_layers": depth,
        "head_dim": None,
        "attention_bias": d.flag(),
    }


def sliding_granite(d, depth):
    return {
        "layer_types": sliding(d, depth),
        "layer_rope_theta": d.choice([None, [d.choice([0, 500.0, 1e4]) for _ in range(depth)]]),
        "sliding_window": d.window(3, 7),
    }


def make_granite_swa(d):
    count_sinks("granite_swa")
    return llama_like(
        d,
        transformers.GraniteSWAConfig,
        transformers.GraniteSWAForCausalLM,
        mlp_bias=d.flag(),
        **granite(d, 5),
        **sliding_granite(d, 5),
    )


def make_granitemoe(d):
    return llama_like(
        d,
        transformers.GraniteMoeConfig,
        transformers.GraniteMoeForCausalLM,
        **granite(d, 2),
        **experts(d, count="num_local_experts", normalizes=False),
    )


def make_granitemoeshared(d):
    return llama_like(
        d,
        transformers.GraniteMoeSharedConfig,
        transformers.GraniteMoeSharedForCausalLM,
        shared_intermediate_size=d.choice([0, 24, 40]),
        **granite(d, 2),
        **experts(d, count="num_local_experts", normalizes=False),
    )


def make_granitemoe_swa(d):
    count_sinks("granitemoe_swa")
    return llama_like(
        d,
        transformers.GraniteMoeSWAConfig,
        transformers.GraniteMoeSWAForCausalLM,
        shared_intermediate_size=d.choice([0, 24, 40]),
        **granite(d, 5),
        **sliding_granite(d, 5),
        **experts(d, count="num_local_experts", normalizes=False),
    )


def make_afmoe(d):
    return llama_like(
        d,
        transformers.AfmoeConfig,
        transformers.AfmoeForCausalLM,
        num_hidden_layers=4,
        layer_types=sliding(d, 4),
        global_attn_every_n_layers=d.choice([2, 4]),
        sliding_window=d.window(3, 7),
        attention_bias=d.flag(),
        mup_enabled=d.flag(),
        num_dense_layers=d.choice([0, 1, 3]),
        num_shared_experts=d.choice([1, 2]),
        moe_intermediate_size=d.choice([24, 40]),
        route_scale=d.choice([1.0, 2.5]),
        **experts(d, normalizes=False),
    )


def rope_by_kind(d):
    return {kind: d.rope() for kind in ("full_attention", "sliding_attention")}


def make_laguna(d):
    shared = d.choice([1, 2])
    rope = rope_by_kind(d)
    for entry in rope.values():
        if entry["rope_type"] == "dynamic":  # not for each kind
            entry["rope_type"] = "linear"
        entry["partial_rotary_factor"] = d.choice([0.5, 1.0])
    return llama_like(
        d,
        transformers.LagunaConfig,
        transformers.LagunaForCausalLM,
        num_hidden_layers=3,
        num_key_value_heads=shared,
        num_attention_heads=2 * shared,
        num_attention_heads_per_layer=d.choice([None, [shared, 2 * shared, 3 * shared]]),
        head_dim=d.choice([8, 16]),
        hidden_size=40,
        layer_types=sliding(d, 3),
        sliding_window=d.window(3, 7),
        attention_bias=d.flag(),
        gating=d.choice([True, "per-head", "per-element"]),
        mlp_layer_types=d.choice([None, ["sparse", "dense", "sparse"]]),
        moe_intermediate_size=d.choice([24, 40]),
        shared_expert_intermediate_size=d.choice([20, 36]),
        moe_routed_scaling_factor=d.choice([1.0, 2.5]),
        moe_router_logit_softcapping=d.choice([0.0, 0.7]),
        rope_parameters=d.choice([None, rope, rope]),
        **experts(d, normalizes=False),
    )


def make_mellum(d):
    rope = rope_by_kind(d)
    for entry in rope.values():
        if entry["rope_type"] == "dynamic":
            entry["rope_type"] = "linear"
    return llama_like(
        d,
        transformers.MellumConfig,
        transformers.MellumForCausalLM,
        num_hidden_layers=3,
        layer_types=sliding(d, 3),
        sliding_window=d.window(3, 7),
        attention_bias=d.flag(),
        mlp_layer_types=d.choice([None, ["sparse", "dense", "sparse"]]),
        moe_intermediate_size=d.choice([24, 40]),
        rope_parameters=d.choice([None, rope, rope]),
        **experts(d),
    )


def make_llama4_text(d):
    depth = d.choice([3, 4])
    kinds = [d.choice(["chunked_attention", "full_attention"]) for _ in range(depth)]
    config, head = llama_like(
        d,
        transformers.Llama4TextConfig,
        transformers.Llama4ForCausalLM,
        num_hidden_layers=depth,
        intermediate_size_mlp=d.choice([48, 80]),
        moe_layers=d.choice([None, [0], [1, 2]]),
        interleave_moe_layer_step=d.choice([1, 2]),
        use_qk_norm=d.flag(),
        no_rope_layers=d.choice([None, [d.choice([0, 1]) for _ in range(depth)]]),
        no_rope_layer_interval=d.choice([2, 4]),
        attention_chunk_size=d.window(3, 7),
        layer_types=d.choice([None, kinds]),
        attn_temperature_tuning=d.flag(),
        floor_scale=d.choice([2, 5]),
        attn_scale=d.choice([0.1, 0.7]),
        attention_bias=d.flag(),
        **experts(d, count="num_local_experts", normalizes=False),
    )
    return config, head
