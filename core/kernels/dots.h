// Multiplies x by rows of weights: keeps sums in lanes side by side and folds them at the end. Included only
// by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vectors.h"

namespace headlight {
namespace {

#if defined(__AVX512F__)
constexpr int kDotRows = 2, kDotOutputs = 8;  // 16 sums
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int kDotRows = 2, kDotOutputs = 3;  // 6 sums of 2 vectors
#else
constexpr int kDotRows = 1, kDotOutputs = 3;  // 3 sums of 4 vectors
#endif

/// Adds neighbors `half` apart in two vectors: first the halves of one sum, then of the next.
template <int half>
Vec fold(Vec a, Vec b);
#define FOLD(half, low, high)                                                            \
    template <>                                                                          \
    Vec fold<half>(Vec a, Vec b) {                                                       \
        return __builtin_shufflevector(a, b, low) + __builtin_shufflevector(a, b, high); \
    }
#define LIST(...) __VA_ARGS__
#if defined(__AVX512F__)
FOLD(8, LIST(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
     LIST(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
FOLD(4, LIST(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),
     LIST(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
FOLD(2, LIST(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29),
     LIST(2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31))
FOLD(1, LIST(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
     LIST(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31))
#elif defined(__AVX2__) && defined(__FMA__)
FOLD(4, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
FOLD(2, LIST(0, 1, 4, 5, 8, 9, 12, 13), LIST(2, 3, 6, 7, 10, 11, 14, 15))
FOLD(1, LIST(0, 2, 4, 6, 8, 10, 12, 14), LIST(1, 3, 5, 7, 9, 11, 13, 15))
#else
FOLD(2, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7))
FOLD(1, LIST(0, 2, 4, 6), LIST(1, 3, 5, 7))
#endif
#undef FOLD
#undef LIST

/// sums[i] → the sum of its lanes, for as many sums as a vector has lanes; adds in the order of Lanes::total.
template <int half>
Vec folded(Vec* sums) {
    for (int i = 0; i < half; ++i) sums[i] = fold<half>(sums[2 * i], sums[2 * i + 1]);
    if constexpr (half > 1)
        return folded<half / 2>(sums);
    else
        return sums[0];
}

Vec joined(const Vec* parts) {
    if constexpr (Lanes::kParts == 1) return parts[0];
    if constexpr (Lanes::kParts == 2) return parts[0] + parts[1];
    return (parts[0] + parts[2]) + (parts[1] + parts[3]);
}

/// Points to the operands of a tile of dot products.
struct DotsAt {
    const float* x;
    const uint8_t* const* w;
    float* totals;  // [R][C]
};

template <int N>
[[gnu::always_inline]] inline void store_joined(const Vec (&sums)[N][Lanes::kParts], float* totals) {
    constexpr int kRounded = (N + kLanes - 1) / kLanes * kLanes;
    Vec single[kRounded] = {};
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) single[i] = joined(sums[i]);
#pragma GCC unroll 4
    for (int i = 0; i < N; i += kLanes) store_some(totals + i, N - i, folded<kLanes / 2>(single + i));
}

template <int R, int C, bool Ahead>
void dots_tile(const Dots& d, const DotsAt& at) {
    constexpr int64_t kParts = Lanes::kParts;
    Vec sum[R * C][kParts] = {};
    const float* w[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) w[c] = reinterpret_cast<const float*>(at.w[c]);
    const float* const x = at.x;
    const int64_t stride = d.x_stride, whole = d.depth / kSumLanes * kSumLanes;
    for (int64_t k = 0; k < whole; k += kSumLanes)
#pragma GCC unroll 4
        for (int64_t part = 0; part < kParts; ++part) {
            Vec input[R];
#pragma GCC unroll 2
            for (int r = 0; r < R; ++r) input[r] = load(x + r * stride + k + part * kLanes);
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) {
                const Vec weights = load(w[c] + k + part * kLanes);
                if (Ahead && part == 0) fetch(w[c] + k, d.ahead);
#pragma GCC unroll 2
                for (int r = 0; r < R; ++r)
                    sum[r * C + c][part] = fused(input[r], weights, sum[r * C + c][part]);
            }
        }
#pragma GCC unroll 4
    for (int64_t part = 0; part < kParts; ++part) {
        const int64_t k = whole + part * kLanes, left = d.depth - k;
        if (left <= 0) break;
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c)
#pragma GCC unroll 2
            for (int r = 0; r < R; ++r)
                sum[r * C + c][part] = fused(load_some(x + r * stride + k, left, 0),
                                             load_some(w[c] + k, left, 0), sum[r * C + c][part]);
    }
    store_joined(sum, at.totals);
}

using DotsTile = void (*)(const Dots&, const DotsAt&);
template <int R, bool Ahead>
struct DotsTiles {
    template <int C>
    static constexpr DotsTile kTile = dots_tile<R, (C < kDotOutputs ? C : kDotOutputs), Ahead>;
    static constexpr DotsTile kOf[8] = {kTile<1>, kTile<2>, kTile<3>, kTile<4>,
                                        kTile<5>, kTile<6>, kTile<7>, kTile<8>};
};

/// Adds dot products of one row of x with `count` rows of weights from o on to y, or begins y with them.
void begin_or_add(const Dots& d, int64_t row, int64_t o, int64_t count, const float* totals) {
    for (int64_t c = 0; c < count; ++c) {
        float& y = d.y[row * d.y_stride + o + c];
        const float before = !d.begin ? y : d.bias ? d.bias[o + c] : 0.0f;
        y = before + totals[c];
    }
}

void dot(const Dots& d) {
    constexpr const DotsTile* kTables[] = {DotsTiles<1, false>::kOf, DotsTiles<kDotRows, false>::kOf,
                                           DotsTiles<1, true>::kOf, DotsTiles<kDotRows, true>::kOf};
    for (int64_t o = 0; o < d.count; o += kDotOutputs) {
        const int64_t outputs = d.count - o < kDotOutputs ? d.count - o : kDotOutputs;
        for (int64_t row = 0; row < d.rows; row += kDotRows) {
            const int64_t rows = d.rows - row < kDotRows ? d.rows - row : kDotRows;
            float totals[kDotRows * kDotOutputs];
            kTables[(d.ahead ? 2 : 0) + rows - 1][outputs - 1](d, {d.x + row * d.x_stride, d.w + o, totals});
            for (int64_t r = 0; r < rows; ++r) begin_or_add(d, row + r, o, outputs, totals + r * outputs);
        }
    }
}

}  // namespace
}  // namespace headlight
