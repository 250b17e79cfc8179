// Families with Llama's layers that rotate neighboring components of q and k, as Su et al. (2021) did. GLM
// (GLM Team 2024) rotates half of each head, and GLM-4 also norms what blocks add; Helium (Kyutai 2025) and
// ERNIE 4.5 (Baidu 2025) rotate whole heads.
#include "model/families/llama_like.h"

namespace headlight {

namespace {

void rotate_neighbors(ConfigReader& r, ModelConfig& c, const RopeKeys& keys) {
    set_rope(r, c, keys);
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.rope.interleaved = true; });
}

Result<ModelConfig> read_glm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 2,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_layers = 40,
                                        .usual_mlp = 13696,
                                        .usual_vocab = 151552,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1.5625e-07});
    set_attention_bias(c, r.boolean({"attention_bias"}, true), false);
    rotate_neighbors(r, c,
                     {.share = "partial_rotary_factor", .usual_share = 0.5, .rotated = RopeKeys::any_part});
    c.end_id = 151329;
    return r.finish(c);
}

Result<ModelConfig> read_glm4(const Json& root, const std::string& file) {
    TRY(ModelConfig c, read_glm(root, file));
    for_layers(c, [](LayerSpec& layer, int) { layer.norms = NormPlace::both; });
    return c;
}

Result<ModelConfig> read_helium(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 20,
                                        .head_dim = {"head_dim", 128},
                                        .usual_width = 2560,
                                        .usual_heads = 20,
                                        .usual_layers = 24,
                                        .usual_mlp = 7040,
                                        .usual_vocab = 48000,
                                        .usual_context = 4096,
                                        .usual_norm_eps = 1e-8});
    read_biases(r, c);
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.output_bias = false; });
    rotate_neighbors(r, c, {.usual_theta = 100000});
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_ernie4_5(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 2,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 1024,
                                        .usual_heads = 16,
                                        .usual_layers = 18,
                                        .usual_mlp = 3072,
                                        .usual_vocab = 103424,
                                        .usual_context = 131072,
                                        .usual_tied = true,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({or_null("use_bias")}, false);
    set_attention_bias(c, bias, bias);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.bias = bias; });
    rotate_neighbors(r, c, {.usual_theta = 500000});
    c.end_id = 2;
    return r.finish(c);
}

Status complete_glm4(const Gguf& file, const std::string& name, Json&) {
    return refuse_sections(file, "glm4", name);
}

constexpr TensorRow kGlm4Tensors[] = {
    {Slot::attn_post_norm, "layers.#.post_self_attn_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_mlp_layernorm"},
    {Slot::gate_up, "layers.#.mlp.gate_up_proj", "blk.#.ffn_up"},
};

}  // namespace

const Family kGlm{"glm", "GLM", read_glm, kLlamaNames};
const Family kGlm4{"glm4",
                   "GLM-4",
                   read_glm4,
                   {kLlamaPrefixes, kGlm4Tensors, kLlamaTensors},
                   {"glm4", kUsualGgufKeys, true, complete_glm4}};
const Family kHelium{"helium", "Helium", read_helium, kLlamaNames};
const Family kErnie45{
    "ernie4_5", "ERNIE 4.5", read_ernie4_5, kLlamaNames, {"ernie4_5", kUsualGgufKeys, true}};

}  // namespace headlight
