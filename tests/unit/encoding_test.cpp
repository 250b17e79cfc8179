// Tests each format of encoded weights against its layout, value by value, and against the dense kernels, on
// every instruction set.
#include <cstring>
#include <random>

#include "helpers.h"
#include "io/gguf.h"
#include "io/safetensors.h"
#include "kernels/choice.h"
#include "model/linear.h"

using namespace headlight;

namespace {

const WeightFormat* find_weight_format(std::string_view name, const Kernels& set = kernels()) {
    for (int i = 0; i < set.format_count; ++i)
        if (name == set.formats[i].name) return &set.formats[i];
    return nullptr;
}

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

struct Layout {
    const char* name;
    float (*value)(Bytes block, int i);
    std::vector<int> halves;  // offsets of the scales in a block
};
const Layout kLayouts[] = {
    {"F32", f32, {}},         {"F16", f16, {}},        {"BF16", bf16, {}},      {"Q8_0", q8_0, {0}},
    {"Q4_0", q4_0, {0}},      {"Q4_1", q4_1, {0, 2}},  {"Q5_0", q5_0, {0}},     {"Q5_1", q5_1, {0, 2}},
    {"Q2_K", q2_k, {80, 82}}, {"Q3_K", q3_k, {108}},   {"Q4_K", q4_k, {0, 2}},  {"Q5_K", q5_k, {0, 2}},
    {"Q6_K", q6_k, {208}},    {"IQ4_NL", iq4_nl, {0}}, {"IQ4_XS", iq4_xs, {0}},
};

const DType& dtype_of(const std::string& name) {
    for (uint32_t id = 0; id < 40; ++id)
        if (const DType* t = find_gguf_type(id); t && t->name == name) return *t;
    FAIL("no format " << name);
    return float32();
}

/// Makes rows of random weights around 1 in a format: any codes, finite scales.
std::vector<uint8_t> random_rows(const Layout& layout, const DType& t, int64_t values, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> out(t.size(values));
    const bool floats = t.block == 1;
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<uint8_t>(random());
        if (floats && i % t.bytes == static_cast<size_t>(t.bytes) - 1) out[i] = (out[i] & 0x80) | 0x3c;
    }
    for (size_t block = 0; !floats && block < out.size(); block += t.bytes)
        for (const int at : layout.halves) out[block + at + 1] = 0x20 | (out[block + at + 1] & 0x83);
    return out;
}

/// Returns possible sizes of a row in the format: odd ones, or odd numbers of blocks.
std::vector<int> sizes_of(const DType& t) {
    if (t.block == 1) return {1, 7, 8, 9, 47, 48, 49, 50, 191, 192, 193, 255, 256, 257};
    if (t.block == 256) return {256, 512, 768};
    return {32, 64, 224, 256, 288, 576, 768};
}

Vector decoded(const WeightFormat& format, const uint8_t* row, int64_t count) {
    Vector out = Vector::Constant(count + 1, -7);
    format.decode(row, count, out.data());
    CHECK(out[count] == -7);
    return out.head(count);
}

}  // namespace

TEST_CASE("encodings: every format decodes by its layout, bit for bit, on every instruction set") {
    for (const Layout& layout : kLayouts) {
        const DType& t = dtype_of(layout.name);
        for (const int count : sizes_of(t)) {
            const auto bytes = random_rows(layout, t, count, count);
            for (const Kernels* set : usable_kernels()) {
                INFO(set->name, " ", layout.name, " values ", count);
                const WeightFormat* const format = find_weight_format(layout.name, *set);
                REQUIRE(format);
                const Vector got = decoded(*format, bytes.data(), count);
                Vector want(count);
                for (int i = 0; i < count; ++i)
                    want[i] = layout.value(bytes.data() + t.size(i / t.block * t.block), i % t.block);
                CHECK(want.allFinite());
                CHECK(got == want);
            }
        }
    }
}

TEST_CASE("encodings: subnormal, infinite and NaN halves, on every instruction set") {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(all.data());
    for (const char* name : {"F16", "BF16"})
        for (const Kernels* set : usable_kernels()) {
            INFO(set->name, " ", name);
            const Vector got = decoded(*find_weight_format(name, *set), bytes, 65536);
            int wrong = 0;
            for (int i = 0; i < 65536; ++i) {
                const float want = name == std::string("F16") ? f16(bytes, i) : bf16(bytes, i);
                wrong += std::isnan(want) ? !std::isnan(got[i])
                                          : got[i] != want || std::signbit(got[i]) != std::signbit(want);
            }
            CHECK(wrong == 0);
        }
}

TEST_CASE("encodings: reference files decode to their values on every instruction set") {
    const auto file = open_gguf(kTests / "reference/gguf_blocks/blocks.gguf");
    const auto expected = open_safetensors(kTests / "reference/gguf_blocks/expected.safetensors");
    REQUIRE(file);
    REQUIRE(expected);
    for (const auto& row : expected->tensors)
        for (const Kernels* set : usable_kernels()) {
            const StoredTensor &want = row.second, &stored = file->tensors.at(row.first);
            const int64_t count = element_count(want.shape);
            INFO(set->name, " ", stored.dtype->name);
            Vector a(count);
            want.dtype->decode(want.bytes.data(), count, a.data());
            const Vector b = decoded(*find_weight_format(stored.dtype->name, *set),
                                     reinterpret_cast<const uint8_t*>(stored.bytes.data()), count);
            CHECK((a - b).cwiseAbs().maxCoeff() <= 1e-6f * a.cwiseAbs().maxCoeff());
        }
}

namespace {
/// y (+)= x · rowsᵀ, as a panel of the rows gives it.
void multiply_panel(const Kernels& set, const std::vector<Vector>& rows, const Matrix& x, const Matrix& bias,
                    bool begin, Matrix& y) {
    std::vector<const float*> at;
    for (const Vector& row : rows) at.push_back(row.data());
    Matrix panel(x.cols(), kPanel);
    set.transpose(at.data(), isize(rows), x.cols(), panel.data());
    set.multiply({x.data(), x.cols(), x.rows(), panel.data(), kPanel, x.cols(), isize(rows), y.data(),
                  y.cols(), begin, bias.data()});
}
}  // namespace

TEST_CASE(
    "encodings: dot products of encoded rows equal those of decoded rows, or of their panel, bit for bit") {
    for (const Layout& layout : kLayouts) {
        const DType& t = dtype_of(layout.name);
        for (const int depth : sizes_of(t))
            for (const int count : {1, 2, 7, 8, 9, 48}) {
                const auto bytes = random_rows(layout, t, int64_t{count} * depth, 5);
                const Matrix x = random_matrix(3, depth, 1), bias = random_matrix(1, count, 3);
                for (const Kernels* set : usable_kernels()) {
                    INFO(set->name, " ", layout.name, " depth ", depth, " count ", count);
                    const WeightFormat& format = *find_weight_format(layout.name, *set);
                    std::vector<Vector> plain;
                    std::vector<const uint8_t*> encoded_at, plain_at;
                    for (int i = 0; i < count; ++i) {
                        encoded_at.push_back(bytes.data() + t.size(int64_t{i} * depth));
                        plain.push_back(decoded(format, encoded_at.back(), depth));
                        plain_at.push_back(reinterpret_cast<const uint8_t*>(plain.back().data()));
                    }
                    Matrix got = Matrix::Constant(3, count + 1, -7), want = got;
                    const auto dots = [&](const auto& at, Matrix& y, bool begin) {
                        return Dots{x.data(), depth,    3,         at.data(), count,
                                    depth,    y.data(), count + 1, begin,     bias.data()};
                    };
                    for (const bool begin : {true, false}) {
                        format.dot(dots(encoded_at, got, begin));
                        if (t.block > 1)
                            set->dot(dots(plain_at, want, begin));
                        else
                            multiply_panel(*set, plain, x, bias, begin, want);
                    }
                    CHECK(want.allFinite());
                    CHECK(got == want);
                }
            }
    }
}

TEST_CASE("encodings: a dense product is the same bits for any number of rows and threads, in each format") {
    ThreadPool one(1), three(3);
    for (const Layout& layout : kLayouts) {
        const DType& t = dtype_of(layout.name);
        for (const auto& shape :
             {std::pair{t.block == 1 ? 193 : t.block, 1}, std::pair{768, 50}, std::pair{1024, 191}}) {
            const int in = shape.first, out = shape.second;
            const auto bytes = random_rows(layout, t, int64_t{in} * out, 7);
            const Matrix x = random_matrix(17, in, 3), bias = random_matrix(1, out, 4);
            const auto* const stored = reinterpret_cast<const std::byte*>(bytes.data());
            const Linear w{stored, bias.data(), in, out, t.size(in), WeightLayout::out_in, &t};
            Matrix plain(out, in), all(17, out), of_plain(17, out);
            for (int o = 0; o < out; ++o) w.read(o, 0, in, plain.row(o).data());
            apply_linear(one, x, w, all);
            apply_linear(one, x, Linear::of_floats(plain.data(), bias.data(), in, out, WeightLayout::out_in),
                         of_plain);
            CHECK((all - of_plain).cwiseAbs().maxCoeff() <=  // of blocks: in another order
                  (t.block == 1 ? 0 : 3e-6f) * of_plain.cwiseAbs().maxCoeff());
            for (const int rows : {1, 2, 3, 8, 16, 17})
                for (ThreadPool* pool : {&one, &three}) {
                    INFO(layout.name, " ", in, " to ", out, ", rows ", rows);
                    Matrix some = Matrix::Constant(rows, out, NAN);
                    apply_linear(*pool, x.bottomRows(rows), w, some);
                    CHECK(some == all.bottomRows(rows));
                }
        }
    }
}

TEST_CASE("encodings: each format of weights is a row of both tables, and blocks are the same") {
    for (const Kernels* set : usable_kernels()) {
        CHECK(set->format_count == std::ssize(kLayouts));
        for (const Layout& layout : kLayouts) {
            const WeightFormat* const format = find_weight_format(layout.name, *set);
            REQUIRE(format);
            const DType& t = dtype_of(layout.name);
            CHECK(format->values % t.block == 0);
            CHECK(t.size(format->values) == format->bytes);
            const auto bytes = random_rows(layout, t, format->values, 9);
            Vector by_type(format->values);
            t.decode(reinterpret_cast<const std::byte*>(bytes.data()), format->values, by_type.data());
            CHECK(by_type == decoded(*find_weight_format(layout.name), bytes.data(), format->values));
        }
        CHECK(!find_weight_format("I32", *set));
    }
}
