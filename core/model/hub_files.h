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

/// Git's hash of a file's bytes: SHA-1 of "blob", its size, a zero and the bytes.
std::string git_blob_hash(std::string_view bytes);

}  // namespace headlight
