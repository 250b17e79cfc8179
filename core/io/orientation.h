// Which way up a picture is: cameras store what the sensor saw, and say in EXIF or XMP how to turn it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/image.h"

namespace headlight {

/// EXIF's number for how a picture is stored: 1 is upright, 2 … 8 are turned or mirrored. Nothing where the
/// bytes, a TIFF header and its directories, do not say it.
std::optional<int> exif_orientation(std::string_view bytes);

/// The same of an XMP packet.
std::optional<int> xmp_orientation(std::string_view packet);

/// The same of a JPEG file's segments: EXIF, and XMP where that says nothing. 1 where neither does.
int jpeg_orientation(std::string_view file);

/// EXIF as ImageMagick wrote it into a PNG's text, "\nexif\n    98\n45786966…": its bytes.
std::string bytes_of_raw_profile(std::string_view text);

/// The picture turned upright, as Pillow's ImageOps.exif_transpose turns it.
RgbImage upright(RgbImage image, int orientation);

}  // namespace headlight
