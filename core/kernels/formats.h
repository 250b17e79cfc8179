// Defines the formats of encoded weights: one function each, which decodes sixteen neighboring values of a
// block. GGUF's blocks have a scale (and a minimum) for 32 values, or for 256 with 6-bit scales of 16 or 32
// inside. Layouts: ggml's documentation of its quantization types,
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Included only by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/codes.h"

namespace headlight {
namespace {

/// Decodes values [16 i, 16 i + 16) of a block. Unrolled and inlined, so that a block's work is done once.
#define SIXTEEN [[gnu::always_inline]] inline Lanes

SIXTEEN f32(const uint8_t* block, int) {
    Lanes out;
    for (int i = 0; i < Lanes::kParts; ++i)
        out.part[i] = load(reinterpret_cast<const float*>(block) + i * kLanes);
    return out;
}
SIXTEEN f16(const uint8_t* block, int) { return halves(block); }
SIXTEEN bf16(const uint8_t* block, int) { return upper_halves(block); }

SIXTEEN q8_0(const uint8_t* block, int i) { return times(floats(codes_at(block + 2 + 16 * i)), half(block)); }

/// Blocks of 32 with 4 bits: the low nibbles of sixteen bytes, then the high ones.
Codes nibbles(const uint8_t* q, int i) { return field(codes_at(q), 4 * i, 15); }

SIXTEEN q4_0(const uint8_t* block, int i) { return times(floats(nibbles(block + 2, i) - 8), half(block)); }
SIXTEEN q4_1(const uint8_t* block, int i) {
    return line(floats(nibbles(block + 4, i)), half(block), half(block + 2));
}
SIXTEEN q5_0(const uint8_t* block, int i) {
    return times(floats((nibbles(block + 6, i) | bits_as(16, block + 2 + 2 * i)) - 16), half(block));
}
SIXTEEN q5_1(const uint8_t* block, int i) {
    return line(floats(nibbles(block + 8, i) | bits_as(16, block + 4 + 2 * i)), half(block), half(block + 2));
}

/// Blocks of 256 with 2 bits: 32 bytes hold four groups of 32 values.
Codes pairs_of_bits(const uint8_t* q, int i) {
    return field(codes_at(q + i / 8 * 32 + i % 2 * 16), i % 8 / 2 * 2, 3);
}

SIXTEEN q2_k(const uint8_t* block, int i) {
    const Codes scales = codes_at(block);
    const Lanes scale = times(floats(field(scales, 0, 15)), half(block + 80)),
                minimum = times(floats(field(scales, 4, 15)), half(block + 82));
    return line(floats(pairs_of_bits(block + 16, i)), lane(scale, i), -lane(minimum, i));
}

/// Unpacks sixteen 6-bit scales from 12 bytes: low nibbles in the first eight, high bits in the last four.
Codes scales_q3_k(const uint8_t* s) {
    const uint32_t a = bits_at(s), b = bits_at(s + 4), high = bits_at(s + 8);
    const FourBits low = {a, b, a >> 4, b >> 4}, top = {high << 4, high << 2, high, high >> 2};
    return reinterpret_cast<Codes>((low & 0x0f0f0f0fu) | (top & 0x30303030u)) - 32;
}

SIXTEEN q3_k(const uint8_t* block, int i) {
    const Lanes scale = times(floats(scales_q3_k(block + 96)), half(block + 108));
    const Codes high = field(codes_at(block + i % 2 * 16), i / 2 - 2, 4);
    return times(floats((pairs_of_bits(block + 32, i) | high) - 4), lane(scale, i));
}

/// Q4_K and Q5_K: unpacks eight 6-bit scales, then eight 6-bit minima, from 12 bytes.
Codes scales_q45_k(const uint8_t* s) {
    const uint32_t a = bits_at(s), b = bits_at(s + 4), c = bits_at(s + 8);
    const FourBits low = {a & 0x3f3f3f3fu, c & 0x0f0f0f0fu, b & 0x3f3f3f3fu, (c >> 4) & 0x0f0f0f0fu},
                   top = {0, (a >> 2) & 0x30303030u, 0, (b >> 2) & 0x30303030u};
    return reinterpret_cast<Codes>(low | top);
}

/// w = scale · code − minimum, for sixteen codes of Q4_K or Q5_K in a group of 32.
SIXTEEN line_q45_k(const uint8_t* block, int i, Codes codes) {
    const Lanes scales = floats(scales_q45_k(block + 4));
    return line(floats(codes), lane(scales, i / 2) * half(block),
                -(lane(scales, i / 2 + 8) * half(block + 2)));
}
/// Blocks of 256 with 4 bits: the low nibbles of 32 bytes, then the high ones.
Codes nibbles_of_256(const uint8_t* q, int i) {
    return field(codes_at(q + i / 4 * 32 + i % 2 * 16), i % 4 / 2 * 4, 15);
}

SIXTEEN q4_k(const uint8_t* block, int i) { return line_q45_k(block, i, nibbles_of_256(block + 16, i)); }
SIXTEEN q5_k(const uint8_t* block, int i) {
    return line_q45_k(
        block, i, nibbles_of_256(block + 48, i) | field(codes_at(block + 16 + i % 2 * 16), i / 2 - 4, 16));
}

SIXTEEN q6_k(const uint8_t* block, int i) {
    const int half_block = i / 8, quarter = i % 8 / 2, at = i % 2 * 16;
    const Lanes scale = times(floats(codes_at(block + 192)), half(block + 208));
    const Codes low = field(codes_at(block + half_block * 64 + quarter % 2 * 32 + at), quarter / 2 * 4, 15),
                high = field(codes_at(block + 128 + half_block * 32 + at), quarter * 2 - 4, 48);
    return times(floats((low | high) - 32), lane(scale, i));
}

/// Lists the sixteen levels of the non-linear 4-bit formats.
constexpr uint8_t kLevels[16] = {129, 152, 173, 191, 207, 221, 234, 246, 1, 13, 25, 38, 53, 69, 89, 113};
Lanes levels(Codes nibbles) {
#if defined(__AVX2__) && defined(__FMA__)
    const auto table = reinterpret_cast<__m128i>(codes_at(kLevels));
    return floats(reinterpret_cast<Codes>(_mm_shuffle_epi8(table, reinterpret_cast<__m128i>(nibbles))));
#else
    uint8_t codes[16];
    *reinterpret_cast<UnalignedCodes*>(codes) = nibbles;
    for (uint8_t& code : codes) code = kLevels[code];
    return floats(codes_at(codes));
#endif
}

SIXTEEN iq4_nl(const uint8_t* block, int i) { return times(levels(nibbles(block + 2, i)), half(block)); }
/// Returns the scale of a group of 32 of IQ4_XS.
Vec scale_iq4_xs(const uint8_t* block, int group) {
    const int low = block[4 + group / 2] >> (group % 2 * 4) & 15,
              high = word_at(block + 2) >> (group * 2) & 3;
    return half(block) * all(static_cast<float>((low | high << 4) - 32));
}
SIXTEEN iq4_xs(const uint8_t* block, int i) {
    return times(levels(nibbles(block + 8 + i / 2 * 16, i % 2)), scale_iq4_xs(block, i / 2));
}

#undef SIXTEEN

}  // namespace
}  // namespace headlight
