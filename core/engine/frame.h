// Reads and writes frames of the engine's protocol (docs/engine.md): a JSON header and raw tensors.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "io/json.h"
#include "io/tensor.h"

namespace headlight {

/// Holds what one side sent. `body` owns the bytes of the tensors.
struct Frame {
    Json header;
    std::map<std::string, StoredTensor> tensors;
    std::shared_ptr<const void> body;

    const StoredTensor* find(const std::string& name) const;
};

/// Counts the bytes of both parts of a frame, which the first 16 bytes say.
struct FrameSizes {
    uint64_t header = 0, body = 0;
};
inline constexpr size_t kPrefaceBytes = 16;

/// Reads the first bytes of a frame. Fails if they begin none, or if a part is larger than any frame's.
Result<FrameSizes> read_preface(std::span<const std::byte, kPrefaceBytes> bytes);

/// Parses a header: one JSON object without NaN and infinity.
Result<Json> parse_frame_header(std::string_view text);

/// Finds the tensors that a header places in a body. Fails if one of them is not within it.
Result<std::map<std::string, StoredTensor>> frame_tensors(const Json& header,
                                                          std::span<const std::byte> body);

/// Parses the bytes of a whole frame and copies its body. For tests and fuzzing.
Result<Frame> parse_frame(std::span<const std::byte> bytes);

/// Says what a server does that this version does not know, and the remedy.
Error of_other_version(const std::string& what);

/// Describes a tensor to send.
struct SentTensor {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::string bytes;
};

/// Returns the bytes of a frame.
std::string frame_bytes(Json header, const std::vector<SentTensor>& tensors = {});

/// [rows, columns] of a tensor, in float32. Fails if it is missing, has another shape, or holds NaN or
/// infinity.
Result<Matrix> frame_matrix(const Frame& frame, const std::string& name, int64_t rows, int64_t columns);

}  // namespace headlight
