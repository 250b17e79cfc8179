#!/usr/bin/env python3
"""Makes a random tiny model of every family with Hugging Face transformers, and compares what Headlight computes with
what transformers computes, tensor by tensor, so that nothing rests on the fixed reference files alone.

    random_models.py build/headlight [--seed N] [--rounds R] [--only llama,t5] [--keep FOLDER]

Sizes and options (rotary scalings, shared key/value heads, windows, tied or untied heads, post- or pre-norm, …) are
drawn from the seed, which is printed: the same seed makes the same models. Needs torch and transformers.

The first round of every seed reads 300 tokens where the model allows, under a window of 70 where it has one: more than a block of
queries (64), of the MLP's rows (256) and of the window's reach over two blocks.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.numpy import load_file

WITHOUT_HEAD_DIM = ("gpt2", "gpt_neox", "opt", "bloom", "bert", "roberta", "xlm_roberta", "camembert", "electra", "albert", "distilbert", "modernbert", "marian", "bart")
TOLERANCE = {"hook_pattern": 5e-5, "attn_out": 1e-4, "resid_pre": 2e-4, "hook_normalized": 1e-4, "logits": 1e-4}
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


class Draw(random.Random):
    """What the configurations have in common."""

    def sizes(self, kv=False):
        heads = self.choice([2, 3, 4, 6])
        d_head = self.choice([8, 10, 16])
        shared = self.choice([n for n in (1, 2, 3, 6) if heads % n == 0]) if kv else heads
        return heads, d_head, shared

    def rope(self, theta=10000.0):
        kind = self.choice(["default", "default", "linear", "dynamic", "llama3", "yarn"])
        p = {"rope_type": kind, "rope_theta": self.choice([theta, 500.0, 1e6])}
        if kind != "default":
            p["factor"] = self.choice([2.0, 4.0, 3.5])
        if kind == "llama3":
            p.update(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
        if kind == "yarn":
            p.update(original_max_position_embeddings=16)
        return p

    def flag(self):
        return self.random() < 0.5

    def window(self, *usual):
        """The width of a sliding window; over several blocks of queries where the text is long."""
        return 70 if self.long else self.choice(usual)

    def context(self, usual=64):
        return 320 if self.long else usual


def llama_like(d, config, head, **more):
    heads, d_head, shared = d.sizes(kv=True)
    base = dict(hidden_size=heads * d.choice([8, 12]), num_attention_heads=heads, num_key_value_heads=shared, head_dim=d_head, num_hidden_layers=d.choice([2, 3]),
                intermediate_size=d.choice([40, 64, 100]), vocab_size=d.choice([97, 130]), max_position_embeddings=d.context(), rms_norm_eps=d.choice([1e-6, 1e-3]),
                tie_word_embeddings=d.flag(), rope_parameters=d.rope())
    merged = {**base, **more}
    if merged["head_dim"] is None:
        del merged["head_dim"]
    return config(**merged), head


def make_llama(d):
    return llama_like(d, transformers.LlamaConfig, transformers.LlamaForCausalLM, attention_bias=d.flag(), mlp_bias=d.flag())


def make_mistral(d):
    return llama_like(d, transformers.MistralConfig, transformers.MistralForCausalLM, sliding_window=d.window(None, 3, 7))


def make_qwen2(d):
    heads = d.choice([2, 4])
    layers = d.choice([2, 3])
    window = dict(use_sliding_window=True, sliding_window=d.window(5), max_window_layers=1) if d.long or d.flag() else {}
    return llama_like(d, transformers.Qwen2Config, transformers.Qwen2ForCausalLM, hidden_size=heads * 12, num_attention_heads=heads, num_key_value_heads=d.choice([1, 2]), head_dim=None,
                      num_hidden_layers=layers, **window)


def make_qwen3(d):
    return llama_like(d, transformers.Qwen3Config, transformers.Qwen3ForCausalLM, attention_bias=d.flag())


def make_gemma(d):
    return llama_like(d, transformers.GemmaConfig, transformers.GemmaForCausalLM, attention_bias=d.flag())


def make_gemma2(d):
    return llama_like(d, transformers.Gemma2Config, transformers.Gemma2ForCausalLM, tie_word_embeddings=True, query_pre_attn_scalar=d.choice([8, 20]), sliding_window=d.window(4, 9),
                      attn_logit_softcapping=d.choice([None, 6.0]), final_logit_softcapping=d.choice([None, 5.0]), attention_bias=d.flag())


def make_gpt2(d):
    heads = d.choice([2, 3, 4])
    return transformers.GPT2Config(n_embd=heads * d.choice([8, 10]), n_head=heads, n_layer=d.choice([2, 3]), n_inner=d.choice([None, 50]), n_positions=d.context(), vocab_size=113,
                                   activation_function=d.choice(["gelu_new", "gelu", "relu", "silu"]), scale_attn_by_inverse_layer_idx=d.flag(), scale_attn_weights=d.flag(),
                                   tie_word_embeddings=d.flag()), transformers.GPT2LMHeadModel


def make_gpt_neox(d):
    heads = d.choice([2, 3])
    return transformers.GPTNeoXConfig(hidden_size=heads * 16, num_attention_heads=heads, num_hidden_layers=2, intermediate_size=70, vocab_size=101, max_position_embeddings=d.context(),
                                      use_parallel_residual=d.flag(), attention_bias=d.flag(), tie_word_embeddings=d.flag(), hidden_act=d.choice(["gelu", "gelu_new"]),
                                      rope_parameters={**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.375, 0.75, 1.0])}), transformers.GPTNeoXForCausalLM


def make_phi(d):
    heads = d.choice([2, 4])
    return transformers.PhiConfig(hidden_size=heads * 16, num_attention_heads=heads, num_key_value_heads=d.choice([1, heads]), num_hidden_layers=2, intermediate_size=70, vocab_size=99,
                                  max_position_embeddings=d.context(), qk_layernorm=d.flag(), tie_word_embeddings=False,
                                  rope_parameters={**d.rope(), "partial_rotary_factor": d.choice([0.25, 0.375, 0.75, 1.0])}), transformers.PhiForCausalLM


def make_opt(d):
    heads = d.choice([2, 4])
    width = heads * 12
    return transformers.OPTConfig(hidden_size=width, num_attention_heads=heads, num_hidden_layers=2, ffn_dim=70, vocab_size=99, max_position_embeddings=d.context(), do_layer_norm_before=d.flag(),
                                  word_embed_proj_dim=d.choice([width, 20]), enable_bias=d.choice([True, True, False]), activation_function=d.choice(["relu", "gelu"])), transformers.OPTForCausalLM


def make_bloom(d):
    heads = d.choice([2, 3, 4, 6])
    return transformers.BloomConfig(hidden_size=heads * 8, n_head=heads, n_layer=d.choice([2, 3]), vocab_size=99), transformers.BloomForCausalLM


def bert_like(d, config, head, **more):
    heads = d.choice([2, 3, 4])
    base = dict(hidden_size=heads * 12, num_attention_heads=heads, num_hidden_layers=d.choice([2, 3]), intermediate_size=70, vocab_size=120, max_position_embeddings=d.context(),
                type_vocab_size=d.choice([1, 2]), hidden_act=d.choice(["gelu", "relu", "gelu_new"]), layer_norm_eps=d.choice([1e-12, 1e-3]))
    return config(**{**base, **more}), head


def make_bert(d):
    return bert_like(d, transformers.BertConfig, transformers.BertForMaskedLM)


def make_roberta(d):
    return bert_like(d, transformers.RobertaConfig, transformers.RobertaForMaskedLM, pad_token_id=d.choice([1, 3]))


def make_xlm_roberta(d):
    return bert_like(d, transformers.XLMRobertaConfig, transformers.XLMRobertaForMaskedLM, pad_token_id=1)


def make_camembert(d):
    return bert_like(d, transformers.CamembertConfig, transformers.CamembertForMaskedLM, pad_token_id=1)


def make_electra(d):
    return bert_like(d, transformers.ElectraConfig, transformers.ElectraForMaskedLM, embedding_size=d.choice([20, 36]))


def make_albert(d):
    layers = d.choice([2, 4])
    return bert_like(d, transformers.AlbertConfig, transformers.AlbertForMaskedLM, embedding_size=d.choice([16, 24]), num_hidden_layers=layers, num_hidden_groups=d.choice([1, 2]))


def make_distilbert(d):
    heads = d.choice([2, 4])
    return transformers.DistilBertConfig(dim=heads * 12, n_heads=heads, n_layers=2, hidden_dim=70, vocab_size=120, max_position_embeddings=d.context(), sinusoidal_pos_embds=d.flag(),
                                         activation=d.choice(["gelu", "relu"])), transformers.DistilBertForMaskedLM


def make_modernbert(d):
    heads = d.choice([2, 4])
    return transformers.ModernBertConfig(hidden_size=heads * 12, num_attention_heads=heads, num_hidden_layers=4, intermediate_size=50, vocab_size=120, max_position_embeddings=d.context(),
                                         local_attention=2 * d.window(2, 4), norm_bias=d.flag(), attention_bias=d.flag(), mlp_bias=d.flag(), decoder_bias=d.flag(), classifier_bias=d.flag(),
                                         pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2), transformers.ModernBertForMaskedLM


def bart_like(d, config, head, **more):
    heads, others = d.choice([(2, 4), (4, 2), (3, 6), (4, 4)])  # the decoder's heads need not be as many as the encoder's
    return config(d_model=max(heads, others) * 12, encoder_attention_heads=heads, decoder_attention_heads=others, encoder_layers=d.choice([1, 2]), decoder_layers=d.choice([2, 3]), encoder_ffn_dim=50,
                  decoder_ffn_dim=70, vocab_size=110, max_position_embeddings=d.context(), scale_embedding=d.flag(), activation_function=d.choice(["gelu", "swish", "relu"]), **more), head


def make_bart(d):
    return bart_like(d, transformers.BartConfig, transformers.BartForConditionalGeneration)


def make_marian(d):
    return bart_like(d, transformers.MarianConfig, transformers.MarianMTModel, pad_token_id=109, decoder_start_token_id=109, eos_token_id=0, forced_eos_token_id=0)


def make_t5(d):
    return transformers.T5Config(d_model=40, d_kv=d.choice([8, 16]), num_heads=d.choice([2, 4]), num_layers=d.choice([1, 2]), num_decoder_layers=2, d_ff=60, vocab_size=110,
                                 feed_forward_proj=d.choice(["relu", "gated-gelu", "gated-silu"]), tie_word_embeddings=d.flag(), relative_attention_num_buckets=d.choice([8, 32]),
                                 relative_attention_max_distance=d.choice([40, 128])), transformers.T5ForConditionalGeneration


def make_mt5(d):
    return transformers.MT5Config(d_model=40, d_kv=d.choice([8, 16]), num_heads=d.choice([2, 4]), num_layers=d.choice([1, 2]), num_decoder_layers=2, d_ff=60, vocab_size=110,
                                  feed_forward_proj=d.choice(["relu", "gated-gelu"]), tie_word_embeddings=d.flag()), transformers.MT5ForConditionalGeneration


def make_vit(d):
    heads = d.choice([2, 4])
    patch = d.choice([4, 8])
    return transformers.ViTConfig(hidden_size=heads * 12, num_attention_heads=heads, num_hidden_layers=2, intermediate_size=60, image_size=patch * d.choice([3, 4]), patch_size=patch,
                                  num_labels=5, qkv_bias=d.flag(), hidden_act=d.choice(["gelu", "quick_gelu"])), transformers.ViTForImageClassification


# Modules whose output is what a block adds to the residual stream, in the order in which they run.
ATTN_OUT = {
    "gpt2": r"h\.\d+\.attn$", "gpt_neox": r"layers\.\d+\.attention$", "gemma2": r"post_attention_layernorm$", "bloom": r"self_attention\.dense$", "distilbert": r"out_lin$",
    "albert": r"attention\.dense$", "modernbert": r"attn\.Wo$", "t5": r"SelfAttention$", "mt5": r"SelfAttention$", "marian": r"self_attn$", "bart": r"self_attn$",
    "bert": r"attention\.output\.dense$", "roberta": r"attention\.output\.dense$", "xlm_roberta": r"attention\.output\.dense$", "camembert": r"attention\.output\.dense$", "electra": r"attention\.output\.dense$", "vit": r"attention\.(output\.dense|o_proj)$",
}
CROSS_OUT = {"t5": r"EncDecAttention$", "mt5": r"EncDecAttention$", "marian": r"encoder_attn$", "bart": r"encoder_attn$"}


def randomize(model, generator):
    """Weights that leave attention neither flat nor one-hot, biases and gains that are not 0 and 1."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if not p.requires_grad:  # a table of sines
                continue
            if p.ndim == 1:
                p.copy_(0.3 * noise + (1.0 if name.endswith("weight") and "norm" in name.lower() or re.search(r"ln_\w+\.weight$|LayerNorm\.weight$", name) else 0.0))
            elif "embed" in name or "wte" in name or "wpe" in name or "shared" in name or "relative_attention_bias" in name:
                p.copy_(0.7 * noise)
            else:
                p.copy_(noise * 1.0 / p[0].numel() ** 0.5)
                if name.endswith("Attention.q.weight"):  # T5 does not scale its scores
                    p.div_(model.config.d_kv ** 0.5)
        for name, b in model.named_buffers():
            if name == "final_logits_bias":
                b.copy_(0.3 * torch.randn(b.shape, generator=generator))


def watch(model, pattern, into):
    for name, module in model.named_modules():
        if pattern and re.search(pattern, name):
            module.register_forward_hook(lambda m, i, o: into.append((o[0] if isinstance(o, tuple) else o)[0].detach().numpy().reshape(-1, (o[0] if isinstance(o, tuple) else o).shape[-1])))


def expected_of(kind, model, inputs):
    """Tensors by Headlight's names."""
    added, crossed = [], []
    watch(model, ATTN_OUT.get(kind, r"self_attn$"), added)
    watch(model, CROSS_OUT.get(kind), crossed)
    with torch.no_grad():
        out = model(**inputs, output_attentions=True, output_hidden_states=True)
    numpy = lambda t: t[0].numpy()
    want = {"logits": numpy(out.logits)}
    if model.config.is_encoder_decoder:
        for l, p in enumerate(out.encoder_attentions):
            want[f"encoder.{l}.attn.hook_pattern"] = numpy(p)
            want[f"encoder.{l}.hook_attn_out"] = added.pop(0)
            want[f"encoder.{l}.hook_resid_pre"] = numpy(out.encoder_hidden_states[l])
        for l, p in enumerate(out.decoder_attentions):
            want[f"decoder.{l}.attn.hook_pattern"] = numpy(p)
            want[f"decoder.{l}.cross_attn.hook_pattern"] = numpy(out.cross_attentions[l])
            want[f"decoder.{l}.hook_attn_out"] = added.pop(0)
            want[f"decoder.{l}.hook_cross_attn_out"] = crossed.pop(0)
            want[f"decoder.{l}.hook_resid_pre"] = numpy(out.decoder_hidden_states[l])
        want["encoder.ln_final.hook_normalized"] = numpy(out.encoder_last_hidden_state)
    else:
        for l, p in enumerate(out.attentions):
            want[f"blocks.{l}.attn.hook_pattern"] = numpy(p)
            want[f"blocks.{l}.hook_attn_out"] = added.pop(0)
            want[f"blocks.{l}.hook_resid_pre"] = numpy(out.hidden_states[l])
        if kind not in ("vit", "opt"):  # theirs ends before or after what the name means
            want["ln_final.hook_normalized"] = numpy(out.hidden_states[-1])
    assert not added and not crossed, f"{kind}: a module was watched that belongs to no layer"
    return want


def inputs_of(kind, model, d, folder):
    """What transformers reads, and the same as options of `headlight trace`."""
    c = model.config
    if kind == "vit":
        from PIL import Image
        pixels = np.frombuffer(d.randbytes(c.image_size * c.image_size * 3), np.uint8).reshape(c.image_size, c.image_size, 3)
        Image.fromarray(pixels).save(folder / "picture.png")
        values = torch.tensor((pixels / 255.0 - 0.5) / 0.5, dtype=torch.float32).permute(2, 0, 1)[None]
        return {"pixel_values": values}, ["--image", folder / "picture.png"]
    longest = 300 if d.long else 60 if "t5" not in kind else 90
    if getattr(c, "rope_parameters", None) and c.rope_parameters.get("rope_type") == "dynamic":
        longest = max(longest, 100)  # beyond the context, where the scaling sets in
    if "roberta" in kind or kind == "camembert":
        longest = 290 if d.long else 50
    ids = [d.randrange(4, 90) for _ in range(longest if d.long else d.choice([1, 9, longest]))]
    inputs = {"input_ids": torch.tensor([ids])}
    options = ["--ids", ",".join(map(str, ids))]
    if getattr(c, "type_vocab_size", 0) > 1:
        types = [int(i > len(ids) // 2) for i in range(len(ids))]
        inputs["token_type_ids"] = torch.tensor([types])
        options += ["--token-types", ",".join(map(str, types))]
    if c.is_encoder_decoder:
        start = getattr(c, "decoder_start_token_id", None)
        target = [start if start is not None else 0] + [d.randrange(4, 90) for _ in range(d.choice([130] if d.long else [0, 11]))]
        inputs["decoder_input_ids"] = torch.tensor([target])
        options += ["--target-ids", ",".join(map(str, target))]
    return inputs, options


def add_unread_keys(path, d):
    """What these classes do not read must not matter, whatever it holds: their heads are as wide as the width divided by their number."""
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "head_dim": d.choice([5, 6, 64, 16384, "x"]), "n_ctx": d.choice([None, [1], "?"])}))


def compare(headlight, kind, seed, folder, long):
    d = Draw(f"{kind} {seed}")
    d.long = long
    config, head = globals()["make_" + kind](d)
    config._attn_implementation = "eager"
    torch.manual_seed(d.randrange(1 << 30))
    model = head(config).eval()
    randomize(model, torch.Generator().manual_seed(d.randrange(1 << 30)))
    model.save_pretrained(folder)
    if kind in WITHOUT_HEAD_DIM and d.flag():
        add_unread_keys(folder / "config.json", d)
    inputs, options = inputs_of(kind, model, d, folder)
    want = expected_of(kind, model, inputs)
    out = folder / "trace.safetensors"
    done = subprocess.run([str(x) for x in [headlight, "trace", "--model", folder, "-o", out, "--quiet", *options]], capture_output=True, text=True)
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.strip()}", 0.0
    got, worst = load_file(out), 0.0
    for name, w in want.items():
        if name not in got:
            return f"no tensor {name}", 0.0
        if got[name].shape != w.shape:
            return f"{name} has the shape {got[name].shape} instead of {w.shape}", 0.0
        error = float(np.abs(got[name].astype(np.float64) - w).max())
        limit = next(t for k, t in TOLERANCE.items() if name.endswith(k)) * max(1.0, float(np.abs(w).max()) / 8)
        if not error <= limit:
            return f"{name} is off by {error:.2e}", error
        worst = max(worst, error / limit)
    return "", worst


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("headlight", type=Path)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--keep", type=Path)
    a = p.parse_args()
    kinds = [n[5:] for n in globals() if n.startswith("make_") and (not a.only or n[5:] in a.only.split(","))]
    print(f"seed {a.seed}, transformers {transformers.__version__}")
    failed = 0
    for kind in kinds:
        worst = 0.0
        for i in range(a.rounds):
            with tempfile.TemporaryDirectory() as temporary:
                folder = a.keep / f"{kind}-{a.seed + i}" if a.keep else Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                problem, share = compare(a.headlight, kind, a.seed + i, folder, long=i == 0)
            worst = max(worst, share)
            if problem:
                failed += 1
                print(f"FAIL {kind}, seed {a.seed + i}: {problem}")
        print(f"{kind}: largest error {worst:.2f} of its tolerance")
    print(f"{len(kinds) * a.rounds} random models, {failed} differ (seed {a.seed})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
