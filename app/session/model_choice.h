// Identifies the model to open.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

/// A model by path or name, and the attempt to open it: the same path again is another choice.
struct ModelChoice {
    std::string path;
    uint64_t attempt = 0;
    bool operator==(const ModelChoice&) const = default;
};

}  // namespace headlight
