// Writes PNG files.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Holds 8-bit pixels, row by row: red, green, blue, and with `alpha` the coverage.
struct PngPixels {
    uint32_t width = 0, height = 0;
    bool alpha = false;
    std::vector<uint8_t> bytes;
    double dpi = 96;  // written as pHYs, so that programs show the picture at its physical size
};

using ByteSink = std::function<void(const void*, size_t)>;

/// Encodes the pixels and passes the bytes to `sink`. Fails only if memory runs out.
Status encode_png(const PngPixels& pixels, const ByteSink& sink);

}  // namespace headlight
