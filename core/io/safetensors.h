// Reads and writes the safetensors format: an 8-byte length, a JSON header, then the tensors' bytes.
// https://huggingface.co/docs/safetensors (format description).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/tensor.h"

namespace headlight {

/// Holds an open file: tensors by name, and the strings of `__metadata__`.
struct Safetensors : TensorFile {
    std::map<std::string, std::string> metadata;
};

/// Maps a file and checks its whole header: lengths, shapes, offsets, overlaps.
Result<Safetensors> open_safetensors(const std::filesystem::path& path);

/// Parses a header in memory; `total` bytes of file follow the 8-byte length. For tests and fuzzing.
Result<Safetensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

/// Describes one tensor to write. `write` is called once, in order, with a sink for its bytes.
struct TensorToWrite {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::function<void(const std::function<void(const void*, size_t)>& sink)> write;
};

/// Writes a safetensors file whole or, also if `last_word` fails at the end, not at all.
Status write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors,
                         const std::map<std::string, std::string>& metadata,
                         const std::function<Status()>& last_word = {});

}  // namespace headlight
