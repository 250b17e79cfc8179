// GPT-2 (Radford et al. 2019): pre-norm, learned positions, q, k and v in one matrix; weights are [in, out].
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_gpt2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    r.widths(c, {"hidden_size", "n_embd"}, 768, {"num_attention_heads", "n_head"}, 12);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers", "n_layer"}, 12);
    s.d_mlp = r.mlp_width({or_null("n_inner")}, 4 * int64_t{c.d_model});
    s.vocab = c.vocab = r.vocabulary(50257);
    c.context = r.context({"max_position_embeddings", "n_positions"}, 1024);
    c.positions = PositionScheme::learned;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    c.activation = r.activation({"activation_function"}, "gelu_new");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (!r.boolean({"scale_attn_weights"}, true)) c.scale = 1;
    c.scale_by_layer = r.boolean({"scale_attn_by_inverse_layer_idx"}, false);
    r.refuse_cross_attention();
    c.end_id = 50256;
    return r.finish(c);
}

Result<ModelWeights> bind_gpt2(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"transformer.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("wte", c.vocab, c.d_model, "lm_head");
    s.position_embedding = b.table("wpe", c.context, c.d_model);
    s.layers = b.layers(c.stacks[0], "h.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = b.norm(at + "ln_1");
        b.split_qkv(w.self, b.conv1d(at + "attn.c_attn", c.d_model, 3 * b.inner()), false);
        w.self.o = b.conv1d(at + "attn.c_proj", b.inner(), c.d_model);
        w.mlp_norm = b.norm(at + "ln_2");
        w.mlp_in = b.conv1d(at + "mlp.c_fc", c.d_model, c.stacks[0].d_mlp);
        w.mlp_out = b.conv1d(at + "mlp.c_proj", c.stacks[0].d_mlp, c.d_model);
    });
    s.final_norm = b.norm("ln_f");
    const Linear unembedding = b.unembedding(s.token_embedding, "lm_head", c.d_model);
    return b.finish(std::move(s), unembedding);
}

}  // namespace

const Family kGpt2{"gpt2", "GPT-2", read_gpt2, bind_gpt2};

}  // namespace headlight
