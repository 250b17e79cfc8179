// BLOOM (Le Scao et al. 2022): ALiBi instead of position embeddings (Press et al. 2022), normed embeddings.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_bloom(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {or_null("n_embed"), "hidden_size"}, 64, {"num_attention_heads", "n_head"},
             8);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers", "n_layer"}, 2);
    layer.mlp.width = 4 * c.d_model;
    s.layers.assign(layers, layer);
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

constexpr const char* kBloomPrefixes[] = {"transformer.", ""};

constexpr TensorRow kBloomTensors[] = {
    {Slot::token_embedding, "word_embeddings"},
    {Slot::embed_norm, "word_embeddings_layernorm"},
    {Slot::attn_norm, "h.#.input_layernorm"},
    {Slot::qkv, "h.#.self_attention.query_key_value", "", Stored::by_head},
    {Slot::o, "h.#.self_attention.dense"},
    {Slot::mlp_norm, "h.#.post_attention_layernorm"},
    {Slot::up, "h.#.mlp.dense_h_to_4h"},
    {Slot::down, "h.#.mlp.dense_4h_to_h"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
};

}  // namespace

const Family kBloom{"bloom", "BLOOM", read_bloom, {kBloomPrefixes, kBloomTensors}, {"bloom", kUsualGgufKeys}};

}  // namespace headlight
