// Defines eight-bit floats, and the formats that quantized safetensors are laid out in when a model opens:
// each block holds its scale, then its codes, so that a product reads one stream (model/loading/quantized/).
// Also GGUF's MXFP4. Each function decodes sixteen neighboring values. Included only by base.cpp, v3.cpp and
// v4.cpp.
#pragma once

#include "kernels/codes.h"

namespace headlight {
namespace {

/// Decodes values [16 i, 16 i + 16) of a block. Unrolled and inlined, so that a block's work is done once.
#define SIXTEEN [[gnu::always_inline]] inline Lanes

#if defined(__AVX2__) && defined(__FMA__)
/// Converts sixteen halves in a register.
[[gnu::always_inline]] inline Lanes halves_in(__m256i words) {
#if defined(__AVX512F__)
    return {reinterpret_cast<Vec>(_mm512_cvtph_ps(words))};
#else
    return {reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm256_castsi256_si128(words))),
            reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm256_extracti128_si256(words, 1)))};
#endif
}
[[gnu::always_inline]] inline __m256i wide_bytes(const uint8_t* p) {
    return _mm256_cvtepu8_epi16(reinterpret_cast<__m128i>(codes_at(p)));
}
#else
/// Widens bytes [part · kLanes, …) to 32 bits each.
Bits wide_bytes(const uint8_t* p, int part) {
    Bits out;
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = p[part * kLanes + lane];
    return out;
}
#endif

/// E4M3 (Micikevicius et al. 2022, table 1): s eeee mmm, bias 7; no infinities, all ones is NaN. Its bits are
/// those of a half 2^8 times as small.
SIXTEEN e4m3(const uint8_t* block, int) {
#if defined(__AVX2__) && defined(__FMA__)
    const __m256i bytes = wide_bytes(block), magnitude = _mm256_and_si256(bytes, _mm256_set1_epi16(0x7f)),
                  sign = _mm256_slli_epi16(_mm256_and_si256(bytes, _mm256_set1_epi16(0x80)), 8),
                  none = _mm256_and_si256(_mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(0x7f)),
                                          _mm256_set1_epi16(0x7e00));
    const __m256i half_bits = _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi16(magnitude, 7), sign), none);
    return times(halves_in(half_bits), all(256));
#else
    Lanes out;
    for (int i = 0; i < Lanes::kParts; ++i) {
        const Bits bytes = wide_bytes(block, i), magnitude = bytes & 0x7fu,
                   none = reinterpret_cast<Bits>(magnitude == 0x7fu) & 0x7e00u;
        out.part[i] = from_halves(magnitude << 7 | (bytes & 0x80u) << 8 | none) * all(256);
    }
    return out;
#endif
}
/// E5M2 is the upper byte of a half.
SIXTEEN e5m2(const uint8_t* block, int) {
#if defined(__AVX2__) && defined(__FMA__)
    return halves_in(_mm256_slli_epi16(wide_bytes(block), 8));
#else
    Lanes out;
    for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = from_halves(wide_bytes(block, i) << 8);
    return out;
#endif
}

/// Reads the scale at the start of a block.
Vec scale_at(const uint8_t* block) { return reinterpret_cast<Vec>(Bits{} + bits_at(block)); }

SIXTEEN scaled_e4m3(const uint8_t* block, int i) {
    return times(e4m3(block + 4 + 16 * i, 0), scale_at(block));
}
SIXTEEN scaled_e5m2(const uint8_t* block, int i) {
    return times(e5m2(block + 4 + 16 * i, 0), scale_at(block));
}

/// w = (code − zero) · scale, the zero a 16-bit integer behind the scale: eight bits reach from −128 to 383.
SIXTEEN scaled_int8(const uint8_t* block, int i) {
    const Vec zero = all(static_cast<float>(static_cast<int16_t>(word_at(block + 4))));
    Lanes codes = floats(codes_at(block + 6 + 16 * i));
    for (Vec& part : codes.part) part -= zero;
    return times(codes, scale_at(block));
}
/// Four bits lie as in GGUF: the low nibbles of sixteen bytes, then the high ones.
Codes nibbles_of_32(const uint8_t* q, int i) { return field(codes_at(q + i / 2 * 16), i % 2 * 4, 15); }
SIXTEEN scaled_int4(const uint8_t* block, int i) {
    const Codes zero = all_codes(static_cast<int8_t>(block[4]));
    return times(floats(nibbles_of_32(block + 6, i) - zero), scale_at(block));
}

/// Looks up each of sixteen numbers below 16 in a table.
Lanes looked_up(const float* table, Codes nibbles) {
#if defined(__AVX512F__)
    const __m512i at = _mm512_cvtepi8_epi32(reinterpret_cast<__m128i>(nibbles));
    return {reinterpret_cast<Vec>(_mm512_permutexvar_ps(at, _mm512_loadu_ps(table)))};
#elif defined(__AVX2__) && defined(__FMA__)
    const auto codes = reinterpret_cast<__m128i>(nibbles);
    const __m256 low = _mm256_loadu_ps(table), high = _mm256_loadu_ps(table + 8);
    Lanes out;
    for (int i = 0; i < 2; ++i) {
        const __m256i at = _mm256_cvtepi8_epi32(i ? _mm_unpackhi_epi64(codes, codes) : codes);
        out.part[i] = reinterpret_cast<Vec>(_mm256_blendv_ps(_mm256_permutevar8x32_ps(low, at),
                                                             _mm256_permutevar8x32_ps(high, at),
                                                             _mm256_castsi256_ps(_mm256_slli_epi32(at, 28))));
    }
    return out;
#else
    Lanes out;
    for (int i = 0; i < kSumLanes; ++i)
        out.part[i / kLanes][i % kLanes] = table[static_cast<uint8_t>(nibbles[i])];
    return out;
#endif
}

/// Lists the levels of NF4, the means between quantiles of a normal distribution (Dettmers et al. 2023,
/// appendix E), and of bitsandbytes' FP4: one sign, two bits of exponent, one of mantissa, over 12.
constexpr float kNormalFloats[16] = {-1.0f,
                                     -0.6961928009986877f,
                                     -0.5250730514526367f,
                                     -0.39491748809814453f,
                                     -0.28444138169288635f,
                                     -0.18477343022823334f,
                                     -0.09105003625154495f,
                                     0.0f,
                                     0.07958029955625534f,
                                     0.16093020141124725f,
                                     0.24611230194568634f,
                                     0.33791524171829224f,
                                     0.44070982933044434f,
                                     0.5626170039176941f,
                                     0.7229568362236023f,
                                     1.0f};
constexpr float kFloats4[16] = {
    0.0f,  0.005208333333f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -0.005208333333f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
SIXTEEN nf4(const uint8_t* block, int i) {
    return times(looked_up(kNormalFloats, nibbles_of_32(block + 4, i)), scale_at(block));
}
SIXTEEN fp4(const uint8_t* block, int i) {
    return times(looked_up(kFloats4, nibbles_of_32(block + 4, i)), scale_at(block));
}

/// MXFP4 (Open Compute Project, MX v1.0): one power of two for 32 values of E2M1, here twice as large.
constexpr float kTwiceE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
/// 2^(e − 128), of which the first two are subnormal.
Vec scale_mxfp4(const uint8_t* block) {
    const uint32_t e = block[0];
    return reinterpret_cast<Vec>(Bits{} + (e < 2 ? 0x00200000u << e : (e - 1) << 23));
}
SIXTEEN mxfp4(const uint8_t* block, int i) {
    return times(looked_up(kTwiceE2m1, nibbles_of_32(block + 1, i)), scale_mxfp4(block));
}
/// NVFP4: a scale for each sixteen values of E2M1, half of it as stored because the table has them doubled.
SIXTEEN nvfp4(const uint8_t* block, int i) {
    return times(looked_up(kTwiceE2m1, nibbles_of_32(block + 8, i)), scale_at(block + 4 * i));
}

#undef SIXTEEN

}  // namespace
}  // namespace headlight
