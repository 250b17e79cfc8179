// Opens models split into several GGUF files: NAME-00001-of-00003.gguf and so on.
#pragma once

#include <optional>

#include "io/gguf.h"

namespace headlight {

struct GgufPart {
    std::string stem;  // before the number, "NAME"
    int number = 1, count = 1;
    /// Returns the name of another part of the same model.
    std::string sibling(int other) const;
};
std::optional<GgufPart> parse_gguf_part(const std::string& filename);

/// Returns the files of a model in order, given any of them: a whole file, or all parts in one folder.
std::vector<std::filesystem::path> gguf_part_paths(const std::filesystem::path& path);

/// Holds a model's files, and one view of the contents of all.
struct GgufModel {
    Gguf whole;  // metadata of the first part, tensors of all
    std::vector<TensorFile> files;
};

/// Maps and checks all parts. Missing or inconsistent parts are an error.
Result<GgufModel> open_gguf_model(const std::filesystem::path& path);

/// Returns the name of a GGUF file, without the number of a part: "m" of "m-00001-of-00003.gguf".
std::string gguf_name(const std::filesystem::path& file);

}  // namespace headlight
