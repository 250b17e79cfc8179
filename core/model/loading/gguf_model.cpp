// Converts GGUF metadata to a config.json.
#include "model/loading/gguf_model.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families.h"
#include "model/loading/gguf_experts.h"

namespace headlight {

namespace {

/// Reads rope.scaling.factor or its older name; linear by default; 0: none (llama.cpp).
Json rope_scaling(const Gguf& file, const std::string& prefix) {
    const Json& type = file.value(prefix + "rope.scaling.type");
    if (type == "none") return nullptr;
    Json out{{"rope_type", type.is_null() ? Json("linear") : type}};
    const auto copy = [&](const char* to, const char* from) {
        if (const Json& v = file.value(prefix + from); !v.is_null()) out[to] = v;
    };
    copy("factor", "rope.scale_linear");
    for (const auto& [ours, theirs] : gguf_rope_keys())
        if (ours != std::string_view("rope_type")) copy(ours, theirs);
    if (!out.contains("factor") || out["factor"] == 0) out["factor"] = 1;
    return out["rope_type"] == "linear" && out["factor"] == 1 ? Json(nullptr) : out;
}

/// Refuses files without a model: the format also stores adapters, projectors, quantization statistics.
Status check_is_model(const Gguf& file, const std::string& name) {
    const Json& type = file.value("general.type");
    if (!type.is_string() || type == "model") return success();
    return Error{name + " holds " + in_quotes(shortened(type.get<std::string>())) +
                 " (general.type), not a model; use the model's own file."};
}

/// Reads a value of the table of keys. Lists give one number per layer; all must be equal.
Result<Json> one_for_all_layers(const Json& value, const std::string& key, const std::string& name) {
    if (!value.is_array() || value.empty()) return value;
    if (std::all_of(value.begin(), value.end(), [&](const Json& v) { return v == value[0]; }))
        return value[0];
    return Error{name + ": " + key + " differs between layers (" + shortened(json_text(value)) +
                 "), and Headlight opens models whose layers are alike; use another model."};
}

/// Infers which biases the layers have: only the tensors say.
void count_biases(const Gguf& file, int64_t layers, ModelConfig& c) {
    const auto any = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) {
            for (int64_t l = 0; l < layers; ++l)
                if (file.tensors.count("blk." + std::to_string(l) + "." + name + ".bias")) return true;
            return false;
        });
    };
    const bool qkv = any({"attn_q", "attn_k", "attn_v", "attn_qkv"}), output = any({"attn_output"}),
               mlp = any({"ffn_gate", "ffn_up", "ffn_down"});
    for (LayerSpec& layer : c.stacks[0].layers) {
        layer.attention.bias |= qkv;
        layer.attention.output_bias |= output;
        layer.mlp.bias |= mlp;
    }
    c.logits_bias |= file.tensors.count("output.bias") > 0;
}

/// Lists keys that change what is computed, and the architectures that are read with them.
constexpr std::pair<const char*, std::string_view> kEffects[] = {
    {"attention.max_alibi_bias", " mpt "},
    {"attention.clamp_kqv", " mpt olmo olmoe "},
    {"attention.scale", " granite granitemoe granitehybrid "},
    {"attention.temperature_length", ""},
    {"attention.temperature_scale", ""},
    {"attention.output_scale", ""},
    {"attention.value_scale", ""},
    {"attention.shared_kv_layers", " gemma3n gemma4 "},
    {"attention.key_length_swa", " gemma4 "},
    {"attention.rope_pattern", ""},
    {"attention.indexer.top_k", ""},
    {"attn_logit_softcapping", " gemma2 "},
    {"final_logit_softcapping", " gemma2 gemma3 gemma3n gemma4 gemma-embedding "},
    {"router_logit_softcapping", ""},
    {"logit_scale", " command-r cohere2 granite granitemoe granitehybrid "},
    {"residual_scale", " granite granitemoe granitehybrid "},
    {"embedding_scale", " granite granitemoe granitehybrid "},
    {"expert_group_scale", ""},
    {"experts_per_group", ""},
    {"moe_every_n_layers", ""},
    {"moe_latent_size", ""},
    {"swiglu_clamp_exp", ""},
    {"swiglu_clamp_shexp", ""},
    {"hidden_activation", " modern-bert "},
    {"activation_sparsity_scale", " gemma3n "},
    {"altup.num_inputs", " gemma3n "},
    {"n_deepstack_layers", ""},
    {"deepstack_mapping", ""},
    {"num_loops", ""},
    {"hyper_connection.count", ""},
    {"rope.dimension_count_swa", " gemma4 "},
    {"rope.dimension_sections", " qwen35 qwen35moe "},
    {"rope.freq_base_swa", " gemma3 gemma3n gemma4 gemma-embedding modern-bert "},
    {"rope.scaling.alpha", ""},
    {"rope.scaling.yarn_ext_factor", ""},
    {"rope.scaling.yarn_attn_factor", ""},
    {"rope.scaling.yarn_log_multiplier", " deepseek2 "},
    {"ssm.state_size",
     " qwen3next qwen35 qwen35moe granitehybrid nemotron_h nemotron_h_moe mamba2 mamba jamba falcon-h1 "},
    {"ssm.dt_b_c_rms", " mamba "},
};

/// Refuses a key that changes what is computed and that the architecture is read without.
Status check_effects(const Gguf& file, const std::string& prefix, const std::string& name) {
    const std::string architecture = " " + prefix.substr(0, prefix.size() - 1) + " ";
    for (const auto& [key, readers] : kEffects) {
        const Json& value = file.value(prefix + key);
        const bool ratio = std::string_view(key).starts_with("rope.scaling.yarn") && value == 1;
        const bool none = value.is_null() || value == 0 || value == false || ratio ||
                          value == file.value(prefix + "rope.freq_base");
        if (none || readers.find(architecture) != std::string_view::npos) continue;
        return Error{name + ": " + prefix + key + " is " + shortened(json_text(value)) +
                     ", which Headlight does not compute for this architecture; use another model."};
    }
    return success();
}

/// Requires the keys without which llama.cpp opens no model.
Status check_stated(const Gguf& file, const std::string& prefix, const std::string& name) {
    for (const char* key : {"embedding_length", "block_count", "context_length", "attention.head_count"})
        if (file.value(prefix + key).is_null())
            return Error{name + " does not say its " + prefix + key +
                         "; convert the model with a current converter."};
    return success();
}

/// Fills in the width of a head if the file omits it (llama.cpp: embedding_length / head_count).
void complete_head_width(Json& config) {
    const auto count = [&](const char* key) {
        return config.contains(key) && config[key].is_number_unsigned() ? config[key].get<uint64_t>() : 0;
    };
    const uint64_t heads = count("num_attention_heads");
    if (!config.contains("head_dim") && heads && count("hidden_size") % heads == 0)
        config["head_dim"] = count("hidden_size") / heads;
}

/// Reads which layers have a window: one truth value for each, or a number n: all but every n-th.
void read_window_pattern(const Json& pattern, Json& config) {
    if (pattern.is_number()) config["sliding_window_pattern"] = pattern;
    if (!pattern.is_array()) return;
    Json& kinds = config["layer_types"] = Json::array();
    for (const Json& slides : pattern)
        kinds.push_back(slides == true || slides == 1 ? "sliding_attention" : "full_attention");
}

/// Reads how many components of a head are rotated: rope.dimension_count, or all of them (llama.cpp),
/// whatever fraction the family has in transformers; and the frequency factors, if the file has them.
Status complete_rope(Rope& rope, int d_head, const Gguf& file, const std::string& prefix,
                     const std::string& name) {
    int64_t dims = d_head;
    if (const Json& stated = file.value(prefix + "rope.dimension_count"); !stated.is_null()) {
        TRY(dims, whole_number(stated, prefix + "rope.dimension_count", 2, d_head, name));
    }
    if (dims % 2)
        return Error{name + ": rope.dimension_count is " + std::to_string(dims) +
                     ", but components turn in pairs; convert the model with a current converter."};
    rope.dims = narrow<int>(dims);
    rope.odd = false;
    const std::string factor = prefix + "rope.scaling.attn_factor";
    TRY(const double magnitude,
        json_number(Json{{factor, file.value(factor)}}, or_null(factor.c_str()), 1, name));
    rope.attention_factor *= magnitude;
    const auto found = file.tensors.find("rope_freqs.weight");
    if (found == file.tensors.end()) return success();
    const StoredTensor& freq_factors = found->second;
    if (!freq_factors.dtype->holds_weights() || element_count(freq_factors.shape) != dims / 2)
        return Error{name + ": rope_freqs.weight is " + freq_factors.dtype->name + " " +
                     shape_text(freq_factors.shape) + " where the heads turn " + std::to_string(dims / 2) +
                     " pairs, which takes as many floats; convert the model with a current converter."};
    rope.freq_factors.resize(dims / 2);
    freq_factors.dtype->decode(freq_factors.bytes.data(), dims / 2, rope.freq_factors.data());
    return success();
}

/// Reads what is added to the variance in norms, whose key names their kind.
Status complete_norms(ModelConfig& c, const Gguf& file, const std::string& prefix, const std::string& name) {
    const std::string of_rms = prefix + "attention.layer_norm_rms_epsilon",
                      of_layer = prefix + "attention.layer_norm_epsilon";
    const bool rms = c.norm == NormKind::rms_norm, other = file.value(rms ? of_rms : of_layer).is_null();
    const std::string& key = rms != other ? of_rms : of_layer;  // Phi-MoE's converter takes the other kind's
    TRY(const double eps, json_number(Json{{key, file.value(key)}}, or_null(key.c_str()), c.norm_eps, name));
    c.norm_eps = float(eps);
    c.norm_weight_offset = 0;  // stored as 1 + weight where the class adds 1 (Gemma, Nemotron)
    return success();
}

/// Counts the rows of tokens, and of token types.
Status count_embeddings(const Gguf& file, Json& config, const std::string& name) {
    const auto embedding = file.tensors.find("token_embd.weight");
    if (embedding == file.tensors.end() || embedding->second.shape.size() != 2)
        return Error{name +
                     " has no token_embd.weight with one row for each token; convert the model with a "
                     "current converter."};
    config["vocab_size"] = embedding->second.shape[0];
    if (const auto types = file.tensors.find("token_types.weight"); types != file.tensors.end())
        config["type_vocab_size"] = types->second.shape.size() == 2 ? types->second.shape[0] : 1;
    return success();
}

/// Returns whether the families that read lists read this one (GgufForm::lists).
bool differs_by_layer(std::string_view key) {
    return key == "attention.head_count_kv" || key == "feed_forward_length";
}

/// Converts the metadata to a config.json; further: layers behind the model's own.
Result<Json> converted(const Gguf& file, const Family& family, const std::string& prefix, int64_t further,
                       const std::string& name) {
    Json config = Json::parse(family.gguf.usual);
    config.update({{"model_type", family.model_type},
                   {"tie_word_embeddings", !file.tensors.count("output.weight")},
                   {"rope_theta", 10000},
                   {"rope_scaling", rope_scaling(file, prefix)}});
    for (const auto& [ours, theirs] : family.gguf.keys)
        if (const Json& v = file.value(prefix + theirs);
            !v.is_null() && !(v.is_array() && family.gguf.lists && differs_by_layer(theirs))) {
            TRY(config[ours], one_for_all_layers(v, prefix + theirs, name));
        }
    if (config.value("sliding_window", Json()) == 0) config.erase("sliding_window");  // none
    if (!config.contains("num_key_value_heads") && config.contains("num_attention_heads"))
        config["num_key_value_heads"] = config["num_attention_heads"];
    TRY_STATUS(count_embeddings(file, config, name));
    complete_head_width(config);
    read_window_pattern(file.value(prefix + "attention.sliding_window_pattern"), config);
    if (further > 0 && config.value("num_hidden_layers", Json()).is_number_integer())
        config["num_hidden_layers"] = config["num_hidden_layers"].get<int64_t>() - further;
    if (family.gguf.complete) TRY_STATUS(family.gguf.complete(file, name, config));
    if (const Json& end = file.value("tokenizer.ggml.eos_token_id"); !end.is_null())
        config["eos_token_id"] = end;
    return config;
}

}  // namespace

Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name) {
    TRY_STATUS(check_is_model(file, name));
    TRY(const Family* family, gguf_family(file, name));
    const GgufForm& form = family->gguf;
    const std::string prefix = file.value("general.architecture").get<std::string>() + ".";
    TRY_STATUS(check_stated(file, prefix, name));
    TRY_STATUS(check_effects(file, prefix, name));
    TRY(const int64_t further, further_layers(file, prefix, name));
    TRY(const Json config, converted(file, *family, prefix, further, name));
    const auto parsed = parse_config(config, name);
    if (!parsed) return in_gguf_names(parsed.error(), form, prefix);
    ModelConfig c = *parsed;
    TRY_STATUS(complete_norms(c, file, prefix, name));
    TRY_STATUS(complete_experts(file, prefix, name, c));
    const Json stated = config.value("num_hidden_layers", Json());  // Nemotron-H's MLPs are layers too
    const int64_t own = stated.is_number_integer() ? stated.get<int64_t>() : c.stacks[0].depth();
    for (int64_t l = 0; l < further; ++l) c.stacks[0].skipped.push_back(narrow<int>(own + l));
    count_biases(file, own, c);
    if (!file.tensors.count("token_types.weight")) c.token_types = 0;
    if (const Json& causal = file.value(prefix + "attention.causal"); causal.is_boolean())
        c.stacks[0].causal = causal.get<bool>();
    for (LayerSpec& layer : c.stacks[0].layers) {
        AttentionSpec& attention = layer.attention;
        attention.rope.interleaved = form.interleaved;
        if (attention.rope.dims && !form.ropes)
            TRY_STATUS(complete_rope(attention.rope, attention.d_head, file, prefix, name));
    }
    return c;
}

}  // namespace headlight
