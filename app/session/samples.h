// Sample images for vision models.
#pragma once

#include <span>
#include <string>

#include "io/image.h"
#include "model/model.h"

namespace headlight {

struct SamplePicture {
    const char *path, *title;  // path: as you may type it
};

/// The images of assets/samples, drawn by make.py there.
std::span<const SamplePicture> sample_pictures();

/// The picture that a model begins with: its sample, if it is the built-in one; else none.
const char* first_picture(const Model& model);

/// Reads a sample by its path, or a file.
Result<RgbImage> open_picture(const std::string& path);

/// Whether a text is the path of an image, by its extension, or a sample's.
bool names_picture(const std::string& text);

}  // namespace headlight
