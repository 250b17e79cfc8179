// Processes single rows: softmax, norms, activations, rotation. Sums run in sixteen lanes on every processor,
// and a value does not depend on its place in the row. Included only by base.cpp, v3.cpp and v4.cpp.
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
        const float rotated = a * cosine[i] - b * sine[i];
        b = b * cosine[i] + a * sine[i];
        a = rotated;
    }
}

template <class F>
void for_vectors(float* x, int64_t count, F f) {
    for (int64_t i = 0; i < count; i += kLanes) {
        const int64_t left = count - i;
        store_some(x + i, left, f(load_some(x + i, left, 0)));
    }
}

/// x · Φ(x) = x · (1 + erf(x / √2)) / 2, with polynomials of erf near 0 and of ln erfc elsewhere (N. Juffa's
/// erff), so that nothing cancels where Φ is small.
void gelu(float* x, int64_t count) {
    constexpr float kRootHalf = 0.7071067812f, kNear = 0.927734375f;
    for_vectors(x, count, [](Vec v) {
        const Vec a = v * kRootHalf, t = chosen(a < 0.0f, -a, a), s = a * a;
        Vec near = fused(all(-5.96761703e-4f), s, all(4.99119423e-3f));
        near = fused(near, s, all(-2.67681349e-2f));
        near = fused(near, s, all(1.12819925e-1f));
        near = fused(near, s, all(-3.76125336e-1f));
        near = fused(near, s, all(1.28379166e-1f));
        near = fused(near, a, a);
        Vec far = fused(fused(all(-1.72853470e-5f), t, all(3.83197126e-4f)), s,
                        fused(all(-3.88396438e-3f), t, all(2.42546219e-2f)));
        far = fused(far, t, all(-1.06777877e-1f));
        far = fused(far, t, all(-6.34846687e-1f));
        far = fused(far, t, all(-1.28717512e-1f));
        const Vec beyond = v * (exponential(fused(far, t, -t)) * 0.5f);  // v · (1 − Φ(|v|))
        return chosen(t < kNear, fused(near, v * 0.5f, v * 0.5f), chosen(a < 0.0f, beyond, v - beyond));
    });
}

/// tanh(u) = 1 − 2 / (exp(2u) + 1), so 0.5 (1 + tanh u) = 1 − 1 / (exp(2u) + 1).
void gelu_tanh(float* x, int64_t count) {
    constexpr float kTwoRoots = 1.5957691216f;  // 2 · sqrt(2 / π)
    for_vectors(x, count,
                [](Vec v) { return v - v / (exponential((v * v * v * 0.044715f + v) * kTwoRoots) + 1.0f); });
}
void relu(float* x, int64_t count) {
    for_vectors(x, count, [](Vec v) { return chosen(v < 0.0f, Vec{}, v); });
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
