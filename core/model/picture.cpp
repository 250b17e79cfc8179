// Cuts images into patches.
#include "model/picture.h"

namespace headlight {

Picture prepare_picture(const RgbImage& image, const VisionConfig& v) {
    Picture out{resize(image, v.image, v.image, v.resampling),
                Matrix(v.patches(), v.channels * v.patch * v.patch),
                {1 + v.registers, v.patches(), v.image / v.patch, v.image / v.patch},
                ""};
    const int across = v.image / v.patch;
    for (int i = 0; i < v.patches(); ++i) {
        const int left = i % across * v.patch, top = i / across * v.patch;
        Index at = 0;
        for (int c = 0; c < v.channels; ++c)
            for (int y = top; y < top + v.patch; ++y)
                for (int x = left; x < left + v.patch; ++x) {
                    const size_t channel = c;
                    const auto value = float(out.image.rgb[(y * v.image + x) * 3 + c]);
                    out.patches(i, at++) = (value * v.rescale - v.mean[channel]) / v.deviation[channel];
                }
    }
    return out;
}

}  // namespace headlight
