#include "trace/large_pattern.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// The largest of each step × step entries; the last ones may be smaller.
Matrix reduced(const Matrix& m, int step) {
    if (step == 1) return m;
    Matrix out((m.rows() + step - 1) / step, (m.cols() + step - 1) / step);
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c)
            out(r, c) = m.block(r * step, c * step, std::min<Index>(step, m.rows() - r * step),
                                std::min<Index>(step, m.cols() - c * step))
                            .maxCoeff();
    return out;
}

}  // namespace

int map_step(Index rows, Index columns, int side) {
    HEADLIGHT_CHECK(side > 0);
    return narrow<int>(std::max<Index>(1, (std::max(rows, columns) + side - 1) / side));
}

Matrix largest_of_squares(Index rows, Index columns, int step, ThreadPool& pool,
                          const std::function<Matrix(int first, int count)>& block) {
    const Index at_once = step * std::max(1, 64 / step);  // whole squares
    Matrix out((rows + step - 1) / step, (columns + step - 1) / step);
    pool.run(narrow<int>((rows + at_once - 1) / at_once), [&](int i) {
        const Index first = i * at_once, count = std::min(at_once, rows - first);
        const Matrix part = reduced(block(narrow<int>(first), narrow<int>(count)), step);
        HEADLIGHT_CHECK(part.cols() == out.cols() && first / step + part.rows() <= out.rows());
        out.middleRows(first / step, part.rows()) = part;
    });
    return out;
}

}  // namespace headlight
