// GPT-2 (Radford et al. 2019): pre-norm, learned positions, one matrix for q, k and v; Conv1D weights are [in, out].
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_gpt2_config(const Json& root, const std::string& file) {
    ModelConfig c;
    const auto integer = [&](const char* key, int64_t fallback, int64_t low, int64_t high, int& out) -> Status {
        TRY(const int64_t value, json_integer(root, key, fallback, low, high, file));
        out = static_cast<int>(value);
        return success();
    };
    TRY_STATUS(integer("n_embd", 768, 1, 1 << 17, c.d_model));
    TRY_STATUS(integer("n_head", 12, 1, 1 << 12, c.heads));
    TRY_STATUS(integer("n_layer", 12, 1, 1000, c.layers));
    TRY_STATUS(integer("n_positions", 1024, 1, 1 << 22, c.context));
    TRY_STATUS(integer("vocab_size", 50257, 1, 1 << 23, c.vocab));
    TRY_STATUS(integer("n_inner", 4 * int64_t{c.d_model}, 1, 1 << 20, c.d_mlp));
    if (c.d_model % c.heads != 0)
        return Error{file + ": " + std::to_string(c.heads) + " heads do not divide the width " + std::to_string(c.d_model) + "; correct n_head or n_embd."};
    c.d_head = c.d_model / c.heads;
    TRY(const double eps, json_number(root, "layer_norm_epsilon", 1e-5, file));
    c.norm_eps = static_cast<float>(eps);
    TRY(const std::string activation, json_string(root, "activation_function", "gelu_new", file));
    TRY(c.activation, activation_named(activation, file));
    TRY(c.tied_unembedding, json_boolean(root, "tie_word_embeddings", true, file));
    TRY(c.scale_scores, json_boolean(root, "scale_attn_weights", true, file));
    TRY(c.scale_by_layer, json_boolean(root, "scale_attn_by_inverse_layer_idx", false, file));
    return c;
}

Result<Norm> bind_norm(WeightStore& store, const std::string& name, int64_t width) {
    TRY(const float* gain, store.tensor(name + ".weight", {width}));
    TRY(const float* bias, store.tensor(name + ".bias", {width}));
    return Norm{gain, bias};
}

Result<Linear> bind_conv1d(WeightStore& store, const std::string& name, int64_t in, int64_t out) {
    TRY(const float* weight, store.tensor(name + ".weight", {in, out}));
    TRY(const float* bias, store.tensor(name + ".bias", {out}));
    return Linear{weight, bias, in, out, out, WeightLayout::in_out};
}

Result<ModelWeights> bind_gpt2(WeightStore& store, const ModelConfig& c) {
    const int64_t d = c.d_model;
    store.set_prefixes({"transformer.", ""});
    ModelWeights w;
    TRY(w.token_embedding, store.tensor("wte.weight", {c.vocab, d}));
    TRY(w.position_embedding, store.tensor("wpe.weight", {c.context, d}));
    for (int l = 0; l < c.layers; ++l) {
        const std::string at = "h." + std::to_string(l) + ".";
        LayerWeights layer;
        TRY(layer.attn_norm, bind_norm(store, at + "ln_1", d));
        TRY(const Linear qkv, bind_conv1d(store, at + "attn.c_attn", d, 3 * d));
        layer.q = qkv.columns(0, d);
        layer.k = qkv.columns(d, d);
        layer.v = qkv.columns(2 * d, d);
        TRY(layer.o, bind_conv1d(store, at + "attn.c_proj", d, d));
        TRY(layer.mlp_norm, bind_norm(store, at + "ln_2", d));
        TRY(layer.mlp_in, bind_conv1d(store, at + "mlp.c_fc", d, c.d_mlp));
        TRY(layer.mlp_out, bind_conv1d(store, at + "mlp.c_proj", c.d_mlp, d));
        w.layers.push_back(layer);
    }
    TRY(w.final_norm, bind_norm(store, "ln_f", d));
    const float* head = w.token_embedding;
    if (!c.tied_unembedding) {
        store.set_prefixes({""});
        TRY(head, store.tensor("lm_head.weight", {c.vocab, d}));
    }
    w.unembedding = Linear{head, nullptr, d, c.vocab, d, WeightLayout::out_in};
    return w;
}

}  // namespace

const Family kGpt2{"gpt2", "GPT-2", read_gpt2_config, bind_gpt2};

}  // namespace headlight
