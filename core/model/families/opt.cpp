// OPT (Zhang et al. 2022): learned positions from row 2 on, ReLU; OPT-350M: post-norm, narrow embeddings.
#include "model/families.h"

namespace headlight {

namespace {

constexpr int kOffset = 2;

Result<ModelConfig> read_opt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    r.widths(c, {"hidden_size"}, 768, {"num_attention_heads"}, 12);
    c.d_embed = r.integer({or_null("word_embed_proj_dim")}, c.d_model, 1, 1 << 17);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers"}, 12);
    s.d_mlp = r.mlp_width({"ffn_dim"}, 3072);
    s.vocab = c.vocab = r.vocabulary(50272);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.positions = PositionScheme::learned;
    c.d_model_positions = true;
    c.position_offset = kOffset;
    const bool before = r.boolean({"do_layer_norm_before"}, true);
    c.norm_place = before ? NormPlace::before : NormPlace::after;
    c.final_norm = before && !r.boolean({"_remove_final_layer_norm"}, false);
    c.activation = r.activation({"activation_function"}, "relu");
    c.attention_bias = c.output_bias = c.mlp_bias = r.boolean({"enable_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (!r.boolean({"layer_norm_elementwise_affine"}, true))
        r.fail(file +
               ": norms without gains (layer_norm_elementwise_affine false) are not supported; use another "
               "OPT checkpoint.");
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelWeights> bind_opt(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"model.decoder.", "decoder.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embed_tokens", c.vocab, c.d_embed, "lm_head");
    s.position_embedding = b.table("embed_positions", c.context + kOffset, c.d_model);
    if (c.d_embed != c.d_model) s.embed_project = b.linear("project_in", c.d_embed, c.d_model, false);
    s.layers = b.layers(c.stacks[0], "layers.", [&](LayerWeights& w, const std::string& at) {
        b.attention(w.self, c.stacks[0], at + "self_attn.", "q_proj", "k_proj", "v_proj", "out_proj");
        w.self.norm = b.norm(at + "self_attn_layer_norm");
        b.mlp(w, c.stacks[0], at + "fc1", at + "fc2");
        w.mlp_norm = b.norm(at + "final_layer_norm");
    });
    if (c.final_norm) s.final_norm = b.norm("final_layer_norm");
    ModelWeights w;
    if (c.d_embed != c.d_model) w.head_dense = b.linear("project_out", c.d_model, c.d_embed, false);
    w.unembedding = b.unembedding(s.token_embedding, "lm_head", c.d_embed);
    w.stacks.push_back(std::move(s));
    return b.finish(std::move(w));
}

}  // namespace

const Family kOpt{"opt", "OPT", read_opt, bind_opt};

}  // namespace headlight
