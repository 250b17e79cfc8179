// Reads the GGUF file format, versions 2 and 3: metadata, a table of tensors, their data.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (format description).
#pragma once

#include "base/result.h"
#include "io/json.h"
#include "io/tensor.h"

namespace headlight {

struct Gguf : TensorFile {
    std::map<std::string, Json> metadata;  // numbers, booleans, strings, and lists of these

    /// Returns metadata[key], or null.
    const Json& value(const std::string& key) const;
};

/// Maps a file and checks its whole header: counts, strings, shapes, offsets. Makes shapes row-major.
Result<Gguf> open_gguf(const std::filesystem::path& path);

/// Parses bytes in memory. For tests and fuzzing.
Result<Gguf> parse_gguf(std::span<const std::byte> bytes, const std::string& name);

/// Returns whether a file begins with GGUF's magic.
bool is_gguf(const std::filesystem::path& path);

}  // namespace headlight
