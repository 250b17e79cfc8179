// Decodes whole blocks of encoded weights, sixteen values at a time. Where a register can serve as a lookup
// table, 4- and 5-bit codes become weights in one step: the table holds the weight of each code under the
// block's scale. Included only by base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/formats.h"
#include "kernels/low_bits.h"
#include "kernels/scaled.h"

namespace headlight {
namespace {

/// Calls use(i, values [16 i, 16 i + 16)) for each part of a block, in order.
template <Lanes (*values)(const uint8_t*, int), int Values>
struct Block {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
#pragma GCC unroll 16
        for (int i = 0; i < Values / kSumLanes; ++i) use(i, values(block, i));
    }
};

#if defined(__AVX512F__)

/// Stores floats so that one of them can be broadcast by a load, which is free, instead of a shuffle, which
/// only one port can execute. The empty assembly stops the compiler from undoing that.
struct alignas(64) Spread {
    float at[kSumLanes];
    explicit Spread(Vec v) {
        store(at, v);
        __asm__("" : "+m"(at));
    }
    Vec operator[](int i) const { return all(at[i]); }
};
/// Stores four halves likewise: the scale at the start of a block, then its minimum.
struct alignas(16) SpreadHalves {
    float at[4];
    explicit SpreadHalves(const uint8_t* p) {
        _mm_store_ps(at, _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p))));
        __asm__("" : "+m"(at));
    }
    Vec operator[](int i) const { return all(at[i]); }
};

constexpr Vec kCodes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// Widens sixteen bytes to 32 bits each.
Bits wide_codes(const uint8_t* p) {
    return reinterpret_cast<Bits>(_mm512_cvtepu8_epi32(reinterpret_cast<__m128i>(codes_at(p))));
}
/// Looks up the lowest four bits of each code in a table.
Lanes looked_up(Vec table, Bits codes) {
    return {reinterpret_cast<Vec>(
        _mm512_permutexvar_ps(reinterpret_cast<__m512i>(codes), reinterpret_cast<__m512>(table)))};
}
/// Looks up the lowest five bits, in a table of two registers.
Lanes looked_up(Vec low, Vec high, Bits codes) {
    return {reinterpret_cast<Vec>(_mm512_permutex2var_ps(
        reinterpret_cast<__m512>(low), reinterpret_cast<__m512i>(codes), reinterpret_cast<__m512>(high)))};
}

/// Compute the weights of the codes of a block of 32, the same values as in formats.h.
[[gnu::always_inline]] inline Vec weights_q4_0(const SpreadHalves& of_block, Vec codes) {
    return (codes - 8.0f) * of_block[0];
}
[[gnu::always_inline]] inline Vec weights_q5_0(const SpreadHalves& of_block, Vec codes) {
    return (codes - 16.0f) * of_block[0];
}
[[gnu::always_inline]] inline Vec weights_on_line(const SpreadHalves& of_block, Vec codes) {
    return fused(codes, of_block[0], of_block[1]);
}

template <Vec (*weights)(const SpreadHalves&, Vec), int At>
struct FourBits32 {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const Vec table = weights(SpreadHalves(block), kCodes);
        const Bits codes = wide_codes(block + At);
        use(0, looked_up(table, codes));
        use(1, looked_up(table, codes >> 4));
    }
};
template <>
struct Block<q4_0, 32> : FourBits32<weights_q4_0, 2> {};
template <>
struct Block<q4_1, 32> : FourBits32<weights_on_line, 4> {};

template <Vec (*weights)(const SpreadHalves&, Vec), int At>
struct FiveBits32 {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const SpreadHalves of_block(block);
        const Vec low = weights(of_block, kCodes), high = weights(of_block, kCodes + 16.0f);
        const Bits codes = wide_codes(block + At + 4);
        use(0, chosen_of(low, high, codes, word_at(block + At)));
        use(1, chosen_of(low, high, codes >> 4, word_at(block + At + 2)));
    }
    static Lanes chosen_of(Vec low, Vec high, Bits codes, uint16_t fifth_bits) {
        return {reinterpret_cast<Vec>(
            _mm512_mask_permutexvar_ps(reinterpret_cast<__m512>(looked_up(low, codes).part[0]), fifth_bits,
                                       reinterpret_cast<__m512i>(codes), reinterpret_cast<__m512>(high)))};
    }
};
template <>
struct Block<q5_0, 32> : FiveBits32<weights_q5_0, 2> {};
template <>
struct Block<q5_1, 32> : FiveBits32<weights_on_line, 4> {};

template <>
struct Block<q8_0, 32> {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const SpreadHalves scale(block);
        use(0, times(floats(codes_at(block + 2)), scale[0]));
        use(1, times(floats(codes_at(block + 18)), scale[0]));
    }
};

/// Interleaves scale and −minimum of each of the eight groups of 32 of Q4_K and Q5_K.
[[gnu::always_inline]] inline Spread lines_q45_k(const uint8_t* block) {
    typedef int8_t Order __attribute__((vector_size(16)));
    constexpr Order kLow = {0, 4, 1, 5, 2, 6, 3, 7, 8, -1, 9, -1, 10, -1, 11, -1},
                    kHigh = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 1, 5, 2, 6, 3, 7},
                    kMask = {63, 63, 63, 63, 63, 63, 63, 63, 15, 15, 15, 15, 15, 15, 15, 15};
    constexpr Words kApart = {0, 0, 0, 0, 4, 4, 4, 4};  // the two codes of a byte, one byte each
    const auto bytes = reinterpret_cast<__m128i>(codes_at(block + 4));
    const auto low = reinterpret_cast<Words>(_mm_shuffle_epi8(bytes, reinterpret_cast<__m128i>(kLow))),
               high = reinterpret_cast<Words>(_mm_shuffle_epi8(bytes, reinterpret_cast<__m128i>(kHigh)));
    const Codes codes = (reinterpret_cast<Codes>(low | low << kApart) & kMask) |
                        (reinterpret_cast<Codes>(high >> 2) & all_codes(48));
    constexpr Vec kSigns = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
    const auto of_block = reinterpret_cast<Vec>(
        _mm512_cvtph_ps(_mm256_set1_epi32(static_cast<int32_t>(bits_at(block)))));  // scale, minimum, scale …
    return Spread(floats(codes).part[0] * (of_block * kSigns));
}

template <>
struct Block<q4_k, 256> {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const Spread lines = lines_q45_k(block);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const Vec first = fused(kCodes, lines[4 * i], lines[4 * i + 1]),
                      second = fused(kCodes, lines[4 * i + 2], lines[4 * i + 3]);
            const Bits a = wide_codes(block + 16 + 32 * i), b = wide_codes(block + 32 + 32 * i);
            use(4 * i, looked_up(first, a));
            use(4 * i + 1, looked_up(first, b));
            use(4 * i + 2, looked_up(second, a >> 4));
            use(4 * i + 3, looked_up(second, b >> 4));
        }
    }
};

template <>
struct Block<q5_k, 256> {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const Spread lines = lines_q45_k(block);
        const Bits fifth[] = {wide_codes(block + 16), wide_codes(block + 32)};
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            const Vec low = fused(kCodes, lines[2 * i], lines[2 * i + 1]),
                      high = fused(kCodes + 16.0f, lines[2 * i], lines[2 * i + 1]);
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) {
                const Bits bytes = wide_codes(block + 48 + i / 2 * 32 + 16 * j), four = bytes >> i % 2 * 4,
                           bit = i < 4 ? fifth[j] << (4 - i) : fifth[j] >> (i - 4);
                use(2 * i + j, looked_up(low, high, (four & 15u) | (bit & ~15u)));
            }
        }
    }
};

/// Stores the codes of half a block of Q6_K, less 32, so that sixteen at a time load as 32 bits each.
struct alignas(64) SixBits {
    typedef uint8_t Bytes64 __attribute__((vector_size(64)));
    typedef uint16_t Words64 __attribute__((vector_size(64)));
    Bytes64 at[2];
    SixBits(const uint8_t* four, const uint8_t* two) {
        constexpr Words64 kUp = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
                                 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                          kDown = 4 - kUp;
        const auto low = reinterpret_cast<Words64>(_mm512_loadu_si512(four)),
                   high = reinterpret_cast<Words64>(
                       _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(two))));
        at[0] = reinterpret_cast<Bytes64>((low & 0x0f0f) | (high << kUp & 0x3030)) - 32;
        at[1] = reinterpret_cast<Bytes64>((low >> 4 & 0x0f0f) | (high >> kDown & 0x3030)) - 32;
        __asm__("" : "+m"(at));
    }
    const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(at); }
};

template <>
struct Block<q6_k, 256> {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const Spread scales(times(floats(codes_at(block + 192)), half(block + 208)).part[0]);
#pragma GCC unroll 2
        for (int part = 0; part < 2; ++part) {
            const SixBits codes(block + 64 * part, block + 128 + 32 * part);
#pragma GCC unroll 8
            for (int i = 0; i < 8; ++i)
                use(8 * part + i, times(floats(codes_at(codes.bytes() + 16 * i)), scales[8 * part + i]));
        }
    }
};

/// Lists the levels of the non-linear formats as floats.
constexpr Vec kLevelWeights = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
[[gnu::always_inline]] inline Vec weights_iq4_nl(const SpreadHalves& of_block, Vec) {
    return kLevelWeights * of_block[0];
}
template <>
struct Block<iq4_nl, 32> : FourBits32<weights_iq4_nl, 2> {};

/// Looks up all codes of a block in one table of weights; `At`: bytes before the codes.
template <Vec (*weights)(const uint8_t*), int At, int Values>
struct FourBitsOfTable {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
        const Vec table = weights(block);
#pragma GCC unroll 4
        for (int i = 0; i < Values / 32; ++i) {
            const Bits codes = wide_codes(block + At + 16 * i);
            use(2 * i, looked_up(table, codes));
            use(2 * i + 1, looked_up(table, codes >> 4));
        }
    }
};
[[gnu::always_inline]] inline Vec weights_int4(const uint8_t* block) {
    return (kCodes - all(static_cast<float>(static_cast<int8_t>(block[4])))) * scale_at(block);
}
[[gnu::always_inline]] inline Vec weights_nf4(const uint8_t* block) {
    return load(kNormalFloats) * scale_at(block);
}
[[gnu::always_inline]] inline Vec weights_fp4(const uint8_t* block) {
    return load(kFloats4) * scale_at(block);
}
[[gnu::always_inline]] inline Vec weights_mxfp4(const uint8_t* block) {
    return load(kTwiceE2m1) * scale_mxfp4(block);
}
template <>
struct Block<scaled_int4, 128> : FourBitsOfTable<weights_int4, 6, 128> {};
template <>
struct Block<scaled_int4, 32> : FourBitsOfTable<weights_int4, 6, 32> {};
template <>
struct Block<nf4, 64> : FourBitsOfTable<weights_nf4, 4, 64> {};
template <>
struct Block<fp4, 64> : FourBitsOfTable<weights_fp4, 4, 64> {};
template <>
struct Block<mxfp4, 32> : FourBitsOfTable<weights_mxfp4, 1, 32> {};

template <>
struct Block<iq4_xs, 256> {
    template <class Use>
    [[gnu::always_inline]] static void each(const uint8_t* block, Use use) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            const Vec table = kLevelWeights * scale_iq4_xs(block, i);
            const Bits codes = wide_codes(block + 8 + 16 * i);
            use(2 * i, looked_up(table, codes));
            use(2 * i + 1, looked_up(table, codes >> 4));
        }
    }
};

#endif

}  // namespace
}  // namespace headlight
