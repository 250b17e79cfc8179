// Tabulates the storage formats.
#include "io/dtype.h"

#include <cstring>

#include "base/check.h"
#include "kernels/choice.h"

namespace headlight {

namespace {

/// Rows that the kernels read correspond to those of kernels/encoded.h, in the same order.
constexpr DType kTable[] = {
    {"F32", 0, true, 1, 4, 0},
    {"F16", 1, true, 1, 2, 1},
    {"BF16", 30, true, 1, 2, 2},
    {"Q8_0", 8, false, 32, 34, 3},
    {"Q4_0", 2, false, 32, 18, 4},
    {"Q4_1", 3, false, 32, 20, 5},
    {"Q5_0", 6, false, 32, 22, 6},
    {"Q5_1", 7, false, 32, 24, 7},
    {"Q2_K", 10, false, 256, 84, 8},
    {"Q3_K", 11, false, 256, 110, 9},
    {"Q4_K", 12, false, 256, 144, 10},
    {"Q5_K", 13, false, 256, 176, 11},
    {"Q6_K", 14, false, 256, 210, 12},
    {"IQ4_NL", 20, false, 32, 18, 13},
    {"IQ4_XS", 23, false, 256, 136, 14},
    {"MXFP4", 39, false, 32, 17, 15},
    {"IQ1_S", 19, false, 256, 50, 16},
    {"IQ1_M", 29, false, 256, 56, 17},
    {"IQ2_XXS", 16, false, 256, 66, 18},
    {"IQ2_XS", 17, false, 256, 74, 19},
    {"IQ2_S", 22, false, 256, 82, 20},
    {"IQ3_XXS", 18, false, 256, 98, 21},
    {"IQ3_S", 21, false, 256, 110, 22},
    {"TQ1_0", 34, false, 256, 54, 23},
    {"TQ2_0", 35, false, 256, 66, 24},
    {"F8_E4M3", -1, true, 1, 1, 25},
    {"F8_E5M2", -1, true, 1, 1, 26},
    {"F8_E4M3/128", -1, false, 128, 132, 27},
    {"F8_E4M3/32", -1, false, 32, 36, 28},
    {"F8_E5M2/32", -1, false, 32, 36, 29},
    {"INT8/128", -1, false, 128, 134, 30},
    {"INT8/32", -1, false, 32, 38, 31},
    {"INT4/128", -1, false, 128, 70, 32},
    {"INT4/32", -1, false, 32, 22, 33},
    {"NF4/64", -1, false, 64, 36, 34},
    {"FP4/64", -1, false, 64, 36, 35},
    {"NVFP4/16", -1, false, 32, 24, 36},
    {"I64", 27, true, 1, 8, -1},
    {"F64", 28, true, 1, 8, -2},
    {"I32", 26, true, 1, 4, -1},
    {"I16", 25, true, 1, 2, -1},
    {"I8", 24, true, 1, 1, -1},
    {"U8", -1, true, 1, 1, -1},
    {"BOOL", -1, true, 1, 1, -1},
    {"U16", -1, true, 1, 2, -1},
    {"U32", -1, true, 1, 4, -1},
    {"U64", -1, true, 1, 8, -1},
    {"F8_E8M0", -1, true, 1, 1, -1},
    {"F4", -1, true, 2, 1, -1},
    {"F6_E2M3", -1, true, 4, 3, -1},
    {"F6_E3M2", -1, true, 4, 3, -1},
    {"F8_E4M3FNUZ", -1, true, 1, 1, -1},
    {"F8_E5M2FNUZ", -1, true, 1, 1, -1},
    {"C64", -1, true, 1, 8, -1},
};

void narrow_doubles(const std::byte* in, int64_t n, float* out) {
    for (int64_t i = 0; i < n; ++i) {
        double value;
        std::memcpy(&value, in + 8 * i, sizeof value);
        out[i] = float(value);
    }
}

}  // namespace

void DType::decode(const std::byte* in, int64_t n, float* out) const {
    if (format == kConverted) return narrow_doubles(in, n, out);
    if (n > 0) kernels().formats[format].decode(reinterpret_cast<const uint8_t*>(in), n, out);
}

const DType& float32() { return kTable[0]; }

const DType* find_dtype(std::string_view name) {
    for (const DType& t : kTable)
        if (t.safetensors && name == t.name) return &t;
    return nullptr;
}

const DType* find_gguf_type(uint32_t id) {
    for (const DType& t : kTable)
        if (t.gguf_id >= 0 && static_cast<uint32_t>(t.gguf_id) == id) return &t;
    return nullptr;
}

const DType& laid_out_type(std::string_view name) {
    for (const DType& t : kTable)
        if (t.gguf_id < 0 && !t.safetensors && name == t.name) return t;
    HEADLIGHT_CHECK(false);
}

std::string weight_formats() {
    std::string out;
    for (const DType& t : kTable)
        if (t.holds_weights() && (t.safetensors || t.gguf_id >= 0))
            out += (out.empty() ? "" : ", ") + std::string(t.name);
    return out;
}

}  // namespace headlight
