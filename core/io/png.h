// PNG files, written.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace headlight {

/// 8-bit pixels, row by row: red, green, blue, and with `alpha` how much each covers.
struct PngPixels {
    uint32_t width = 0, height = 0;
    bool alpha = false;
    std::vector<uint8_t> bytes;
    double dpi = 96;  // written as pHYs, so that programs place the picture at its size
};

using ByteSink = std::function<void(const void*, size_t)>;

/// Encodes the pixels and hands the bytes to `sink`. Fails only where memory does.
Status encode_png(const PngPixels& pixels, const ByteSink& sink);

}  // namespace headlight
