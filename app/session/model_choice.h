// Which model is meant.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

/// A model by its path or name, and which try of opening it is meant: the same path once more is another
/// choice.
struct ModelChoice {
    std::string path;
    uint64_t attempt = 0;
    bool operator==(const ModelChoice&) const = default;
};

}  // namespace headlight
