// Turns pictures upright: cameras store pixels as the sensor saw them, and the orientation in EXIF or XMP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/image.h"

namespace headlight {

/// Returns EXIF's orientation: 1 is upright, 2 … 8 are rotated or mirrored. Nothing if the bytes, a TIFF
/// header and its directories, do not contain it.
std::optional<int> exif_orientation(std::string_view bytes);

/// Reads it from an XMP packet.
std::optional<int> xmp_orientation(std::string_view packet);

/// Reads it from a JPEG file's segments: EXIF, else XMP, else 1.
int jpeg_orientation(std::string_view file);

/// Decodes EXIF that ImageMagick wrote into a PNG's text, "\nexif\n    98\n45786966…".
std::string bytes_of_raw_profile(std::string_view text);

/// Turns the picture upright, as Pillow's ImageOps.exif_transpose does.
RgbImage upright(RgbImage image, int orientation);

}  // namespace headlight
