// Converts sixteen stored values to floats: integers, halves, bit fields; for base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/vectors.h"

namespace headlight {
namespace {

typedef int8_t Codes __attribute__((vector_size(16)));
typedef int8_t UnalignedCodes __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t Words __attribute__((vector_size(16)));
typedef uint32_t FourBits __attribute__((vector_size(16)));
typedef uint64_t Longs __attribute__((vector_size(16)));
typedef uint16_t UnalignedWord __attribute__((aligned(1), may_alias));
typedef uint32_t UnalignedBits __attribute__((aligned(1), may_alias));

Codes codes_at(const uint8_t* p) { return *reinterpret_cast<const UnalignedCodes*>(p); }
uint16_t word_at(const uint8_t* p) { return *reinterpret_cast<const UnalignedWord*>(p); }
uint32_t bits_at(const uint8_t* p) { return *reinterpret_cast<const UnalignedBits*>(p); }
Codes all_codes(int8_t code) { return Codes{} + code; }

/// Masks each byte after a right shift (a left shift if negative).
Codes field(Codes c, int shift, int8_t mask) {
    const Words words = reinterpret_cast<Words>(c), moved = shift < 0 ? words << static_cast<uint16_t>(-shift)
                                                                      : words >> static_cast<uint16_t>(shift);
    return reinterpret_cast<Codes>(moved) & all_codes(mask);
}

/// Returns `code` for each of sixteen bits that is set, else 0.
Codes bits_as(int8_t code, uint16_t bits) {
#if defined(__AVX512F__)
    return reinterpret_cast<Codes>(_mm_maskz_set1_epi8(bits, code));
#else
    constexpr uint64_t kEight = 0x0101010101010101u;
    const auto eights = reinterpret_cast<Codes>(Longs{(bits & 255u) * kEight, (bits >> 8) * kEight});
    constexpr Codes kBit = {1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128};
    return ((eights & kBit) != 0) & all_codes(code);
#endif
}
Codes bits_as(int8_t code, const uint8_t* p) { return bits_as(code, word_at(p)); }

/// Converts signed bytes to floats.
Lanes floats(Codes c) {
#if defined(__AVX512F__)
    return {reinterpret_cast<Vec>(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(reinterpret_cast<__m128i>(c))))};
#elif defined(__AVX2__) && defined(__FMA__)
    const auto low = reinterpret_cast<__m128i>(c), high = _mm_unpackhi_epi64(low, low);
    return {reinterpret_cast<Vec>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(low))),
            reinterpret_cast<Vec>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(high)))};
#else
    const Words twice[2] = {reinterpret_cast<Words>(__builtin_shufflevector(c, c, 0, 0, 1, 1, 2, 2, 3, 3, 4,
                                                                            4, 5, 5, 6, 6, 7, 7)),
                            reinterpret_cast<Words>(__builtin_shufflevector(c, c, 8, 8, 9, 9, 10, 10, 11, 11,
                                                                            12, 12, 13, 13, 14, 14, 15, 15))};
    Lanes out;
    for (int i = 0; i < 2; ++i) {  // each byte four times; the highest copy keeps its sign
        const Words low = __builtin_shufflevector(twice[i], twice[i], 0, 0, 1, 1, 2, 2, 3, 3),
                    high = __builtin_shufflevector(twice[i], twice[i], 4, 4, 5, 5, 6, 6, 7, 7);
        out.part[2 * i] = __builtin_convertvector(reinterpret_cast<Ints>(low) >> 24, Vec);
        out.part[2 * i + 1] = __builtin_convertvector(reinterpret_cast<Ints>(high) >> 24, Vec);
    }
    return out;
#endif
}

#if !defined(__AVX2__) || !defined(__FMA__)
/// Converts IEEE 754 binary16 in the low bits of each lane. Gives subnormals the smallest normal exponent,
/// then subtracts it (Giesen), so that no float is subnormal, which would be slow.
Vec from_halves(Bits h) {
    constexpr uint32_t kRebase = 112u << 23, kLeast = 113u << 23;
    const Bits magnitude = (h & 0x7fffu) << 13;
    const Vec small = reinterpret_cast<Vec>(magnitude + kLeast) - reinterpret_cast<Vec>(Bits{} + kLeast),
              usual = reinterpret_cast<Vec>(magnitude + kRebase),
              far = reinterpret_cast<Vec>(magnitude + 2 * kRebase);
    const Vec value = chosen(magnitude < 0x00800000u, small, chosen(magnitude < 0x0f800000u, usual, far));
    return reinterpret_cast<Vec>(reinterpret_cast<Bits>(value) | (h & 0x8000u) << 16);
}
#endif

/// Widens sixteen 16-bit values to 32 bits each.
struct WideWords {
    Bits part[Lanes::kParts];
};
WideWords wide_words(const uint8_t* p) {
#if defined(__AVX512F__)
    return {reinterpret_cast<Bits>(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p))))};
#elif defined(__AVX2__) && defined(__FMA__)
    const auto* const eights = reinterpret_cast<const __m128i_u*>(p);
    return {reinterpret_cast<Bits>(_mm256_cvtepu16_epi32(_mm_loadu_si128(eights))),
            reinterpret_cast<Bits>(_mm256_cvtepu16_epi32(_mm_loadu_si128(eights + 1)))};
#else
    WideWords out;
    for (int i = 0; i < 2; ++i) {
        const auto eight = reinterpret_cast<Words>(codes_at(p + 16 * i));
        const Words low = __builtin_shufflevector(eight, eight, 0, 0, 1, 1, 2, 2, 3, 3),
                    high = __builtin_shufflevector(eight, eight, 4, 4, 5, 5, 6, 6, 7, 7);
        out.part[2 * i] = reinterpret_cast<Bits>(low) >> 16;
        out.part[2 * i + 1] = reinterpret_cast<Bits>(high) >> 16;
    }
    return out;
#endif
}

/// Loads sixteen halves.
Lanes halves(const uint8_t* p) {
#if defined(__AVX512F__)
    return {
        reinterpret_cast<Vec>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p))))};
#elif defined(__AVX2__) && defined(__FMA__)
    const auto* const eights = reinterpret_cast<const __m128i_u*>(p);
    return {reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm_loadu_si128(eights))),
            reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm_loadu_si128(eights + 1)))};
#else
    const WideWords words = wide_words(p);
    Lanes out;
    for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = from_halves(words.part[i]);
    return out;
#endif
}

/// Converts one half into every lane. (Every processor with AVX2 has F16C.)
Vec half_of(uint16_t bits) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vec>(_mm512_cvtph_ps(_mm256_set1_epi16(static_cast<int16_t>(bits))));
#elif defined(__AVX2__) && defined(__FMA__)
    return reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm_set1_epi16(static_cast<int16_t>(bits))));
#else
    return from_halves(Bits{} + bits);
#endif
}
Vec half(const uint8_t* p) { return half_of(word_at(p)); }

/// Loads sixteen upper halves of floats (bfloat16).
Lanes upper_halves(const uint8_t* p) {
    const WideWords words = wide_words(p);
    Lanes out;
    for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = reinterpret_cast<Vec>(words.part[i] << 16);
    return out;
}

/// Broadcasts one lane.
Vec lane(const Lanes& values, int i) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vec>(
        _mm512_permutexvar_ps(_mm512_set1_epi32(i), reinterpret_cast<__m512>(values.part[0])));
#elif defined(__AVX2__) && defined(__FMA__)
    return reinterpret_cast<Vec>(
        _mm256_permutevar8x32_ps(reinterpret_cast<__m256>(values.part[i / 8]), _mm256_set1_epi32(i % 8)));
#else
    return all(values.part[i / kLanes][i % kLanes]);
#endif
}

Lanes times(Lanes values, Vec scale) {
    for (Vec& part : values.part) part *= scale;
    return values;
}

/// values · scale + offset. The product is exact: it has fewer bits than a float.
Lanes line(Lanes values, Vec scale, Vec offset) {
    for (Vec& part : values.part) part = fused(part, scale, offset);
    return values;
}

}  // namespace
}  // namespace headlight
