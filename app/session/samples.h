// Pictures to start from, for vision models.
#pragma once

#include <span>
#include <string>

#include "io/image.h"

namespace headlight {

struct SamplePicture {
    const char *path, *title;  // path: as a person may type it
};

/// Those of assets/samples, which make.py there draws.
std::span<const SamplePicture> sample_pictures();

/// Reads a sample by its path, or a file.
Result<RgbImage> open_picture(const std::string& path);

/// Whether a text is the path of a picture, by how it ends, or a sample's.
bool names_picture(const std::string& text);

}  // namespace headlight
