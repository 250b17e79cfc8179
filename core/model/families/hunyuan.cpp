// Hunyuan (Tencent 2025): Llama's layers that norm q and k after their rotation. nanochat (Karpathy 2025):
// norms without weights, also of the embeddings, a rotation the other way, and an MLP without gate.
#include <cmath>

#include "model/families/moe_like.h"

namespace headlight {

namespace {

void norm_rotated_heads(ModelConfig& c) {
    for_layers(c, [](LayerSpec& layer, int) {
        layer.attention.qk_norm = QkNorm::per_head;
        layer.attention.norm_rotated = true;
    });
}

/// Returns the factor of a fixed stretch of the rotation ("dynamic" with alpha); 0: none.
double fixed_stretch(ConfigReader& r) {
    Json rope = r.object("rope_scaling");
    if (rope.empty()) rope = r.object("rope_parameters");
    if (rope.value("rope_type", rope.value("type", Json())) != "dynamic") return 0;
    const double alpha = r.keep(json_number(rope, or_null("alpha"), 0, r.file()), 0.0);
    return alpha == 0 ? 0 : r.positive(rope, "alpha", 1);
}

/// Rotates by theta · alpha^(d / (d − 2)), whatever the length of the text.
void set_stretched_rope(ConfigReader& r, ModelConfig& c, double alpha) {
    Json root = r.root();
    for (const char* key : {"rope_scaling", "rope_parameters"})
        if (root.contains(key) && root[key].is_object()) root[key]["rope_type"] = "default";
    ConfigReader plain(root, r.file());
    set_rope(plain, c);
    if (const auto read = plain.finish(c); !read) r.fail(read.error().message);
    const double d = c.stacks[0].layers[0].attention.d_head;
    if (d == 2) r.fail(r.file() + ": alpha stretches no rotation of heads of width 2; correct the file.");
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.rope.theta *= std::pow(alpha, d / (d - 2)); });
}

Result<ModelConfig> read_hunyuan(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_vocab = 290943, .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_rotated_heads(c);
    if (const double alpha = fixed_stretch(r); alpha != 0)
        set_stretched_rope(r, c, alpha);
    else
        set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

/// Reads a number of experts that may differ by layer: one number, or a list.
std::vector<int> counts_by_layer(ConfigReader& r, const char* key, int depth) {
    const Json* list = json_find(r.root(), key);
    if (!list || !list->is_array()) return std::vector(size_t(depth), expert_count(r, {key}, 1));
    std::vector<int> out;
    for (const Json& count : *list) {
        if (!count.is_number_integer() || count < 1 || count > 1 << 12) break;
        out.push_back(count.get<int>());
    }
    if (isize(out) == depth && out.size() == list->size()) return out;
    r.fail(r.file() + ": \"" + key + "\" must be a number, or list one for each of the " +
           std::to_string(depth) + " layers; correct the file.");
    return std::vector(size_t(depth), 1);
}

Result<ModelConfig> read_hunyuan_moe(const Json& root, const std::string& file) {
    TRY(ModelConfig c, read_hunyuan(root, file));
    ConfigReader r(root, file);
    const int width = c.stacks[0].layers[0].mlp.width, depth = c.stacks[0].depth();
    const std::vector<int> count = counts_by_layer(r, "num_experts", depth),
                           used = counts_by_layer(
                               r, root.contains("moe_topk") ? "moe_topk" : "num_experts_per_tok", depth);
    for (int own = 0; own < depth; ++own)
        set_experts(
            r, c, {.count = count[size_t(own)], .used = used[size_t(own)], .width = width, .normalize = true},
            width, [own](int l) { return l == own; });
    TRY_STATUS(r.finish(c));
    return c;
}

Result<ModelConfig> read_nanochat(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_activation = "relu2",
                                        .usual_width = 768,
                                        .usual_heads = 6,
                                        .usual_layers = 12,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 50304});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_rotated_heads(c);
    c.norm_weight = false;
    c.embed_norm = true;
    c.logit_cap = r.cap("final_logit_softcapping", 15);
    set_rope(r, c);
    for_layers(c, [](LayerSpec& layer, int) {
        layer.mlp.gated = false;
        layer.attention.rope.backward = true;
    });
    c.end_id = 1;
    return r.finish(c);
}

constexpr TensorRow kHunyuanTensors[] = {
    {Slot::q_norm, "layers.#.self_attn.query_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.key_layernorm"},
};
constexpr TensorRow kHunyuanMoeTensors[] = {
    {Slot::q_norm, "layers.#.self_attn.query_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.key_layernorm"},
    {Slot::router, "layers.#.mlp.gate.wg"},
    {Slot::gate, "layers.#.mlp.shared_mlp.gate_proj"},
    {Slot::up, "layers.#.mlp.shared_mlp.up_proj"},
    {Slot::down, "layers.#.mlp.shared_mlp.down_proj"},
};
constexpr TensorRow kNanochatTensors[] = {
    {Slot::up, "layers.#.mlp.fc1"},
    {Slot::down, "layers.#.mlp.fc2"},
};

}  // namespace

const Family kHunyuan{"hunyuan_v1_dense",
                      "Hunyuan",
                      read_hunyuan,
                      {kLlamaPrefixes, kHunyuanTensors, kLlamaTensors},
                      {"hunyuan-dense", kUsualGgufKeys}};
const Family kHunyuanMoe{"hunyuan_v1_moe",
                         "Hunyuan-MoE",
                         read_hunyuan_moe,
                         {kLlamaPrefixes, kHunyuanMoeTensors, kMoeTensors, kLlamaTensors},
                         {"hunyuan-moe", kUsualGgufKeys}};
const Family kNanochat{
    "nanochat", "nanochat", read_nanochat, {kLlamaPrefixes, kNanochatTensors, kLlamaTensors}};

}  // namespace headlight
