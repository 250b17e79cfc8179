// Decoders with experts whose attention is gated before W_O. AFMoE (Arcee 2025): σ of a score for each
// component, norms around each block, rotation where layers have a window. Laguna (Poolside 2026): softplus
// of a score for each head or component, heads and rotations that differ by layer.
#include <cmath>

#include "model/families/moe_like.h"

namespace headlight {

namespace {

Result<ModelConfig> read_afmoe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.head_dim = {or_null("head_dim"), 128},
                                        .usual_width = 2048,
                                        .usual_heads = 16,
                                        .usual_mlp = 6144,
                                        .usual_vocab = 200192,
                                        .usual_context = 16384,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    const int every = r.integer({or_null("global_attn_every_n_layers")}, 4, 1, 1000);
    r.windows(c.stacks[0], r.integer({"sliding_window"}, 1024, 1, 1 << 24),
              [every](int layer) { return (layer + 1) % every != 0; });
    const ExpertsSpec experts{.count = expert_count(r, {or_null("num_experts")}, 64),
                              .used = expert_count(r, {or_null("num_experts_per_tok")}, 6),
                              .width = r.mlp_width({"moe_intermediate_size"}, 1408),
                              .routing = Routing::sigmoid,
                              .normalize = true,
                              .scale = r.number({or_null("route_scale")}, 1),
                              .choice_bias = true};
    const int shared = r.integer({or_null("num_shared_experts")}, 2, 0, 1 << 10),
              dense = r.integer({or_null("num_dense_layers")}, 1, 0, 1000);
    set_experts(r, c, experts, shared * experts.width, from_layer(dense));
    set_rope(r, c, {.reads_layer_types = true});
    for_layers(c, [](LayerSpec& layer, int) {
        layer.norms = NormPlace::both;
        layer.attention.gate.width = AttentionGate::Width::component;
    });
    rotate_windows_alone(c);
    if (r.boolean({or_null("mup_enabled")}, false)) c.embed_scale = float(std::sqrt(double(c.d_model)));
    return r.finish(c);
}

const Json& usual_laguna_rope() {
    static const Json rope{
        {"full_attention",
         {{"rope_type", "default"}, {"rope_theta", 500000.0}, {"partial_rotary_factor", 0.5}}},
        {"sliding_attention",
         {{"rope_type", "default"}, {"rope_theta", 10000.0}, {"partial_rotary_factor", 1.0}}}};
    return rope;
}

/// Reads the query heads of each layer.
void read_heads_by_layer(ConfigReader& r, ModelConfig& c) {
    if (!r.has("num_attention_heads_per_layer")) return;
    const Json list =
        r.keep(json_list(r.root(), "num_attention_heads_per_layer", r.file()), Json(Json::array()));
    const int shared = c.stacks[0].layers[0].attention.kv_heads;
    bool right = isize(list) == c.stacks[0].depth();
    for (const Json& heads : list)
        right = right && heads.is_number_integer() && heads >= 1 && heads <= 1 << 12 &&
                heads.get<int>() % shared == 0;
    if (!right) {
        r.fail(r.file() + ": \"num_attention_heads_per_layer\" must give each of the " +
               std::to_string(c.stacks[0].depth()) + " layers a multiple of its " + std::to_string(shared) +
               " key/value heads; correct the file.");
        return;
    }
    for_layers(c, [&](LayerSpec& layer, int l) { layer.attention.heads = list[l].get<int>(); });
}

AttentionGate read_laguna_gate(ConfigReader& r) {
    const Json* gating = json_find(r.root(), or_null("gating"));
    using Width = AttentionGate::Width;
    AttentionGate gate{.width = Width::head, .by = AttentionGate::By::softplus};
    if (!gating || *gating == true || *gating == "per-head") return gate;
    gate.width = Width::component;
    if (*gating != "per-element" && *gating != false)
        r.fail(wrong_type(r.file(), "gating", "true, \"per-head\" or \"per-element\"", *gating).message);
    return gate;
}

Result<ModelConfig> read_laguna(const Json& root, const std::string& file) {
    const Json complete = with_rope(root, usual_laguna_rope());
    ConfigReader r(complete, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .head_dim = {"head_dim", 128},
                                        .usual_width = 2048,
                                        .usual_heads = 48,
                                        .usual_layers = 40,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 100352,
                                        .usual_context = 131072});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    r.windows(c.stacks[0], r.integer({"sliding_window"}, 512, 1, 1 << 24), [](int) { return false; });
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts"}, 256),
                              .used = expert_count(r, {"num_experts_per_tok"}, 8),
                              .width = r.mlp_width({"moe_intermediate_size"}, 512),
                              .routing = Routing::sigmoid,
                              .normalize = true,
                              .scale = r.number({"moe_routed_scaling_factor"}, 1),
                              .choice_bias = true,
                              .score_cap = std::max(0.0f, r.number({"moe_router_logit_softcapping"}, 0))};
    if (r.boolean({"moe_apply_router_weight_on_input"}, false))
        r.fail(file +
               ": a Laguna's weights of experts multiply what they write, not what they read "
               "(moe_apply_router_weight_on_input); set it to false.");
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 512),
                listed_sparse(r, c, from_layer(1)));
    set_rope_by_kind(r, c, {.rotated = RopeKeys::any_part});
    const AttentionGate gate = read_laguna_gate(r);
    for_layers(c, [&](LayerSpec& layer, int) { layer.attention.gate = gate; });
    read_heads_by_layer(r, c);
    return r.finish(c);
}

/// Qwen3-MoE's layers with windows and rotations by layer.
Result<ModelConfig> read_mellum(const Json& root, const std::string& file) {
    static const Json usual{{"full_attention", {{"rope_type", "default"}, {"rope_theta", 500000.0}}},
                            {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}}};
    const Json complete = with_rope(root, usual);
    ConfigReader r(complete, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 4,
                                        .head_dim = {"head_dim", 128},
                                        .usual_width = 2304,
                                        .usual_heads = 32,
                                        .usual_layers = 28,
                                        .usual_mlp = 7168,
                                        .usual_vocab = 98304,
                                        .usual_context = 131072});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    r.windows(c.stacks[0], read_window(r, 1024), [](int) { return false; });
    ExpertsSpec experts = qwen_experts(r, 64, 8, 896);
    experts.normalize = r.boolean({"norm_topk_prob"}, true);
    set_experts(r, c, experts, 0, listed_sparse(r, c, every_layer));
    set_rope_by_kind(r, c, {});
    return r.finish(c);
}

constexpr TensorRow kAfmoeTensors[] = {
    {Slot::attn_gate, "layers.#.self_attn.gate_proj"},
    {Slot::attn_post_norm, "layers.#.post_attention_layernorm"},
    {Slot::mlp_norm, "layers.#.pre_mlp_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_mlp_layernorm"},
    {Slot::router, "layers.#.mlp.router.gate"},
    {Slot::router_bias, "layers.#.mlp.expert_bias"},
};
constexpr TensorRow kLagunaTensors[] = {
    {Slot::attn_gate, "layers.#.self_attn.g_proj"},
    {Slot::router_bias, "layers.#.mlp.experts.e_score_correction_bias"},
    {Slot::router_bias, "layers.#.mlp.gate.e_score_correction_bias"},
};

}  // namespace

const Family kAfmoe{
    "afmoe",
    "AFMoE",
    read_afmoe,
    {kLlamaPrefixes, kAfmoeTensors, kMoeTensors, kLlamaTensors},
    {"afmoe", kUsualGgufKeys, false, nullptr, R"({"mup_enabled": true, "num_dense_layers": 0})"}};
const Family kLaguna{
    "laguna", "Laguna", read_laguna, {kLlamaPrefixes, kLagunaTensors, kMoeTensors, kLlamaTensors}};
const Family kMellum{"mellum", "Mellum 2", read_mellum, kMoeNames};

}  // namespace headlight
