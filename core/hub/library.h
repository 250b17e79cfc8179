// Finds models on this computer: built in, and downloaded by other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace headlight {

struct FoundModel {
    std::string name;            // "openai-community/gpt2", "llama3.2:1b"
    std::filesystem::path path;  // argument of --model
    std::string source;          // "Hugging Face cache"
    std::string family;          // for users; empty if unknown
    int64_t bytes = 0;           // of its weights
    std::string problem;         // why it cannot be opened; empty: it can
};

/// Lists every model found: built-in ones, the Hugging Face cache (HF_HUB_CACHE, HF_HOME,
/// ~/.cache/huggingface), LM Studio, Ollama (OLLAMA_MODELS), llama.cpp's cache (LLAMA_CACHE). Reads
/// configurations and headers, no weights.
std::vector<FoundModel> models_on_computer();

/// Describes a model without reading its weights.
FoundModel examine_model(const std::filesystem::path& path, const std::string& name,
                         const std::string& place);

/// Finds the folder or file of a model by path, by built-in name ("stories", "translator", "scenes"), by its
/// name on the Hugging Face hub ("openai-community/gpt2", "owner/name@REVISION") if it was downloaded, or by
/// its name in models_on_computer. Resolves a folder of the hub's cache to its snapshot.
Result<std::filesystem::path> find_model(const std::string& path_or_name);

/// Returns a folder beside the built-in models that is none itself ("recurrent"), also if it is missing.
std::filesystem::path built_in_folder(const std::string& name);

/// Finds a model and opens it (Model::open), under the name that users know; or a model with an adapter on it
/// (hub/adapted.h). Shares everything but the strength with `open`, if that is the same model with the same
/// adapter.
Result<std::shared_ptr<const Model>> open_model(const std::string& path_or_name,
                                                const CancelFlag* cancel = nullptr,
                                                OpeningProgress* progress = nullptr,
                                                const std::shared_ptr<const Model>& open = nullptr);

/// Returns a model's name: the folder's or file's, "owner/name" in the Hugging Face cache.
std::string model_name(const std::filesystem::path& path);

/// Derives the name from the path alone, without reading the disk.
std::string name_in_path(const std::filesystem::path& path);

/// Canonicalizes an argument of find_model: makes a path absolute and resolves linked folders; keeps a name.
/// Keeps a link to a file too: files beside it may belong to it.
std::string model_key(const std::string& path_or_name);

}  // namespace headlight
