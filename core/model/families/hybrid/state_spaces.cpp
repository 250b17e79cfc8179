// Decoders with Mamba-2 mixers (Dao and Gu 2024): Mamba-2 itself; Bamba (IBM 2024), Granite 4 (IBM 2025) and
// Nemotron-H (NVIDIA 2025), some of whose layers are attention.
#include "model/families/granite_like.h"
#include "model/families/hybrid/hybrid.h"
#include "model/families/moe_like.h"

namespace headlight {

namespace {

Result<ModelConfig> read_bamba(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .usual_width = 4096,
                                        .usual_mlp = 14336,
                                        .usual_vocab = 128000,
                                        .usual_context = 262144,
                                        .usual_norm_eps = 1e-5});
    read_biases(r, c);
    set_rope(r, c, {.share = "", .usual_share = 0.5, .rotated = RopeKeys::even_part});
    std::vector<int> attention;
    const Json list = r.keep(json_list(root, or_null("attn_layer_indices"), file), Json(Json::array()));
    for (const Json& layer : list) attention.push_back(layer.is_number_integer() ? layer.get<int>() : -1);
    std::vector<bool> recurrent;
    for (int l = 0; l < c.stacks[0].depth(); ++l) recurrent.push_back(!contains(attention, l));
    set_recurrences(c, recurrent, read_state_space(r, c.d_model, {}));
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_granite_hybrid(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {});
    const bool bias = r.boolean({"attention_bias"}, false);
    set_attention_bias(c, bias, bias);
    read_granite_multipliers(r, c);
    const int count = r.integer({or_null("num_local_experts")}, 8, 0, 1 << 12),
              shared = r.mlp_width({"shared_intermediate_size"}, 1024);
    const ExpertsSpec experts{.count = count,
                              .used = count ? expert_count(r, {or_null("num_experts_per_tok")}, 2) : 0,
                              .width = c.stacks[0].layers[0].mlp.width,
                              .routing = Routing::softmax_of_chosen};
    if (count)
        set_experts(r, c, experts, shared, every_layer);
    else
        for_layers(c, [&](LayerSpec& layer, int) { layer.mlp.width = shared; });
    const std::string positions =
        r.has("position_embedding_type") ? r.text({"position_embedding_type"}, "") : "";
    if (positions == "rope") set_rope(r, c);
    set_recurrences(c, read_recurrent_layers(r, c.stacks[0].depth(), every_layer),
                    read_state_space(r, c.d_model, {}));
    return r.finish(c);
}

constexpr StateSpaceKeys kMamba2Keys{.heads = "num_heads",
                                     .d_head = "head_dim",
                                     .groups = "n_groups",
                                     .d_state = "state_size",
                                     .kernel = "conv_kernel",
                                     .expand = "expand",
                                     .kernel_bias = "use_conv_bias",
                                     .bias = "use_bias",
                                     .usual_groups = 8,
                                     .usual_state = 128,
                                     .usual_head = 64};

Result<ModelConfig> read_mamba2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_width = 4096,
                                        .usual_heads = 1,  // of attention, which no layer has
                                        .usual_layers = 64,
                                        .usual_vocab = 32768,
                                        .usual_context = kNoLongestText,
                                        .norm_eps = "layer_norm_epsilon",
                                        .usual_norm_eps = 1e-5});
    const AttentionSpec mixer = read_state_space(r, c.d_model, kMamba2Keys);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.attention = mixer;
        layer.mlp.width = 0;
    });
    c.end_id = 2;
    return r.finish(c);
}

/// Returns the kinds of Nemotron-H's layers: a word each, or a letter each of hybrid_override_pattern.
std::vector<std::string> nemotron_kinds(ConfigReader& r) {
    std::vector<std::string> out;
    const std::string letters =
        r.has("hybrid_override_pattern") ? r.text({"hybrid_override_pattern"}, "") : "";
    const char* key = r.has("layers_block_type") ? "layers_block_type" : "layer_types";
    if (letters.empty() || r.has(key)) {
        if (!r.has(key)) return {"mamba", "moe", "attention", "mlp"};
        for (const Json& kind : r.keep(json_list(r.root(), key, r.file()), Json(Json::array())))
            out.push_back(kind.is_string() ? kind.get<std::string>() : "");
    }
    for (const char letter : out.empty() ? letters : "")
        out.push_back(letter == 'M'   ? "mamba"
                      : letter == '*' ? "attention"
                      : letter == '-' ? "mlp"
                      : letter == 'E' ? "moe"
                                      : "");
    for (std::string& kind : out) {
        if (kind == "linear_attention") kind = "mamba";
        if (kind == "full_attention") kind = "attention";
    }
    return out;
}

/// Puts Nemotron-H's layers together: each mixer with the MLP that follows it, if one does.
void join_nemotron_layers(ConfigReader& r, ModelConfig& c, const AttentionSpec& mixer,
                          const ExpertsSpec& experts, int shared) {
    StackConfig& stack = c.stacks[0];
    const LayerSpec usual = stack.layers[0];
    stack.layers.clear();
    const std::vector<std::string> kinds = nemotron_kinds(r);
    for (int l = 0; l < isize(kinds); ++l) {
        const std::string& kind = kinds[size_t(l)];
        if (kind == "mamba" || kind == "attention") {
            stack.layers.push_back(usual);
            if (kind == "mamba") stack.layers.back().attention = mixer;
            stack.layers.back().mlp.width = 0;
            stack.attention_at.push_back(l);
            stack.mlp_at.push_back(l);
        } else if ((kind == "mlp" || kind == "moe") && !stack.layers.empty() &&
                   stack.layers.back().mlp.none()) {
            MlpSpec& mlp = stack.layers.back().mlp;
            mlp.width = kind == "moe" ? shared : usual.mlp.width;
            if (kind == "moe") mlp.experts = experts;
            stack.mlp_at.back() = l;
        } else {
            r.fail(
                r.file() + ": its layer " + std::to_string(l) +
                (kind == "mlp" || kind == "moe"
                     ? " is an MLP without a mixer before it, which is not computed; use a model whose MLPs "
                       "each follow attention or a state space."
                     : " is neither \"mamba\", \"attention\", \"mlp\" nor \"moe\"; correct the file."));
            break;
        }
    }
    if (stack.layers.empty()) stack.layers.push_back(usual);
}

constexpr StateSpaceKeys kNemotronKeys{.heads = "mamba_num_heads",
                                       .d_head = "mamba_head_dim",
                                       .groups = "n_groups",
                                       .d_state = "ssm_state_size",
                                       .kernel = "conv_kernel",
                                       .expand = "expand",
                                       .kernel_bias = "use_conv_bias",
                                       .bias = "use_bias",
                                       .activation = "mamba_hidden_act",
                                       .usual_groups = 8,
                                       .usual_state = 128,
                                       .usual_head = 64,
                                       .any_width = true};

Result<ModelConfig> read_nemotron_h(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {"head_dim", 128},
                                        .activation = "mlp_hidden_act",
                                        .usual_activation = "relu2",
                                        .usual_width = 4096,
                                        .usual_mlp = 21504,
                                        .usual_vocab = 131072,
                                        .usual_context = 4096,
                                        .norm_eps = "layer_norm_epsilon",
                                        .usual_norm_eps = 1e-5});
    const bool mlp_bias = r.boolean({"mlp_bias"}, false);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.mlp.gated = false;
        layer.mlp.bias = mlp_bias;
    });
    if (r.has("moe_latent_size"))
        r.fail(file +
               ": experts that read a latent (moe_latent_size) are not computed; use a model without it.");
    const AttentionSpec mixer = read_state_space(r, c.d_model, kNemotronKeys);
    const ExpertsSpec experts =
        deepseek_experts(r, {.count = 8, .used = 2, .width = 7688, .normalize = true});
    join_nemotron_layers(r, c, mixer, experts, r.mlp_width({"moe_shared_expert_intermediate_size"}, 7688));
    c.end_id = 2;
    return r.finish(c);
}

constexpr TensorRow kNemotronTensors[] = {
    {Slot::q, "layers.#.mixer.q_proj"},
    {Slot::k, "layers.#.mixer.k_proj"},
    {Slot::v, "layers.#.mixer.v_proj"},
    {Slot::mlp_norm, "layers.#.norm", "blk.#.attn_norm"},
    {Slot::up, "layers.#.mixer.up_proj"},
    {Slot::up, "layers.#.mixer.shared_experts.up_proj"},
    {Slot::down, "layers.#.mixer.down_proj"},
    {Slot::down, "layers.#.mixer.shared_experts.down_proj"},
    {Slot::router, "layers.#.mixer.gate"},
    {Slot::router_bias, "layers.#.mixer.gate.e_score_correction_bias"},
    {Slot::expert_up, "layers.#.mixer.experts.%.up_proj"},
    {Slot::expert_down, "layers.#.mixer.experts.%.down_proj"},
};
constexpr TensorRow kBambaTensors[] = {
    {Slot::mlp_norm, "layers.#.pre_ff_layernorm"}, {Slot::gate, "layers.#.feed_forward.gate_proj"},
    {Slot::up, "layers.#.feed_forward.up_proj"},   {Slot::down, "layers.#.feed_forward.down_proj"},
    {Slot::final_norm, "final_layernorm"},
};

Status complete_mamba2(const Gguf& file, const std::string& name, Json& config) {
    for (const char* key : {"num_attention_heads", "num_key_value_heads", "intermediate_size"})
        config.erase(key);
    return complete_state_space(file, name, kMamba2Keys, config);
}

Status complete_granite_hybrid(const Gguf& file, const std::string& name, Json& config) {
    TRY_STATUS(complete_layer_kinds(file, name, "mamba", config));
    const Json& rotates = file.value(gguf_prefix(file) + "rope.scaling.finetuned");
    config["position_embedding_type"] = rotates == false ? Json(nullptr) : Json("rope");
    return complete_state_space(file, name, {}, config);
}

/// Reads what each layer is: attention, if it has heads of keys; an MLP, if it has a width; else a mixer.
Status complete_nemotron_h(const Gguf& file, const std::string& name, Json& config) {
    const std::string prefix = gguf_prefix(file);
    TRY(const int64_t depth, layer_count(file, name, config));
    TRY(const std::vector<int64_t> heads,
        layer_numbers(file, prefix + "attention.head_count_kv", depth, name));
    TRY(const std::vector<int64_t> widths, layer_numbers(file, prefix + "feed_forward_length", depth, name));
    Json& kinds = config["layers_block_type"] = Json::array();
    for (size_t l = 0; l < size_t(depth); ++l) {
        const bool routes = file.tensors.contains("blk." + std::to_string(l) + ".ffn_gate_inp.weight");
        kinds.push_back(heads[l] ? "attention" : !widths[l] ? "mamba" : routes ? "moe" : "mlp");
        if (heads[l]) config["num_key_value_heads"] = heads[l];
        if (widths[l] && !routes) config["intermediate_size"] = widths[l];
    }
    if (const Json& shared = file.value(prefix + kSharedWidth); !shared.is_null())
        config["moe_shared_expert_intermediate_size"] = shared;
    return complete_state_space(file, name, kNemotronKeys, config);
}

}  // namespace

const Family kMamba2{"mamba2",
                     "Mamba-2",
                     read_mamba2,
                     {kMambaPrefixes, kMixerTensors},
                     {"mamba2", kUsualGgufKeys, false, complete_mamba2}};
const Family kNemotronH{
    "nemotron_h",
    "Nemotron-H",
    read_nemotron_h,
    {kMambaPrefixes, kMixerTensors, kNemotronTensors},
    {"nemotron_h", kUsualGgufKeys, false, complete_nemotron_h, "{}", "nemotron_h_moe", true}};
const Family kBamba{
    "bamba", "Bamba", read_bamba, {kLlamaPrefixes, kMambaTensors, kBambaTensors, kLlamaTensors}};
const Family kGraniteHybrid{"granitemoehybrid",
                            "Granite 4",
                            read_granite_hybrid,
                            {kLlamaPrefixes, kMambaTensors, kGraniteMoeTensors, kLlamaTensors},
                            {"granitehybrid", kUsualGgufKeys, true, complete_granite_hybrid,
                             R"({"num_local_experts": 0})", "", true}};

}  // namespace headlight
