// Wraps the vectors of the compiled instruction set. Included only by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace headlight {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
constexpr int kTileRows = 8, kTileVectors = 3;  // of 32 registers: 24 sums, 3 of weights
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int64_t kLanes = 8;
constexpr int kTileRows = 4, kTileVectors = 3;  // of 16 registers: 12 sums, 3 of weights, one of x
#else
constexpr int64_t kLanes = 4;
constexpr int kTileRows = 6, kTileVectors = 2;  // of 16 registers: 12 sums, 2 of weights, one of x, a product
#endif

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef float UnalignedVec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));
typedef uint32_t Bits __attribute__((vector_size(kLanes * 4)));

Vec load(const float* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
void store(float* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }
/// Broadcasts x. Adding x to zeros would take one more instruction, and turn −0 into 0.
Vec all(float x) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vec>(_mm512_set1_ps(x));
#elif defined(__AVX2__) && defined(__FMA__)
    return reinterpret_cast<Vec>(_mm256_set1_ps(x));
#else
    return Vec{x, x, x, x};
#endif
}
Vec chosen(Ints mask, Vec yes, Vec no) {
    return reinterpret_cast<Vec>((mask & reinterpret_cast<Ints>(yes)) | (~mask & reinterpret_cast<Ints>(no)));
}

constexpr int kLine = 64;  // bytes per cache line

/// Prefetches `bytes` past an address, which may lie beyond the weights.
void fetch(uintptr_t address, int64_t bytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(address + static_cast<uintptr_t>(bytes)));
}
/// Prefetches into the second-level cache, for what the first level has no room for.
void fetch_next(uintptr_t address, int64_t bytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(address + static_cast<uintptr_t>(bytes)), 0, 2);
}
void fetch(const void* from, int64_t bytes) { fetch(reinterpret_cast<uintptr_t>(from), bytes); }

/// a · b + c, rounded once if the processor can.
Vec fused(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vec>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b),
                                                 reinterpret_cast<__m512>(c)));
#elif defined(__AVX2__) && defined(__FMA__)
    return reinterpret_cast<Vec>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b),
                                                 reinterpret_cast<__m256>(c)));
#else
    return a * b + c;
#endif
}

/// Loads the first `count` values of p, then `rest`.
Vec load_some(const float* p, int64_t count, float rest) {
    if (count >= kLanes) return load(p);
    float lanes[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) lanes[i] = i < count ? p[i] : rest;
    return load(lanes);
}
void store_some(float* p, int64_t count, Vec v) {
    if (count >= kLanes) return store(p, v);
    float lanes[kLanes];
    store(lanes, v);
    for (int64_t i = 0; i < kLanes && i < count; ++i) p[i] = lanes[i];
}

/// exp(x) = 2^n · exp(r) with |r| ≤ ln 2 / 2 (Cephes). 0 below normal numbers, infinity above the largest.
Vec exponential(Vec x) {
    constexpr float kMagic = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer in the low bits
    const Vec shifted = fused(x, all(1.44269504f), all(kMagic)), n = shifted - kMagic;
    const Vec r = fused(n, all(2.12194440e-4f), fused(n, all(-0.693359375f), x));
    Vec p = fused(r, all(1.9875691500e-4f), all(1.3981999507e-3f));
    p = fused(p, r, all(8.3334519073e-3f));
    p = fused(p, r, all(4.1665795894e-2f));
    p = fused(p, r, all(1.6666665459e-1f));
    p = fused(p, r, all(5.0000001201e-1f));
    p = fused(p, r * r, r) + 1.0f;
    const Vec power = reinterpret_cast<Vec>((reinterpret_cast<Bits>(shifted) << 23) +
                                            (127u << 23));  // wraps around for large |x|
    const Vec y = chosen(x < -87.33f, Vec{}, p * power);
    return chosen(x > 88.37f, all(__builtin_inff()), y);
}

/// Holds sixteen sums side by side, in one order on all processors.
struct Lanes {
    static constexpr int64_t kParts = kSumLanes / kLanes;
    Vec part[kParts];
    float total() const {
        float sums[kSumLanes];
        for (int64_t i = 0; i < kParts; ++i) store(sums + i * kLanes, part[i]);
        for (int64_t half = kSumLanes / 2; half; half /= 2)
            for (int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
        return sums[0];
    }
};

/// Calls step(values, position, part of the lanes) for each sixteen values of a row, padded with `rest`.
template <class Step>
void for_sixteens(const float* row, int64_t count, float rest, Step step) {
    int64_t i = 0;
    for (; i + kSumLanes <= count; i += kSumLanes)
        for (int64_t part = 0; part < Lanes::kParts; ++part) {
            const int64_t at = i + part * kLanes;
            step(load(row + at), at, part);
        }
    for (int64_t part = 0; i < count && part < Lanes::kParts; ++part) {
        const int64_t at = i + part * kLanes, left = count - at;
        step(left > 0 ? load_some(row + at, left, rest) : all(rest), at, part);
    }
}

}  // namespace
}  // namespace headlight
