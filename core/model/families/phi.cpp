// Phi-1, 1.5 and 2 (Li et al. 2023): one norm for parallel attention and MLP, partial rotation, biases.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

Result<ModelConfig> read_phi(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 2048, {"num_attention_heads"}, 32, HeadDim{"head_dim"});
    r.kv_heads(layer.attention, or_null("num_key_value_heads"), layer.attention.heads);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, 24);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 8192);
    s.vocab = c.vocab = r.vocabulary(51200);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu_new");
    layer.parallel = layer.shared_norm = true;
    layer.attention.qk_norm = r.boolean({"qk_layernorm"}, false) ? QkNorm::per_head : QkNorm::none;
    c.logits_bias = true;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    layer.attention.rope =
        read_rope(r, c, layer.attention.d_head,
                  {.share = "partial_rotary_factor", .usual_share = 0.5, .rotated = RopeKeys::even_part});
    s.layers.assign(layers, layer);
    c.end_id = 2;
    return r.finish(c);
}

constexpr const char* kPhiPrefixes[] = {"model.", ""};

constexpr TensorRow kPhiTensors[] = {
    {Slot::token_embedding, "embed_tokens"},
    {Slot::attn_norm, "layers.#.input_layernorm"},
    {Slot::qkv, "layers.#.self_attn.qkv_proj"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::o, "layers.#.self_attn.dense"},
    {Slot::q_norm, "layers.#.self_attn.q_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.k_layernorm"},
    {Slot::up, "layers.#.mlp.fc1"},
    {Slot::down, "layers.#.mlp.fc2"},
    {Slot::final_norm, "final_layernorm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};

}  // namespace

const Family kPhi{"phi", "Phi", read_phi, {kPhiPrefixes, kPhiTensors}, {"phi2", kUsualGgufKeys}};

}  // namespace headlight
