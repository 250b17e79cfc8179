// Station "Beyond language": an image's patches are the tokens of a vision transformer.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct PicturesState {
    int patch = 16;       // pixels per side, if no vision model sets it
    std::string picture;  // a file that replaces the sample, if no vision model reads one

    void visit(ControlVisitor& v);
};

Result<Page> pictures_page(const StationInput& input, const PicturesState& state, ThreadPool& pool);

/// Returns the sample, a scene of shapes (assets/samples/scene.png); square.
RgbImage sample_picture(int side = 224);

/// Lays a row of weights of a vision model's tokens over its picture, without that of the class token.
Pixels weights_on_picture(const Trace& trace, const std::string& title, const std::vector<float>& weights);

/// [patch, patch]: brightness 0 … 1 of one patch, the mean of its colors.
Matrix patch_brightness(const RgbImage& image, int patch, int row, int column);

}  // namespace headlight::learn
