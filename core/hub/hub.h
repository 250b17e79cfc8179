// The Hugging Face hub, as its own libraries know it: names, what the environment says, the layout of the
// cache. huggingface_hub's documentation: "Understand caching", "Environment variables".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// "openai-community/gpt2" at a revision: a branch, a tag or a commit.
struct HubName {
    std::string repository, revision = "main";
};

/// Reads "owner/name", "name", either with "@REVISION", or the address of a model's page. An error for what
/// no model can be called.
Result<HubName> parse_hub_name(const std::string& text, const std::string& revision = "");

/// Where the hub is and what it is told (HF_ENDPOINT, HF_TOKEN or the token's file).
struct HubPlace {
    std::string endpoint, token;
};
/// An error where HF_HUB_OFFLINE forbids it, or HF_ENDPOINT is no address.
Result<HubPlace> hub_place();

/// The cache: HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub.
std::filesystem::path hub_cache();

/// The folder of a repository in a cache, "models--owner--name".
std::filesystem::path hub_folder(const std::filesystem::path& cache, const std::string& repository);

/// "models--openai-community--gpt2" → "openai-community/gpt2".
std::string hub_repository(std::string folder);

/// The snapshot that a revision of a repository's folder names; of "main" without safetensors one of a pull
/// request that has them, and without a snapshot the last. Empty: none.
std::filesystem::path hub_snapshot(const std::filesystem::path& folder, const std::string& revision = "main");

/// What --model opens of a snapshot: the folder, or its only GGUF file where it has no config.json. Empty:
/// neither.
std::filesystem::path hub_model(const std::filesystem::path& snapshot);

/// A folder of the hub's cache ("models--owner--name") stands for the snapshot that its refs/main names: what
/// --model opens of it. Any other path is itself.
std::filesystem::path out_of_hub_cache(const std::filesystem::path& path);

/// A model to begin with.
struct HubSuggestion {
    const char* repository;
    const char* what;
    int64_t bytes;  // about, of all that is fetched
};
const std::vector<HubSuggestion>& hub_suggestions();

}  // namespace headlight
