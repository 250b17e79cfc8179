// ALBERT (Lan et al. 2020): narrow embeddings, and layers that share their weights in groups.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_albert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder;
    r.widths(c, {"hidden_size"}, 4096, {"num_attention_heads"}, 64);
    c.d_embed = r.integer({"embedding_size"}, 128, 1, 1 << 17);
    StackConfig& s = c.stacks[0];
    s.causal = false;
    s.layers = r.layers({"num_hidden_layers"}, 12);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 16384);
    s.vocab = c.vocab = r.vocabulary(30000);
    s.layer_groups = r.integer({"num_hidden_groups"}, 1, 1, s.layers);
    c.context = r.context({"max_position_embeddings"}, 512);
    c.token_types = r.integer({"type_vocab_size"}, 2, 1, 1 << 10);
    c.norm_place = NormPlace::after;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    c.final_norm = false;
    c.embed_norm = c.mlm_head = c.embed_project = true;
    c.positions = PositionScheme::learned;
    c.activation = c.head_activation = r.activation({"hidden_act"}, "gelu_new");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (r.integer({"inner_group_num"}, 1, 1, 1000) != 1)
        r.fail(file +
               ": inner_group_num other than 1 is not supported; use one of the published ALBERT models.");
    return r.finish(c);
}

LayerWeights bind_albert_group(Binder& b, const ModelConfig& c, int group) {
    const std::string at = "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers.0.";
    LayerWeights w;
    b.attention(w.self, c.stacks[0], at + "attention.", "query", "key", "value", "dense");
    w.self.norm = b.norm(at + "attention.LayerNorm");
    b.mlp(w, c.stacks[0], at + "ffn", at + "ffn_output");
    w.mlp_norm = b.norm(at + "full_layer_layer_norm");
    return w;
}

Result<ModelWeights> bind_albert(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"albert.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embeddings.word_embeddings", c.vocab, c.d_embed, "predictions.decoder");
    s.position_embedding = b.table("embeddings.position_embeddings", c.context, c.d_embed);
    s.type_embedding = b.table("embeddings.token_type_embeddings", c.token_types, c.d_embed);
    s.embed_norm = b.norm("embeddings.LayerNorm", c.d_embed, true);
    s.embed_project = b.linear("encoder.embedding_hidden_mapping_in", c.d_embed, c.d_model, true);
    const int layers = c.stacks[0].layers, groups = c.stacks[0].layer_groups;
    std::vector<LayerWeights> kinds;
    for (int g = 0; g < groups; ++g) kinds.push_back(bind_albert_group(b, c, g));
    for (int l = 0; l < layers; ++l) s.layers.push_back(kinds[int64_t{l} * groups / layers]);
    return b.finish(std::move(s),
                    {"predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"},
                    b.has("predictions.dense.weight"));
}

}  // namespace

const Family kAlbert{"albert", "ALBERT", read_albert, bind_albert};

}  // namespace headlight
