// Converts GGUF metadata to a config.json.
#include "model/loading/gguf_model.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/loading/gguf_names.h"

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

/// Refuses mixtures of experts by the metadata or the router, before tensors are found missing.
Status check_dense(const Gguf& file, const std::string& name) {
    const Json& architecture = file.value("general.architecture");
    const std::string key =
        (architecture.is_string() ? architecture.get<std::string>() : "") + ".expert_count";
    const Json& stated = file.value(key);
    const bool routes = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& tensor) {
        return tensor.first.find(".ffn_gate_inp.") != std::string::npos;
    });
    const bool says = stated.is_number() && stated > 0;
    if (!routes && !says) return success();
    return Error{name + " is a mixture of experts" +
                 (says ? " (" + key + " is " + json_text(stated) + ")" : "") +
                 ", which Headlight does not compute; use a model whose layers have one MLP each."};
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
void count_biases(const Gguf& file, ModelConfig& c) {
    const auto any = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) {
            for (int l = 0; l < c.stacks[0].layers; ++l)
                if (file.tensors.count("blk." + std::to_string(l) + "." + name + ".bias")) return true;
            return false;
        });
    };
    c.attention_bias |= any({"attn_q", "attn_k", "attn_v", "attn_qkv"});
    c.output_bias |= any({"attn_output"});
    c.mlp_bias |= any({"ffn_gate", "ffn_up", "ffn_down"});
    c.logits_bias |= file.tensors.count("output.bias") > 0;
}

/// Requires the keys without which llama.cpp opens no model.
Status check_stated(const Gguf& file, const std::string& prefix, const std::string& name) {
    for (const char* key : {"embedding_length", "block_count", "context_length", "attention.head_count"})
        if (file.value(prefix + key).is_null())
            return Error{name + " does not say its " + prefix + key +
                         "; convert the model with a current converter."};
    return success();
}

/// Computes Gemma 2's query_pre_attn_scalar, which GGUF omits: the width of a head, but in the 27B model,
/// recognized by its 46 layers, d_model / heads.
Json gemma2_scalar(const Json& config) {
    const auto number = [&](const char* key) {
        return config.contains(key) && config[key].is_number() ? config[key].get<double>() : 0.0;
    };
    const bool largest = number("num_hidden_layers") == 46 && number("num_attention_heads") > 0;
    return largest ? Json(number("hidden_size") / number("num_attention_heads")) : config["head_dim"];
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

/// Counts the rows of tokens, and of token types.
Status count_embeddings(const Gguf& file, Json& config, const std::string& name) {
    const auto embedding = file.tensors.find("token_embd.weight");
    if (embedding == file.tensors.end() || embedding->second.shape.size() != 2)
        return Error{name +
                     " has no token_embd.weight with one row for each token; convert the model with a "
                     "current converter."};
    config["vocab_size"] = embedding->second.shape[0];
    if (const auto types = file.tensors.find("token_types.weight");
        types != file.tensors.end() && types->second.shape.size() == 2)
        config["type_vocab_size"] = types->second.shape[0];
    return success();
}

}  // namespace

Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name) {
    TRY_STATUS(check_is_model(file, name));
    TRY_STATUS(check_dense(file, name));
    TRY(const GgufArchitecture* row, gguf_architecture(file, name));
    const std::string prefix = std::string(row->name) + ".";
    TRY_STATUS(check_stated(file, prefix, name));
    Json config{{"model_type", row->model_type},
                {"tie_word_embeddings", !file.tensors.count("output.weight")},
                {"rope_scaling", rope_scaling(file, prefix)}};
    for (const auto& [ours, theirs] : row->keys)
        if (const Json& v = file.value(prefix + theirs); !v.is_null()) {
            TRY(config[ours], one_for_all_layers(v, prefix + theirs, name));
        }
    if (!config.contains("num_key_value_heads") && config.contains("num_attention_heads"))
        config["num_key_value_heads"] = config["num_attention_heads"];
    TRY_STATUS(count_embeddings(file, config, name));
    complete_head_width(config);
    if (config.contains("head_dim") && row->model_type == std::string_view("gemma2"))
        config["query_pre_attn_scalar"] = gemma2_scalar(config);
    if (const Json& end = file.value("tokenizer.ggml.eos_token_id"); !end.is_null())
        config["eos_token_id"] = end;
    const auto parsed = parse_config(config, name);
    if (!parsed) return in_gguf_names(parsed.error(), *row);
    ModelConfig c = *parsed;
    c.rope.interleaved = row->interleaved;
    c.norm_weight_offset = 0;  // GGUF stores Gemma's norms as 1 + weight
    count_biases(file, c);
    if (!file.tensors.count("token_types.weight")) c.token_types = 0;
    if (const Json& causal = file.value(prefix + "attention.causal"); causal.is_boolean())
        c.stacks[0].causal = causal.get<bool>();
    if (c.rope.dims) TRY_STATUS(complete_rope(c.rope, c.stacks[0].d_head, file, prefix, name));
    return c;
}

WeightStore gguf_weights(GgufModel model, const std::string& name) {
    const auto row = gguf_architecture(model.whole, name);
    return WeightStore::of_files(std::move(model.files), name, [row = *row](const std::string& asked) {
        return gguf_tensor_name(*row, asked);
    });
}

}  // namespace headlight
