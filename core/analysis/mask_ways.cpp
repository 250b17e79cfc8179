#include "analysis/mask_ways.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// exp(x − max x) ÷ their sum, as the formula says it: NaN where every score is −∞.
void plain_softmax(std::vector<float>& row) {
    const float max = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
    float sum = 0;
    for (float& x : row) sum += x = std::exp(x - max);
    for (float& x : row) x /= sum;
}

}  // namespace

std::vector<float> masked_weights(std::span<const float> scores, const std::vector<bool>& allowed,
                                  MaskWay way) {
    HEADLIGHT_CHECK(scores.size() == allowed.size());
    const float hidden = way == MaskWay::infinity_before ? -std::numeric_limits<float>::infinity() : -1e9f;
    std::vector<float> row(scores.begin(), scores.end());
    const bool before = way == MaskWay::infinity_before || way == MaskWay::large_before;
    for (int i = 0; before && i < isize(row); ++i)
        if (!allowed[i]) row[i] = hidden;
    plain_softmax(row);
    for (int i = 0; way == MaskWay::zero_after && i < isize(row); ++i)
        if (!allowed[i]) row[i] = 0;
    return row;
}

}  // namespace headlight
