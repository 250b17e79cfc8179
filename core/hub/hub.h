// Resolves names on the Hugging Face hub as its own libraries do: names, environment, the layout of the
// cache. huggingface_hub's documentation: "Understand caching", "Environment variables".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Names "openai-community/gpt2" at a revision: a branch, a tag or a commit.
struct HubName {
    std::string repository, revision = "main";
};

/// Parses "owner/name" or "name", with or without "@REVISION", or a model's address. Fails on other names.
Result<HubName> parse_hub_name(const std::string& text, const std::string& revision = "");

/// Holds the hub's address and token (HF_ENDPOINT, HF_TOKEN or the token's file).
struct HubPlace {
    std::string endpoint, token;
};
/// Fails if HF_HUB_OFFLINE is set, or HF_ENDPOINT is not a URL.
Result<HubPlace> hub_place();

/// Returns the cache: HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub.
std::filesystem::path hub_cache();

/// Returns the folder of a repository in a cache, "models--owner--name".
std::filesystem::path hub_folder(const std::filesystem::path& cache, const std::string& repository);

/// "models--openai-community--gpt2" → "openai-community/gpt2".
std::string hub_repository(std::string folder);

/// Returns the snapshot of a revision in a repository's folder; of "main" without safetensors that of a pull
/// request with them, and without a snapshot the latest. Empty: none.
std::filesystem::path hub_snapshot(const std::filesystem::path& folder, const std::string& revision = "main");

/// Returns what --model opens of a snapshot: the folder; without config.json its only GGUF file; or nothing.
std::filesystem::path hub_model(const std::filesystem::path& snapshot);

/// Resolves a folder of the hub's cache ("models--owner--name") to the snapshot of its refs/main, as --model
/// opens it. Returns any other path unchanged.
std::filesystem::path out_of_hub_cache(const std::filesystem::path& path);

struct HubSuggestion {
    const char* repository;
    const char* what;
    int64_t bytes;  // of all files, about
};
const std::vector<HubSuggestion>& hub_suggestions();

}  // namespace headlight
