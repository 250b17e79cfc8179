// Computes position biases of attention scores.
#include "model/position_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/cast.h"

namespace headlight {

int bucket_of(const RelativeBuckets& b, int distance, bool causal) {
    int count = b.count, bucket = 0;
    if (!causal) {
        count /= 2;
        if (distance > 0) bucket = count;
        distance = std::abs(distance);
    } else {
        distance = std::max(-distance, 0);
    }
    const int exact = count / 2;
    if (distance < exact) return bucket + distance;
    const float share =
        std::log(float(distance) / float(exact)) / std::log(float(b.max_distance) / float(exact));
    return bucket + std::min(exact + int(share * float(count - exact)), count - 1);
}

void PositionBias::add(int head, int first, int first_key, MatrixRef scores) const {
    const int queries = narrow<int>(by_distance.cols() + 1) / 2;  // self-attention: as many keys as queries
    for (int r = 0; r < scores.rows(); ++r) {
        if (by_key.size()) scores.row(r) += by_key.row(head).segment(first_key, scores.cols());
        if (by_distance.size() && positions.empty())
            scores.row(r) +=
                by_distance.row(head).segment(first_key - (first + r) + queries - 1, scores.cols());
        for (int i = 0; i < scores.cols() && !positions.empty(); ++i)
            scores(r, i) += by_distance(head, positions[first_key + i] - positions[first + r] + queries - 1);
    }
}

PositionBias alibi_bias(const Alibi& alibi, int heads, int keys) {
    PositionBias bias;
    bias.by_key.resize(heads, keys);
    int power = 1;
    while (2 * power <= heads) power *= 2;
    const auto rounded = [&](float x) { return alibi.bfloat16 ? float(Eigen::bfloat16(x)) : x; };
    for (int h = 0; h < heads; ++h) {
        const double step = alibi.steepness / float(power),
                     slope = std::pow(2.0, -step * (h < power ? h + 1 : (h - power) + 0.5));
        for (int k = 0; k < keys; ++k)
            bias.by_key(h, k) = rounded(rounded(float(slope)) * rounded(float(k))) * alibi.scale;
    }
    return bias;
}

PositionBias bucket_bias(const RelativeBuckets& buckets, const float* table, bool causal, int heads, int n) {
    PositionBias bias;
    bias.by_distance.resize(heads, 2 * n - 1);
    for (int distance = 1 - n; distance < n; ++distance) {
        const int bucket = bucket_of(buckets, distance, causal);
        for (int h = 0; h < heads; ++h) bias.by_distance(h, distance + n - 1) = table[bucket * heads + h];
    }
    return bias;
}

}  // namespace headlight
