// Tests each format of encoded weights against its layout, value by value, and against the dense kernels, on
// every instruction set.
#include <cstring>
#include <random>

#include "encoded_layouts.h"
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

Vector decoded(const WeightFormat& format, const uint8_t* row, int64_t count) {
    Vector out = Vector::Constant(count + 1, -7);
    format.decode(row, count, out.data());
    CHECK(out[count] == -7);
    return out.head(count);
}

}  // namespace

TEST_CASE("encodings: every format decodes by its layout, bit for bit, on every instruction set") {
    for (const Layout& layout : kLayouts) {
        if (!layout.value) continue;
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

TEST_CASE("encodings: floats of eight bits, NaN and infinities too, on every instruction set") {
    std::vector<uint8_t> all(256);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
    for (const Kernels* set : usable_kernels()) {
        const Vector four = decoded(*find_weight_format("F8_E4M3", *set), all.data(), 256),
                     five = decoded(*find_weight_format("F8_E5M2", *set), all.data(), 256);
        int wrong = 0;
        for (int i = 0; i < 256; ++i) {
            const int code = i & 127;
            const float want = e5m2(all.data(), i);
            wrong += code == 127 ? !std::isnan(four[i]) : four[i] != e4m3(all.data(), i);
            wrong += code > 124    ? !std::isnan(five[i])
                     : code == 124 ? five[i] != std::copysign(INFINITY, want)
                                   : five[i] != want;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("encodings: formats below four bits decode to the reference's values, bit for bit") {
    const auto file = open_gguf(kTests / "reference/gguf_blocks/low_bit.gguf");
    const auto expected = open_safetensors(kTests / "reference/gguf_blocks/low_bit_expected.safetensors");
    REQUIRE(file);
    REQUIRE(expected);
    CHECK(expected->tensors.size() == 10);
    for (const auto& row : expected->tensors)
        for (const Kernels* set : usable_kernels()) {
            const StoredTensor& stored = file->tensors.at(row.first);
            INFO(set->name, " ", stored.dtype->name);
            Vector want(element_count(row.second.shape));
            float32().decode(row.second.bytes.data(), want.size(), want.data());
            CHECK(decoded(*find_weight_format(stored.dtype->name, *set),
                          reinterpret_cast<const uint8_t*>(stored.bytes.data()), want.size()) == want);
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
