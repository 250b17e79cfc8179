// A tensor as it lies in a mapped file.
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
    std::vector<int64_t> shape;  // row-major: the last dimension lies together
    std::span<const std::byte> bytes;
};

/// An open file of tensors by name; the file stays mapped for as long as this lives.
struct TensorFile {
    std::shared_ptr<const MappedFile> file;
    std::map<std::string, StoredTensor> tensors;
};

/// "[768, 2304]"
std::string shape_text(std::span<const int64_t> shape);

/// Number of elements; the shape must have been checked to fit 64 bits.
int64_t element_count(std::span<const int64_t> shape);

using ByteRange = std::pair<uint64_t, uint64_t>;  // [begin, end)

/// No two tensors of a file may share bytes.
Status check_apart(std::vector<ByteRange> ranges, const std::string& name);

}  // namespace headlight
