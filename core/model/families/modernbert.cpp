// ModernBERT (Warner et al. 2024): pre-norm encoder, rotary positions, every third layer global.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

/// Reads one layer type's entry of rope_parameters; rope_scaling applies to both types.
Json rope_entry(ConfigReader& r, const Json& both, const char* kind) {
    Json entry = r.keep(json_object(both, or_null(kind), r.file()), Json(Json::object()));
    if (!json_find(both, or_null(kind))) entry["rope_type"] = "default";
    entry.update(r.object("rope_scaling"));
    entry.erase("truncate");  // ignored outside the layer types' entries
    if (both.contains("truncate")) entry["truncate"] = both["truncate"];
    complete_rope_type(entry);
    return entry;
}

void read_ropes(ConfigReader& r, ModelConfig& c) {
    const Json both = r.object("rope_parameters");
    const auto rope = [&](const char* kind, JsonKey old_key, double usual) {
        Json entry = rope_entry(r, both, kind);
        complete_rope(r, entry, "rope_theta", old_key, usual);
        complete_rope(r, entry, "partial_rotary_factor", or_null("partial_rotary_factor"), 1);
        return read_rope_parameters(r, c, entry, RopeKeys::whole_head);
    };
    c.rope = rope("full_attention", "global_rope_theta", 160000);
    c.local_rope = rope("sliding_attention", or_null("local_rope_theta"),
                        r.is_null("local_rope_theta") ? c.rope.theta : 10000);
}

Result<ModelConfig> read_modernbert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder;
    r.widths(c, {"hidden_size"}, 768, {"num_attention_heads"}, 12);
    StackConfig& s = c.stacks[0];
    s.causal = false;
    s.skip_first_attn_norm = true;
    s.layers = r.layers({"num_hidden_layers"}, 22);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 1152);
    s.vocab = c.vocab = r.vocabulary(50368);
    c.context = r.context({"max_position_embeddings"}, 8192);
    c.norm_eps = r.number({"norm_eps"}, 1e-5);
    c.norm_bias = r.boolean({"norm_bias"}, false);
    c.attention_bias = c.output_bias = r.boolean({"attention_bias"}, false);
    c.mlp_bias = r.boolean({"mlp_bias"}, false);
    c.embed_norm = c.mlm_head = c.gated = true;
    c.activation = r.activation({"hidden_activation"}, "gelu");
    c.head_activation = r.activation({"classifier_activation"}, "gelu");
    c.head_dense_bias = r.boolean({"classifier_bias"}, false);
    c.head_bias = r.boolean({"decoder_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    const int window = r.integer({"local_attention"}, 128, 1, 1 << 24) / 2 + 1,
              every = r.integer({"global_attn_every_n_layers"}, 3, 1, 1000);
    s.windows = r.windows(s.layers, window, [](int) { return true; });
    if (!r.has("layer_types"))
        for (int l = 0; l < s.layers; l += every) s.windows[l] = 0;
    read_ropes(r, c);
    return r.finish(c);
}

Result<ModelWeights> bind_modernbert(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"model.", ""});
    Binder b(store, c);
    const int64_t d = c.d_model, m = c.stacks[0].d_mlp;
    StackWeights s;
    s.token_embedding = b.embedding("embeddings.tok_embeddings", c.vocab, d, "decoder");
    s.embed_norm = b.norm("embeddings.norm");
    s.layers = b.layers(c.stacks[0], "layers.", [&](LayerWeights& w, const std::string& at) {
        if (at != "layers.0.") w.self.norm = b.norm(at + "attn_norm");
        b.split_qkv(w.self, b.linear(at + "attn.Wqkv", d, 3 * b.inner(), c.attention_bias), false);
        w.self.o = b.linear(at + "attn.Wo", b.inner(), d, c.output_bias);
        w.mlp_norm = b.norm(at + "mlp_norm");
        const Linear both = b.linear(at + "mlp.Wi", d, 2 * m, c.mlp_bias);
        if (both) {
            w.mlp_gate = both.columns(0, m);
            w.mlp_in = both.columns(m, m);
        }
        w.mlp_out = b.linear(at + "mlp.Wo", m, d, c.mlp_bias);
    });
    s.final_norm = b.norm("final_norm");
    const bool has_head =
        b.has(c.head_bias ? "decoder.bias" : "head.dense.weight") && !b.has("classifier.weight");
    return b.finish(std::move(s), {"head.dense", "head.norm", "decoder", "decoder.bias"}, has_head);
}

}  // namespace

const Family kModernBert{"modernbert", "ModernBERT", read_modernbert, bind_modernbert};

}  // namespace headlight
