#!/usr/bin/env python3
"""Make tiny random models of structures of their own in tests/reference/models, and what
transformers computes of them.

    tiny_models.py [NAME...]       needs torch and transformers
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from random_models import expected_of
from safetensors.torch import save_file

MODELS = Path(__file__).parent / "models"
TEXT = "The old harbour was quiet at dawn."
PROTEIN = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEV"
RESIDUES = (
    "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>"
).split()


def mixtral():
    return transformers.MixtralConfig(
        vocab_size=620,
        hidden_size=48,
        intermediate_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=12,
        num_local_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    ), transformers.MixtralForCausalLM


def qwen3_5_text():
    """Gated delta nets around attention with a gate."""
    return transformers.Qwen3_5TextConfig(
        vocab_size=620,
        hidden_size=48,
        intermediate_size=40,
        num_hidden_layers=3,
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=12,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=10,
        linear_conv_kernel_dim=4,
        max_position_embeddings=128,
        rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
        tie_word_embeddings=True,
    ), transformers.Qwen3_5ForCausalLM


def nemotron_h():
    """State spaces, one of them in a layer without an MLP, and attention."""
    return transformers.NemotronHConfig(
        vocab_size=620,
        hidden_size=48,
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"],
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=12,
        intermediate_size=40,
        ssm_state_size=8,
        mamba_num_heads=4,
        mamba_head_dim=12,
        n_groups=2,
        conv_kernel=4,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    ), transformers.NemotronHForCausalLM


def jamba():
    """Selective state spaces, each channel a head, around attention; experts in one layer."""
    return transformers.JambaConfig(
        vocab_size=620,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=3,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=4,
        num_experts_per_tok=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        mamba_expand=1,
        mamba_d_state=4,
        mamba_dt_rank=3,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    ), transformers.JambaForCausalLM


def falcon_h1():
    """Attention and a state space side by side in each layer, with every factor."""
    return transformers.FalconH1Config(
        vocab_size=620,
        hidden_size=48,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=12,
        mamba_d_ssm=40,
        mamba_n_heads=4,
        mamba_n_groups=2,
        mamba_d_state=8,
        max_position_embeddings=128,
        embedding_multiplier=1.5,
        lm_head_multiplier=0.4,
        key_multiplier=0.7,
        attention_in_multiplier=1.2,
        attention_out_multiplier=0.8,
        ssm_in_multiplier=1.3,
        ssm_out_multiplier=0.6,
        ssm_multipliers=[0.7, 1.4, 0.9, 1.2, 0.5],
        mlp_multipliers=[1.3, 0.7],
        tie_word_embeddings=True,
    ), transformers.FalconH1ForCausalLM


def lfm2():
    """Short convolutions around attention with norms of q and k."""
    return transformers.Lfm2Config(
        vocab_size=620,
        hidden_size=48,
        intermediate_size=40,
        block_auto_adjust_ff_dim=False,
        num_hidden_layers=3,
        layer_types=["conv", "full_attention", "conv"],
        num_attention_heads=4,
        num_key_value_heads=2,
        conv_L_cache=3,
        max_position_embeddings=128,
        rope_parameters={"rope_type": "default", "rope_theta": 1e4},
        tie_word_embeddings=True,
    ), transformers.Lfm2ForCausalLM


def gpt_oss():
    """Learned sinks, windows, and experts with biases."""
    return transformers.GptOssConfig(
        vocab_size=620,
        hidden_size=48,
        intermediate_size=24,
        num_hidden_layers=2,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=5,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=12,
        num_local_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=128,
        rope_parameters={"rope_type": "default", "rope_theta": 1e4},
        tie_word_embeddings=True,
    ), transformers.GptOssForCausalLM


def gemma4():
    """Every structure of the family at once; the last two layers read keys of the first two."""
    return transformers.Gemma4TextConfig(
        vocab_size=620,
        vocab_size_per_layer_input=620,
        hidden_size=40,
        intermediate_size=24,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        global_head_dim=12,
        num_global_key_value_heads=1,
        attention_k_eq_v=True,
        layer_types=["sliding_attention", "full_attention"] * 2 + ["full_attention"],
        sliding_window=4,
        num_kv_shared_layers=3,
        use_double_wide_mlp=True,
        hidden_size_per_layer_input=6,
        enable_moe_block=True,
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=16,
        final_logit_softcapping=20.0,
        max_position_embeddings=128,
    ), transformers.Gemma4ForCausalLM


def gemma3n():
    """Three streams, the last of them active; the last two layers read keys of the first two."""
    return transformers.Gemma3nTextConfig(
        vocab_size=620,
        vocab_size_per_layer_input=600,
        hidden_size=40,
        intermediate_size=[24, 28, 32, 24],
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        layer_types=["sliding_attention", "full_attention"] * 2,
        sliding_window=4,
        num_kv_shared_layers=2,
        activation_sparsity_pattern=[0.9, 0.5, 0.0, 0.3],
        hidden_size_per_layer_input=6,
        altup_num_inputs=3,
        altup_active_idx=2,
        laurel_rank=5,
        final_logit_softcapping=20.0,
        max_position_embeddings=128,
        tie_word_embeddings=True,
    ), transformers.Gemma3nForCausalLM


def esm():
    """A protein model with a contact head."""
    return transformers.EsmConfig(
        vocab_size=len(RESIDUES),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
        pad_token_id=1,
        mask_token_id=32,
        position_embedding_type="rotary",
        token_dropout=True,
    ), transformers.EsmForMaskedLM


MADE = {
    f.__name__: f
    for f in (
        mixtral,
        qwen3_5_text,
        nemotron_h,
        jamba,
        falcon_h1,
        lfm2,
        gpt_oss,
        gemma3n,
        gemma4,
        esm,
    )
}
SEEDS = {"gemma3n": 29}  # with others it magnifies rounding
# Buffers that no file holds.
COMPUTED = ("inv_freq", "embed_scale", "projection_scale", "input_scale")


def make(name):
    config, head = MADE[name]()
    config._attn_implementation = "eager"
    model = head(config).eval()
    generator = torch.Generator().manual_seed(SEEDS.get(name, 23))
    with torch.no_grad():
        for key, p in [*model.named_parameters(), *model.named_buffers()]:
            if key.endswith(COMPUTED):
                continue
            noise = torch.randn(p.shape, generator=generator)
            vector = p.ndim == 1
            width = p[0].numel() if p.ndim > 1 else 1
            scale = 0.2 if vector else 0.7 if "embed" in key else width**-0.5
            p.copy_(float(vector and key.endswith("weight")) + scale * noise)
            if key.endswith("modality_router.weight"):  # whose scores are divided by this
                p.mul_(width)
        if name == "esm":  # so that some residues touch and most do not
            regression = model.esm.contact_head.regression
            regression.weight.mul_(40 * regression.weight.norm() ** -1)
            regression.bias.fill_(-3)
            for layer in model.esm.encoder.layer:
                layer.attention.self.query.weight.mul_(4)
    rotations = {key: b.clone() for key, b in model.named_buffers() if key.endswith("inv_freq")}
    model.half()
    for key, values in rotations.items():  # which ESM stores: rounded they would turn otherwise
        model.get_buffer(key).data = values
    return model


def copy_tokenizer(name, out):
    if name == "esm":
        (out / "vocab.txt").write_text("\n".join(RESIDUES))
        return transformers.EsmTokenizer(out / "vocab.txt").save_pretrained(out)
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(MODELS / "mistral" / file, out)


def make_folder(name):
    out = MODELS / name
    model = make(name)
    model.save_pretrained(out)
    (out / "generation_config.json").unlink(missing_ok=True)
    copy_tokenizer(name, out)
    text = PROTEIN if name == "esm" else TEXT
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    ids = tokenizer(text)["input_ids"]
    case = {"name": "short", "text": text, "tokens": tokenizer.convert_ids_to_tokens(ids)}
    (out / "cases.json").write_text(json.dumps({"cases": [case]}, indent=1))
    model = type(model).from_pretrained(out, dtype=torch.float32, attn_implementation="eager")
    read = {"input_ids": torch.tensor([ids])}
    if name == "gemma3n":  # which magnifies the rounding of float32
        model = model.double()
    want = expected_of(model.config.model_type, model.eval(), read)
    usual = {k: v for k, v in want.items() if not k.endswith(("hook_z", "resid_mid", "mlp_out"))}
    tensors = {f"case0/{k}": torch.tensor(v).float() for k, v in usual.items()}
    if name == "esm":
        read = torch.tensor([ids])
        with torch.no_grad():
            contacts = model.predict_contacts(read, torch.ones_like(read))
        tensors["case0/contacts"] = contacts[0].contiguous()
    save_file({**tensors, "case0/input_ids": torch.tensor(ids)}, out / "expected.safetensors")


def main():
    for name in sys.argv[1:] or MADE:
        make_folder(name)


if __name__ == "__main__":
    sys.exit(main())
