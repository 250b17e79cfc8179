// States the layout of every format of encoded weights, value by value, and makes random rows in each.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "helpers.h"
#include "io/dtype.h"

namespace headlight {
namespace {

using Bytes = const uint8_t*;

float half_at(Bytes p) {
    Eigen::half h;
    std::memcpy(&h, p, 2);
    return float(h);
}

/// Computes value i of a row, from the layouts that ggml documents.
float f32(Bytes p, int i) {
    float v = 0;
    std::memcpy(&v, p + 4 * i, 4);
    return v;
}
float f16(Bytes p, int i) { return half_at(p + 2 * i); }
float bf16(Bytes p, int i) {
    Eigen::bfloat16 h;
    std::memcpy(&h, p + 2 * i, 2);
    return float(h);
}
int nibble(Bytes q, int i) { return q[i % 16] >> (i / 16 * 4) & 15; }
int bit(Bytes bits, int i) { return bits[i / 8] >> (i % 8) & 1; }
float q8_0(Bytes p, int i) { return half_at(p) * static_cast<float>(static_cast<int8_t>(p[2 + i])); }
float q4_0(Bytes p, int i) { return half_at(p) * static_cast<float>(nibble(p + 2, i) - 8); }
float q4_1(Bytes p, int i) { return half_at(p) * static_cast<float>(nibble(p + 4, i)) + half_at(p + 2); }
float q5_0(Bytes p, int i) {
    return half_at(p) * static_cast<float>((nibble(p + 6, i) | bit(p + 2, i) << 4) - 16);
}
float q5_1(Bytes p, int i) {
    return half_at(p) * static_cast<float>(nibble(p + 8, i) | bit(p + 4, i) << 4) + half_at(p + 2);
}
int pair_of_bits(Bytes q, int i) { return q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }
float q2_k(Bytes p, int i) {
    const auto scale = static_cast<float>(p[i / 16] & 15), minimum = static_cast<float>(p[i / 16] >> 4);
    return half_at(p + 80) * scale * static_cast<float>(pair_of_bits(p + 16, i)) - half_at(p + 82) * minimum;
}
float q3_k(Bytes p, int i) {
    const Bytes s = p + 96;
    const int group = i / 16, low = group < 8 ? s[group] & 15 : s[group - 8] >> 4,
              scale = (low | (s[8 + group % 4] >> (group / 4 * 2) & 3) << 4) - 32,
              code = pair_of_bits(p + 32, i) - (p[i % 32] >> (i / 32) & 1 ? 0 : 4);
    return half_at(p + 108) * static_cast<float>(scale) * static_cast<float>(code);
}
float line_q45_k(Bytes p, int i, int code) {
    const Bytes s = p + 4;
    const int g = i / 32, scale = g < 4 ? s[g] & 63 : (s[g + 4] & 15) | (s[g - 4] >> 6) << 4,
              minimum = g < 4 ? s[g + 4] & 63 : (s[g + 4] >> 4) | (s[g] >> 6) << 4;
    return half_at(p) * static_cast<float>(scale) * static_cast<float>(code) -
           half_at(p + 2) * static_cast<float>(minimum);
}
int nibble_of_256(Bytes q, int i) { return q[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15; }
float q4_k(Bytes p, int i) { return line_q45_k(p, i, nibble_of_256(p + 16, i)); }
float q5_k(Bytes p, int i) {
    return line_q45_k(p, i, nibble_of_256(p + 48, i) | (p[16 + i % 32] >> (i / 32) & 1) << 4);
}
float q6_k(Bytes p, int i) {
    const int half = i / 128, quarter = i % 128 / 32, at = i % 32,
              low = p[half * 64 + quarter % 2 * 32 + at] >> (quarter / 2 * 4) & 15,
              high = p[128 + half * 32 + at] >> (quarter * 2) & 3;
    return half_at(p + 208) * static_cast<float>(static_cast<int8_t>(p[192 + i / 16])) *
           static_cast<float>((low | high << 4) - 32);
}
constexpr float kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
float iq4_nl(Bytes p, int i) { return half_at(p) * kLevels[nibble(p + 2, i)]; }
float iq4_xs(Bytes p, int i) {
    const int g = i / 32, low = p[4 + g / 2] >> (g % 2 * 4) & 15, high = p[2 + g / 4] >> (g % 4 * 2) & 3;
    return half_at(p) * static_cast<float>((low | high << 4) - 32) * kLevels[nibble(p + 8 + 16 * g, i % 32)];
}

float tq2_0(Bytes p, int i) { return half_at(p + 64) * static_cast<float>(pair_of_bits(p, i) - 1); }
float e2m1(int code) {
    const float size = code & 6 ? std::ldexp(1.0f + 0.5f * static_cast<float>(code & 1), (code >> 1 & 3) - 1)
                                : 0.5f * static_cast<float>(code & 1);
    return code & 8 ? -size : size;
}
float mxfp4(Bytes p, int i) { return std::ldexp(e2m1(nibble(p + 1, i)), p[0] - 127); }
/// Computes a float of eight bits with `bits` bits of mantissa.
float small_float(int code, int bits, int bias) {
    const int exponent = (code & 127) >> bits, mantissa = code & ((1 << bits) - 1);
    const float size = exponent
                           ? std::ldexp(static_cast<float>(mantissa + (1 << bits)), exponent - bias - bits)
                           : std::ldexp(static_cast<float>(mantissa), 1 - bias - bits);
    return code & 128 ? -size : size;
}
float e4m3(Bytes p, int i) { return small_float(p[i], 3, 7); }
float e5m2(Bytes p, int i) { return small_float(p[i], 2, 15); }
float scaled_e4m3(Bytes p, int i) { return e4m3(p + 4, i) * f32(p, 0); }
float scaled_e5m2(Bytes p, int i) { return e5m2(p + 4, i) * f32(p, 0); }
float zero_at(Bytes p) { return static_cast<float>(static_cast<int16_t>(p[4] | p[5] << 8)); }
float int8(Bytes p, int i) {
    return (static_cast<float>(static_cast<int8_t>(p[6 + i])) - zero_at(p)) * f32(p, 0);
}
int nibble_of_many(Bytes q, int i) { return nibble(q + i / 32 * 16, i % 32); }
float int4(Bytes p, int i) { return (static_cast<float>(nibble_of_many(p + 6, i)) - zero_at(p)) * f32(p, 0); }
float nf4(Bytes p, int i) {  // the table that bitsandbytes states
    constexpr float kNormal[16] = {-1.0f,         -0.696192801f, -0.525073051f,  -0.394917488f,
                                   -0.284441382f, -0.184773430f, -0.0910500363f, 0.0f,
                                   0.0795802996f, 0.160930201f,  0.246112302f,   0.337915242f,
                                   0.440709829f,  0.562617004f,  0.722956836f,   1.0f};
    return kNormal[nibble_of_many(p + 4, i)] * f32(p, 0);
}
float fp4(Bytes p, int i) {
    constexpr float kTwelfths[8] = {0, 0.0625f, 8, 12, 4, 6, 2, 3};
    const int code = nibble_of_many(p + 4, i);
    return (code & 8 ? -1.0f : 1.0f) * (kTwelfths[code & 7] / 12) * f32(p, 0);
}
float nvfp4(Bytes p, int i) {  // scales are stored halved
    constexpr float kTwice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
    const int code = nibble(p + 8, i);
    return (code & 8 ? -1.0f : 1.0f) * kTwice[code & 7] * f32(p, i / 16);
}

/// Keeps some bits of a byte of each block and sets others, so that scales are finite and near 1.
struct Bounded {
    int at;
    uint8_t kept, set;
};
Bounded half_scale(int at) { return {at + 1, 0x83, 0x20}; }
constexpr Bounded kFloatScale = {3, 0x80, 0x3d}, kZeroLow = {4, 0x0f, 0}, kZeroHigh = {5, 0, 0};

struct Layout {
    const char* name;
    float (*value)(Bytes block, int i);  // null: compared with the reference's values alone
    std::vector<Bounded> bounded;
};
const Layout kLayouts[] = {
    {"F32", f32, {}},
    {"F16", f16, {}},
    {"BF16", bf16, {}},
    {"F8_E4M3", e4m3, {}},
    {"F8_E5M2", e5m2, {}},
    {"Q8_0", q8_0, {half_scale(0)}},
    {"Q4_0", q4_0, {half_scale(0)}},
    {"Q4_1", q4_1, {half_scale(0), half_scale(2)}},
    {"Q5_0", q5_0, {half_scale(0)}},
    {"Q5_1", q5_1, {half_scale(0), half_scale(2)}},
    {"Q2_K", q2_k, {half_scale(80), half_scale(82)}},
    {"Q3_K", q3_k, {half_scale(108)}},
    {"Q4_K", q4_k, {half_scale(0), half_scale(2)}},
    {"Q5_K", q5_k, {half_scale(0), half_scale(2)}},
    {"Q6_K", q6_k, {half_scale(208)}},
    {"IQ4_NL", iq4_nl, {half_scale(0)}},
    {"IQ4_XS", iq4_xs, {half_scale(0)}},
    {"MXFP4", mxfp4, {{0, 7, 0x78}}},
    {"IQ1_S", nullptr, {half_scale(0)}},
    {"IQ1_M", nullptr, {{55, 0x8f, 0x20}}},
    {"IQ2_XXS", nullptr, {half_scale(0)}},
    {"IQ2_XS", nullptr, {half_scale(0)}},
    {"IQ2_S", nullptr, {half_scale(0)}},
    {"IQ3_XXS", nullptr, {half_scale(0)}},
    {"IQ3_S", nullptr, {half_scale(0)}},
    {"TQ1_0", nullptr, {half_scale(52)}},
    {"TQ2_0", tq2_0, {half_scale(64)}},
    {"F8_E4M3/128", scaled_e4m3, {kFloatScale}},
    {"F8_E4M3/32", scaled_e4m3, {kFloatScale}},
    {"F8_E5M2/32", scaled_e5m2, {kFloatScale}},
    {"INT8/128", int8, {kFloatScale, kZeroHigh}},
    {"INT8/32", int8, {kFloatScale, kZeroHigh}},
    {"INT4/128", int4, {kFloatScale, kZeroLow, kZeroHigh}},
    {"INT4/32", int4, {kFloatScale, kZeroLow, kZeroHigh}},
    {"NF4/64", nf4, {kFloatScale}},
    {"FP4/64", fp4, {kFloatScale}},
    {"NVFP4/16", nvfp4, {kFloatScale, {7, 0x80, 0x3d}}},
};

const DType& dtype_of(const std::string& name) {
    for (uint32_t id = 0; id < 40; ++id)
        if (const DType* t = find_gguf_type(id); t && t->name == name) return *t;
    const DType* const t = find_dtype(name);
    return t ? *t : laid_out_type(name);
}

/// Makes rows of random weights around 1 in a format: any codes, finite scales.
std::vector<uint8_t> random_rows(const Layout& layout, const DType& t, int64_t values, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> out(t.size(values));
    const bool floats = t.block == 1, eight = std::string_view(t.name).starts_with("F8");
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<uint8_t>(random());
        if (eight)
            out[i] &= 0xbf;  // below 2
        else if (floats && i % t.bytes == static_cast<size_t>(t.bytes) - 1)
            out[i] = (out[i] & 0x80) | 0x3c;
    }
    for (size_t block = 0; !floats && block < out.size(); block += t.bytes)
        for (const auto& [at, kept, set] : layout.bounded) {
            uint8_t& byte = out[block + static_cast<size_t>(at)];
            byte = static_cast<uint8_t>((byte & kept) | set);
        }
    return out;
}

/// Returns possible sizes of a row in the format: odd ones, or odd numbers of blocks.
std::vector<int> sizes_of(const DType& t) {
    if (t.block == 1) return {1, 7, 8, 9, 47, 48, 49, 50, 191, 192, 193, 255, 256, 257};
    std::vector<int> out;
    for (const int size : {32, 64, 128, 224, 256, 288, 384, 512, 576, 768})
        if (size % t.block == 0) out.push_back(size);
    return out;
}

}  // namespace
}  // namespace headlight
