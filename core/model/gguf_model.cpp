// One row per architecture: which family it is, how that family's config spells the sizes, how its tensors
// are called.
#include "model/gguf_model.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

using Names = std::pair<const char*, const char*>;  // Hugging Face's, GGUF's

constexpr Names kUsualKeys[] = {{"hidden_size", "embedding_length"},
                                {"num_hidden_layers", "block_count"},
                                {"num_attention_heads", "attention.head_count"},
                                {"num_key_value_heads", "attention.head_count_kv"},
                                {"intermediate_size", "feed_forward_length"},
                                {"max_position_embeddings", "context_length"},
                                {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
                                {"layer_norm_eps", "attention.layer_norm_epsilon"},
                                {"rope_theta", "rope.freq_base"},
                                {"head_dim", "attention.key_length"},
                                {"sliding_window", "attention.sliding_window"},
                                {"attn_logit_softcapping", "attn_logit_softcapping"},
                                {"final_logit_softcapping", "final_logit_softcapping"}};
constexpr Names kGpt2Keys[] = {
    {"n_embd", "embedding_length"},     {"n_layer", "block_count"},
    {"n_head", "attention.head_count"}, {"n_inner", "feed_forward_length"},
    {"n_positions", "context_length"},  {"layer_norm_epsilon", "attention.layer_norm_epsilon"}};

constexpr Names kLlamaTensors[] = {{"embed_tokens", "token_embd"},
                                   {"norm", "output_norm"},
                                   {"lm_head", "output"},
                                   {"layers.#.input_layernorm", "blk.#.attn_norm"},
                                   {"layers.#.self_attn.q_proj", "blk.#.attn_q"},
                                   {"layers.#.self_attn.k_proj", "blk.#.attn_k"},
                                   {"layers.#.self_attn.v_proj", "blk.#.attn_v"},
                                   {"layers.#.self_attn.o_proj", "blk.#.attn_output"},
                                   {"layers.#.self_attn.q_norm", "blk.#.attn_q_norm"},
                                   {"layers.#.self_attn.k_norm", "blk.#.attn_k_norm"},
                                   {"layers.#.post_attention_layernorm", "blk.#.ffn_norm"},
                                   {"layers.#.mlp.gate_proj", "blk.#.ffn_gate"},
                                   {"layers.#.mlp.up_proj", "blk.#.ffn_up"},
                                   {"layers.#.mlp.down_proj", "blk.#.ffn_down"}};
constexpr Names kGemma2Tensors[] = {
    {"layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"layers.#.pre_feedforward_layernorm", "blk.#.ffn_norm"},
    {"layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm"}};  // and Llama's
constexpr Names kGpt2Tensors[] = {{"wte", "token_embd"},
                                  {"wpe", "position_embd"},
                                  {"ln_f", "output_norm"},
                                  {"lm_head", "output"},
                                  {"h.#.ln_1", "blk.#.attn_norm"},
                                  {"h.#.attn.c_attn", "blk.#.attn_qkv"},
                                  {"h.#.attn.c_proj", "blk.#.attn_output"},
                                  {"h.#.ln_2", "blk.#.ffn_norm"},
                                  {"h.#.mlp.c_fc", "blk.#.ffn_up"},
                                  {"h.#.mlp.c_proj", "blk.#.ffn_down"}};
constexpr Names kPhiTensors[] = {{"final_layernorm", "output_norm"},
                                 {"layers.#.self_attn.qkv_proj", "blk.#.attn_qkv"},
                                 {"layers.#.self_attn.dense", "blk.#.attn_output"},
                                 {"layers.#.mlp.fc1", "blk.#.ffn_up"},
                                 {"layers.#.mlp.fc2", "blk.#.ffn_down"}};  // and Llama's
constexpr Names kBertTensors[] = {{"embeddings.word_embeddings", "token_embd"},
                                  {"embeddings.position_embeddings", "position_embd"},
                                  {"embeddings.token_type_embeddings", "token_types"},
                                  {"embeddings.LayerNorm", "token_embd_norm"},
                                  {"encoder.layer.#.attention.self.query", "blk.#.attn_q"},
                                  {"encoder.layer.#.attention.self.key", "blk.#.attn_k"},
                                  {"encoder.layer.#.attention.self.value", "blk.#.attn_v"},
                                  {"encoder.layer.#.attention.output.dense", "blk.#.attn_output"},
                                  {"encoder.layer.#.attention.output.LayerNorm", "blk.#.attn_output_norm"},
                                  {"encoder.layer.#.intermediate.dense", "blk.#.ffn_up"},
                                  {"encoder.layer.#.output.dense", "blk.#.ffn_down"},
                                  {"encoder.layer.#.output.LayerNorm", "blk.#.layer_output_norm"}};

struct ArchitectureRow {
    const char* name;
    const char* model_type;
    std::span<const Names> keys, tensors, more_tensors;
    bool interleaved;  // q and k are stored for rotating neighbors
};

constexpr ArchitectureRow kArchitectures[] = {
    {"llama", "llama", kUsualKeys, kLlamaTensors, {}, true},
    {"qwen2", "qwen2", kUsualKeys, kLlamaTensors, {}, false},
    {"qwen3", "qwen3", kUsualKeys, kLlamaTensors, {}, false},
    {"gemma", "gemma", kUsualKeys, kLlamaTensors, {}, false},
    {"gemma2", "gemma2", kUsualKeys, kGemma2Tensors, kLlamaTensors, false},
    {"gpt2", "gpt2", kGpt2Keys, kGpt2Tensors, {}, false},
    {"phi2", "phi", kUsualKeys, kPhiTensors, kLlamaTensors, false},
    {"bert", "bert", kUsualKeys, kBertTensors, {}, false},
};

Result<const ArchitectureRow*> architecture(const Gguf& file, const std::string& name) {
    const Json& wanted = file.value("general.architecture");
    if (!wanted.is_string())
        return Error{name + " does not say its general.architecture; convert the model again."};
    std::string known;
    for (const auto& row : kArchitectures) {
        if (wanted == row.name) return &row;
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    return Error{name + ": the architecture " + in_quotes(wanted.get<std::string>()) +
                 " is not one that Headlight opens from GGUF; it opens " + known + "."};
}

/// Of what a config is made of beside the table of keys.
constexpr Names kOtherKeys[] = {{"rope_type", "rope.scaling.type"},
                                {"factor", "rope.scaling.factor"},
                                {"original_max_position_embeddings", "rope.scaling.original_context_length"},
                                {"attention_factor", "rope.scaling.attn_factor"}};
constexpr Names kOtherNames[] = {{"vocab_size", "token_embd.weight"},
                                 {"type_vocab_size", "token_types.weight"},
                                 {"eos_token_id", "tokenizer.ggml.eos_token_id"}};

/// What is wrong with the config that was made of a file, in the file's own names.
Error in_gguf_names(Error error, const ArchitectureRow& row) {
    const auto rename = [&](const char* ours, const std::string& theirs) {
        const std::string from = in_quotes(ours), to = in_quotes(theirs);
        for (size_t at = 0; (at = error.message.find(from, at)) != std::string::npos; at += to.size())
            error.message.replace(at, from.size(), to);
    };
    for (const auto table : {row.keys, std::span<const Names>(kOtherKeys)})
        for (const auto& [ours, theirs] : table) rename(ours, row.name + std::string(".") + theirs);
    for (const auto& [ours, theirs] : kOtherNames) rename(ours, theirs);
    return error;
}

/// "layers.12.mlp" → "layers.#.mlp", and the number.
std::string take_number(std::string name, std::string& number) {
    for (size_t i = 0; i + 1 < name.size(); ++i) {
        if (name[i] != '.' || !std::isdigit(as_byte(name[i + 1]))) continue;
        size_t end = i + 1;
        while (end < name.size() && std::isdigit(as_byte(name[end]))) ++end;
        number = name.substr(i + 1, end - i - 1);
        return name.replace(i + 1, end - i - 1, "#");
    }
    return name;
}

std::string stored_name(const ArchitectureRow& row, const std::string& asked) {
    const size_t dot = asked.rfind('.');
    if (dot == std::string::npos) return "";
    std::string number;
    const std::string base = take_number(asked.substr(0, dot), number);
    for (const auto table : {row.tensors, row.more_tensors})
        for (const auto& [ours, theirs] : table) {
            if (base != ours) continue;
            std::string out = theirs;
            if (const size_t mark = out.find('#'); mark != std::string::npos) out.replace(mark, 1, number);
            return out + asked.substr(dot);
        }
    return "";
}

Json rope_scaling(const Gguf& file, const std::string& prefix) {
    const Json& type = file.value(prefix + "rope.scaling.type");
    if (type.is_null() || type == "none") return nullptr;
    Json out{{"rope_type", type}};
    const auto copy = [&](const char* to, const char* from) {
        if (const Json& v = file.value(prefix + from); !v.is_null()) out[to] = v;
    };
    copy("factor", "rope.scaling.factor");
    copy("original_max_position_embeddings", "rope.scaling.original_context_length");
    copy("attention_factor", "rope.scaling.attn_factor");
    return out;
}

/// What Gemma 2's scores are divided by (its root), which GGUF does not say: the width of a head, but in the
/// 27B model, known by its 46 layers, the model's width over its heads.
Json gemma2_scalar(const Json& config) {
    const auto number = [&](const char* key) {
        return config.contains(key) && config[key].is_number() ? config[key].get<double>() : 0.0;
    };
    const bool largest = number("num_hidden_layers") == 46 && number("num_attention_heads") > 0;
    return largest ? Json(number("hidden_size") / number("num_attention_heads")) : config["head_dim"];
}

/// The head's width, where a file leaves it out (llama.cpp: embedding_length / head_count, whatever the
/// family).
void complete_head_width(Json& config) {
    const auto count = [&](const char* key) {
        return config.contains(key) && config[key].is_number_unsigned() ? config[key].get<uint64_t>() : 0;
    };
    const uint64_t heads = count("num_attention_heads");
    if (!config.contains("head_dim") && heads && count("hidden_size") % heads == 0)
        config["head_dim"] = count("hidden_size") / heads;
}

/// How many components of a head turn: rope.dimension_count, or all of them (llama.cpp), whatever share the
/// family takes in transformers; and the divisors of their frequencies, where the file has them.
Status complete_rope(Rope& rope, int d_head, const Gguf& file, const std::string& prefix,
                     const std::string& name) {
    int64_t dims = d_head;
    if (const Json& stated = file.value(prefix + "rope.dimension_count"); !stated.is_null()) {
        TRY(dims, whole_number(stated, prefix + "rope.dimension_count", 2, d_head, name));
    }
    if (dims % 2)
        return Error{name + ": rope.dimension_count is " + std::to_string(dims) +
                     ", but components turn in pairs; convert the model again."};
    rope.dims = narrow<int>(dims);
    const auto found = file.tensors.find("rope_freqs.weight");
    if (found == file.tensors.end()) return success();
    const StoredTensor& freq_factors = found->second;
    if (freq_factors.dtype != &float32() || element_count(freq_factors.shape) != dims / 2)
        return Error{name + ": rope_freqs.weight is " + freq_factors.dtype->name + " " +
                     shape_text(freq_factors.shape) + " where the heads turn " + std::to_string(dims / 2) +
                     " pairs, which takes as many F32 numbers; download the file again."};
    rope.freq_factors.resize(dims / 2);
    std::memcpy(rope.freq_factors.data(), freq_factors.bytes.data(), freq_factors.bytes.size());
    return success();
}

}  // namespace

Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name) {
    TRY(const ArchitectureRow* row, architecture(file, name));
    if (const Json& parts = file.value("split.count"); !parts.is_null() && parts != 1)
        return Error{name + " is one of " + shortened(json_text(parts)) +
                     " parts; join them to one file first (llama-gguf-split --merge)."};
    const std::string prefix = std::string(row->name) + ".";
    Json config{{"model_type", row->model_type},
                {"tie_word_embeddings", !file.tensors.count("output.weight")},
                {"rope_scaling", rope_scaling(file, prefix)}};
    for (const auto& [ours, theirs] : row->keys)
        if (const Json& v = file.value(prefix + theirs); !v.is_null()) config[ours] = v;
    const auto embedding = file.tensors.find("token_embd.weight");
    if (embedding == file.tensors.end() || embedding->second.shape.size() != 2)
        return Error{name + " has no usable token_embd.weight; download the file again."};
    config["vocab_size"] = embedding->second.shape[0];
    if (const auto types = file.tensors.find("token_types.weight");
        types != file.tensors.end() && types->second.shape.size() == 2)
        config["type_vocab_size"] = types->second.shape[0];
    complete_head_width(config);
    if (config.contains("head_dim") && row->model_type == std::string_view("gemma2"))
        config["query_pre_attn_scalar"] = gemma2_scalar(config);
    if (const Json& end = file.value("tokenizer.ggml.eos_token_id"); !end.is_null())
        config["eos_token_id"] = end;
    const auto parsed = parse_config(config, name);
    if (!parsed) return in_gguf_names(parsed.error(), *row);
    ModelConfig c = *parsed;
    c.rope.interleaved = row->interleaved;
    c.norm_weight_offset = 0;  // Gemma's files hold 1 + the weight
    if (c.rope.dims) TRY_STATUS(complete_rope(c.rope, c.stacks[0].d_head, file, prefix, name));
    return c;
}

WeightStore gguf_weights(Gguf file, const std::string& name) {
    const auto row = architecture(file, name);
    return WeightStore::of_file(std::move(file), name,
                                [row = *row](const std::string& asked) { return stored_name(*row, asked); });
}

}  // namespace headlight
