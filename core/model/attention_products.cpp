// Computes q kᵀ and P v, by panels for many queries and in place for few.
#include "model/attention_products.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/choice.h"

namespace headlight {

namespace {

/// Processes this many keys' values at a time, while prefetching the next as many.
constexpr Index kKeysAhead = 16;

/// S = q kᵀ for a few queries.
void multiply_few_keys(ConstMatrixRef q, const Rows& k, int first_key, MatrixRef scores) {
    static thread_local std::vector<const uint8_t*> rows;
    rows.resize(static_cast<size_t>(scores.cols()));
    for (Index i = 0; i < scores.cols(); ++i)
        rows[static_cast<size_t>(i)] = reinterpret_cast<const uint8_t*>(k.row(first_key + i).data());
    const Index ahead = kSumLanes * k.stride() * Index{sizeof(float)};  // bytes to the next keys
    kernels().multiply_few({.x = q.data(),
                            .x_stride = q.outerStride(),
                            .rows = q.rows(),
                            .w = rows.data(),
                            .count = scores.cols(),
                            .depth = k.cols(),
                            .y = scores.data(),
                            .y_stride = scores.outerStride(),
                            .begin = true,
                            .bias = nullptr,
                            .ahead = ahead});
}

/// Copies inputs [k0, k0 + depth) of the columns of v from o on into a panel of weights.
void copy_values(const Rows& v, Index k0, Index depth, Index o, float* panel) {
    const Index count = std::min<Index>(kPanel, v.cols() - o);
    for (Index k = 0; k < depth; ++k) std::copy_n(v.row(k0 + k).data() + o, count, panel + k * kPanel);
}

/// Prefetches the rows [first, last) of v, clipped to its size.
void fetch_rows(const Rows& v, Index first, Index last) {
    constexpr Index kLineFloats = 16;
    for (Index i = first; i < std::min(last, v.rows()); ++i)
        for (Index o = 0; o < v.cols(); o += kLineFloats) __builtin_prefetch(v.row(i).data() + o);
}

/// z = P v for a few queries, reading v in place. Prefetches by hand: a piece of one row, then of the next,
/// is a pattern that the hardware prefetcher misses.
void weigh_values_in_place(ConstMatrixRef x, int first_key, const Rows& v, MatrixRef z) {
    for (Index k0 = 0; k0 < x.cols();) {
        const Index key = first_key + k0, depth = std::min({v.together(key), x.cols() - k0, kKeysAhead});
        fetch_rows(v, key + kKeysAhead, key + 2 * kKeysAhead);
        for (Index o = 0; o < v.cols(); o += kPanel)
            kernels().multiply({.x = x.data() + k0,
                                .x_stride = x.outerStride(),
                                .rows = x.rows(),
                                .w = v.row(key).data() + o,
                                .w_stride = v.stride(),
                                .depth = depth,
                                .width = std::min<Index>(kPanel, v.cols() - o),
                                .y = &z(0, o),
                                .y_stride = z.outerStride(),
                                .begin = k0 == 0,
                                .bias = nullptr});
        k0 += depth;
    }
}

}  // namespace

void multiply_keys(ConstMatrixRef q, const Rows& k, int first_key, MatrixRef scores) {
    if (q.rows() <= kFewQueries) return multiply_few_keys(q, k, first_key, scores);
    static thread_local std::vector<float> panel;
    panel.resize(kPanel * k.cols());
    std::array<const float*, kPanel> rows;
    for (Index key = 0; key < scores.cols(); key += kPanel) {
        const Index count = std::min<Index>(kPanel, scores.cols() - key);
        for (Index i = 0; i < count; ++i) rows[i] = k.row(first_key + key + i).data();
        kernels().transpose(rows.data(), count, k.cols(), panel.data());
        kernels().multiply({.x = q.data(),
                            .x_stride = q.outerStride(),
                            .rows = q.rows(),
                            .w = panel.data(),
                            .w_stride = kPanel,
                            .depth = k.cols(),
                            .width = count,
                            .y = scores.data() + key,
                            .y_stride = scores.outerStride(),
                            .begin = true,
                            .bias = nullptr});
    }
}

void weigh_values(ConstMatrixRef weights, int first_key, const Rows& v, MatrixRef z) {
    if (weights.rows() <= kFewQueries && v.cols() % kSumLanes == 0)  // read in whole groups of sixteen
        return weigh_values_in_place(weights, first_key, v, z);
    constexpr Index kDepth = 192;  // keys per panel: it fits the first-level cache
    static thread_local std::vector<float> panel(kPanel * kDepth);
    for (Index k0 = 0; k0 < weights.cols(); k0 += kDepth)
        for (Index o = 0; o < v.cols(); o += kPanel) {
            const Index depth = std::min(kDepth, weights.cols() - k0);
            copy_values(v, first_key + k0, depth, o, panel.data());
            kernels().multiply({.x = weights.data() + k0,
                                .x_stride = weights.outerStride(),
                                .rows = weights.rows(),
                                .w = panel.data(),
                                .w_stride = kPanel,
                                .depth = depth,
                                .width = std::min<Index>(kPanel, v.cols() - o),
                                .y = &z(0, o),
                                .y_stride = z.outerStride(),
                                .begin = k0 == 0,
                                .bias = nullptr});
        }
}

}  // namespace headlight
