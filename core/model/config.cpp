#include "model/config.h"

#include <cmath>

#include "io/mapped_file.h"
#include "model/families.h"

namespace headlight {

float ModelConfig::score_scale(int layer) const {
    const float base = scale_scores ? 1.0f / std::sqrt(static_cast<float>(d_head)) : 1.0f;
    return scale_by_layer ? base / static_cast<float>(layer + 1) : base;
}

Result<Activation> activation_named(const std::string& label, const std::string& file) {
    constexpr std::pair<const char*, Activation> names[] = {{"gelu_new", Activation::gelu_tanh},
                                                            {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                            {"gelu", Activation::gelu},
                                                            {"relu", Activation::relu}};
    for (const auto& [name, activation] : names)
        if (label == name) return activation;
    return Error{file + ": the activation \"" + label.substr(0, 40) + "\" is not one that Headlight computes; it knows gelu_new, gelu and relu."};
}

Result<ModelConfig> parse_config(const Json& root, const std::string& name) {
    if (!root.is_object()) return Error{name + " is not a model configuration; download it again."};
    TRY(const std::string type, json_string(root, "model_type", "", name));
    if (type.empty()) return Error{name + " does not say its model_type; add it, \"gpt2\" for example."};
    const Family* family = find_family(type);
    if (!family) return Error{name + ": the model_type \"" + type.substr(0, 40) + "\" is not one that Headlight opens yet; it opens " + family_list() + "."};
    TRY(ModelConfig config, family->read_config(root, name));
    config.family = family->model_type;
    config.family_name = family->name;
    return config;
}

Result<ModelConfig> read_config(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "config.json", ignored))
        return Error{display_path(folder) + " has no config.json; choose the folder that holds a model's config.json and safetensors."};
    TRY(const Json root, read_json(folder / "config.json"));
    return parse_config(root, display_path(folder / "config.json"));
}

}  // namespace headlight
