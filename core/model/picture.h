// Prepares an image as a vision model reads it.
#pragma once

#include "base/matrix.h"
#include "io/image.h"
#include "model/model.h"

namespace headlight {

struct Picture {
    RgbImage image;  // resized to the model's input
    Matrix patches;  // [patches, channels · patch · patch], row by row; rescaled and normalized
};

/// Resizes to the model's square and cuts it into patches: (value · rescale − mean) / deviation.
Picture prepare_picture(const RgbImage& image, const VisionConfig& vision);

}  // namespace headlight
