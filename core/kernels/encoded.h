// Decodes rows of weights in every format, to memory or in registers within a dot product. Included only by
// base.cpp, v3.cpp and v4.cpp.
#pragma once

#include "kernels/blocks.h"
#include "kernels/dots.h"
#include "kernels/kernels.h"
#include "kernels/transposed.h"

namespace headlight {
namespace {

/// Interleaves this many rows of weights, so that sums overlap; a multiple of the lanes they fold into.
constexpr int kEncodedRows = kLanes > 8 ? kLanes : 8;
constexpr int kTurn = 256;  // values per row and step

/// Pads the rest of a row after its whole blocks with zeros.
template <int Bytes>
struct LastBlock {
    alignas(64) uint8_t bytes[Bytes] = {};
    LastBlock(const uint8_t* from, int64_t count) {
        for (int64_t i = 0; i < count; ++i) bytes[i] = from[i];
    }
};

/// Describes a format: blocks of `Values` values in `Bytes` bytes; `values` loads sixteen of them. For
/// formats of single values a block is sixteen of them, and decoding may end within it.
template <Lanes (*values)(const uint8_t*, int), int Values, int Bytes>
struct Format {
    static void decode(const uint8_t* blocks, int64_t count, float* __restrict out) {
        const int64_t whole = count / Values;
        for (int64_t b = 0; b < whole; ++b)
            Block<values, Values>::each(
                blocks + b * Bytes, [=](int i, const Lanes& v) __attribute__((always_inline)) {
#pragma GCC unroll 4
                    for (int64_t part = 0; part < Lanes::kParts; ++part)
                        store(out + b * Values + i * kSumLanes + part * kLanes, v.part[part]);
                });
        if (const int64_t left = count - whole * Values) {
            const Lanes v = values(LastBlock<Bytes>(blocks + whole * Bytes, left * Bytes / Values).bytes, 0);
            for (int64_t part = 0; part < Lanes::kParts; ++part)
                store_some(out + whole * Values + part * kLanes, left - part * kLanes, v.part[part]);
        }
    }

    /// sum += x · w over `Blocks` blocks of a row, or sum = x · w at the start; prefetches as many ahead.
    template <int Blocks>
    static void add(const float* x, const uint8_t* w, int64_t ahead, bool begin, Vec* sum) {
        for (int at = 0; at < Blocks * Bytes; at += kLine) fetch(w, ahead + at);
        Lanes total{};
        if (!begin)
            for (int part = 0; part < Lanes::kParts; ++part) total.part[part] = sum[part];
#pragma GCC unroll 16
        for (int b = 0; b < Blocks; ++b)
            Block<values, Values>::each(
                w + b * Bytes, [&](int i, const Lanes& v) __attribute__((always_inline)) {
#pragma GCC unroll 4
                    for (int part = 0; part < Lanes::kParts; ++part)
                        total.part[part] = fused(load(x + b * Values + i * kSumLanes + part * kLanes),
                                                 v.part[part], total.part[part]);
                });
        for (int part = 0; part < Lanes::kParts; ++part) sum[part] = total.part[part];
    }
    /// Sums the products of some rows of weights with one row of x, in the order of dots_tile.
    static void totals(const Dots& d, const float* x, const uint8_t* const* w, int64_t rows, float* out) {
        constexpr int kBlocks = kTurn / Values;
        Vec sum[kEncodedRows][Lanes::kParts], single[kEncodedRows];
        const int64_t turns = d.depth / kTurn, blocks = d.depth / Values;
        for (int64_t turn = 0; turn < turns; ++turn)
            for (int64_t row = 0; row < rows; ++row)
                add<kBlocks>(x + turn * kTurn, w[row] + turn * kBlocks * Bytes, d.ahead, turn == 0, sum[row]);
        for (int64_t row = 0; row < kEncodedRows; ++row) {
            for (int64_t b = turns * kBlocks; row < rows && b < blocks; ++b)
                add<1>(x + b * Values, w[row] + b * Bytes, d.ahead, b == 0, sum[row]);
            single[row] = row < rows && blocks > 0 ? joined(sum[row]) : Vec{};
        }
        for (int64_t row = 0; row < kEncodedRows; row += kLanes)
            store(out + row, folded<kLanes / 2>(single + row));
    }

    static void dot(const Dots& d) {
        for (int64_t o = 0; o < d.count; o += kEncodedRows)
            for (int64_t row = 0; row < d.rows; ++row) {
                const int64_t count = d.count - o < kEncodedRows ? d.count - o : kEncodedRows;
                float out[kEncodedRows];
                totals(d, d.x + row * d.x_stride, d.w + o, count, out);
                begin_or_add(d, row, o, count, out);
            }
    }

    static constexpr WeightFormat row(const char* name) { return {name, Values, Bytes, decode, dot}; }
    static constexpr WeightFormat of_values(const char* name) {
        return {name, Values, Bytes, decode, TransposedDots<values, Bytes>::dot};
    }
};

/// Tabulates the formats: the only place of the kernels to add one.
constexpr WeightFormat kWeightFormats[] = {
    Format<f32, 16, 64>::of_values("F32"),
    Format<f16, 16, 32>::of_values("F16"),
    Format<bf16, 16, 32>::of_values("BF16"),
    Format<q8_0, 32, 34>::row("Q8_0"),
    Format<q4_0, 32, 18>::row("Q4_0"),
    Format<q4_1, 32, 20>::row("Q4_1"),
    Format<q5_0, 32, 22>::row("Q5_0"),
    Format<q5_1, 32, 24>::row("Q5_1"),
    Format<q2_k, 256, 84>::row("Q2_K"),
    Format<q3_k, 256, 110>::row("Q3_K"),
    Format<q4_k, 256, 144>::row("Q4_K"),
    Format<q5_k, 256, 176>::row("Q5_K"),
    Format<q6_k, 256, 210>::row("Q6_K"),
    Format<iq4_nl, 32, 18>::row("IQ4_NL"),
    Format<iq4_xs, 256, 136>::row("IQ4_XS"),
    Format<mxfp4, 32, 17>::row("MXFP4"),
    Format<iq1_s, 256, 50>::row("IQ1_S"),
    Format<iq1_m, 256, 56>::row("IQ1_M"),
    Format<iq2_xxs, 256, 66>::row("IQ2_XXS"),
    Format<iq2_xs, 256, 74>::row("IQ2_XS"),
    Format<iq2_s, 256, 82>::row("IQ2_S"),
    Format<iq3_xxs, 256, 98>::row("IQ3_XXS"),
    Format<iq3_s, 256, 110>::row("IQ3_S"),
    Format<tq1_0, 256, 54>::row("TQ1_0"),
    Format<tq2_0, 256, 66>::row("TQ2_0"),
    Format<e4m3, 16, 16>::of_values("F8_E4M3"),
    Format<e5m2, 16, 16>::of_values("F8_E5M2"),
    Format<scaled_e4m3, 128, 132>::row("F8_E4M3/128"),
    Format<scaled_e4m3, 32, 36>::row("F8_E4M3/32"),
    Format<scaled_e5m2, 32, 36>::row("F8_E5M2/32"),
    Format<scaled_int8, 128, 134>::row("INT8/128"),
    Format<scaled_int8, 32, 38>::row("INT8/32"),
    Format<scaled_int4, 128, 70>::row("INT4/128"),
    Format<scaled_int4, 32, 22>::row("INT4/32"),
    Format<nf4, 64, 36>::row("NF4/64"),
    Format<fp4, 64, 36>::row("FP4/64"),
    Format<nvfp4, 32, 24>::row("NVFP4/16"),
};
constexpr int kWeightFormatCount = sizeof kWeightFormats / sizeof *kWeightFormats;

}  // namespace
}  // namespace headlight
