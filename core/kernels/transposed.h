// Multiplies a few rows by weights of single values stored [out, in], decoded and transposed in registers
// into sums in ascending order of inputs. Included only by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/formats.h"
#include "kernels/products.h"

namespace headlight {
namespace {

/// Describes a format whose sixteen values take `Bytes` bytes.
template <Lanes (*values)(const uint8_t*, int), int Bytes>
struct TransposedDots {
    static constexpr int64_t kRows = 3;  // of x, with their sums side by side

    /// Adds the next sixteen inputs, or fewer, to the sums of R rows of x with a vector of outputs: each lane
    /// of sum[r] is one output, whose weights are the row w[i].
    template <int R>
    [[gnu::always_inline]] static void add(const Dots& d, const float* x, const uint8_t* const* w,
                                           int64_t offset, int64_t inputs, Vec* sum) {
        Lanes weights[kLanes];
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) {
            fetch(w[i] + offset, d.ahead);
            weights[i] = values(w[i] + offset, 0);
        }
#pragma GCC unroll 4
        for (int64_t part = 0; part < Lanes::kParts; ++part) {
            Vec square[kLanes];
#pragma GCC unroll 16
            for (int64_t i = 0; i < kLanes; ++i) square[i] = weights[i].part[part];
            transpose_lanes(square);
#pragma GCC unroll 16
            for (int64_t i = 0; i < kLanes; ++i)
#pragma GCC unroll 3
                for (int64_t r = 0; r < R; ++r)
                    if (const int64_t k = part * kLanes + i; k < inputs)
                        sum[r] = fused(all(x[r * d.x_stride + k]), square[i], sum[r]);
        }
    }

    /// Multiplies R rows of x from `row` on by a vector of outputs from o on.
    template <int R>
    static void tile(const Dots& d, int64_t row, int64_t o) {
        const int64_t outputs = d.count - o, whole = d.depth / kSumLanes, left = d.depth % kSumLanes;
        const uint8_t* w[kLanes];
        for (int64_t i = 0; i < kLanes; ++i) w[i] = d.w[o + (i < outputs ? i : 0)];
        const float* const x = d.x + row * d.x_stride;
        float* const y = d.y + row * d.y_stride + o;
        Vec sum[R];
        for (int64_t r = 0; r < R; ++r)
            sum[r] = !d.begin ? load_some(y + r * d.y_stride, outputs, 0)
                     : d.bias ? load_some(d.bias + o, outputs, 0)
                              : Vec{};
        for (int64_t block = 0; block < whole; ++block)
            add<R>(d, x + block * kSumLanes, w, block * Bytes, kSumLanes, sum);
        if (left) {
            alignas(64) uint8_t last[kLanes][Bytes] = {};
            for (int64_t i = 0; i < kLanes; ++i) {
                for (int64_t at = 0; at < left * Bytes / kSumLanes; ++at)
                    last[i][at] = w[i][whole * Bytes + at];
                w[i] = last[i];
            }
            add<R>(d, x + whole * kSumLanes, w, 0, left, sum);
        }
        for (int64_t r = 0; r < R; ++r) store_some(y + r * d.y_stride, outputs, sum[r]);
    }

    static void dot(const Dots& d) {
        constexpr void (*kTiles[kRows])(const Dots&, int64_t, int64_t) = {tile<1>, tile<2>, tile<3>};
        for (int64_t o = 0; o < d.count; o += kLanes)
            for (int64_t row = 0; row < d.rows; row += kRows)
                kTiles[(d.rows - row < kRows ? d.rows - row : kRows) - 1](d, row, o);
    }
};

}  // namespace
}  // namespace headlight
