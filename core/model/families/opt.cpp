// OPT (Zhang et al. 2022): learned positions from row 2 on, ReLU; OPT-350M: post-norm, narrow embeddings.
#include "model/families.h"

namespace headlight {

namespace {

constexpr int kOffset = 2;

Result<ModelConfig> read_opt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 768, {"num_attention_heads"}, 12);
    c.d_embed = r.integer({or_null("word_embed_proj_dim")}, c.d_model, 1, 1 << 17);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, 12);
    layer.mlp.width = r.mlp_width({"ffn_dim"}, 3072);
    s.vocab = c.vocab = r.vocabulary(50272);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.positions = PositionScheme::learned;
    c.d_model_positions = true;
    c.position_offset = kOffset;
    const bool before = r.boolean({"do_layer_norm_before"}, true);
    layer.norms = before ? NormPlace::before : NormPlace::after;
    c.final_norm = before && !r.boolean({"_remove_final_layer_norm"}, false);
    layer.mlp.activation = r.activation({"activation_function"}, "relu");
    layer.attention.bias = layer.attention.output_bias = layer.mlp.bias = r.boolean({"enable_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    if (!r.boolean({"layer_norm_elementwise_affine"}, true))
        r.fail(file +
               ": norms without gains (layer_norm_elementwise_affine false) are not supported; use another "
               "OPT checkpoint.");
    s.layers.assign(layers, layer);
    c.end_id = 2;
    return r.finish(c);
}

constexpr const char* kOptPrefixes[] = {"model.decoder.", "decoder.", ""};

constexpr TensorRow kOptTensors[] = {
    {Slot::token_embedding, "embed_tokens"},
    {Slot::position_embedding, "embed_positions"},
    {Slot::embed_project, "project_in"},
    {Slot::attn_norm, "layers.#.self_attn_layer_norm"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::o, "layers.#.self_attn.out_proj"},
    {Slot::mlp_norm, "layers.#.final_layer_norm"},
    {Slot::up, "layers.#.fc1"},
    {Slot::down, "layers.#.fc2"},
    {Slot::final_norm, "final_layer_norm"},
    {Slot::head_dense, "project_out"},
    {Slot::unembedding, "lm_head"},
};

}  // namespace

const Family kOpt{"opt", "OPT", read_opt, {kOptPrefixes, kOptTensors}};

}  // namespace headlight
