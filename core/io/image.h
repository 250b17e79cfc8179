// Pictures from files that nobody vouches for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// 8-bit red, green, blue, row by row.
struct RgbImage {
    int width = 0, height = 0;
    std::vector<uint8_t> rgb;
};

/// Reads a PNG or JPEG file of at most 32 megapixels and 65,535 pixels a side, and turns it upright where
/// EXIF or XMP say how. Grey and four inks (CMYK) become RGB, alpha is dropped.
Result<RgbImage> open_image(const std::filesystem::path& path);

/// The same from bytes in memory; `name` is what messages call them. For tests and fuzzing.
Result<RgbImage> decode_image(std::span<const std::byte> bytes, const std::string& name);

enum class Resampling { bilinear, bicubic };

/// Resizes as Pillow does: the filter widens when it shrinks, each row first, then the columns, 8 bits
/// between them. Beside the pictures it takes 12 bytes for each pixel of the result.
RgbImage resize(const RgbImage& image, int width, int height, Resampling filter);

}  // namespace headlight
