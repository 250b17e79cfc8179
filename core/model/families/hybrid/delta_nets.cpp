// Qwen3-Next and Qwen3.5 (Qwen Team 2025, 2026), three of four layers gated delta nets (Yang et al. 2025),
// the others attention with a gate; OLMo Hybrid (Merrill et al. 2026), OLMo 2's attention beside delta nets.
#include "model/families/hybrid/hybrid.h"
#include "model/families/moe_like.h"
#include "model/families/text_part.h"

namespace headlight {

namespace {

ModelConfig read_qwen_hybrid(ConfigReader& r, int kv_heads, int width, int layers, int mlp, int vocab) {
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = kv_heads,
                                        .head_dim = {"head_dim", 256},
                                        .usual_width = width,
                                        .usual_heads = 16,
                                        .usual_layers = layers,
                                        .usual_mlp = mlp,
                                        .usual_vocab = vocab,
                                        .usual_context = 32768});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::per_head);
    c.norm_weight_offset = 1;
    set_rope(r, c, {.usual_share = 0.25, .rotated = RopeKeys::even_part});
    for_layers(c,
               [](LayerSpec& layer, int) { layer.attention.gate.width = AttentionGate::Width::component; });
    const int every = r.integer({"full_attention_interval"}, 4, 1, 1000);
    set_recurrences(
        c, read_recurrent_layers(r, c.stacks[0].depth(), [=](int l) { return (l + 1) % every != 0; }),
        read_delta_net(r, {}));
    return c;
}

Result<ModelConfig> read_qwen3_next(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_qwen_hybrid(r, 2, 2048, 48, 5632, 151936);
    ExpertsSpec experts = qwen_experts(r, 512, 10, 512);
    experts.normalize = r.boolean({"norm_topk_prob"}, true);
    experts.shared_gate = true;
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 512), qwen_sparse(r));
    return r.finish(c);
}

Result<ModelConfig> read_qwen35(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_qwen_hybrid(r, 4, 4096, 32, 12288, 248320));
}

Result<ModelConfig> read_qwen35_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_qwen_hybrid(r, 2, 2048, 40, 512, 248320);
    ExpertsSpec experts = qwen_experts(r, 256, 8, 512);
    experts.normalize = experts.shared_gate = true;
    set_experts(r, c, experts, r.mlp_width({"shared_expert_intermediate_size"}, 512), every_layer);
    return r.finish(c);
}

Result<ModelConfig> read_qwen35_whole(const Json& root, const std::string& file) {
    return read_text_part(root, file, TextPart{{"qwen3_5_text"}, false});
}
Result<ModelConfig> read_qwen35_moe_whole(const Json& root, const std::string& file) {
    return read_text_part(root, file, TextPart{{"qwen3_5_moe_text"}, false});
}

Result<ModelConfig> read_olmo_hybrid(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(
        r, {.usual_width = 3840, .usual_heads = 30, .usual_vocab = 100352, .usual_context = 65536});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    norm_heads_of_all(c, QkNorm::whole);
    const Json rope = r.object("rope_parameters");
    if (!rope.contains("rope_theta") || !rope["rope_theta"].is_null()) set_rope(r, c);
    const int heads = c.stacks[0].layers[0].attention.heads, depth = c.stacks[0].depth();
    const int key_heads = r.integer({or_null("linear_num_key_heads")}, heads, 1, 1 << 14);
    const DeltaNetKeys usual{.key_heads = heads,
                             .value_heads = heads,
                             .d_key = 3 * c.d_model / (4 * key_heads),
                             .d_value = 0,
                             .strength = r.boolean({"linear_allow_neg_eigval"}, true) ? 2.0f : 1.0f,
                             .norm_eps = 1e-5f};
    const std::vector<bool> recurrent =
        read_recurrent_layers(r, depth, [=](int l) { return l % 4 != 3 && !(depth < 4 && l == depth - 1); });
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (!recurrent[size_t(l)]) layer.norms = NormPlace::output;
    });
    set_recurrences(c, recurrent, read_delta_net(r, usual));
    c.end_id = 100257;
    return r.finish(c);
}

constexpr TensorRow kQwenTensors[] = {
    {Slot::mixer_in, "layers.#.linear_attn.in_proj_qkvz", "blk.#.ssm_in", Stored::by_key_head},
    {Slot::mixer_rates, "layers.#.linear_attn.in_proj_ba"},
    {Slot::mixer_kernel, "layers.#.linear_attn.conv1d.weight", "", Stored::kernels},
    {Slot::step_bias, "layers.#.linear_attn.dt_bias"},
    {Slot::decay_rate, "layers.#.linear_attn.A_log"},
    {Slot::gate_norm, "layers.#.linear_attn.norm.weight"},
    {Slot::q_gate, "layers.#.self_attn.q_proj", "blk.#.attn_q"},
    {Slot::o, "layers.#.linear_attn.out_proj"},
    {Slot::o, "layers.#.self_attn.o_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
};
// GGUF holds value heads in another order than transformers where they outnumber those of keys.
constexpr TensorRow kQwen35Tensors[] = {
    {Slot::qkv, "layers.#.linear_attn.in_proj_qkv", "blk.#.attn_qkv", Stored::by_head_turn},
    {Slot::attn_gate, "layers.#.linear_attn.in_proj_z", "blk.#.attn_gate", Stored::by_head_turn},
    {Slot::strength, "layers.#.linear_attn.in_proj_b", "blk.#.ssm_beta", Stored::by_head_turn},
    {Slot::decay, "layers.#.linear_attn.in_proj_a", "blk.#.ssm_alpha", Stored::by_head_turn},
    {Slot::mixer_kernel, "layers.#.linear_attn.conv1d.weight", "", Stored::kernels},
    {Slot::mixer_kernel, "", "blk.#.ssm_conv1d.weight", Stored::by_head_turn},
    {Slot::step_bias, "layers.#.linear_attn.dt_bias", "blk.#.ssm_dt.bias", Stored::by_head_turn},
    {Slot::decay_rate, "layers.#.linear_attn.A_log", "blk.#.ssm_a", Stored::by_head_turn},
    {Slot::gate_norm, "layers.#.linear_attn.norm.weight"},
    {Slot::q_gate, "layers.#.self_attn.q_proj", "blk.#.attn_q"},
    {Slot::o, "layers.#.linear_attn.out_proj", "blk.#.ssm_out", Stored::by_head_turn},
    {Slot::o, "layers.#.self_attn.o_proj", "blk.#.attn_output"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {Slot::expert_gate_up, "layers.#.mlp.experts.gate_up_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.mlp.experts.down_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.mlp.experts.%.down_proj"},
};
constexpr TensorRow kOlmoHybridTensors[] = {
    {Slot::q, "layers.#.linear_attn.q_proj"},
    {Slot::q, "layers.#.self_attn.q_proj"},
    {Slot::k, "layers.#.linear_attn.k_proj"},
    {Slot::k, "layers.#.self_attn.k_proj"},
    {Slot::v, "layers.#.linear_attn.v_proj"},
    {Slot::v, "layers.#.self_attn.v_proj"},
    {Slot::attn_gate, "layers.#.linear_attn.g_proj"},
    {Slot::strength, "layers.#.linear_attn.b_proj"},
    {Slot::decay, "layers.#.linear_attn.a_proj"},
    {Slot::mixer_kernel, "layers.#.linear_attn.conv1d.weight", "", Stored::kernels},
    {Slot::mixer_kernel, "layers.#.linear_attn.q_conv1d.weight", "", Stored::kernels_apart},
    {Slot::mixer_kernel, "layers.#.linear_attn.k_conv1d.weight", "", Stored::kernels_apart},
    {Slot::mixer_kernel, "layers.#.linear_attn.v_conv1d.weight", "", Stored::kernels_apart},
    {Slot::step_bias, "layers.#.linear_attn.dt_bias"},
    {Slot::decay_rate, "layers.#.linear_attn.A_log"},
    {Slot::gate_norm, "layers.#.linear_attn.o_norm.weight"},
    {Slot::o, "layers.#.linear_attn.o_proj"},
    {Slot::o, "layers.#.self_attn.o_proj"},
    {Slot::attn_norm, "layers.#.input_layernorm"},
    {Slot::attn_norm, "layers.#.attention_layer_norm"},
    {Slot::mlp_norm, "layers.#.post_attention_layernorm"},
    {Slot::mlp_norm, "layers.#.feedforward_layer_norm"},
    {Slot::attn_post_norm, "layers.#.post_attention_layernorm"},
    {Slot::attn_post_norm, "layers.#.feedforward_layer_norm"},  // as transformers writes it
    {Slot::mlp_post_norm, "layers.#.post_feedforward_layernorm"},
};

}  // namespace

const Family kQwen3Next{"qwen3_next",
                        "Qwen3-Next",
                        read_qwen3_next,
                        {kLlamaPrefixes, kQwenTensors, kMoeTensors, kLlamaTensors},
                        {"qwen3next", kUsualGgufKeys, false, complete_delta_net}};
const Family kQwen35{"qwen3_5_text",
                     "Qwen3.5",
                     read_qwen35,
                     {kLlamaPrefixes, kQwen35Tensors, kLlamaTensors},
                     {"qwen35", kUsualGgufKeys, false, complete_delta_net}};
const Family kQwen35Moe{"qwen3_5_moe_text",
                        "Qwen3.5-MoE",
                        read_qwen35_moe,
                        {kLlamaPrefixes, kQwen35Tensors, kMoeTensors, kLlamaTensors},
                        {"qwen35moe", kUsualGgufKeys, false, complete_delta_net}};
const Family kQwen35Whole{
    "qwen3_5", "Qwen3.5 (text part)", read_qwen35_whole, {kTextPrefixes, kQwen35Tensors, kLlamaTensors}};
const Family kQwen35MoeWhole{"qwen3_5_moe",
                             "Qwen3.5-MoE (text part)",
                             read_qwen35_moe_whole,
                             {kTextPrefixes, kQwen35Tensors, kMoeTensors, kLlamaTensors}};
const Family kOlmoHybrid{
    "olmo_hybrid", "OLMo Hybrid", read_olmo_hybrid, {kLlamaPrefixes, kOlmoHybridTensors, kLlamaTensors}};

}  // namespace headlight
