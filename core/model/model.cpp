#include "model/model.h"

#include <array>

#include "model/families.h"

namespace headlight {

namespace fs = std::filesystem;

Result<std::shared_ptr<const Model>> Model::open(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Error{display_path(path) + " does not exist; check the path, or use the built-in model stories."};
    if (!fs::is_directory(path, ignored))
        return Error{display_path(path) + " is a file; Headlight opens Hugging Face folders (config.json and model.safetensors), so name the folder."};
    TRY(ModelConfig config, headlight::read_config(path));
    TRY(WeightStore store, WeightStore::open(path));
    auto model = std::make_shared<Model>();
    model->path = path;
    model->config = config;
    model->store = std::move(store);
    TRY(model->weights, find_family(config.family)->bind_weights(model->store, config));
    model->tokenizer = Tokenizer::open(path);
    const fs::path full = fs::weakly_canonical(path, ignored);
    model->name = display_path(full.has_filename() ? full.filename() : full.parent_path().filename());
    return std::shared_ptr<const Model>(model);
}

Result<ModelInput> encode_for(const Model& model, std::string_view text, bool special) {
    TRY(const auto tokenizer, model.tokenizer);
    ModelInput input;
    TRY(input.encoding, tokenizer->encode(text, special));
    for (const int id : input.encoding.ids)
        if (id >= model.config.vocab)
            return Error{display_path(model.path) + ": the tokenizer gives the id " + std::to_string(id) + ", but the model has only " +
                         std::to_string(model.config.vocab) + " embeddings; use the tokenizer of this model."};
    input.tokens_in_all = input.encoding.size();
    const size_t kept = std::min(input.tokens_in_all, static_cast<size_t>(model.config.context));
    input.encoding.ids.resize(kept);
    input.encoding.tokens.resize(kept);
    input.encoding.offsets.resize(kept);
    return input;
}

Status check_ids(const Model& model, const std::vector<int>& ids) {
    if (ids.empty()) return Error{"There are no tokens to read; give some text with --text, or ids with --ids."};
    if (ids.size() > static_cast<size_t>(model.config.context))
        return Error{std::to_string(ids.size()) + " ids are more than the " + std::to_string(model.config.context) + " that " + model.name + " can read; give fewer."};
    for (const int id : ids)
        if (id < 0 || id >= model.config.vocab)
            return Error{"The id " + std::to_string(id) + " is outside the vocabulary of " + model.name + " (0 … " + std::to_string(model.config.vocab - 1) + "); correct --ids."};
    return success();
}

Result<fs::path> find_model(const std::string& path_or_name) {
    std::error_code ignored;
    const fs::path given(path_or_name);
    const bool is_name = !path_or_name.empty() && path_or_name.find('/') == std::string::npos && path_or_name != "." && path_or_name != "..";
    if (!is_name || fs::exists(given / "config.json", ignored)) return given;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    const std::array<fs::path, 4> places{program / "models", program.parent_path() / "models", program.parent_path() / "share/headlight/models",
                                         fs::path(HEADLIGHT_SOURCE_DIR) / "models"};
    for (const auto& place : places)
        if (fs::exists(place / given / "config.json", ignored)) return place / given;
    return given;
}

}  // namespace headlight
