// Which files of a repository are needed, from what the hub says of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

struct HubFile {
    std::string name;   // with its folders, "onnx/model.onnx"
    int64_t size = -1;  // −1: the hub did not say
    std::string
        hash;  // SHA-256 of what lies in large file storage, else git's hash of the blob; "": it did not say
    bool operator==(const HubFile&) const = default;
};

/// A revision of a repository.
struct HubListing {
    std::string commit;
    std::vector<HubFile> files;

    const HubFile* find(std::string_view name) const;
};

/// Whether it is a hash by which the hub knows a blob: 40 or 64 hexadecimal digits, in lower case.
bool is_hub_hash(std::string_view text);

/// Reads the answer of {endpoint}/api/models/{repository}/revision/{revision}?blobs=true. Every name stays
/// within its folder; sizes and counts are bounded. `repository` is what messages call it.
Result<HubListing> parse_hub_listing(std::string_view json, const std::string& repository);

/// The files that opening the model needs: configuration, tokenizer, and model.safetensors or the index of
/// its shards; or, where `gguf` names one by a part of its name, or there is nothing else, a GGUF file.
Result<std::vector<HubFile>> choose_hub_files(const HubListing& listing, const std::string& gguf,
                                              const std::string& repository);

/// The shards that an index among these files names; `text` is what it holds.
Result<std::vector<HubFile>> choose_hub_shards(const HubListing& listing, const std::string& index,
                                               std::string_view text);

/// Whether the weights are there as a Python pickle alone, which is never read.
bool is_only_pickled(const HubListing& listing);

/// Whether two revisions hold the same pickles, as far as the hub says their hashes.
bool has_same_pickles(const HubListing& a, const HubListing& b);

/// Who converts pickles for the hub, in pull requests of this title. transformers looks for the same
/// (safetensors_conversion.py).
inline constexpr const char* kHubConverter = "SFconvertbot";
inline constexpr const char* kHubConversion = "Adding `safetensors` variant of this model";

/// Numbers of the pull requests in which the hub's converter offers the weights as safetensors; refs/pr/N is
/// the revision.
struct HubConversions {
    std::vector<int> open, closed;
    /// Those that are open first.
    std::vector<int> all() const;
};

/// Adds those of a page of {endpoint}/api/models/{repository}/discussions; whether there is another page.
/// Others are passed over.
Result<bool> add_hub_conversions(std::string_view json, const std::string& repository, HubConversions& found);

/// Git's hash of a file's bytes: SHA-1 of "blob", its size, a zero and the bytes.
std::string git_blob_hash(std::string_view bytes);

}  // namespace headlight
