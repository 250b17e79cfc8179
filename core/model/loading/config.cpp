// Reads config.json and its companions.
#include "model/loading/config.h"

#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/mapped_file.h"
#include "model/families.h"
#include "model/loading/quantized/quantization.h"
#include "model/loading/unknown_family.h"

namespace headlight {

namespace {

/// Checks that a decoder's start tokens are in its vocabulary, because they are read as any token is.
Status check_first_ids(const ModelConfig& c, const std::string& name) {
    if (!c.can.write_target) return success();
    for (const auto& [key, id] : {std::pair("decoder_start_token_id", c.start_id),
                                  {"forced_bos_token_id", c.generation.forced_bos_token_id}})
        if (id >= c.decoder().vocab)
            return Error{name + ": the decoder begins with token " + std::to_string(id) + " (" + key +
                         "), but its vocabulary ends at " + std::to_string(c.decoder().vocab - 1) +
                         "; correct the file."};
    return success();
}

/// Returns the first token that ends a text; −1 if the vocabulary holds none.
int end_id(const ModelConfig& c) {
    for (const int id : c.generation.eos_token_ids)
        if (id < c.decoder().vocab) return id;
    return -1;
}

}  // namespace

Result<ModelConfig> parse_config(const Json& root, const std::string& name) {
    if (!root.is_object()) return Error{name + " is not a model configuration; correct the file."};
    TRY(const std::string type, json_string(root, "model_type", "", name));
    if (type.empty()) return Error{name + " does not say its model_type; add it, \"gpt2\" for example."};
    const Family* family = find_family(type);
    if (!family) return unknown_family(root, type, name);
    TRY(ModelConfig config, family->read_config(root, name));
    config.family = family->model_type;
    config.family_name = family->name;
    TRY(config.quantization, quantization_of(root, name));
    TRY(const int64_t padding, json_integer(root, or_null("pad_token_id"), -1, -1, 1 << 23, name));
    config.pad_id = narrow<int>(padding);
    const bool names_none = root.contains("eos_token_id") && root["eos_token_id"].is_null();
    if (config.end_id >= 0 && !names_none) config.generation.eos_token_ids = {config.end_id};
    TRY_STATUS(parse_generation_config(root, name, config.generation));
    config.end_id = end_id(config);
    TRY_STATUS(check_first_ids(config, name));
    return config;
}

namespace {

constexpr int64_t kMaxIds = 1 << 23;
constexpr size_t kMaxRules = 1 << 16;

/// Reads an entry that is one id or a list of ids; −1: none; an inner list counts if it holds one id.
Status read_ids(const Json& root, const char* key, const std::string& name, std::vector<int>& out) {
    const Json* value = json_find(root, or_null(key));
    if (!value) return success();
    const Json list = value->is_array() ? *value : Json::array({*value});
    if (list.size() > kMaxRules)
        return Error{name + ": \"" + key + "\" holds more than " + std::to_string(kMaxRules) +
                     " tokens; correct the file."};
    out.clear();
    for (const Json& entry : list) {
        const Json ids = entry.is_array() ? entry : Json::array({entry});
        for (const Json& id : ids) TRY_STATUS(whole_number(id, key, -1, kMaxIds, name));
        // several ids: a forbidden phrase
        if (ids.size() == 1 && ids[0] >= 0) out.push_back(ids[0].get<int>());
    }
    return success();
}

}  // namespace

Status parse_generation_config(const Json& root, const std::string& name, GenerationConfig& rules) {
    if (!root.is_object()) return Error{name + " must be an object; correct the file."};
    std::vector<int> first, suppressed;
    TRY_STATUS(read_ids(root, "eos_token_id", name, rules.eos_token_ids));
    TRY_STATUS(read_ids(root, "bad_words_ids", name, rules.suppress_tokens));
    TRY_STATUS(read_ids(root, "suppress_tokens", name, suppressed));
    TRY_STATUS(read_ids(root, "forced_bos_token_id", name, first));
    rules.suppress_tokens.insert(rules.suppress_tokens.end(), suppressed.begin(), suppressed.end());
    if (!first.empty()) rules.forced_bos_token_id = first[0];
    return success();
}

Status parse_preprocessor(const Json& root, const std::string& name, VisionConfig& vision) {
    if (!root.is_object()) return Error{name + " does not describe images; correct the file."};
    const auto triple = [&](const char* key, std::array<float, 3>& out, bool divisor) -> Status {
        const Json* list = json_find(root, or_null(key));
        if (!list) return success();
        const Error wrong =
            wrong_type(name, key, divisor ? "three numbers larger than 0" : "three numbers", *list);
        if (!list->is_array() || list->size() != 3) return wrong;
        for (size_t i = 0; i < 3; ++i) {
            const auto value = (*list)[i].is_number() ? (*list)[i].get<float>() : NAN;
            if (!std::isfinite(value) || (divisor && value <= 0)) return wrong;
            out[i] = value;
        }
        return success();
    };
    TRY_STATUS(triple("image_mean", vision.mean, false));
    TRY_STATUS(triple("image_std", vision.deviation, true));
    TRY(const int64_t filter, json_integer(root, or_null("resample"), 2, 0, 5, name));
    if (filter != 2 && filter != 3)
        return Error{name + ": \"resample\" is " + std::to_string(filter) +
                     "; Headlight resizes images bilinearly (2) and bicubically (3), so use a model that "
                     "was trained so."};
    vision.resampling = filter == 3 ? Resampling::bicubic : Resampling::bilinear;
    TRY(const bool rescales, json_boolean(root, or_null("do_rescale"), true, name));
    TRY(const double rescale, json_number(root, or_null("rescale_factor"), 1.0 / 255, name));
    TRY(const bool normalizes, json_boolean(root, or_null("do_normalize"), true, name));
    vision.rescale = rescales ? float(rescale) : 1.0f;
    if (!normalizes) {
        vision.mean = {0, 0, 0};
        vision.deviation = {1, 1, 1};
    }
    return success();
}

Result<ModelConfig> read_config(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "config.json", ignored))
        return Error{
            display_path(folder) +
            " has no config.json; choose the folder that holds a model's config.json and safetensors."};
    TRY(const Json root, read_json(folder / "config.json", JsonNumbers::any));
    TRY(ModelConfig config, parse_config(root, display_path(folder / "config.json")));
    if (config.quantization.method == Quantization::Method::none) {
        TRY(config.quantization, quantization_beside(folder));
    }
    const auto generation = folder / "generation_config.json";
    if (std::filesystem::exists(generation, ignored)) {
        TRY(const Json rules, read_json(generation, JsonNumbers::any));
        TRY_STATUS(parse_generation_config(rules, display_path(generation), config.generation));
        TRY_STATUS(check_first_ids(config, display_path(generation)));
    }
    const auto pictures = folder / "preprocessor_config.json";
    if (config.can.read_image && std::filesystem::exists(pictures, ignored)) {
        TRY(const Json description, read_json(pictures, JsonNumbers::any));
        TRY_STATUS(parse_preprocessor(description, display_path(pictures), config.vision));
    }
    return config;
}

}  // namespace headlight
