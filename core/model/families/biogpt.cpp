// BioGPT (Luo et al. 2022), XGLM (Lin et al. 2021) and CTRL (Keskar et al. 2019): pre-norm decoders that add
// positions to scaled embeddings. BioGPT learns them from row 2 on, those of XGLM and CTRL are sinusoidal.
#include <cmath>

#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_biogpt(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 1024, {"num_attention_heads"}, 16);
    const int layers = r.layers({"num_hidden_layers"}, 24);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 4096);
    c.stacks[0].vocab = c.vocab = r.vocabulary(42384);
    c.context = r.context({"max_position_embeddings"}, 1024);
    c.positions = PositionScheme::learned;
    c.position_offset = 2;
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu");
    if (r.boolean({"scale_embedding"}, true)) c.embed_scale = std::sqrt(float(c.d_model));
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.stacks[0].layers.assign(layers, layer);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_xglm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "d_model"}, 1024, {"num_attention_heads", "attention_heads"},
             16);
    const int layers = r.layers({"num_hidden_layers", "num_layers"}, 24);
    layer.mlp.width = r.mlp_width({"ffn_dim"}, 4096);
    c.stacks[0].vocab = c.vocab = r.vocabulary(256008);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.positions = PositionScheme::sinusoidal;
    c.waves_end_at_base = true;
    c.position_offset = 2;
    if (r.integer({or_null("pad_token_id")}, 1, 0, 1 << 23) >= c.position_offset)
        r.fail(file +
               ": pad_token_id must be 0 or 1: the position of its number counts as none, and texts "
               "begin at position 2; use a checkpoint of XGLM itself.");
    r.refuse_cross_attention();
    layer.mlp.activation = r.activation({"activation_function"}, "gelu");
    if (r.boolean({"scale_embedding"}, true)) c.embed_scale = std::sqrt(float(c.d_model));
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.stacks[0].layers.assign(layers, layer);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_ctrl(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size", "n_embd"}, 1280, {"num_attention_heads", "n_head"}, 16);
    const int layers = r.layers({"num_hidden_layers", "n_layer"}, 48);
    layer.mlp.width = r.mlp_width({"dff"}, 8192);
    layer.mlp.activation = Activation::relu;
    c.stacks[0].vocab = c.vocab = r.vocabulary(246534);
    c.context = r.context({"max_position_embeddings", "n_positions"}, 256);
    c.positions = PositionScheme::sinusoidal;
    c.embed_scale = std::sqrt(float(c.d_model));
    c.norm_eps = 1e-6f;  // of the layers, whatever the file says
    if (r.number({"layer_norm_epsilon"}, 1e-6) != c.norm_eps)
        r.fail(file +
               ": a final norm with another layer_norm_epsilon than the layers' 1e-6 is not computed; "
               "use a checkpoint of CTRL itself.");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.logits_bias = true;
    c.stacks[0].layers.assign(layers, layer);
    return r.finish(c);
}

constexpr const char *kBioGptPrefixes[] = {"biogpt.", ""}, *kXglmPrefixes[] = {"model.", ""},
                     *kCtrlPrefixes[] = {"transformer.", ""};

constexpr TensorRow kBioGptTensors[] = {
    {Slot::token_embedding, "embed_tokens"},
    {Slot::position_embedding, "embed_positions"},
    {Slot::attn_norm, "layers.#.self_attn_layer_norm"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::o, "layers.#.self_attn.out_proj"},
    {Slot::mlp_norm, "layers.#.final_layer_norm"},
    {Slot::up, "layers.#.fc1"},
    {Slot::down, "layers.#.fc2"},
    {Slot::final_norm, "layer_norm"},
    {Slot::unembedding, "output_projection"},
    {Slot::unembedding, "lm_head"},  // XGLM's
};
constexpr TensorRow kCtrlTensors[] = {
    {Slot::token_embedding, "w"},
    {Slot::attn_norm, "h.#.layernorm1"},
    {Slot::q, "h.#.multi_head_attention.Wq"},
    {Slot::k, "h.#.multi_head_attention.Wk"},
    {Slot::v, "h.#.multi_head_attention.Wv"},
    {Slot::o, "h.#.multi_head_attention.dense"},
    {Slot::mlp_norm, "h.#.layernorm2"},
    {Slot::up, "h.#.ffn.0"},
    {Slot::down, "h.#.ffn.2"},
    {Slot::final_norm, "layernorm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};

}  // namespace

const Family kBioGpt{"biogpt", "BioGPT", read_biogpt, {kBioGptPrefixes, kBioGptTensors}};
const Family kXglm{"xglm", "XGLM", read_xglm, {kXglmPrefixes, kBioGptTensors}};
const Family kCtrl{"ctrl", "CTRL", read_ctrl, {kCtrlPrefixes, kCtrlTensors}};

}  // namespace headlight
