// Block formats of GGUF: a scale (and a minimum) for 32 values, or for 256 with 6-bit scales of 16 or 32
// inside. Layouts: ggml's documentation of its quantization types,
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#include "io/dtype.h"

#include <Eigen/Core>
#include <cstring>

namespace headlight {

namespace {

template <class Half>
void decode_half(const std::byte* in, int64_t n, float* out) {
    Eigen::Map<Eigen::ArrayXf>(out, n) =
        Eigen::Map<const Eigen::Array<Half, Eigen::Dynamic, 1>>(reinterpret_cast<const Half*>(in), n)
            .template cast<float>();
}

void decode_f32(const std::byte* in, int64_t n, float* out) {
    if (n > 0) std::memcpy(out, in, n * sizeof(float));
}

float half_at(const std::byte* p) {
    Eigen::half h;
    std::memcpy(&h, p, 2);
    return float(h);
}

unsigned byte_at(const std::byte* p, int i) { return std::to_integer<unsigned>(p[i]); }
int signed_byte_at(const std::byte* p, int i) { return static_cast<int8_t>(byte_at(p, i)); }

/// Blocks of 32 values of 4 or 5 bits: x = d·q + m, where the zero of the formats without a minimum lies in
/// the middle.
template <bool Fifth, bool Minimum>
void decode_nibbles(const std::byte* in, int64_t n, float* out) {
    constexpr int kHead = Minimum ? 4 : 2, kBytes = kHead + (Fifth ? 4 : 0) + 16;
    for (int64_t b = 0; b < n / 32; ++b, in += kBytes, out += 32) {
        const float d = half_at(in), m = Minimum ? half_at(in + 2) : -d * (Fifth ? 16.0f : 8.0f);
        uint32_t high = 0;
        if (Fifth) std::memcpy(&high, in + kHead, 4);
        const std::byte* q = in + kHead + (Fifth ? 4 : 0);
        for (int i = 0; i < 16; ++i) {
            const unsigned low = (byte_at(q, i) & 15) | ((high >> i) & 1) << 4,
                           top = (byte_at(q, i) >> 4) | ((high >> (i + 16)) & 1) << 4;
            out[i] = d * float(low) + m;
            out[i + 16] = d * float(top) + m;
        }
    }
}

void decode_q8_0(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 32; ++b, in += 34, out += 32) {
        const float d = half_at(in);
        for (int i = 0; i < 32; ++i) out[i] = d * float(signed_byte_at(in + 2, i));
    }
}

void decode_q2_k(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 256; ++b, in += 84) {
        const std::byte *scales = in, *q = in + 16;
        const float d = half_at(in + 80), minimum = half_at(in + 82);
        for (int i = 0; i < 256; ++i) {
            const unsigned s = byte_at(scales, i / 16),
                           bits = (byte_at(q, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2)) & 3;
            *out++ = d * float(s & 15) * float(bits) - minimum * float(s >> 4);
        }
    }
}

/// Q3_K: sixteen 6-bit scales in 12 bytes: low nibbles in the first eight, the two high bits in the last
/// four.
int scale_q3_k(const std::byte* s, int i) {
    const unsigned low = i < 8 ? byte_at(s, i) & 15 : byte_at(s, i - 8) >> 4;
    return int(low | ((byte_at(s, 8 + i % 4) >> (i / 4 * 2)) & 3) << 4) - 32;
}

void decode_q3_k(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 256; ++b, in += 110) {
        const std::byte *high = in, *q = in + 32, *scales = in + 96;
        const float d = half_at(in + 108);
        for (int i = 0; i < 256; ++i) {
            const int bits = int((byte_at(q, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2)) & 3);
            const int value = bits - ((byte_at(high, i % 32) >> (i / 32)) & 1 ? 0 : 4);
            *out++ = d * float(scale_q3_k(scales, i / 16)) * float(value);
        }
    }
}

/// Q4_K and Q5_K: eight 6-bit scales and eight 6-bit minima in 12 bytes.
std::pair<unsigned, unsigned> scale_and_minimum(const std::byte* s, int i) {
    if (i < 4) return {byte_at(s, i) & 63, byte_at(s, i + 4) & 63};
    return {(byte_at(s, i + 4) & 15) | (byte_at(s, i - 4) >> 6) << 4,
            (byte_at(s, i + 4) >> 4) | (byte_at(s, i) >> 6) << 4};
}

template <bool Fifth>
void decode_q45_k(const std::byte* in, int64_t n, float* out) {
    constexpr int kBytes = Fifth ? 176 : 144;
    for (int64_t b = 0; b < n / 256; ++b, in += kBytes) {
        const float d = half_at(in), minimum = half_at(in + 2);
        const std::byte *high = in + 16, *q = in + (Fifth ? 48 : 16);
        for (int group = 0; group < 8; ++group) {
            const auto [s, m] = scale_and_minimum(in + 4, group);
            const float scale = d * float(s), offset = minimum * float(m);
            for (int i = 0; i < 32; ++i) {
                unsigned value = (byte_at(q, group / 2 * 32 + i) >> (group % 2 * 4)) & 15;
                if (Fifth) value |= ((byte_at(high, i) >> group) & 1) << 4;
                *out++ = scale * float(value) - offset;
            }
        }
    }
}

void decode_q6_k(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 256; ++b, in += 210, out += 256) {
        const std::byte *low = in, *high = in + 128, *scales = in + 192;
        const float d = half_at(in + 208);
        for (int i = 0; i < 256; ++i) {
            const int half = i / 128, quarter = i % 128 / 32, at = i % 32;
            const unsigned nibble = byte_at(low, half * 64 + quarter % 2 * 32 + at) >> (quarter / 2 * 4) & 15;
            const unsigned top = byte_at(high, half * 32 + at) >> (quarter * 2) & 3;
            out[i] = d * float(signed_byte_at(scales, i / 16)) * float(int(nibble | top << 4) - 32);
        }
    }
}

/// The sixteen levels of the non-linear 4-bit formats.
constexpr float kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void decode_levels(const std::byte* q, float scale, float* out) {
    for (int i = 0; i < 16; ++i) {
        out[i] = scale * kLevels[byte_at(q, i) & 15];
        out[i + 16] = scale * kLevels[byte_at(q, i) >> 4];
    }
}

void decode_iq4_nl(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 32; ++b, in += 18, out += 32) decode_levels(in + 2, half_at(in), out);
}

void decode_iq4_xs(const std::byte* in, int64_t n, float* out) {
    for (int64_t b = 0; b < n / 256; ++b, in += 136)
        for (int group = 0; group < 8; ++group, out += 32) {
            const unsigned high = byte_at(in + 2, group / 4) >> (group % 4 * 2) & 3,
                           low = byte_at(in + 4, group / 2) >> (group % 2 * 4) & 15;
            decode_levels(in + 8 + group * 16, half_at(in) * float(int(low | high << 4) - 32), out);
        }
}

/// The table of storage formats: the only place to add one.
constexpr DType kTable[] = {
    {"F32", 0, true, 1, 4, decode_f32},
    {"F16", 1, true, 1, 2, decode_half<Eigen::half>},
    {"BF16", 30, true, 1, 2, decode_half<Eigen::bfloat16>},
    {"Q8_0", 8, false, 32, 34, decode_q8_0},
    {"Q4_0", 2, false, 32, 18, decode_nibbles<false, false>},
    {"Q4_1", 3, false, 32, 20, decode_nibbles<false, true>},
    {"Q5_0", 6, false, 32, 22, decode_nibbles<true, false>},
    {"Q5_1", 7, false, 32, 24, decode_nibbles<true, true>},
    {"Q2_K", 10, false, 256, 84, decode_q2_k},
    {"Q3_K", 11, false, 256, 110, decode_q3_k},
    {"Q4_K", 12, false, 256, 144, decode_q45_k<false>},
    {"Q5_K", 13, false, 256, 176, decode_q45_k<true>},
    {"Q6_K", 14, false, 256, 210, decode_q6_k},
    {"IQ4_NL", 20, false, 32, 18, decode_iq4_nl},
    {"IQ4_XS", 23, false, 256, 136, decode_iq4_xs},
    {"I64", 27, true, 1, 8, nullptr},
    {"F64", 28, true, 1, 8, nullptr},
    {"I32", 26, true, 1, 4, nullptr},
    {"I16", 25, true, 1, 2, nullptr},
    {"I8", 24, true, 1, 1, nullptr},
    {"U8", -1, true, 1, 1, nullptr},
    {"BOOL", -1, true, 1, 1, nullptr},
    {"U16", -1, true, 1, 2, nullptr},
    {"U32", -1, true, 1, 4, nullptr},
    {"U64", -1, true, 1, 8, nullptr},
    {"F8_E4M3", -1, true, 1, 1, nullptr},
    {"F8_E5M2", -1, true, 1, 1, nullptr},
};

}  // namespace

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

std::string weight_formats() {
    std::string out;
    for (const DType& t : kTable)
        if (t.decode) out += (out.empty() ? "" : ", ") + std::string(t.name);
    return out;
}

}  // namespace headlight
