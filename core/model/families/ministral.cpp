// Ministral (Mistral AI 2024): Mistral's layers, of which layer_types gives some a window. CWM (Meta 2025):
// the window in three of four layers.
#include "model/families/llama_like.h"

namespace headlight {

namespace {

Result<ModelConfig> read_ministral(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .usual_mlp = 14336,
                                        .usual_context = 131072});
    const int window = read_window(r, 4096);
    r.windows(c.stacks[0], window, [&](int) { return window > 0; });
    set_rope(r, c, {.reads_layer_types = true});
    c.end_id = 2;
    return r.finish(c);
}

const Json& usual_cwm_rope() {
    static const Json rope{{"rope_type", "llama3"}, {"rope_theta", 1e6},
                           {"factor", 16},          {"low_freq_factor", 1},
                           {"high_freq_factor", 4}, {"original_max_position_embeddings", 8192}};
    return rope;
}

const Json& usual_ministral3_rope() {
    static const Json rope{{"rope_type", "yarn"},
                           {"rope_theta", 1e6},
                           {"factor", 16},
                           {"original_max_position_embeddings", 16384},
                           {"mscale", 1},
                           {"mscale_all_dim", 1},
                           {"llama_4_scaling_beta", 0.1}};
    return rope;
}

/// Reads how fast queries grow, and over how many positions.
void read_growth(ConfigReader& r, ModelConfig& c) {
    Json rope = r.object("rope_scaling");
    if (rope.empty()) rope = r.object("rope_parameters");
    const auto growth = float(r.keep(json_number(rope, or_null("llama_4_scaling_beta"), 0, r.file()), 0.0));
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention.query_growth = growth;
        layer.attention.growth_every = layer.attention.rope.original_context;
    });
}

Result<ModelConfig> read_ministral3(const Json& root, const std::string& file) {
    const Json complete = with_rope(root, usual_ministral3_rope());
    ConfigReader r(complete, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_layers = 34,
                                        .usual_mlp = 14336,
                                        .usual_vocab = 131072,
                                        .usual_context = 262144,
                                        .usual_norm_eps = 1e-5});
    const int window = read_window(r, 0);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.window = window; });
    set_rope(r, c);
    read_growth(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_cwm(const Json& root, const std::string& file) {
    const Json complete = with_rope(root, usual_cwm_rope());
    ConfigReader r(complete, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 6144,
                                        .usual_heads = 48,
                                        .usual_layers = 64,
                                        .usual_mlp = 21504,
                                        .usual_vocab = 128256,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    const bool mlp = r.boolean({"mlp_bias"}, false);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = mlp; });
    r.windows(c.stacks[0], read_window(r, 8192), [](int layer) { return layer % 4 != 0; });
    set_rope(r, c, {.usual_theta = 1e6, .reads_layer_types = true});
    c.end_id = 128001;
    return r.finish(c);
}

}  // namespace

const Family kMinistral{"ministral", "Ministral", read_ministral, kLlamaNames};
const Family kMinistral3{"ministral3", "Ministral 3", read_ministral3, kLlamaNames};
const Family kCwm{"cwm", "CWM", read_cwm, kLlamaNames};

}  // namespace headlight
