// Decoders with Llama's or Qwen's attention and a mixture of experts: Mixtral (Jiang et al. 2024), Qwen2-MoE,
// Qwen3-MoE, OLMoE (Muennighoff et al. 2024), GLM-4-MoE, dots.llm1 and ERNIE 4.5 with DeepSeek V3's router,
// MiniMax M2.
#include "model/families/moe_like.h"

namespace headlight {

int expert_count(ConfigReader& r, Keys keys, int64_t usual) { return r.integer(keys, usual, 1, 1 << 12); }

void set_experts(ConfigReader& r, ModelConfig& c, const ExpertsSpec& experts, int shared,
                 const std::function<bool(int)>& sparse) {
    if (experts.used > experts.count)
        r.fail(r.file() + ": each token goes to " + std::to_string(experts.used) + " of " +
               std::to_string(experts.count) + " experts; correct the number of experts.");
    if (experts.count % experts.groups || experts.groups_used > experts.groups ||
        experts.used > experts.count / experts.groups * experts.groups_used)
        r.fail(r.file() + ": its experts cannot be chosen from " + std::to_string(experts.groups_used) +
               " of " + std::to_string(experts.groups) + " groups; correct the groups.");
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (!sparse(l)) return;
        layer.mlp.experts = experts;
        layer.mlp.width = shared;
    });
}

std::function<bool(int)> qwen_sparse(ConfigReader& r) {
    const int step = r.integer({"decoder_sparse_step"}, 1, 1, 1000);
    std::vector<int> dense;
    const Json list = r.keep(json_list(r.root(), or_null("mlp_only_layers"), r.file()), Json(Json::array()));
    for (const Json& layer : list) dense.push_back(layer.is_number_integer() ? layer.get<int>() : -1);
    return [=](int l) { return (l + 1) % step == 0 && !contains(dense, l); };
}

std::function<bool(int)> after_dense(ConfigReader& r, int64_t usual) {
    return from_layer(r.integer({"first_k_dense_replace"}, usual, 0, 1000));
}

std::function<bool(int)> listed_sparse(ConfigReader& r, const ModelConfig& c,
                                       const std::function<bool(int)>& usual) {
    if (!r.has("mlp_layer_types")) return usual;
    const Json list = r.keep(json_list(r.root(), "mlp_layer_types", r.file()), Json(Json::array()));
    std::vector<bool> sparse;
    for (const Json& kind : list) {
        if (kind != "sparse" && kind != "dense") break;
        sparse.push_back(kind == "sparse");
    }
    if (isize(list) == c.stacks[0].depth() && sparse.size() == list.size())
        return [sparse](int l) { return bool(sparse[size_t(l)]); };
    r.fail(r.file() + ": \"mlp_layer_types\" must call each of the " + std::to_string(c.stacks[0].depth()) +
           " layers \"dense\" or \"sparse\"; correct the file.");
    return [](int) { return false; };
}

void norm_heads_of_all(ModelConfig& c, QkNorm kind) {
    for_layers(c, [kind](LayerSpec& layer, int) { layer.attention.qk_norm = kind; });
}

ExpertsSpec qwen_experts(ConfigReader& r, int64_t count, int64_t used, int64_t width) {
    return {.count = expert_count(r, {"num_experts", "num_local_experts"}, count),
            .used = expert_count(r, {"num_experts_per_tok"}, used),
            .width = r.mlp_width({"moe_intermediate_size"}, width),
            .normalize = r.boolean({"norm_topk_prob"}, false)};
}

ExpertsSpec deepseek_experts(ConfigReader& r, const ExpertsSpec& usual, Keys count) {
    return {.count = expert_count(r, count, usual.count),
            .used = expert_count(r, {"num_experts_per_tok"}, usual.used),
            .width = r.mlp_width({"moe_intermediate_size"}, usual.width),
            .routing = Routing::sigmoid,
            .normalize = r.boolean({"norm_topk_prob"}, usual.normalize),
            .scale = r.number({"routed_scaling_factor"}, double(usual.scale)),
            .groups = expert_count(r, {"n_group"}, usual.groups),
            .groups_used = expert_count(r, {"topk_group"}, usual.groups_used),
            .choice_bias = true};
}

void set_deepseek_experts(ConfigReader& r, ModelConfig& c, const ExpertsSpec& experts, int64_t usual_shared,
                          int64_t usual_dense) {
    const int shared = r.integer({or_null("n_shared_experts")}, usual_shared, 0, 1 << 10);
    set_experts(r, c, experts, shared * experts.width, after_dense(r, usual_dense));
}

namespace {

void set_window(ConfigReader& r, ModelConfig& c) {
    if (r.is_null("sliding_window") || !r.has("sliding_window")) return;
    const int window = r.integer({"sliding_window"}, 4096, 1, 1 << 24);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.window = window; });
}

Result<ModelConfig> read_mixtral(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .usual_mlp = 14336,
                                        .usual_context = 4096 * 32,
                                        .usual_norm_eps = 1e-5});
    set_window(r, c);
    const ExpertsSpec experts{.count = expert_count(r, {"num_local_experts", "num_experts"}, 8),
                              .used = expert_count(r, {"num_experts_per_tok"}, 2),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::softmax_of_chosen};
    set_experts(r, c, experts, 0, every_layer);
    set_rope(r, c, {.usual_theta = 1e6});
    c.end_id = 2;
    return r.finish(c);
}

/// Reads longrope as Phi-MoE turns it: by the short factors at every length, with a factor of cos and sin for
/// texts within the original context, and one beyond.
void set_phimoe_rope(ConfigReader& r, ModelConfig& c) {
    set_rope(r, c, {.usual_theta = 1e6, .longrope = true});
    Rope rope = c.stacks[0].layers[0].attention.rope;
    if (rope.scaling == RopeScaling::none) return;
    Json parameters = r.object("rope_scaling");
    if (parameters.empty()) parameters = r.object("rope_parameters");
    if (rope.scaling != RopeScaling::longrope || !parameters.contains("short_mscale") ||
        !parameters.contains("long_mscale"))
        r.fail(r.file() +
               ": a Phi-MoE scales its rotation by longrope with a \"short_mscale\" and a "
               "\"long_mscale\"; correct the rotary parameters.");
    rope.attention_factor = r.positive(parameters, "short_mscale", 1);
    rope.long_attention = r.positive(parameters, "long_mscale", 1);
    rope.long_factors = rope.freq_factors;
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.rope = rope; });
}

Result<ModelConfig> read_phimoe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .usual_mlp = 6400,
                                        .usual_vocab = 32064,
                                        .usual_context = 4096 * 32,
                                        .usual_norm_eps = 1e-5});
    c.norm = NormKind::layer_norm;
    c.norm_bias = true;
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    c.logits_bias = r.boolean({"lm_head_bias"}, false);
    set_window(r, c);
    const ExpertsSpec experts{.count = expert_count(r, {"num_local_experts"}, 16),
                              .used = expert_count(r, {"num_experts_per_tok"}, 2),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::sparse_mixer,
                              .jitter = r.number({"router_jitter_noise"}, 0.01)};
    if (experts.used != 2)
        r.fail(file + ": a Phi-MoE's router chooses two experts (num_experts_per_tok); correct the file.");
    set_experts(r, c, experts, 0, every_layer);
    set_phimoe_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_qwen2_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 16,
                                        .head_dim = {"head_dim"},
                                        .usual_width = 2048,
                                        .usual_heads = 16,
                                        .usual_layers = 24,
                                        .usual_mlp = 5632,
                                        .usual_vocab = 151936,
                                        .usual_context = 32768});
    set_attention_bias(c, r.boolean({"qkv_bias"}, true), false);
    const int last = r.integer({"max_window_layers"}, 28, 0, 1000);
    if (r.boolean({"use_sliding_window"}, false) && !r.is_null("sliding_window"))
        r.windows(c.stacks[0], r.integer({"sliding_window"}, 4096, 1, 1 << 24),
                  [last](int l) { return (l + 1) % 2 && l < last; });
    ExpertsSpec experts = qwen_experts(r, 60, 4, 1408);
    experts.shared_gate = true;
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 5632), qwen_sparse(r));
    set_rope(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_qwen3_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 4,
                                        .head_dim = {or_null("head_dim")},
                                        .usual_width = 2048,
                                        .usual_heads = 32,
                                        .usual_layers = 24,
                                        .usual_mlp = 6144,
                                        .usual_vocab = 151936,
                                        .usual_context = 32768});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    if (r.boolean({"use_sliding_window"}, false)) set_window(r, c);
    set_experts(r, c, qwen_experts(r, 128, 8, 768), 0, qwen_sparse(r));
    set_rope(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_olmoe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 16,
                                        .usual_width = 2048,
                                        .usual_heads = 16,
                                        .usual_layers = 16,
                                        .usual_mlp = 2048,
                                        .usual_vocab = 50304,
                                        .usual_context = 4096,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::whole);
    const float clip = r.cap("clip_qkv", 0);
    for_layers(c, [clip](LayerSpec& layer, int) { layer.attention.clip = clip; });
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts"}, 64),
                              .used = expert_count(r, {"num_experts_per_tok"}, 8),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .normalize = r.boolean({"norm_topk_prob"}, false)};
    set_experts(r, c, experts, 0, every_layer);
    set_rope(r, c);
    c.end_id = 50279;
    return r.finish(c);
}

Result<ModelConfig> read_glm4_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .usual_width = 4096,
                                        .usual_heads = 96,
                                        .usual_layers = 46,
                                        .usual_mlp = 10944,
                                        .usual_vocab = 151552,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    set_attention_bias(c, r.boolean({"attention_bias"}, false), false);
    if (r.boolean({"use_qk_norm"}, false)) norm_heads_of_all(c, QkNorm::per_head);
    set_deepseek_experts(r, c, deepseek_experts(r), 1, 1);
    set_rope(r, c, {.usual_share = 0.5, .rotated = RopeKeys::even_part});
    return r.finish(c);
}

Result<ModelConfig> read_dots1(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 32,
                                        .head_dim = {or_null("head_dim")},
                                        .usual_width = 4608,
                                        .usual_heads = 32,
                                        .usual_layers = 62,
                                        .usual_mlp = 10944,
                                        .usual_vocab = 152064});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    const int first = r.integer({"max_window_layers"}, 62, 0, 1000);
    if (!r.is_null("sliding_window"))
        r.windows(c.stacks[0], r.integer({"sliding_window"}, 4096, 1, 1 << 24),
                  [first](int l) { return l >= first; });
    ExpertsSpec usual = kUsualExperts;
    usual.normalize = false;
    set_deepseek_experts(r, c, deepseek_experts(r, usual), 0, 0);
    set_rope(r, c);
    return r.finish(c);
}

Result<ModelConfig> read_minimax_m2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 3072,
                                        .usual_heads = 48,
                                        .usual_layers = 62,
                                        .usual_mlp = 1536,
                                        .usual_vocab = 200064,
                                        .usual_context = 196608});
    norm_heads_of_all(c, QkNorm::whole);
    const ExpertsSpec experts{.count = expert_count(r, {"num_local_experts"}, 256),
                              .used = expert_count(r, {"num_experts_per_tok"}, 8),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::sigmoid,
                              .normalize = true,
                              .choice_bias = true};
    set_experts(r, c, experts, 0, every_layer);
    const int d_head = c.stacks[0].layers[0].attention.d_head;
    const double share = double(r.integer({or_null("rotary_dim")}, d_head, 2, d_head)) / d_head;
    set_rope(r, c, {.usual_theta = 5e6, .usual_share = share, .rotated = RopeKeys::even_part});
    c.end_id = 200020;
    return r.finish(c);
}

constexpr TensorRow kSparseBlockTensors[] = {
    {Slot::router, "layers.#.block_sparse_moe.gate"},
    {Slot::router_bias, "layers.#.block_sparse_moe.e_score_correction_bias"},
    {Slot::expert_gate, "layers.#.block_sparse_moe.experts.%.w1"},
    {Slot::expert_up, "layers.#.block_sparse_moe.experts.%.w3"},
    {Slot::expert_down, "layers.#.block_sparse_moe.experts.%.w2"},
};
constexpr TensorNames kSparseBlockNames{kLlamaPrefixes, kSparseBlockTensors, kLlamaTensors};

/// Says which norms the file holds, and refuses files of models that also read images.
Status complete_glm4_moe(const Gguf& file, const std::string& name, Json& config) {
    config["use_qk_norm"] = file.tensors.count("blk.0.attn_q_norm.weight") > 0;
    return refuse_sections(file, "glm4moe", name);
}

/// Reads longrope; one factor of cos and sin serves every length.
Status complete_phimoe(const Gguf& file, const std::string& name, Json& config) {
    if (const Json& original = file.value("phimoe.rope.scaling.original_context_length"); !original.is_null())
        config["original_max_position_embeddings"] = original;
    config["lm_head_bias"] = file.tensors.count("output.bias") > 0;
    config.erase("rope_scaling");
    if (!file.tensors.count("rope_factors_long.weight")) return success();
    TRY(config["rope_scaling"], gguf_longrope(file, name));
    config["rope_scaling"]["short_mscale"] = 1;  // times rope.scaling.attn_factor
    const Json& magnitude = file.value("phimoe.rope.scaling.attn_factor");
    config["rope_scaling"]["long_mscale"] = magnitude.is_null() ? Json(1) : magnitude;
    return success();
}

/// Says what llama.cpp takes where a file does not tell.
constexpr const char* kPlainRouter =
    R"({"norm_topk_prob": false, "first_k_dense_replace": 0, "sliding_window": null})";

}  // namespace

const Family kMixtral{"mixtral", "Mixtral", read_mixtral, kSparseBlockNames};
const Family kPhiMoe{
    "phimoe", "Phi-MoE", read_phimoe, kSparseBlockNames, {"phimoe", kUsualGgufKeys, false, complete_phimoe}};
const Family kQwen2Moe{"qwen2_moe", "Qwen2-MoE", read_qwen2_moe, kMoeNames, {"qwen2moe", kUsualGgufKeys}};
const Family kQwen3Moe{"qwen3_moe",
                       "Qwen3-MoE",
                       read_qwen3_moe,
                       kMoeNames,
                       {"qwen3moe", kUsualGgufKeys, false, nullptr, R"({"norm_topk_prob": true})"}};
const Family kOlmoe{"olmoe", "OLMoE", read_olmoe, kMoeNames, {"olmoe", kUsualGgufKeys}};
const Family kGlm4Moe{"glm4_moe",
                      "GLM-4-MoE",
                      read_glm4_moe,
                      {kLlamaPrefixes, kNormAfterAttention, kMoeTensors, kLlamaTensors},
                      {"glm4moe", kUsualGgufKeys, false, complete_glm4_moe, kPlainRouter}};
const Family kDots1{
    "dots1", "dots.llm1", read_dots1, kMoeNames, {"dots1", kUsualGgufKeys, false, nullptr, kPlainRouter}};
const Family kMinimaxM2{
    "minimax_m2", "MiniMax M2", read_minimax_m2, kSparseBlockNames, {"minimax-m2", kUsualGgufKeys}};

}  // namespace headlight
