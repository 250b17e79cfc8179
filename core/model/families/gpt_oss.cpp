// gpt-oss (OpenAI 2025): experts with biases and a bounded gate, sinks in the softmax, windows in every other
// layer. Flint (Recursive 2026): Qwen3-MoE's layers with sinks, rotated where they have a window.
#include "model/families/moe_like.h"

namespace headlight {

namespace {

const Json& usual_gpt_oss_rope() {
    static const Json rope{{"rope_type", "yarn"}, {"factor", 32},
                           {"beta_fast", 32},     {"beta_slow", 1},
                           {"truncate", false},   {"original_max_position_embeddings", 4096}};
    return rope;
}

Result<ModelConfig> read_gpt_oss(const Json& root, const std::string& file) {
    const Json complete = with_rope(root, usual_gpt_oss_rope());
    ConfigReader r(complete, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim"), 64},
                                        .usual_width = 2880,
                                        .usual_heads = 64,
                                        .usual_layers = 36,
                                        .usual_mlp = 2880,
                                        .usual_vocab = 201088,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({"attention_bias"}, true);
    set_attention_bias(c, bias, bias);
    r.windows(c.stacks[0], read_window(r, 128), [](int layer) { return layer % 2 == 0; });
    const ExpertsSpec experts{.count = expert_count(r, {"num_local_experts", "num_experts"}, 128),
                              .used = expert_count(r, {"num_experts_per_tok"}, 4),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::softmax_of_chosen,
                              .router_bias = true,
                              .bias = true,
                              .alternating = true,
                              .clamp = float(r.positive(complete, "swiglu_limit", 7)),
                              .steepness = r.number({"swiglu_alpha"}, 1.702)};
    set_experts(r, c, experts, 0, [](int) { return true; });
    set_rope(r, c, {.usual_theta = 150000, .reads_layer_types = true});
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.sinks = true; });
    return r.finish(c);
}

Result<ModelConfig> read_flint(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 4,
                                        .head_dim = {"head_dim", 128},
                                        .usual_width = 2048,
                                        .usual_heads = 32,
                                        .usual_layers = 49,
                                        .usual_mlp = 6144,
                                        .usual_vocab = 150144,
                                        .usual_context = 262144});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    const int last = c.stacks[0].depth() - 1;
    r.windows(c.stacks[0], r.integer({"sliding_window"}, 513, 1, 1 << 24),
              [last](int l) { return l >= 2 && l % 4 != 1 && l != last; });
    ExpertsSpec experts = qwen_experts(r, 256, 6, 512);
    experts.routing = Routing::sigmoid;
    experts.normalize = r.boolean({"norm_topk_prob"}, true);
    const bool first_two = !r.has("mlp_only_layers");
    const auto sparse = qwen_sparse(r);
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 1024),
                [=](int l) { return sparse(l) && !(first_two && l < 2); });
    set_rope(r, c, {.reads_layer_types = true});
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.sinks = true; });
    rotate_windows_alone(c);
    return r.finish(c);
}

constexpr TensorRow kGptOssTensors[] = {
    {Slot::sinks, "layers.#.self_attn.sinks"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {Slot::router, "layers.#.mlp.router"},
    {Slot::expert_gate_up, "layers.#.mlp.experts.gate_up_proj", "", Stored::stacked_in_out},
    {Slot::expert_down, "layers.#.mlp.experts.down_proj", "", Stored::stacked_in_out},
};
constexpr TensorRow kFlintTensors[] = {
    {Slot::sinks, "layers.#.self_attn.sinks"},
    {Slot::sinks, "layers.#.self_attn.softmax_offset"},
};

/// Says what the file leaves out: which scaling is none, and that YaRN's bounds are not rounded.
Status complete_gpt_oss(const Gguf&, const std::string&, Json& config) {
    if (config["rope_scaling"].is_null()) config["rope_scaling"] = {{"rope_type", "default"}};
    config["rope_scaling"]["truncate"] = false;
    return success();
}

}  // namespace

const Family kGptOss{"gpt_oss",
                     "gpt-oss",
                     read_gpt_oss,
                     {kLlamaPrefixes, kGptOssTensors, kLlamaTensors},
                     {"gpt-oss", kUsualGgufKeys, false, complete_gpt_oss}};
const Family kFlint{
    "flint", "Flint", read_flint, {kLlamaPrefixes, kFlintTensors, kMoeTensors, kLlamaTensors}};

}  // namespace headlight
