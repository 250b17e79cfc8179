// LFM2 and its mixture of experts (Liquid AI 2025): most layers are short convolutions between gates, the
// others attention with norms of q and k.
#include "model/families/hybrid/hybrid.h"
#include "model/families/moe_like.h"

namespace headlight {

namespace {

/// Returns the width that the class makes of the one in the file.
int adjusted_width(ConfigReader& r, int width) {
    if (!r.boolean({"block_auto_adjust_ff_dim"}, true)) return width;
    constexpr int64_t kWidest = 1 << 20;
    int64_t out = int64_t{2} * width / 3;
    if (r.is_null("block_ffn_dim_multiplier")) return int(out);
    const int64_t multiple = r.integer({"block_multiple_of"}, 256, 1, kWidest);
    const double wanted = r.positive(r.root(), "block_ffn_dim_multiplier", 1) * double(out);
    out = int64_t(std::min(wanted, double(kWidest)));
    return int(std::min((out + multiple - 1) / multiple * multiple, kWidest));
}

/// Reads which layers are convolutions, and their kernel.
void set_convolutions(ConfigReader& r, ModelConfig& c) {
    std::vector<int> attention;
    const bool listed = r.has("full_attn_idxs");
    if (listed)
        for (const Json& l : r.keep(json_list(r.root(), "full_attn_idxs", r.file()), Json(Json::array())))
            attention.push_back(l.is_number_integer() ? l.get<int>() : -1);
    AttentionSpec mixer;
    mixer.recurrence = RecurrenceSpec{.kind = RecurrenceSpec::Kind::convolution,
                                      .kernel = r.integer({"conv_L_cache"}, 3, 1, 64),
                                      .kernel_bias = r.boolean({"conv_bias"}, false)};
    mixer.heads = mixer.kv_heads = mixer.window = mixer.recurrence->kernel;
    mixer.d_head = 1;  // of q and k, which it does not read
    mixer.d_value = c.d_model;
    mixer.bias = mixer.output_bias = mixer.recurrence->kernel_bias;
    mixer.gate = {.width = AttentionGate::Width::component, .by = AttentionGate::By::product};
    set_recurrences(c,
                    read_recurrent_layers(r, c.stacks[0].depth(),
                                          [&](int l) { return listed && !contains(attention, l); }),
                    mixer);
}

ModelConfig read_lfm2_like(ConfigReader& r, int width, int mlp, const char* mlp_key) {
    LlamaKeys keys{.kv_heads = "num_key_value_heads",
                   .usual_kv_heads = 8,
                   .usual_width = width,
                   .usual_mlp = mlp,
                   .usual_vocab = 65536,
                   .usual_context = 128000,
                   .usual_tied = true,
                   .norm_eps = "norm_eps",
                   .usual_norm_eps = 1e-5};
    keys.mlp_width = mlp_key;
    ModelConfig c = read_llama_like(r, keys);
    c.tied_unembedding = r.boolean({"tie_embedding", "tie_word_embeddings"}, true);
    set_rope(r, c, {.usual_theta = 1e6});
    norm_heads_of_all(c, QkNorm::per_head);
    set_convolutions(r, c);
    c.end_id = 2;
    return c;
}

Result<ModelConfig> read_lfm2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c =
        read_lfm2_like(r, 2560, 12288, r.has("block_ff_dim") ? "block_ff_dim" : "intermediate_size");
    const int width = adjusted_width(r, c.stacks[0].layers[0].mlp.width);
    for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.width = width; });
    return r.finish(c);
}

Result<ModelConfig> read_lfm2_moe(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_lfm2_like(r, 2048, 7168, "intermediate_size");
    const ExpertsSpec experts{.count = expert_count(r, {"num_experts"}, 32),
                              .used = expert_count(r, {"num_experts_per_tok"}, 4),
                              .width = r.mlp_width({"moe_intermediate_size"}, 1792),
                              .routing = Routing::sigmoid,
                              .normalize = r.boolean({"norm_topk_prob"}, true),
                              .scale = r.number({"routed_scaling_factor"}, 1),
                              .choice_bias = r.boolean({"use_expert_bias"}, true)};
    set_experts(r, c, experts, 0, from_layer(r.integer({"num_dense_layers"}, 2, 0, 1000)));
    return r.finish(c);
}

constexpr TensorRow kLfm2Tensors[] = {
    {Slot::attn_norm, "layers.#.operator_norm"},
    {Slot::mixer_in, "layers.#.conv.in_proj", "blk.#.shortconv.in_proj"},
    {Slot::mixer_kernel, "layers.#.conv.conv.weight", "blk.#.shortconv.conv.weight", Stored::kernels},
    {Slot::mixer_kernel_bias, "layers.#.conv.conv.bias", "blk.#.shortconv.conv.bias"},
    {Slot::o, "layers.#.conv.out_proj", "blk.#.shortconv.out_proj"},
    {Slot::o, "layers.#.self_attn.out_proj", "blk.#.attn_output"},
    {Slot::q_norm, "layers.#.self_attn.q_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.k_layernorm"},
    {Slot::mlp_norm, "layers.#.ffn_norm"},
    {Slot::gate, "layers.#.feed_forward.w1"},
    {Slot::up, "layers.#.feed_forward.w3"},
    {Slot::down, "layers.#.feed_forward.w2"},
    {Slot::router, "layers.#.feed_forward.gate"},
    {Slot::router_bias, "layers.#.feed_forward.expert_bias"},
    {Slot::expert_gate_up, "layers.#.feed_forward.experts.gate_up_proj", "", Stored::stacked},
    {Slot::expert_gate, "layers.#.feed_forward.experts.%.w1"},
    {Slot::expert_up, "layers.#.feed_forward.experts.%.w3"},
    {Slot::expert_down, "layers.#.feed_forward.experts.down_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.feed_forward.experts.%.w2"},
    {Slot::final_norm, "embedding_norm", "token_embd_norm"},
};

/// Reads which layers are attention: those with heads of keys.
Status complete_lfm2(const Gguf& file, const std::string& name, Json& config) {
    const std::string prefix = gguf_prefix(file);
    TRY_STATUS(complete_layer_kinds(file, name, "conv", config));
    config["conv_L_cache"] = file.value(prefix + "shortconv.l_cache");
    config["block_auto_adjust_ff_dim"] = false;
    return success();
}

}  // namespace

const Family kLfm2{"lfm2",
                   "LFM2",
                   read_lfm2,
                   {kLlamaPrefixes, kLfm2Tensors, kLlamaTensors},
                   {"lfm2", kUsualGgufKeys, false, complete_lfm2, "{}", "", true}};
const Family kLfm2Moe{"lfm2_moe",
                      "LFM2-MoE",
                      read_lfm2_moe,
                      {kLlamaPrefixes, kLfm2Tensors, kLlamaTensors},
                      {"lfm2moe", kUsualGgufKeys, false, complete_lfm2, "{}", "", true}};

}  // namespace headlight
