// Decoders with DeepSeek V3's router, or one like it, in Llama's or EXAONE 4's layers: EXAONE-MoE (LG 2025),
// Solar Open (Upstage 2025), Sarvam (2026), Hunyuan 3 (Tencent 2026), ERNIE 4.5 (Baidu 2025), Kolibri (Aleph
// Alpha 2026); FlexOlmo (Ai2 2025) and Aria (Rhymes 2024) choose by softmax.
#include "model/families/moe_like.h"

namespace headlight {

namespace {

Result<ModelConfig> read_exaone_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 32,
                                        .usual_mlp = 16384,
                                        .usual_vocab = 102400,
                                        .usual_norm_eps = 1e-5});
    norm_heads_of_all(c, QkNorm::per_head);
    const int window = read_window(r, 4096),
              every = r.has("layer_types") ? 0 : r.integer({or_null("sliding_window_pattern")}, 4, 0, 1000);
    r.windows(c.stacks[0], window, [&](int layer) { return window && every && (layer + 1) % every != 0; });
    const ExpertsSpec usual{.count = 64, .used = 8, .width = 1024, .normalize = true, .scale = 2.5f},
        experts = deepseek_experts(r, usual, {"num_experts"});
    set_experts(r, c, experts, r.integer({"num_shared_experts"}, 1, 0, 1 << 10) * experts.width,
                listed_sparse(r, c, after_dense(r, 1)));
    set_rope(r, c, {.reads_layer_types = true});
    if (window) rotate_windows_alone(c);
    c.end_id = 53;
    return r.finish(c);
}

Result<ModelConfig> read_solar_open(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .head_dim = {"head_dim", 128},
                                        .usual_heads = 64,
                                        .usual_layers = 48,
                                        .usual_vocab = 196608,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    set_attention_bias(c, r.boolean({"attention_bias"}, false), false);
    ExpertsSpec usual = kUsualExperts;
    usual.width = 1280;
    const ExpertsSpec experts = deepseek_experts(r, usual);
    set_experts(r, c, experts, r.integer({"n_shared_experts"}, 1, 0, 1 << 10) * experts.width, every_layer);
    set_rope(r, c, {.usual_theta = 1e6});
    return r.finish(c);
}

/// GLM-4-MoE's layers under other names.
Result<ModelConfig> read_sarvam_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 4,
                                        .head_dim = {"head_dim", 64},
                                        .usual_heads = 64,
                                        .usual_layers = 19,
                                        .usual_mlp = 8192,
                                        .usual_vocab = 262144,
                                        .usual_context = 131072});
    set_attention_bias(c, r.boolean({"attention_bias", "use_qkv_bias"}, false), false);
    if (r.boolean({"use_qk_norm"}, true)) norm_heads_of_all(c, QkNorm::per_head);
    const ExpertsSpec usual{.count = 128, .used = 6, .width = 1024, .normalize = true, .scale = 2.5f},
        experts = deepseek_experts(r, usual, {"n_routed_experts", "num_experts"});
    set_experts(r, c, experts,
                r.integer({"n_shared_experts", "num_shared_experts"}, 1, 0, 1 << 10) * experts.width,
                after_dense(r, 1));
    set_rope(r, c, {.usual_theta = 8e6, .rotated = RopeKeys::even_part});
    c.end_id = 1;
    return r.finish(c);
}

Result<ModelConfig> read_hy_v3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .head_dim = {"head_dim", 128},
                                        .usual_heads = 64,
                                        .usual_layers = 80,
                                        .usual_mlp = 13312,
                                        .usual_vocab = 120832,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    norm_heads_of_all(c, QkNorm::per_head);
    const ExpertsSpec experts{.count = expert_count(r, {or_null("num_experts"), "num_local_experts"}, 192),
                              .used = expert_count(r, {or_null("num_experts_per_tok")}, 8),
                              .width = r.mlp_width({"moe_intermediate_size"}, 1536),
                              .routing = Routing::sigmoid,
                              .normalize = true,
                              .scale = r.number({"router_scaling_factor"}, 2.826),
                              .choice_bias = true};
    set_experts(r, c, experts, r.integer({or_null("num_shared_experts")}, 1, 0, 1 << 10) * experts.width,
                listed_sparse(r, c, from_layer(1)));
    set_rope(r, c, {.usual_theta = 11158840});
    return r.finish(c);
}

Result<ModelConfig> read_ernie4_5_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 4,
                                        .usual_width = 2560,
                                        .usual_heads = 20,
                                        .usual_layers = 28,
                                        .usual_mlp = 12288,
                                        .usual_vocab = 103424,
                                        .usual_context = 131072,
                                        .usual_tied = true,
                                        .usual_norm_eps = 1e-5});
    const bool bias = r.boolean({or_null("use_bias")}, false);
    set_attention_bias(c, bias, bias);
    c.logits_bias = bias;
    for_layers(c, [bias](LayerSpec& layer, int) { layer.mlp.bias = bias; });
    const ExpertsSpec experts{.count = expert_count(r, {or_null("moe_num_experts"), "num_experts"}, 64),
                              .used = expert_count(r, {or_null("moe_k"), "num_experts_per_tok"}, 6),
                              .width = r.mlp_width({"moe_intermediate_size"}, 1536),
                              .normalize = true,
                              .least_sum = float(r.positive(root, or_null("moe_norm_min"), 1e-12)),
                              .choice_bias = true};
    const int depth = c.stacks[0].depth(), every = r.integer({or_null("moe_layer_interval")}, 1, 1, 1000),
              first = r.integer({or_null("moe_layer_start_index")}, 1, 0, 1000),
              end = r.integer({or_null("moe_layer_end_index")}, -1, -1, 1000),
              last = end < 0 ? depth - 1 : end;
    set_experts(r, c, experts, r.integer({or_null("moe_num_shared_experts")}, 2, 0, 1 << 10) * experts.width,
                [=](int l) { return (l + 1) % every == 0 && l >= first && l <= last; });
    set_rope(r, c, {.usual_theta = 500000});
    for_layers(c, [](LayerSpec& layer, int) { layer.attention.rope.interleaved = true; });
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_kolibri(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 4,
                                        .head_dim = {"head_dim", 128},
                                        .usual_width = 2560,
                                        .usual_heads = 48,
                                        .usual_layers = 50,
                                        .usual_vocab = 128000,
                                        .usual_context = 262144});
    norm_heads_of_all(c, QkNorm::per_head);
    const int window = read_window(r, 513);
    r.windows(c.stacks[0], window, [](int l) { return (l + 1) % 5 != 0; });
    ExpertsSpec experts = qwen_experts(r, 384, 6, 512);
    experts.routing = Routing::sigmoid;
    experts.by_scores = experts.choice_bias = true;
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 512), every_layer);
    set_rope(r, c, {.reads_layer_types = true});
    if (window) rotate_windows_alone(c);
    for_layers(c, [](LayerSpec& layer, int) { layer.norms = NormPlace::both; });
    return r.finish(c);
}

Result<ModelConfig> read_flex_olmo(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_vocab = 100352, .usual_context = 4096});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::whole);
    for_layers(c, [](LayerSpec& layer, int) { layer.norms = NormPlace::output; });
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts", "num_local_experts"}, 7),
                              .used = expert_count(r, {"num_experts_per_tok"}, 5),
                              .width = c.stacks[0].layers[0].mlp.width,
                              .normalize = r.boolean({"norm_topk_prob"}, false)};
    set_experts(r, c, experts, 0, every_layer);
    set_rope(r, c, {.usual_theta = 500000});
    c.end_id = 100257;
    return r.finish(c);
}

Result<ModelConfig> read_aria_text(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_mlp = 4096});
    read_biases(r, c);
    if (c.stacks[0].layers[0].mlp.activation != Activation::silu)
        r.fail(file +
               ": an Aria whose shared experts have another activation than the others "
               "(hidden_act) is not computed; use one with \"silu\".");
    const int width = c.stacks[0].layers[0].mlp.width;
    const ExpertsSpec experts{.count = expert_count(r, {"moe_num_experts"}, 8),
                              .used = expert_count(r, {"moe_topk"}, 2),
                              .width = width,
                              .routing = Routing::softmax_of_chosen};
    const int shared = r.integer({"moe_num_shared_experts"}, 2, 0, 1 << 10);
    set_experts(r, c, experts, shared * width, every_layer);
    set_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

constexpr TensorRow kExaoneTensors[] = {
    {Slot::router_bias, "layers.#.mlp.e_score_correction_bias"},
    {Slot::router_bias, "layers.#.mlp.gate.e_score_correction_bias"},
};
constexpr TensorRow kSarvamTensors[] = {
    {Slot::token_embedding, "word_embeddings"},
    {Slot::token_embedding, "embed_tokens"},
    {Slot::qkv, "layers.#.attention.query_key_value"},
    {Slot::o, "layers.#.attention.dense"},
    {Slot::o, "layers.#.self_attn.o_proj"},
    {Slot::q_norm, "layers.#.attention.query_layernorm"},
    {Slot::q_norm, "layers.#.self_attn.q_norm"},
    {Slot::k_norm, "layers.#.attention.key_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.k_norm"},
    {Slot::router_bias, "layers.#.mlp.gate.expert_bias"},
    {Slot::router_bias, "layers.#.mlp.gate.e_score_correction_bias"},
};
constexpr TensorRow kHyTensors[] = {
    {Slot::router, "layers.#.mlp.router.gate"},
    {Slot::router, "layers.#.mlp.gate"},
    {Slot::router_bias, "layers.#.mlp.expert_bias"},
    {Slot::router_bias, "layers.#.mlp.e_score_correction_bias"},
    {Slot::gate, "layers.#.mlp.gate_proj"},
    {Slot::gate, "layers.#.mlp.shared_mlp.gate_proj"},
    {Slot::gate, "layers.#.mlp.shared_experts.gate_proj"},
    {Slot::up, "layers.#.mlp.up_proj"},
    {Slot::up, "layers.#.mlp.shared_mlp.up_proj"},
    {Slot::up, "layers.#.mlp.shared_experts.up_proj"},
    {Slot::down, "layers.#.mlp.down_proj"},
    {Slot::down, "layers.#.mlp.shared_mlp.down_proj"},
    {Slot::down, "layers.#.mlp.shared_experts.down_proj"},
};
constexpr TensorRow kErnieMoeTensors[] = {
    {Slot::router_bias, "layers.#.mlp.moe_statics.e_score_correction_bias", "", Stored::one_row},
    {Slot::router_bias, "layers.#.mlp.gate.moe_statics.e_score_correction_bias", "", Stored::one_row},
};
constexpr TensorRow kKolibriTensors[] = {
    {Slot::attn_post_norm, "layers.#.post_attn_norm"},
    {Slot::attn_post_norm, "layers.#.post_self_attn_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_ffn_norm"},
    {Slot::mlp_post_norm, "layers.#.post_mlp_layernorm"},
    {Slot::router_bias, "layers.#.moe.router.expert_bias"},
    {Slot::router_bias, "layers.#.mlp.gate.e_score_correction_bias"},
};
constexpr TensorRow kAriaTensors[] = {
    {Slot::router, "layers.#.mlp.router"},
    {Slot::expert_gate_up, "layers.#.mlp.experts.fc1", "", Stored::stacked_in_out},
    {Slot::expert_gate_up, "layers.#.mlp.experts.gate_up_proj", "", Stored::stacked_in_out},
    {Slot::expert_down, "layers.#.mlp.experts.fc2", "", Stored::stacked_in_out},
    {Slot::expert_down, "layers.#.mlp.experts.down_proj", "", Stored::stacked_in_out},
    {Slot::gate, "layers.#.mlp.shared_experts.gate_proj"},
    {Slot::up, "layers.#.mlp.shared_experts.up_proj"},
    {Slot::down, "layers.#.mlp.shared_experts.down_proj"},
};

}  // namespace

const Family kExaoneMoe{"exaone_moe",
                        "EXAONE-MoE",
                        read_exaone_moe,
                        {kLlamaPrefixes, kExaoneTensors, kMoeTensors, kLlamaTensors}};
const Family kSolarOpen{"solar_open", "Solar Open", read_solar_open, kMoeNames};
const Family kSarvamMoe{"sarvam_moe",
                        "Sarvam-MoE",
                        read_sarvam_moe,
                        {kLlamaPrefixes, kSarvamTensors, kMoeTensors, kLlamaTensors}};
const Family kHyV3{
    "hy_v3", "Hunyuan 3", read_hy_v3, {kLlamaPrefixes, kHyTensors, kMoeTensors, kLlamaTensors}};
const Family kKolibri{
    "kolibri1", "Kolibri", read_kolibri, {kLlamaPrefixes, kKolibriTensors, kMoeTensors, kLlamaTensors}};
const Family kErnie45Moe{"ernie4_5_moe",
                         "ERNIE 4.5-MoE",
                         read_ernie4_5_moe,
                         {kLlamaPrefixes, kErnieMoeTensors, kMoeTensors, kLlamaTensors},
                         {"ernie4_5-moe", kUsualGgufKeys, true}};
const Family kFlexOlmo{
    "flex_olmo", "FlexOlmo", read_flex_olmo, {kLlamaPrefixes, kOutputNorms, kMoeTensors, kLlamaTensors}};
const Family kAriaText{
    "aria_text", "Aria (text part)", read_aria_text, {kLlamaPrefixes, kAriaTensors, kLlamaTensors}};

}  // namespace headlight
