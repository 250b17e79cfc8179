// Prepares an image as a vision model reads it.
#pragma once

#include "base/matrix.h"
#include "io/image.h"
#include "model/model.h"

namespace headlight {

/// Says which tokens are an image's: `count` from `first` on; its patches row by row, if they make a grid.
struct PatchGrid {
    bool operator==(const PatchGrid&) const = default;
    int first = 0, count = 0, rows = 0, columns = 0;
    bool has(int token) const { return token >= first && token - first < count; }
};

struct Picture {
    RgbImage image;  // resized to the model's input; of a server's model as it was given
    Matrix patches;  // [patches, channels · patch · patch], row by row; rescaled and normalized
    PatchGrid grid;
    std::string name;  // by which a server knows the image, whose patches are there; "": none
};

/// Resizes to the model's square and cuts it into patches: (value · rescale − mean) / deviation.
Picture prepare_picture(const RgbImage& image, const VisionConfig& vision);

}  // namespace headlight
