// Gemma 4 (Google 2026), its text part: Gemma 3's layers with norms by plain weights and scores without a
// scale. Layers without a window have wider heads, of which a part turns, and may take their keys for values;
// the last layers read the keys and values of earlier ones; each layer may add a vector of its own of every
// token, and a mixture of experts beside its MLP.
#include <algorithm>
#include <cmath>

#include "model/families/gemma/shared_keys.h"
#include "model/families/moe_like.h"

namespace headlight {

namespace {

/// Reads the widths and key/value heads of layers whose values differ from those of the model.
void read_listed_heads(ConfigReader& r, ModelConfig& c) {
    const Json listed = r.object("per_layer_config");
    for (const auto& [name, values] : listed.items()) {
        int l = 0;
        if (!read_number(name, l) || l < 0 || l >= c.stacks[0].depth() || !values.is_object()) {
            r.fail(r.file() + ": \"per_layer_config\" must map numbers of layers to objects; correct it.");
            return;
        }
        ConfigReader own(values, r.file());
        AttentionSpec& a = c.stacks[0].layers[l].attention;
        a.d_head = own.integer({"head_dim"}, a.d_head, 1, 1 << 14);
        own.kv_heads(a, "num_key_value_heads", a.kv_heads);
        r.keep(own.finish(c), c);
    }
}

/// Reads the width and key/value heads of layers without a window, of files that list no layer's.
void read_global_heads(ConfigReader& r, ModelConfig& c, bool keys_as_values) {
    AttentionSpec global = c.stacks[0].layers[0].attention;
    global.d_head = r.integer({"global_head_dim"}, 512, 1, 1 << 14);
    if (keys_as_values && r.has("num_global_key_value_heads"))
        r.kv_heads(global, "num_global_key_value_heads", 1);
    for_layers(c, [&](LayerSpec& layer, int) {
        if (!is_full(layer)) return;
        layer.attention.d_head = global.d_head;
        layer.attention.kv_heads = global.kv_heads;
    });
}

/// Reads the kinds of layers; the last one never has a window. Without a causal mask a window also reaches
/// the key at its own distance, to both sides.
void read_windows(ConfigReader& r, ModelConfig& c) {
    constexpr int kFull = 6;
    const std::string both =
        r.has("use_bidirectional_attention") ? r.text({"use_bidirectional_attention"}, "") : std::string();
    if (!both.empty() && both != "all" && both != "vision")
        r.fail(r.file() +
               ": \"use_bidirectional_attention\" must be null, \"all\" or \"vision\"; correct it.");
    StackConfig& s = c.stacks[0];
    s.causal = r.boolean({"is_causal"}, both != "all");
    int window = r.integer({"sliding_window"}, 512, 1, 1 << 24);
    if (both == "all") window = window / 2 + 1;
    r.windows(s, s.causal ? window : window + 1, [](int l) { return (l + 1) % kFull != 0; });
    s.layers.back().attention.window = 0;
}

/// Lets the last layers read the keys and values of earlier ones; their MLPs may be twice as wide.
void share_keys(ConfigReader& r, ModelConfig& c) {
    const bool wide = r.boolean({"use_double_wide_mlp"}, false);
    const int first = share_last_keys(r, c, 0);
    for_layers(c, [&](LayerSpec& layer, int l) {
        if (wide && l >= first) layer.mlp.width *= 2;
    });
}

/// Reads the rotation of each kind of layer.
void read_ropes(ConfigReader& r, ModelConfig& c) {
    static const Json usual{
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}},
        {"full_attention",
         {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1000000.0}}}};
    Json root = r.root();
    if (!r.has("rope_parameters")) root["rope_parameters"] = usual;
    ConfigReader completed(root, r.file());
    set_rope_by_kind(completed, c, {.reads_head_dim = false});
    r.keep(completed.finish(c), c);
    for (const LayerSpec& layer : c.stacks[0].layers)
        if (const AttentionSpec& a = layer.attention; a.rope.dims && a.rope.dims != a.d_head)
            r.fail(r.file() +
                   ": heads of layers of one kind differ in width (per_layer_config), so that one "
                   "rotation does not fit them; correct the file.");
}

void read_layer_embeddings(ConfigReader& r, ModelConfig& c) {
    LayerEmbeddingSpec spec{r.integer({"hidden_size_per_layer_input"}, 256, 0, 1 << 14),
                            r.vocabulary(262144, {"vocab_size_per_layer_input"}),
                            c.stacks[0].layers[0].mlp.activation};
    if (!spec.width) return;
    if (spec.vocab < c.vocab)
        r.fail(r.file() + ": " + std::to_string(c.vocab) + " tokens have only " + std::to_string(spec.vocab) +
               " embeddings of each layer; correct \"vocab_size_per_layer_input\".");
    for_layers(c, [&](LayerSpec& layer, int) { layer.embedding = spec; });
}

void read_experts(ConfigReader& r, ModelConfig& c) {
    if (!r.boolean({"enable_moe_block"}, false)) return;
    for (const char* key : {"num_experts", "top_k_experts", "moe_intermediate_size"})
        if (!r.has(key)) r.fail(r.file() + ": experts (enable_moe_block) need a \"" + key + "\"; add it.");
    const ExpertsSpec experts{.count = expert_count(r, {or_null("num_experts")}, 1),
                              .used = expert_count(r, {or_null("top_k_experts")}, 1),
                              .width = r.mlp_width({or_null("moe_intermediate_size")}, 1),
                              .normalize = true,
                              .apart = true,
                              .router_scale = 1 / std::sqrt(float(c.d_model)),
                              .own_scales = true};
    const std::vector<LayerSpec> dense = c.stacks[0].layers;
    set_experts(r, c, experts, 0, every_layer);
    for_layers(c, [&](LayerSpec& layer, int l) { layer.mlp.width = dense[l].mlp.width; });
}

Result<ModelConfig> read_gemma4_text(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {"num_key_value_heads",
                                        4,
                                        {"head_dim", 256},
                                        "hidden_activation",
                                        "gelu_pytorch_tanh",
                                        2304,
                                        8,
                                        30,
                                        9216,
                                        262144,
                                        131072,
                                        true});
    const bool bias = r.boolean({"attention_bias"}, false),
               keys_as_values = r.boolean({"attention_k_eq_v"}, false);
    set_attention_bias(c, bias, bias);
    c.embed_scale = std::sqrt(float(c.d_model));
    c.end_id = 1;
    c.logit_cap = r.cap("final_logit_softcapping", 0);
    read_windows(r, c);
    if (root.contains("per_layer_config"))
        read_listed_heads(r, c);
    else
        read_global_heads(r, c, keys_as_values);
    for_layers(c, [&](LayerSpec& layer, int) {
        layer.norms = NormPlace::both;
        layer.output_scale = true;
        layer.attention.scale = 1;
        layer.attention.qk_norm = QkNorm::per_head;
        layer.attention.value_norm = true;
        layer.attention.keys_as_values = keys_as_values && is_full(layer);
    });
    share_keys(r, c);
    read_ropes(r, c);
    read_layer_embeddings(r, c);
    read_experts(r, c);
    return r.finish(c);
}

/// Reads the text part of a model that also sees and hears.
Result<ModelConfig> read_gemma4(const Json& root, const std::string& file) {
    TRY(Json text, json_object(root, "text_config", file));
    TRY(text["tie_word_embeddings"], json_boolean(root, "tie_word_embeddings", true, file));
    return read_gemma4_text(text, file);
}

constexpr const char* kGemma4Prefixes[] = {"model.language_model.", "language_model.model.",
                                           "language_model.", "model.", ""};
constexpr TensorRow kGemma4Tensors[] = {
    {Slot::attn_post_norm, "layers.#.post_attention_layernorm"},
    {Slot::v_norm, ""},
    {Slot::mlp_norm, "layers.#.pre_feedforward_layernorm"},
    {Slot::mlp_post_norm, "layers.#.post_feedforward_layernorm"},
    {Slot::layer_table, "embed_tokens_per_layer", "per_layer_token_embd"},
    {Slot::layer_project, "per_layer_model_projection", "per_layer_model_proj"},
    {Slot::layer_project_norm, "per_layer_projection_norm", "per_layer_proj_norm"},
    {Slot::layer_embed_gate, "layers.#.per_layer_input_gate", "blk.#.inp_gate"},
    {Slot::layer_embed_out, "layers.#.per_layer_projection", "blk.#.proj"},
    {Slot::layer_embed_norm, "layers.#.post_per_layer_input_norm", "blk.#.post_norm"},
    {Slot::output_scale, "layers.#.layer_scalar", "blk.#.layer_output_scale.weight"},
    {Slot::router, "layers.#.router.proj"},
    {Slot::router_reads, "layers.#.router.scale", "blk.#.ffn_gate_inp.scale"},
    {Slot::expert_scales, "layers.#.router.per_expert_scale", "blk.#.ffn_down_exps.scale"},
    {Slot::shared_reads, "layers.#.pre_feedforward_layernorm.weight", "blk.#.ffn_norm.weight"},
    {Slot::experts_read, "layers.#.pre_feedforward_layernorm_2.weight", "blk.#.pre_ffw_norm_2.weight"},
    {Slot::shared_post_norm, "layers.#.post_feedforward_layernorm_1", "blk.#.post_ffw_norm_1"},
    {Slot::experts_post_norm, "layers.#.post_feedforward_layernorm_2", "blk.#.post_ffw_norm_2"},
    {Slot::expert_gate_up, "layers.#.experts.gate_up_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.experts.down_proj", "", Stored::stacked},
};

/// Reads the share of pairs that turn in layers without a window: the others' frequencies are divided by a
/// number so large that they stand still.
Result<double> turning_share(const Gguf& file, const std::string& name) {
    constexpr int64_t kMaxPairs = 1 << 13;
    constexpr float kStill = 1e29f;
    const auto found = file.tensors.find("rope_freqs.weight");
    if (found == file.tensors.end()) return 1.0;
    const StoredTensor& stored = found->second;
    const int64_t count = element_count(stored.shape);
    if (!stored.dtype->holds_weights() || stored.dtype->block != 1 || count < 1 || count > kMaxPairs)
        return Error{name +
                     ": rope_freqs.weight must hold a number for each rotated pair; convert the model "
                     "with a current converter."};
    std::vector<float> factors(static_cast<size_t>(count));
    stored.dtype->decode(stored.bytes.data(), count, factors.data());
    const auto turning = std::count(factors.begin(), factors.end(), 1.0f),
               still = std::count_if(factors.begin(), factors.end(), [](float f) { return f >= kStill; });
    if (turning + still != count)
        return Error{name +
                     ": rope_freqs.weight stretches some rotations, which a Gemma 4 does not; convert "
                     "the model with a current converter."};
    return std::min(1.0, (double(turning) + 0.5) / double(count));  // which the class rounds down
}

/// Sets the rotation of each kind of layer.
Status complete_ropes(const Gguf& file, const std::string& prefix, int64_t d_head, const std::string& name,
                      Json& config) {
    const std::string key = prefix + "rope.dimension_count_swa";
    TRY(const int64_t turned, whole_number(file.value(key), key, 1, d_head, name));
    TRY(const double share, turning_share(file, name));
    const auto rope = [&](const char* type, const char* base, double part) {
        return Json{
            {"rope_type", type}, {"rope_theta", file.value(prefix + base)}, {"partial_rotary_factor", part}};
    };
    config["rope_parameters"] = {
        {"sliding_attention", rope("default", "rope.freq_base_swa", double(turned) / double(d_head))},
        {"full_attention", rope("proportional", "rope.freq_base", share)}};
    config.erase("rope_scaling");
    config.erase("rope_theta");
    return success();
}

/// Sets key/value heads of each kind of layer, and whether keys serve as values, as they do where layers
/// without a window have no tensor that makes these.
Status complete_heads(const Gguf& file, const std::string& prefix, int64_t depth, const std::string& name,
                      Json& config) {
    TRY(const auto heads, layer_numbers(file, prefix + "attention.head_count_kv", depth, name));
    const Json kinds = config.value("layer_types", Json());
    if (!kinds.is_array() || std::ssize(kinds) < depth)
        return Error{name + ": " + prefix +
                     "attention.sliding_window_pattern must say of each layer whether it has a window; "
                     "convert the model with a current converter."};
    bool keys_as_values = false;
    for (size_t l = 0; l < size_t(depth); ++l) {
        const std::string layer = "blk." + std::to_string(l) + ".";
        const bool full = kinds[l] == "full_attention";
        config[full ? "num_global_key_value_heads" : "num_key_value_heads"] = heads[l];
        keys_as_values |= full && file.tensors.contains(layer + "attn_k.weight") &&
                          !file.tensors.contains(layer + "attn_v.weight");
    }
    config["attention_k_eq_v"] = keys_as_values;
    return success();
}

/// Says what layers with and without a window have apart.
Status complete_gemma4(const Gguf& file, const std::string& name, Json& config) {
    constexpr int64_t kMaxWidth = 1 << 14;
    const std::string prefix = gguf_prefix(file), of_windows = prefix + "attention.key_length_swa";
    const auto optional = [&](const char* key) {
        const Json& value = file.value(prefix + key);
        return value.is_null() ? Json(0) : value;
    };
    TRY(const int64_t depth, layer_count(file, name, config));
    TRY(const int64_t d_head, whole_number(file.value(of_windows), of_windows, 1, kMaxWidth, name));
    TRY(const auto widths, layer_numbers(file, prefix + "feed_forward_length", depth, name));
    TRY_STATUS(complete_heads(file, prefix, depth, name, config));
    TRY_STATUS(complete_ropes(file, prefix, d_head, name, config));
    config["global_head_dim"] = file.value(prefix + "attention.key_length");
    config["head_dim"] = d_head;
    config["intermediate_size"] = widths.front();
    config["use_double_wide_mlp"] = widths.back() != widths.front();
    config["num_kv_shared_layers"] = optional("attention.shared_kv_layers");
    config["hidden_size_per_layer_input"] = optional("embedding_length_per_layer_input");
    const auto table = file.tensors.find("per_layer_token_embd.weight");
    config["vocab_size_per_layer_input"] = table == file.tensors.end() || table->second.shape.empty()
                                               ? config["vocab_size"]
                                               : Json(table->second.shape.front());
    config["enable_moe_block"] = optional("expert_count") != 0;
    config["top_k_experts"] = optional("expert_used_count");
    return success();
}

}  // namespace

const Family kGemma4Text{"gemma4_text",
                         "Gemma 4",
                         read_gemma4_text,
                         {kGemma4Prefixes, kGemma4Tensors, kLlamaTensors},
                         {"gemma4", kUsualGgufKeys, false, complete_gemma4, "{}", "", true, true}};
const Family kGemma4{
    "gemma4", "Gemma 4 (text part)", read_gemma4, {kGemma4Prefixes, kGemma4Tensors, kLlamaTensors}};

}  // namespace headlight
