// Defines GGUF's formats of one to three bits a value: points of a grid (IQ…), and three levels (TQ…). Each
// function decodes sixteen neighboring values of a block of 256. Layouts: dequantize_blocks of
// gguf-py/gguf/quants.py (https://github.com/ggml-org/llama.cpp). Included only by base.cpp, v3.cpp and
// v4.cpp.
#pragma once

#include "kernels/codes.h"
#include "kernels/grids.h"

namespace headlight {
namespace {

/// Decodes values [16 i, 16 i + 16) of a block. Unrolled and inlined, so that a block's work is done once.
#define SIXTEEN [[gnu::always_inline]] inline Lanes

/// Negates the codes whose bit is set.
[[gnu::always_inline]] inline Codes with_signs(Codes codes, uint16_t signs) {
    const Codes mask = bits_as(-1, signs);
    return (codes ^ mask) - mask;
}
/// Returns sixteen signs from two numbers of seven bits each.
uint16_t even_signs(uint32_t two) {
    return static_cast<uint16_t>(kEvenSigns.at[two & 127] | kEvenSigns.at[two >> 7 & 127] << 8);
}
int nibble_of(const uint8_t* p, int i) { return p[i / 2] >> (i % 2 * 4) & 15; }
Vec scaled(Vec scale, int by, float unit) { return scale * all(static_cast<float>(by) * unit); }
Codes pair_of(uint64_t a, uint64_t b) { return reinterpret_cast<Codes>(Longs{a, b}); }

SIXTEEN iq2_xxs(const uint8_t* block, int i) {
    const uint8_t* const q = block + 2 + i / 2 * 8;  // four points, then their signs and a scale
    const uint32_t rest = bits_at(q + 4);
    const Codes codes = pair_of(kGridIq2Xxs.at[q[i % 2 * 2]], kGridIq2Xxs.at[q[i % 2 * 2 + 1]]);
    return times(floats(with_signs(codes, even_signs(rest >> (i % 2 * 14)))),
                 scaled(half(block), static_cast<int>(rest >> 28) * 2 + 1, 0.125f));
}

SIXTEEN iq2_xs(const uint8_t* block, int i) {
    const uint32_t a = word_at(block + 2 + 4 * i), b = word_at(block + 4 + 4 * i);
    const Codes codes = pair_of(kGridIq2Xs.at[a & 511], kGridIq2Xs.at[b & 511]);
    return times(floats(with_signs(codes, even_signs(a >> 9 | b >> 9 << 7))),
                 scaled(half(block), nibble_of(block + 66, i) * 2 + 1, 0.125f));
}

SIXTEEN iq2_s(const uint8_t* block, int i) {
    const uint8_t* const q = block + 2 + 2 * i;
    const int high = nibble_of(block + 66, i);
    const Codes codes = pair_of(kGridIq2S.at[q[0] | (high & 3) << 8], kGridIq2S.at[q[1] | high >> 2 << 8]);
    return times(floats(with_signs(codes, word_at(block + 34 + 2 * i))),
                 scaled(half(block), nibble_of(block + 74, i) * 2 + 1, 0.125f));
}

SIXTEEN iq3_xxs(const uint8_t* block, int i) {
    const uint8_t* const q = block + 2 + 4 * i;
    const uint32_t rest = bits_at(block + 66 + i / 2 * 4);
    const FourBits points = {kGridIq3Xxs.at[q[0]], kGridIq3Xxs.at[q[1]], kGridIq3Xxs.at[q[2]],
                             kGridIq3Xxs.at[q[3]]};
    return times(floats(with_signs(reinterpret_cast<Codes>(points), even_signs(rest >> (i % 2 * 14)))),
                 scaled(half(block), static_cast<int>(rest >> 28) * 2 + 1, 0.25f));
}

SIXTEEN iq3_s(const uint8_t* block, int i) {
    const uint8_t* const q = block + 2 + 4 * i;
    const int high = nibble_of(block + 66, i);
    const FourBits points = {kGridIq3S.at[q[0] | (high & 1) << 8], kGridIq3S.at[q[1] | (high & 2) << 7],
                             kGridIq3S.at[q[2] | (high & 4) << 6], kGridIq3S.at[q[3] | (high & 8) << 5]};
    return times(floats(with_signs(reinterpret_cast<Codes>(points), word_at(block + 74 + 2 * i))),
                 scaled(half(block), nibble_of(block + 106, i / 2) * 2 + 1, 1));
}

/// Returns two points in eighths, moved up by one, or down where the bit of `down` is set.
Codes moved_points(const uint8_t* q, int high_a, int high_b, uint16_t down) {
    return pair_of(kGridIq1.at[q[0] | high_a << 8], kGridIq1.at[q[1] | high_b << 8]) +
           with_signs(all_codes(1), down);
}

SIXTEEN iq1_s(const uint8_t* block, int i) {
    const int rest = word_at(block + 34 + i / 2 * 2), high = rest >> (i % 2 * 6);
    const Codes codes = moved_points(block + 2 + 2 * i, high & 7, high >> 3 & 7, rest >> 15 ? 0xffff : 0);
    return times(floats(codes), scaled(half(block), (rest >> 12 & 7) * 2 + 1, 0.125f));
}

SIXTEEN iq1_m(const uint8_t* block, int i) {
    const uint8_t* const s = block + 48;  // four words: three bits of four scales, and a part of the half
    const int scale = word_at(s) >> 12 | (word_at(s + 2) >> 8 & 0xf0) | (word_at(s + 4) >> 4 & 0xf00) |
                      (word_at(s + 6) & 0xf000);
    const int high = block[32 + i], own = word_at(s + i / 4 * 2) >> (i % 4 * 3) & 7;
    const auto down = static_cast<uint16_t>((high & 8 ? 0x00ff : 0) | (high & 128 ? 0xff00 : 0));
    const Codes codes = moved_points(block + 2 * i, high & 7, high >> 4 & 7, down);
    return times(floats(codes), scaled(half_of(static_cast<uint16_t>(scale)), own * 2 + 1, 0.125f));
}

/// Five values of three levels in a byte: the highest digits of its product with a power of three.
Codes trits(Codes bytes, Words power) {
    const Words both = reinterpret_cast<Words>(bytes), even = (both & 0xff) * power & 0xff,
                odd = (both >> 8) * power & 0xff;
    return reinterpret_cast<Codes>((even * 3 >> 8) | (odd * 3 >> 8 << 8)) - 1;
}
SIXTEEN tq1_0(const uint8_t* block, int i) {
    constexpr uint16_t kPowers[] = {1, 3, 9, 27, 81};
    constexpr Words kLast = {1, 1, 3, 3, 9, 9, 27, 27};
    const Codes codes = i == 15  ? trits(reinterpret_cast<Codes>(FourBits{} + bits_at(block + 48)), kLast)
                        : i < 10 ? trits(codes_at(block + i % 2 * 16), Words{} + kPowers[i / 2])
                                 : trits(codes_at(block + 32), Words{} + kPowers[i - 10]);
    return times(floats(codes), half(block + 52));
}
SIXTEEN tq2_0(const uint8_t* block, int i) {
    return times(floats(field(codes_at(block + i / 8 * 32 + i % 2 * 16), i % 8 / 2 * 2, 3) - 1),
                 half(block + 64));
}

#undef SIXTEEN

}  // namespace
}  // namespace headlight
