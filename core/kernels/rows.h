// What is done to one row: softmax, norms, activations, rotation. Sums run in sixteen lanes on every
// processor, and each value is computed alike wherever it stands in its row. For base.cpp, v3.cpp and v4.cpp
// alone.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vectors.h"

namespace headlight {
namespace {

void softmax(float* row, int64_t count) {
    Vec largest = all(-__builtin_inff());
    for_sixteens(row, count, -__builtin_inff(),
                 [&](Vec x, int64_t, int64_t) { largest = chosen(x > largest, x, largest); });
    float max = -__builtin_inff();
    for (int64_t i = 0; i < kLanes; ++i) max = largest[i] > max ? largest[i] : max;
    Lanes sums{};
    for_sixteens(row, count, -__builtin_inff(), [&](Vec x, int64_t at, int64_t part) {
        const Vec y = exponential(x - max);
        sums.part[part] += y;
        store_some(row + at, count - at, y);
    });
    const float share = 1.0f / sums.total();
    for (int64_t i = 0; i < count; ++i) row[i] *= share;
}

void norm(const float* x, int64_t count, const float* weight, const float* bias, float eps, bool center,
          float* y) {
    const auto entries = static_cast<float>(count);
    Lanes sums{}, squares{};
    if (center) for_sixteens(x, count, 0, [&](Vec v, int64_t, int64_t part) { sums.part[part] += v; });
    const float mean = center ? sums.total() / entries : 0;
    for_sixteens(x, count, mean, [&](Vec v, int64_t, int64_t part) {
        squares.part[part] = fused(v - mean, v - mean, squares.part[part]);
    });
    const float scale = 1.0f / __builtin_sqrtf(squares.total() / entries + eps);
    for (int64_t i = 0; i < count; i += kLanes) {
        const int64_t left = count - i;
        const Vec normal = (load_some(x + i, left, 0) - mean) * scale * load_some(weight + i, left, 0);
        store_some(y + i, left, bias ? normal + load_some(bias + i, left, 0) : normal);
    }
}

void rotate(float* x, int64_t pairs, int64_t step, int64_t apart, const float* cosine, const float* sine) {
    for (int64_t i = 0; i < pairs; ++i) {
        float &a = x[i * step], &b = x[i * step + apart];
        const float turned = a * cosine[i] - b * sine[i];
        b = b * cosine[i] + a * sine[i];
        a = turned;
    }
}

template <class F>
void for_vectors(float* x, int64_t count, F f) {
    for (int64_t i = 0; i < count; i += kLanes) {
        const int64_t left = count - i;
        store_some(x + i, left, f(load_some(x + i, left, 0)));
    }
}

/// tanh(u) = 1 − 2 / (exp(2u) + 1), so 0.5 (1 + tanh u) = 1 − 1 / (exp(2u) + 1).
void gelu_tanh(float* x, int64_t count) {
    constexpr float kTwoRoots = 1.5957691216f;  // 2 · sqrt(2 / π)
    for_vectors(x, count,
                [](Vec v) { return v - v / (exponential((v * v * v * 0.044715f + v) * kTwoRoots) + 1.0f); });
}
void silu(float* x, int64_t count) {
    for_vectors(x, count, [](Vec v) { return v / (exponential(-v) + 1.0f); });
}
void quick_gelu(float* x, int64_t count) {
    for_vectors(x, count, [](Vec v) { return v / (exponential(v * -1.702f) + 1.0f); });
}

/// Cephes' tanh: a polynomial near 0, where the other form would cancel.
Vec tanh_of(Vec u) {
    const Vec z = u * u, far = 1.0f - 2.0f / (exponential(u + u) + 1.0f);
    Vec p = fused(z, all(-5.70498872745e-3f), all(2.06390887954e-2f));
    p = fused(p, z, all(-5.37397155531e-2f));
    p = fused(p, z, all(1.33314422036e-1f));
    p = fused(p, z, all(-3.33332819422e-1f));
    return chosen(z < 0.390625f, fused(p * z, u, u), far);
}
void soft_cap(float* x, int64_t count, float cap) {
    for_vectors(x, count, [&](Vec v) { return tanh_of(v / cap) * cap; });
}

}  // namespace
}  // namespace headlight
