// GPT-J (Wang & Komatsuzaki 2021): one norm for parallel attention and MLP, and neighboring components of a
// part of each head are rotated. CodeGen (Nijkamp et al. 2023) stores q, v and k by quarters of the heads.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_gptj(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    AttentionSpec& attention = layer.attention;
    r.widths(c, attention, {"hidden_size", "n_embd"}, 4096, {"num_attention_heads", "n_head"}, 16);
    const int layers = r.layers({"num_hidden_layers", "n_layer"}, 28);
    layer.mlp.width = r.mlp_width({or_null("n_inner")}, 4 * int64_t{c.d_model});
    c.stacks[0].vocab = c.vocab = r.vocabulary(50400);
    c.context = r.context({"max_position_embeddings", "n_positions"}, 2048);
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    layer.mlp.activation = r.activation({"activation_function"}, "gelu_new");
    layer.parallel = layer.shared_norm = true;
    attention.bias = attention.output_bias = false;
    attention.rope.dims = r.integer({"rotary_dim"}, 64, 2, attention.d_head);
    attention.rope.interleaved = true;
    if (attention.rope.dims % 2)
        r.fail(file + ": rotary_dim is odd, but components turn in pairs; correct the file.");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    c.logits_bias = true;
    c.stacks[0].layers.assign(layers, layer);
    c.end_id = 50256;
    return r.finish(c);
}

Result<ModelConfig> read_codegen(const Json& root, const std::string& file) {
    TRY(ModelConfig c, read_gptj(root, file));
    if (c.heads(0) % 4)
        return Error{file + ": " + std::to_string(c.heads(0)) +
                     " heads do not split into quarters, by which CodeGen stores them; correct the file."};
    return c;
}

constexpr const char* kGptjPrefixes[] = {"transformer.", ""};

constexpr TensorRow kGptjTensors[] = {
    {Slot::token_embedding, "wte"},
    {Slot::attn_norm, "h.#.ln_1"},
    {Slot::q, "h.#.attn.q_proj"},
    {Slot::k, "h.#.attn.k_proj"},
    {Slot::v, "h.#.attn.v_proj"},
    {Slot::o, "h.#.attn.out_proj"},
    {Slot::up, "h.#.mlp.fc_in"},
    {Slot::down, "h.#.mlp.fc_out"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};
constexpr TensorRow kCodegenTensors[] = {
    {Slot::token_embedding, "wte"},
    {Slot::attn_norm, "h.#.ln_1"},
    {Slot::qkv, "h.#.attn.qkv_proj", "", Stored::quarters},
    {Slot::o, "h.#.attn.out_proj"},
    {Slot::up, "h.#.mlp.fc_in"},
    {Slot::down, "h.#.mlp.fc_out"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};

}  // namespace

const Family kGptj{"gptj", "GPT-J", read_gptj, {kGptjPrefixes, kGptjTensors}};
const Family kCodegen{"codegen", "CodeGen", read_codegen, {kGptjPrefixes, kCodegenTensors}};

}  // namespace headlight
