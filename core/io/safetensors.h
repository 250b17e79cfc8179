// The safetensors file format: an 8-byte length, a JSON header, then the tensors' bytes.
// https://huggingface.co/docs/safetensors (format description).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/mapped_file.h"

namespace headlight {

enum class DType { f32, f16, bf16, i64, other };

/// A tensor as it lies in a mapped file.
struct StoredTensor {
    DType dtype = DType::other;
    std::string dtype_name;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;
};

/// "[768, 2304]"
std::string shape_text(std::span<const int64_t> shape);

/// Number of elements; the shape must have been checked to fit 64 bits.
int64_t element_count(std::span<const int64_t> shape);

/// Copies n values of a float tensor (F32, F16 or BF16) to float32.
void decode_floats(const StoredTensor& tensor, float* out);

/// An open file: tensors by name, and the strings of `__metadata__`.
struct Safetensors {
    std::shared_ptr<const MappedFile> file;
    std::map<std::string, StoredTensor> tensors;
    std::map<std::string, std::string> metadata;
};

/// Maps a file and checks its whole header: lengths, shapes, offsets, overlaps.
Result<Safetensors> open_safetensors(const std::filesystem::path& path);

/// The same for a header already in memory; `total` bytes of file follow the 8-byte length. For tests and fuzzing.
Result<Safetensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

/// One tensor to be written. `write` is called once, in order, with a sink for its bytes.
struct TensorToWrite {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::function<void(const std::function<void(const void*, size_t)>& sink)> write;
};

/// Writes a safetensors file whole or not at all.
Status write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors,
                         const std::map<std::string, std::string>& metadata);

}  // namespace headlight
