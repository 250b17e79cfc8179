"""The tensors of one pass with their gradients, recorded by hooks."""

import re

import torch

# Modules whose input the MLP is added to, and cross-attention is; none where attention and MLP
# stand side by side.
MID = {
    "gpt2": r"ln_2$",
    "bloom": r"post_attention_layernorm$",
    **dict.fromkeys(("gemma2", "gemma3n_text", "gemma4_text"), r"pre_feedforward_layernorm$"),
    "distilbert": r"\.ffn$",
    "albert": r"albert_layers\.\d+\.ffn$",
    "modernbert": r"mlp_norm$",
    "vit": r"layernorm_after$",
    "t5": r"(encoder.*layer\.1|decoder.*layer\.2)\.layer_norm$",
    "mt5": r"(encoder.*layer\.1|decoder.*layer\.2)\.layer_norm$",
    "bart": r"fc1$",
    "marian": r"fc1$",
    "lfm2": r"ffn_norm$",
    "falcon_h1": r"pre_ff_layernorm$",
    "phi": None,
    **dict.fromkeys(("olmo2", "exaone4"), r"\.mlp$"),
    "cohere": None,
    **dict.fromkeys(("bert", "roberta", "xlm_roberta", "camembert", "electra"), r"\.intermediate$"),
}


CROSS = {
    "t5": r"decoder.*layer\.1\.layer_norm$",
    "mt5": r"decoder.*layer\.1\.layer_norm$",
    "bart": r"encoder_attn$",
    "marian": r"encoder_attn$",
}


class Tape:
    """The tensors of one pass of a model, which keep their gradients; in the order in which they
    were met."""

    def __init__(self, kind, model):
        self.kept, self.handles = {}, []
        config = model.config
        parallel = kind == "phi" or getattr(config, "use_parallel_residual", False)
        mid = None if parallel else MID.get(kind, r"post_attention_layernorm$")
        if kind == "opt":
            mid = r"layers\.\d+\.final_layer_norm$" if config.do_layer_norm_before else r"fc1$"
        if kind == "olmo_hybrid":  # only its attention is normed after it
            norm = {"full_attention": "mlp", "linear_attention": "post_attention_layernorm"}
            mid = "|".join(rf"layers\.{i}\.{norm[t]}$" for i, t in enumerate(config.layer_types))
        if kind in ("gemma3n_text", "gemma4_text"):  # whose layers read the embeddings too
            self.part_embeddings(model)
        if kind == "gemma3n_text":
            self.watch_streams(model)
        for name, module in model.named_modules():
            stack = (
                "decoder"
                if config.is_encoder_decoder and "decoder" in name
                else "encoder"
                if config.is_encoder_decoder
                else "blocks"
            )
            parent = model.get_submodule(name.rpartition(".")[0]) if "." in name else None
            if (
                kind != "gemma3n_text"
                and isinstance(parent, torch.nn.ModuleList)
                and re.search(r"(Layer|Block)$", type(module).__name__)
            ):
                self.watch(module, f"{stack}.hook_resid_pre", f"{stack}.hook_resid_post")
            if mid and re.search(mid, name):
                self.watch(module, f"{stack}.hook_resid_mid")
            if kind in CROSS and re.search(CROSS[kind], name):
                self.watch(module, f"{stack}.hook_resid_cross")

    def part_embeddings(self, model):
        """Keep the embeddings, and give layer 0 a copy of them."""
        self.handles += [
            model.get_input_embeddings().register_forward_hook(
                lambda m, args, out: self.keep("blocks.hook_embed", out)
            ),
            model.model.layers[0].register_forward_pre_hook(
                lambda m, args: (args[0].clone(), *args[1:])
            ),
        ]

    def watch_streams(self, model):
        """Part the active stream from the others, as each layer predicts it and as it leaves it."""
        active = model.config.altup_active_idx

        def apart(name, streams):
            parts = list(streams.unbind(0))
            parts[active] = parts[active].clone()
            self.keep(name, parts[active])
            return torch.stack(parts)

        for layer in model.model.layers:
            predict = layer.altup.predict
            layer.altup.predict = lambda x, own=predict: apart("blocks.hook_resid_pre", own(x))
            self.handles.append(
                layer.register_forward_hook(lambda m, x, y: apart("blocks.hook_resid_post", y))
            )

    def keep(self, name, tensor):
        if tensor.requires_grad:
            tensor.retain_grad()
        self.kept.setdefault(name, []).append(tensor)

    def watch(self, module, before, after=None):
        self.handles.append(
            module.register_forward_pre_hook(
                lambda m, args, kwargs: self.keep(
                    before, args[0] if args else kwargs["hidden_states"]
                ),
                with_kwargs=True,
            )
        )
        if after:
            self.handles.append(
                module.register_forward_hook(
                    lambda m, args, out: self.keep(after, out[0] if isinstance(out, tuple) else out)
                )
            )

    def attention(self, own):
        """transformers' eager attention, whose inputs and outputs are kept."""

        def attend(module, query, key, value, *rest, **more):
            if hasattr(module, "store_full_length_kv"):  # later layers read them too
                key, value = key.clone(), value.clone()
            for name, tensor in (("q", query), ("k", key), ("v", value)):
                self.keep("attn." + name, tensor)
            z, pattern = own(module, query, key, value, *rest, **more)
            self.keep("attn.z", z)
            return z, pattern

        return attend

    def softmax(self, own):
        def softmax(scores, *rest, **more):
            pattern = own(scores, *rest, **more)
            if scores.dim() == 4:  # a router's scores have two
                self.keep("attn.scores", scores)
                self.keep("attn.pattern", pattern)
            return pattern

        return softmax
