// Tabulates the keys of GGUF files.
#include "model/loading/gguf_names.h"

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

using Names = GgufNames;

/// Config keys outside the table of keys.
constexpr Names kRopeKeys[] = {{"rope_type", "rope.scaling.type"},
                               {"factor", "rope.scaling.factor"},
                               {"original_max_position_embeddings", "rope.scaling.original_context_length"},
                               {"beta_fast", "rope.scaling.yarn_beta_fast"},
                               {"beta_slow", "rope.scaling.yarn_beta_slow"}};
constexpr Names kOtherNames[] = {{"vocab_size", "token_embd.weight"},
                                 {"type_vocab_size", "token_types.weight"},
                                 {"eos_token_id", "tokenizer.ggml.eos_token_id"}};

}  // namespace

Error in_gguf_names(Error error, const GgufForm& form, const std::string& prefix) {
    const auto rename = [&](const char* ours, const std::string& theirs) {
        const std::string from = in_quotes(ours), to = in_quotes(theirs);
        for (size_t at = 0; (at = error.message.find(from, at)) != std::string::npos; at += to.size())
            error.message.replace(at, from.size(), to);
    };
    for (const auto table : {form.keys, std::span<const Names>(kRopeKeys)})
        for (const auto& [ours, theirs] : table) rename(ours, prefix + theirs);
    for (const auto& [ours, theirs] : kOtherNames) rename(ours, theirs);
    return error;
}

std::string gguf_prefix(const Gguf& file) {
    return file.value("general.architecture").get<std::string>() + ".";
}

Result<int64_t> layer_count(const Gguf& file, const std::string& name, const Json& config) {
    constexpr int64_t kMaxLayers = 1000;
    return whole_number(config.value("num_hidden_layers", Json()), gguf_prefix(file) + "block_count", 1,
                        kMaxLayers, name);
}

Result<std::vector<int64_t>> layer_numbers(const Gguf& file, const std::string& key, int64_t depth,
                                           const std::string& name) {
    constexpr int64_t kMax = 1 << 24;
    const Json& value = file.value(key);
    std::vector<int64_t> out;
    for (int64_t l = 0; l < depth; ++l) {
        if (value.is_array() && l >= isize(value))
            return Error{name + ": " + key + " gives " + std::to_string(value.size()) + " numbers for " +
                         std::to_string(depth) + " layers; convert the model again."};
        TRY(const int64_t own, whole_number(value.is_array() ? value[size_t(l)] : value, key, 0, kMax, name));
        out.push_back(own);
    }
    return out;
}

Result<Json> gguf_longrope(const Gguf& file, const std::string& name) {
    constexpr int64_t kMaxPairs = 1 << 13;
    Json out{{"rope_type", "longrope"}};
    for (const auto& [ours, tensor] : {std::pair{"long_factor", "rope_factors_long.weight"},
                                       {"short_factor", "rope_factors_short.weight"}}) {
        const auto found = file.tensors.find(tensor);
        if (found == file.tensors.end() || !found->second.dtype->holds_weights() ||
            found->second.shape.size() != 1 || found->second.shape[0] > kMaxPairs)
            return Error{name + " has no floats " + tensor +
                         ", one for each rotated pair; convert the model with a current converter."};
        std::vector<float> factors(size_t(found->second.shape[0]));
        found->second.dtype->decode(found->second.bytes.data(), found->second.shape[0], factors.data());
        out[ours] = factors;
    }
    return out;
}

Status refuse_sections(const Gguf& file, const std::string& architecture, const std::string& name) {
    if (file.value(architecture + ".rope.dimension_sections").is_null()) return success();
    return Error{
        name +
        ": a GLM-4 whose positions have several parts (rope.dimension_sections) is not computed; use "
        "one that reads text alone."};
}

std::span<const GgufNames> gguf_rope_keys() { return kRopeKeys; }

}  // namespace headlight
