// Masks a row of scores in several ways.
#include "learn/mask_ways.h"

#include <limits>

#include "base/cast.h"
#include "base/check.h"
#include "base/draws.h"
#include "learn/normalizers.h"

namespace headlight {

std::vector<float> masked_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                  MaskWay way) {
    HEADLIGHT_CHECK(scores.size() == allowed.size());
    const float hidden = way == MaskWay::infinity_before ? -std::numeric_limits<float>::infinity() : -1e9f;
    Vector row = Eigen::Map<const Vector>(scores.data(), isize(scores));
    const bool before = way == MaskWay::infinity_before || way == MaskWay::large_before;
    for (int i = 0; before && i < row.size(); ++i)
        if (!allowed[i]) row[i] = hidden;
    row = softmax_weights(row);
    for (int i = 0; way == MaskWay::zero_after && i < row.size(); ++i)
        if (!allowed[i]) row[i] = 0;
    return {row.begin(), row.end()};
}

std::vector<float> dropped_out(std::vector<float> weights, float rate, unsigned seed) {
    HEADLIGHT_CHECK(rate >= 0 && rate < 1);
    Draws random(seed);
    for (float& weight : weights) weight = random.uniform() < double(rate) ? 0 : weight / (1 - rate);
    return weights;
}

}  // namespace headlight
