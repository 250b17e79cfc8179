// Decoders with Llama's names and LayerNorm: StarCoder2 (Lozhkov et al. 2024), Nemotron (Parmar et al. 2024),
// Jais 2, Persimmon (Adept 2023), StableLM (Bellagente et al. 2024), OLMo (Groeneveld et al. 2024).
#include "model/families/llama_like.h"

namespace headlight {

namespace {

/// Makes the norms of all blocks LayerNorms with biases.
void center_norms(ModelConfig& c) {
    c.norm = NormKind::layer_norm;
    c.norm_bias = true;
}

/// Makes the MLPs plain.
void leave_gates_out(ModelConfig& c, bool bias) {
    for_layers(c, [bias](LayerSpec& layer, int) {
        layer.mlp.gated = false;
        layer.mlp.bias = bias;
    });
}

Result<ModelConfig> read_starcoder2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 2,
                                        .usual_activation = "gelu_pytorch_tanh",
                                        .usual_width = 3072,
                                        .usual_heads = 24,
                                        .usual_layers = 30,
                                        .usual_mlp = 12288,
                                        .usual_vocab = 49152,
                                        .usual_context = 4096,
                                        .usual_tied = true,
                                        .norm_eps = "norm_epsilon",
                                        .usual_norm_eps = 1e-5});
    center_norms(c);
    const bool bias = r.boolean({"use_bias"}, true);
    set_attention_bias(c, bias, bias);
    leave_gates_out(c, bias);
    if (r.has("sliding_window")) {
        const int window = r.integer({"sliding_window"}, 4096, 1, 1 << 24);
        for_layers(c, [&](LayerSpec& layer, int) { layer.attention.window = window; });
    }
    set_rope(r, c);
    c.end_id = 50256;
    return r.finish(c);
}

Result<ModelConfig> read_nemotron(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_activation = "relu2",
                                        .usual_width = 6144,
                                        .usual_heads = 48,
                                        .usual_mlp = 24576,
                                        .usual_vocab = 256000,
                                        .usual_context = 4096,
                                        .norm_eps = "norm_eps",
                                        .usual_norm_eps = 1e-5});
    center_norms(c);
    c.norm_weight_offset = 1;
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    leave_gates_out(c, r.boolean({"mlp_bias"}, false));
    set_rope(r, c, {.share = "partial_rotary_factor", .usual_share = 0.5, .rotated = RopeKeys::any_part});
    c.end_id = 3;
    return r.finish(c);
}

Result<ModelConfig> read_jais2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_activation = "relu2",
                                        .usual_width = 3328,
                                        .usual_heads = 26,
                                        .usual_mlp = 26624,
                                        .usual_vocab = 150272,
                                        .usual_context = 8192,
                                        .norm_eps = "layer_norm_eps",
                                        .usual_norm_eps = 1e-5});
    center_norms(c);
    const bool bias = r.boolean({"attention_bias"}, true);
    set_attention_bias(c, bias, bias);
    leave_gates_out(c, r.boolean({"mlp_bias"}, true));
    set_rope(r, c);
    c.end_id = 150024;
    return r.finish(c);
}

Result<ModelConfig> read_persimmon(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "",
                                        .head_dim = {""},
                                        .usual_activation = "relu2",
                                        .usual_heads = 64,
                                        .usual_layers = 36,
                                        .usual_mlp = 16384,
                                        .usual_vocab = 262144,
                                        .usual_context = 16384,
                                        .norm_eps = "layer_norm_eps",
                                        .usual_norm_eps = 1e-5});
    center_norms(c);
    set_attention_bias(c, true, true);
    leave_gates_out(c, true);
    if (r.boolean({"qk_layernorm"}, true))
        for_layers(c, [](LayerSpec& layer, int) { layer.attention.qk_norm = QkNorm::per_head; });
    set_rope(r, c, {.share = "partial_rotary_factor", .usual_share = 0.5, .rotated = RopeKeys::even_part});
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_stablelm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 32,
                                        .head_dim = {""},
                                        .usual_width = 2560,
                                        .usual_mlp = 6912,
                                        .usual_vocab = 50304,
                                        .usual_context = 4096,
                                        .norm_eps = "layer_norm_eps",
                                        .usual_norm_eps = 1e-5});
    center_norms(c);
    set_attention_bias(c, r.boolean({"use_qkv_bias"}, false), false);
    const bool normed = r.boolean({"qk_layernorm"}, false),
               parallel = r.boolean({"use_parallel_residual"}, false);
    for_layers(c, [&](LayerSpec& layer, int) {
        if (normed) layer.attention.qk_norm = QkNorm::own_weights;
        layer.parallel = layer.shared_norm = parallel;
    });
    set_rope(r, c, {.share = "partial_rotary_factor", .usual_share = 0.25, .rotated = RopeKeys::even_part});
    c.end_id = 0;
    return r.finish(c);
}

/// Reads OLMo, whose norms have neither weights nor biases.
Result<ModelConfig> read_olmo(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_vocab = 50304});
    c.norm = NormKind::layer_norm;
    c.norm_weight = false;
    c.norm_eps = 1e-5f;
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    const float clip = r.cap("clip_qkv", 0);
    for_layers(c, [clip](LayerSpec& layer, int) { layer.attention.clip = clip; });
    set_rope(r, c);
    c.end_id = 50279;
    return r.finish(c);
}

constexpr TensorRow kStarcoder2Tensors[] = {
    {Slot::up, "layers.#.mlp.c_fc"},
    {Slot::down, "layers.#.mlp.c_proj"},
};
constexpr TensorRow kPersimmonTensors[] = {
    {Slot::qkv, "layers.#.self_attn.query_key_value", "", Stored::by_head},
    {Slot::o, "layers.#.self_attn.dense"},
    {Slot::q_norm, "layers.#.self_attn.q_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.k_layernorm"},
    {Slot::up, "layers.#.mlp.dense_h_to_4h"},
    {Slot::down, "layers.#.mlp.dense_4h_to_h"},
    {Slot::final_norm, "final_layernorm"},
};
constexpr TensorRow kStableLmTensors[] = {
    {Slot::q_norm, "layers.#.self_attn.q_layernorm.norms", "", Stored::each_row},
    {Slot::k_norm, "layers.#.self_attn.k_layernorm.norms", "", Stored::each_row},
};
/// Says which norms the file holds; llama.cpp too asks the tensors.
Status complete_stablelm(const Gguf& file, const std::string&, Json& config) {
    config["qk_layernorm"] = file.tensors.count("blk.0.attn_q_norm.weight") > 0;
    config["use_parallel_residual"] = !file.tensors.count("blk.0.ffn_norm.weight");
    return success();
}

constexpr TensorNames kStarcoder2Names{kLlamaPrefixes, kStarcoder2Tensors, kLlamaTensors},
    kPersimmonNames{kLlamaPrefixes, kPersimmonTensors, kLlamaTensors},
    kStableLmNames{kLlamaPrefixes, kStableLmTensors, kLlamaTensors};

}  // namespace

const Family kStarcoder2{
    "starcoder2", "StarCoder2", read_starcoder2, kStarcoder2Names, {"starcoder2", kUsualGgufKeys}};
const Family kNemotron{"nemotron", "Nemotron", read_nemotron, kLlamaNames, {"nemotron", kUsualGgufKeys}};
const Family kJais2{"jais2", "Jais 2", read_jais2, kLlamaNames, {"jais2", kUsualGgufKeys}};
const Family kPersimmon{"persimmon", "Persimmon", read_persimmon, kPersimmonNames};
const Family kStableLm{"stablelm",
                       "StableLM",
                       read_stablelm,
                       kStableLmNames,
                       {"stablelm", kUsualGgufKeys, false, complete_stablelm}};
const Family kOlmo{"olmo", "OLMo", read_olmo, kLlamaNames, {"olmo", kUsualGgufKeys, true}};

}  // namespace headlight
