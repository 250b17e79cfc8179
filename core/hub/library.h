// Models on this computer: built in, and those that other programs have fetched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace headlight {

struct FoundModel {
    std::string name;            // "openai-community/gpt2", "llama3.2:1b"
    std::filesystem::path path;  // what --model takes
    std::string source;          // "Hugging Face cache"
    std::string family;          // for people; empty where it is not known
    int64_t bytes = 0;           // of its weights
    std::string problem;         // why it cannot be opened; empty: it can
};

/// Every model found: built-in ones, the Hugging Face cache (HF_HUB_CACHE, HF_HOME, ~/.cache/huggingface), LM
/// Studio, Ollama (OLLAMA_MODELS), llama.cpp's cache (LLAMA_CACHE). Reads configurations and headers, no
/// weights.
std::vector<FoundModel> models_on_computer();

/// What can be said of a model without reading its weights.
FoundModel examine_model(const std::filesystem::path& path, const std::string& name,
                         const std::string& place);

/// The folder or file of a model by path, by built-in name ("stories", "translator"), by its name on the
/// Hugging Face hub ("openai-community/gpt2", "owner/name@REVISION") where that was fetched, or by the name
/// that models_on_computer gives it. A folder of the hub's cache stands for its snapshot.
Result<std::filesystem::path> find_model(const std::string& path_or_name);

/// Finds a model and opens it (Model::open), under the name that people know it by.
Result<std::shared_ptr<const Model>> open_model(const std::string& path_or_name,
                                                const CancelFlag* cancel = nullptr,
                                                OpeningProgress* progress = nullptr);

/// How a model is called: the folder's or file's name, "owner/name" in the Hugging Face cache.
std::string model_name(const std::filesystem::path& path);

/// The same as far as the path itself says it, without a look at the disk.
std::string name_in_path(const std::filesystem::path& path);

/// The one spelling of what find_model takes: of a path it is absolute and goes through no linked folder; a
/// name stays. A link to a file stays too: what lies beside it may belong to it.
std::string model_key(const std::string& path_or_name);

}  // namespace headlight
