// GPT-NeoX and Pythia (Black et al. 2022): parallel attention and MLP, interleaved q, k, v, partial rotation.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

Result<ModelConfig> read_gpt_neox(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 6144, {"num_attention_heads"}, 64);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, 44);
    layer.mlp.width = r.mlp_width({"intermediate_size"}, 24576);
    s.vocab = c.vocab = r.vocabulary(50432);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu");
    layer.parallel = r.boolean({"use_parallel_residual"}, true);
    layer.attention.bias = layer.attention.output_bias = r.boolean({"attention_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    layer.attention.rope = read_rope(r, c, layer.attention.d_head,
                                     {.theta = "rotary_emb_base",
                                      .share = "rotary_pct",
                                      .usual_share = 0.25,
                                      .rotated = RopeKeys::any_part});
    s.layers.assign(layers, layer);
    c.end_id = 2;
    return r.finish(c);
}

/// Reads GPT-NeoX Japanese (Sawada et al. 2024): sequential blocks without biases, but for one in the last
/// layer, of attention's output.
Result<ModelConfig> read_gpt_neox_japanese(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 2560, {"num_attention_heads"}, 32);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers"}, 32);
    layer.mlp.width = c.d_model * r.integer({"intermediate_multiple_size"}, 4, 1, 64);
    s.vocab = c.vocab = r.vocabulary(32000);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    layer.mlp.activation = r.activation({"hidden_act"}, "gelu");
    layer.attention.bias = layer.attention.output_bias = layer.mlp.bias = false;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    layer.attention.rope = read_rope(
        r, c, layer.attention.d_head,
        {.theta = "rotary_emb_base", .share = "rotary_pct", .usual_share = 1, .rotated = RopeKeys::any_part});
    s.layers.assign(layers, layer);
    s.layers.back().attention.bias_apart = true;
    c.end_id = 31999;
    return r.finish(c);
}

constexpr const char *kGptNeoxPrefixes[] = {"gpt_neox.", ""},
                     *kJapanesePrefixes[] = {"gpt_neox_japanese.", ""};

constexpr TensorRow kGptNeoxTensors[] = {
    {Slot::token_embedding, "embed_in"},
    {Slot::attn_norm, "layers.#.input_layernorm"},
    {Slot::qkv, "layers.#.attention.query_key_value", "", Stored::by_head},
    {Slot::o, "layers.#.attention.dense"},
    {Slot::o_bias, "layers.#.attention.dense_bias"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm"},
    {Slot::up, "layers.#.mlp.dense_h_to_4h"},
    {Slot::down, "layers.#.mlp.dense_4h_to_h"},
    {Slot::final_norm, "final_layer_norm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding, "embed_out"},  // in older files
};

}  // namespace

const Family kGptNeox{
    "gpt_neox", "GPT-NeoX", read_gpt_neox, {kGptNeoxPrefixes, kGptNeoxTensors}, {"gptneox", kUsualGgufKeys}};
const Family kGptNeoxJapanese{
    "gpt_neox_japanese", "GPT-NeoX Japanese", read_gpt_neox_japanese, {kJapanesePrefixes, kGptNeoxTensors}};

}  // namespace headlight
