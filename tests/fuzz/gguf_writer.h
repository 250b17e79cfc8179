// GGUF headers from JSON, so that they are edited as JSON is.
#pragma once

#include <string>

#include "io/json.h"

namespace headlight::fuzz {

/// Everything before the tensors' bytes, padded. `tensors`: name → {"type", "shape" (row-major), "offset"};
/// what is no number there counts as 0. Metadata that GGUF cannot hold (null, objects) is left out.
std::string gguf_header(const Json& metadata, const Json& tensors);

}  // namespace headlight::fuzz
