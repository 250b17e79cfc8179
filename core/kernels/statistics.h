// Computes statistics of rows of attention weights. Sums run in sixteen lanes from the start, so that
// trailing weights of 0, or sixteen in front, change nothing. Included only by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vectors.h"

namespace headlight {
namespace {

Vec as_floats(Ints x) { return __builtin_convertvector(x, Vec); }

/// ln(2^n · (1 + f)) with 1 + f between √½ and √2, for normal numbers (Cephes).
Vec logarithm(Vec x) {
    constexpr int32_t kRootHalf = 0x3f3504f3;
    const Ints above = reinterpret_cast<Ints>(x) - kRootHalf;
    const Vec n = as_floats(above >> 23), f = reinterpret_cast<Vec>((above & 0x7fffff) + kRootHalf) - 1.0f;
    Vec p = fused(f, all(7.0376836292e-2f), all(-1.1514610310e-1f));
    p = fused(p, f, all(1.1676998740e-1f));
    p = fused(p, f, all(-1.2420140846e-1f));
    p = fused(p, f, all(1.4249322787e-1f));
    p = fused(p, f, all(-1.6668057665e-1f));
    p = fused(p, f, all(2.0000714765e-1f));
    p = fused(p, f, all(-2.4999993993e-1f));
    p = fused(p, f, all(3.3333331174e-1f));
    const Vec squared = f * f, small = fused(p * f, squared, fused(n, all(-2.12194440e-4f), squared * -0.5f));
    return fused(n, all(0.693359375f), f + small);
}

float entropy(const float* weights, int64_t count) {
    constexpr float kSmallest = 1e-30f, kBits = -1.44269504f;
    Lanes sums{};
    for_sixteens(weights, count, 0, [&](Vec w, int64_t, int64_t part) {
        sums.part[part] = fused(w, logarithm(chosen(w > kSmallest, w, all(kSmallest))), sums.part[part]);
    });
    return sums.total() * kBits;
}

float distance(const float* weights, int64_t count, int64_t first) {
    Vec step;
    for (int64_t i = 0; i < kLanes; ++i) step[i] = static_cast<float>(i);
    Lanes sums{};
    for_sixteens(weights, count, 0, [&](Vec w, int64_t at, int64_t part) {
        const Vec apart = step + static_cast<float>(first + at);
        sums.part[part] = fused(w, chosen(apart < 0.0f, -apart, apart), sums.part[part]);
    });
    return sums.total();
}

void keep_larger(float* largest, const float* x, int64_t count) {
    for (int64_t i = 0; i < count; i += kLanes) {
        const int64_t left = count - i;
        const Vec a = load_some(largest + i, left, 0), b = load_some(x + i, left, 0);
        store_some(largest + i, left, chosen(b > a, b, a));
    }
}

}  // namespace
}  // namespace headlight
