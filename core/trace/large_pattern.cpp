// Summarizes patterns too large to hold.
#include "trace/large_pattern.h"

#include <algorithm>
#include <vector>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

Matrix max_pool(const Matrix& m, Index rows, Index columns) {
    if (rows == 1 && columns == 1) return m;
    Matrix out((m.rows() + rows - 1) / rows, (m.cols() + columns - 1) / columns);
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c) {
            const auto block = m.block(r * rows, c * columns, std::min(rows, m.rows() - r * rows),
                                       std::min(columns, m.cols() - c * columns));
            const float high = block.maxCoeff();
            // nothing is negative in most patterns, and the largest is the strongest
            out(r, c) = high > 0 && block.minCoeff() >= 0 ? high : block.redux(&stronger);
        }
    return out;
}

float largest_entry(ConstMatrixRef weights) {
    float out = 0;
    for (Index r = 0; r < weights.rows(); ++r)
        for (const float w : weights.row(r))
            if (!is_masked(w)) out = std::max(out, std::abs(w));
    return out;
}

int map_step(Index rows, Index columns, int side) {
    HEADLIGHT_CHECK(side > 0);
    return narrow<int>(std::max<Index>(1, (std::max(rows, columns) + side - 1) / side));
}

float percentile_99(const Matrix& weights) {
    constexpr Index kMaxSampled = 65'536;
    const Index step = std::max<Index>(1, (weights.size() + kMaxSampled - 1) / kMaxSampled);
    std::vector<float> seen;
    for (Index i = 0; i < weights.size(); i += step | 1)  // odd, so that it does not sample single columns
        if (const float w = weights.data()[i]; !is_masked(w) && !std::isnan(w)) seen.push_back(std::abs(w));
    if (seen.empty()) return 0;
    const auto at = seen.begin() + (99 * std::ssize(seen) + 99) / 100 - 1;
    std::nth_element(seen.begin(), at, seen.end());
    return *at;
}

Matrix max_pool_squares(Index rows, Index columns, int step, ThreadPool& pool,
                        const std::function<Matrix(int first, int count)>& block) {
    const Index at_once = step * std::max(1, 64 / step);  // whole squares
    Matrix out((rows + step - 1) / step, (columns + step - 1) / step);
    pool.run(narrow<int>((rows + at_once - 1) / at_once), [&](int i) {
        const Index first = i * at_once, count = std::min(at_once, rows - first);
        const Matrix part = max_pool(block(narrow<int>(first), narrow<int>(count)), step, step);
        HEADLIGHT_CHECK(part.cols() == out.cols() && first / step + part.rows() <= out.rows());
        out.middleRows(first / step, part.rows()) = part;
    });
    return out;
}

}  // namespace headlight
