// Models that were split into several GGUF files: NAME-00001-of-00003.gguf and so on.
#pragma once

#include <optional>

#include "io/gguf.h"

namespace headlight {

/// What the name of a part says.
struct GgufPart {
    std::string stem;  // what stands in front, "NAME"
    int number = 1, count = 1;
    /// The name of another part of the same model.
    std::string sibling(int other) const;
};
std::optional<GgufPart> parse_gguf_part(const std::string& filename);

/// The files of a model, in order, whichever of them is named: a file that is whole, or all parts, which lie
/// beside one another.
std::vector<std::filesystem::path> gguf_part_paths(const std::filesystem::path& path);

/// A model's files, and one file that holds what all of them hold.
struct GgufModel {
    Gguf whole;  // the first part's metadata, the tensors of all
    std::vector<TensorFile> files;
};

/// Maps and checks all of them. Parts that are missing or contradict one another are an error.
Result<GgufModel> open_gguf_model(const std::filesystem::path& path);

/// The name of a GGUF file, without the number of a part: "m" of "m-00001-of-00003.gguf".
std::string gguf_name(const std::filesystem::path& file);

}  // namespace headlight
