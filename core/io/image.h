// Reads pictures from untrusted files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Holds 8-bit red, green, blue, row by row.
struct RgbImage {
    int width = 0, height = 0;
    std::vector<uint8_t> rgb;
};

/// Reads a PNG or JPEG file of at most 32 megapixels and 65,535 pixels a side, and applies its EXIF or XMP
/// orientation. Converts gray and CMYK to RGB; drops alpha.
Result<RgbImage> open_image(const std::filesystem::path& path);

/// Decodes bytes in memory; messages call them `name`. For tests and fuzzing.
Result<RgbImage> decode_image(std::span<const std::byte> bytes, const std::string& name);

enum class Resampling { bilinear, bicubic };

/// Resizes as Pillow does: widens the filter when shrinking, resamples rows, then columns, with 8 bits
/// between. Needs 12 bytes per pixel of the result besides the pictures.
RgbImage resize(const RgbImage& image, int width, int height, Resampling filter);

}  // namespace headlight
