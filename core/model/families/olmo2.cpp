// OLMo 2 (OLMo Team 2025): norms what blocks add instead of what they read, and q and k of all heads
// together. OLMo 3 adds windows in three of four layers; EXAONE 4 (LG AI Research 2025) norms each head, and
// rotates layers with a window alone.
#include "model/families/llama_like.h"

namespace headlight {

namespace {

void norm_outputs(ModelConfig& c, QkNorm qk_norm) {
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.norms = NormPlace::output;
        layer.attention.qk_norm = qk_norm;
    });
}

ModelConfig read_olmo2_like(ConfigReader& r) {
    ModelConfig c = read_llama_like(r, {.usual_vocab = 50304, .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_outputs(c, QkNorm::whole);
    c.end_id = 50279;
    return c;
}

Result<ModelConfig> read_olmo2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_olmo2_like(r);
    set_rope(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_olmo3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_olmo2_like(r);
    r.windows(c.stacks[0], read_window(r, 4096), [](int layer) { return (layer + 1) % 4 != 0; });
    const int d_head = c.stacks[0].layers[0].attention.d_head;
    constexpr double kTheta = 500000;           // of layers with a window, whatever rope_theta says
    for_layers(c, [&](LayerSpec& layer, int) {  // the rotation of a kind that no layer has is not read
        layer.attention.rope =
            layer.attention.window
                ? read_rope_of_kind(r, c, d_head, "sliding_attention", {.theta = "", .usual_theta = kTheta},
                                    false)
                : read_rope_of_kind(r, c, d_head, "full_attention", {.usual_theta = kTheta}, true);
    });
    return r.finish(c);
}

Result<ModelConfig> read_exaone4(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 32,
                                        .usual_mlp = 16384,
                                        .usual_vocab = 102400,
                                        .usual_norm_eps = 1e-5});
    norm_outputs(c, QkNorm::per_head);
    const int window = read_window(r, 4096),
              every = r.integer({or_null("sliding_window_pattern")}, 4, 0, 1000);  // 0: no window
    r.windows(c.stacks[0], window, [&](int layer) { return window && every && (layer + 1) % every != 0; });
    set_rope(r, c, {.reads_layer_types = true});
    if (window) rotate_windows_alone(c);
    c.end_id = 2;
    return r.finish(c);
}

/// Finds an OLMo 3 among OLMo 2's GGUF files: by its window.
Status complete_olmo2(const Gguf&, const std::string&, Json& config) {
    if (!config.contains("sliding_window")) return success();
    config["model_type"] = "olmo3";
    if (config.contains("rope_theta"))
        config["rope_parameters"] = {{"sliding_attention", {{"rope_theta", config["rope_theta"]}}}};
    return success();
}

/// Sets the window, which older files omit: the model of 64 layers has one, the others have none (llama.cpp).
Status complete_exaone4(const Gguf&, const std::string&, Json& config) {
    if (!config.contains("sliding_window"))
        config["sliding_window"] = config["num_hidden_layers"] == 64 ? Json(4096) : Json();
    return success();
}

}  // namespace

const Family kOlmo2{
    "olmo2", "OLMo 2", read_olmo2, kOutputNormNames, {"olmo2", kUsualGgufKeys, false, complete_olmo2}};
const Family kOlmo3{"olmo3", "OLMo 3", read_olmo3, kOutputNormNames};
const Family kExaone4{"exaone4",
                      "EXAONE 4",
                      read_exaone4,
                      kOutputNormNames,
                      {"exaone4", kUsualGgufKeys, false, complete_exaone4}};

}  // namespace headlight
