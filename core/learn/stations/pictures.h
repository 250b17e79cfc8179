// Station "Beyond language": a picture's patches are the tokens of a vision transformer.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct PicturesState {
    int patch = 16;       // pixels a side, where no vision model says it
    std::string picture;  // a file in place of the sample, where no vision model reads one

    void visit(ControlVisitor& v);
};

Result<Page> pictures_page(const StationInput& input, const PicturesState& state, ThreadPool& pool);

/// A house on a hill under the sun: for whom no picture is open. Drawn anew each time, square.
RgbImage sample_picture(int side = 224);

/// [patch, patch]: brightness 0 … 1 of one patch, the mean of its colors.
Matrix patch_brightness(const RgbImage& image, int patch, int row, int column);

}  // namespace headlight::learn
