// Chooses which files of a repository are needed, from the hub's listing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

struct HubFile {
    std::string name;   // with its folders, "onnx/model.onnx"
    int64_t size = -1;  // −1: unknown
    std::string hash;   // SHA-256 of a large file (LFS), else git's blob hash; "": unknown
    bool operator==(const HubFile&) const = default;
};

struct HubListing {
    std::string commit;
    std::vector<HubFile> files;

    const HubFile* find(std::string_view name) const;
};

/// Returns whether it is a blob hash of the hub: 40 or 64 hexadecimal digits, in lower case.
bool is_hub_hash(std::string_view text);

/// Parses the answer of {endpoint}/api/models/{repository}/revision/{revision}?blobs=true. Every name stays
/// within its folder; sizes and counts are bounded. Messages call it `repository`.
Result<HubListing> parse_hub_listing(std::string_view json, const std::string& repository);

/// Chooses the files that the model needs: configuration, tokenizer, and model.safetensors or the index of
/// its shards; or a GGUF file, if `gguf` names one by a part of its name or there is nothing else.
Result<std::vector<HubFile>> choose_hub_files(const HubListing& listing, const std::string& gguf,
                                              const std::string& repository);

/// Lists the shards that an index among these files names; `text`: its content.
Result<std::vector<HubFile>> choose_hub_shards(const HubListing& listing, const std::string& index,
                                               std::string_view text);

/// Returns whether the weights exist only as a Python pickle, which is never read.
bool is_only_pickled(const HubListing& listing);

/// Returns whether two revisions hold the same pickles, as far as their hashes are known.
bool has_same_pickles(const HubListing& a, const HubListing& b);

/// Name the hub's converter of pickles and the title of its pull requests, as safetensors_conversion.py does.
inline constexpr const char* kHubConverter = "SFconvertbot";
inline constexpr const char* kHubConversion = "Adding `safetensors` variant of this model";

/// Holds the numbers N of pull requests with the converter's safetensors; their revision is refs/pr/N.
struct HubConversions {
    std::vector<int> open, closed;
    /// Lists all, open ones first.
    std::vector<int> all() const;
};

/// Adds those of a page of {endpoint}/api/models/{repository}/discussions; returns whether another follows.
Result<bool> add_hub_conversions(std::string_view json, const std::string& repository, HubConversions& found);

}  // namespace headlight
