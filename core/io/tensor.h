// Describes tensors in a mapped file.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/dtype.h"
#include "io/mapped_file.h"

namespace headlight {

struct StoredTensor {
    const DType* dtype = nullptr;
    std::vector<int64_t> shape;  // row-major: the last dimension is contiguous
    std::span<const std::byte> bytes;
    /// Lists the input that each column of a matrix multiplies; null: they are in order.
    const int32_t* order = nullptr;
};

/// Holds an open file's tensors by name; keeps the file mapped.
struct TensorFile {
    std::shared_ptr<const MappedFile> file;
    std::map<std::string, StoredTensor> tensors;
};

/// Returns "[768, 2304]".
std::string shape_text(std::span<const int64_t> shape);

/// Counts elements; the shape must have been checked to fit 64 bits.
int64_t element_count(std::span<const int64_t> shape);

using ByteRange = std::pair<uint64_t, uint64_t>;  // [begin, end)

/// Fails if two tensors of a file overlap.
Status check_apart(std::vector<ByteRange> ranges, const std::string& name);

}  // namespace headlight
