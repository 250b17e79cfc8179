// BLOOM (Le Scao et al. 2022): ALiBi instead of position embeddings (Press et al. 2022), normed embeddings.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_bloom(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    r.widths(c, {or_null("n_embed"), "hidden_size"}, 64, {"num_attention_heads", "n_head"}, 8);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers", "n_layer"}, 2);
    s.d_mlp = 4 * c.d_model;
    s.vocab = c.vocab = r.vocabulary(250880);
    c.context = kNoLongestText;
    c.positions = PositionScheme::alibi;
    c.embed_norm = true;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (r.boolean({"apply_residual_connection_post_layernorm"}, false))
        r.fail(
            file +
            ": apply_residual_connection_post_layernorm is not supported; use a checkpoint of BLOOM itself.");
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelWeights> bind_bloom(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"transformer.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("word_embeddings", c.vocab, c.d_model, "lm_head");
    s.embed_norm = b.norm("word_embeddings_layernorm");
    s.layers = b.layers(c.stacks[0], "h.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = b.norm(at + "input_layernorm");
        b.split_qkv(w.self, b.linear(at + "self_attention.query_key_value", c.d_model, 3 * b.inner(), true),
                    true);
        w.self.o = b.linear(at + "self_attention.dense", b.inner(), c.d_model, true);
        w.mlp_norm = b.norm(at + "post_attention_layernorm");
        b.mlp(w, c.stacks[0], at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h");
    });
    s.final_norm = b.norm("ln_f");
    const Linear unembedding = b.unembedding(s.token_embedding, "lm_head", c.d_model);
    return b.finish(std::move(s), unembedding);
}

}  // namespace

const Family kBloom{"bloom", "BLOOM", read_bloom, bind_bloom};

}  // namespace headlight
