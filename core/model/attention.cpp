// Scores, mask, softmax, weighted values. Views that show a head later call these same functions on the same q and k.
#include "model/attention.h"

#include <algorithm>
#include <vector>

namespace headlight {

namespace {
constexpr int kQueryBlock = 64;
}

void attention_scores(ConstMatrixRef q, ConstMatrixRef k, float scale, MatrixRef scores) {
    scores.noalias() = q * k.transpose();
    scores *= scale;
}

void masked_softmax(const MaskPlan& mask, int first, MatrixRef scores) {
    for (Index r = 0; r < scores.rows(); ++r) {
        const int query = first + static_cast<int>(r);
        auto row = scores.row(r).array();
        const int end = mask.end[static_cast<size_t>(query)];
        if (end == 0) {
            row.setConstant(1.0f / static_cast<float>(mask.size()));
            continue;
        }
        auto seen = row.head(end);
        row.tail(row.size() - end).setZero();
        if (!mask.prefix[static_cast<size_t>(query)])
            for (int key = 0; key < end; ++key)
                if (!mask.allows(query, key)) seen[key] = -std::numeric_limits<float>::infinity();
        const float largest = seen.maxCoeff();
        seen = (seen - largest).exp();
        seen *= 1.0f / seen.sum();
    }
}

void head_pattern(const MaskPlan& mask, ConstMatrixRef q, ConstMatrixRef k, float scale, int first, MatrixRef pattern) {
    const Index rows = pattern.rows();
    const int keys = mask.visible_keys(first, first + static_cast<int>(rows));
    attention_scores(q.middleRows(first, rows), k.topRows(keys), scale, pattern.leftCols(keys));
    pattern.rightCols(pattern.cols() - keys).setZero();
    masked_softmax(mask, first, pattern.leftCols(keys));
}

void attend(ThreadPool& pool, const MaskPlan& mask, ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v, int heads, float scale, int start, MatrixRef z) {
    const int n = static_cast<int>(q.rows());
    const Index width = q.cols() / heads;
    const int blocks = (n - start + kQueryBlock - 1) / kQueryBlock;
    pool.run(heads * blocks, [&](int tile) {
        static thread_local std::vector<float, Eigen::aligned_allocator<float>> scratch;  // aligned: Eigen adds up in an order that depends on it
        const int head = tile % heads, first = start + (tile / heads) * kQueryBlock, rows = std::min(kQueryBlock, n - first);
        const int keys = mask.visible_keys(first, first + rows);
        scratch.resize(std::max<size_t>(scratch.size(), static_cast<size_t>(rows) * static_cast<size_t>(keys)));
        Eigen::Map<Matrix> pattern(scratch.data(), rows, keys);
        const Index at = head * width;
        attention_scores(q.block(first, at, rows, width), k.block(0, at, keys, width), scale, pattern);
        masked_softmax(mask, first, pattern);
        z.block(first, at, rows, width).noalias() = pattern * v.block(0, at, keys, width);
    });
}

}  // namespace headlight
