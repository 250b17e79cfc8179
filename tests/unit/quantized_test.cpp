// Tests quantized tensors by hand: where each layout has its codes, zeros and scales, and what is refused.
#include <cmath>
#include <cstring>

#include "helpers.h"
#include "model/linear.h"
#include "model/loading/quantized/quantization.h"
#include "model/loading/quantized/quantized_tensors.h"

using namespace headlight;
using Method = Quantization::Method;

namespace {

/// Holds a file of tensors in memory.
class HandMade {
public:
    HandMade() { files_.resize(1); }
    HandMade(HandMade&&) = default;

    template <class T>
    HandMade& add(const std::string& name, const char* type, const std::vector<int64_t>& shape,
                  const std::vector<T>& values) {
        auto& bytes = memory_.emplace_back(values.size() * sizeof(T));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        files_[0].tensors[name] = {find_dtype(type), shape, bytes};
        return *this;
    }
    HandMade& remove(const std::string& name) {
        files_[0].tensors.erase(name);
        return *this;
    }
    HandMade& reshape(const std::string& name, const std::vector<int64_t>& shape) {
        StoredTensor& t = files_[0].tensors.at(name);
        t.shape = shape;
        t.bytes = t.bytes.first(static_cast<size_t>(t.dtype->size(element_count(shape))));
        return *this;
    }
    bool has(const std::string& name) const { return files_[0].tensors.count(name) > 0; }

    Result<LaidOut> read(const Quantization& how) {
        return guarded([&] { return lay_out_quantized(files_, how, "model", nullptr); });
    }
    /// Returns the sentence that reading fails with.
    std::string problem(const Quantization& how) {
        const auto out = read(how);
        return out ? "" : out.error().message;
    }

private:
    std::vector<std::vector<std::byte>> memory_;
    std::vector<TensorFile> files_;
};

Quantization quantization(Method method, int64_t group = 0) {
    Quantization q;
    q.method = method;
    q.name = "by hand";
    q.group = group;
    q.zeros_less_one = true;
    return q;
}

/// Returns the weights of inputs, as a product reads them.
Matrix weights_of(const LaidOut& out, const std::string& name) {
    const StoredTensor& t = out.tensors.tensors.at(name);
    const int64_t columns = t.shape.back(), rows = element_count(t.shape) / columns;
    Linear w{t.bytes.data(), nullptr, columns, rows, t.dtype->size(columns), WeightLayout::out_in, t.dtype};
    w.order = t.order;
    Matrix values(rows, columns), product(columns, rows);
    for (int64_t r = 0; r < rows; ++r) w.read(r, 0, columns, values.row(r).data());
    ThreadPool pool(1);
    const Matrix identity = Matrix::Identity(columns, columns);
    apply_linear(pool, identity, w, product);
    CHECK(product == values.transpose());
    return values;
}

uint32_t word_of(const std::vector<int>& nibbles) {
    uint32_t out = 0;
    for (size_t i = 0; i < nibbles.size(); ++i) out |= static_cast<uint32_t>(nibbles[i]) << (4 * i);
    return out;
}

constexpr int kIn = 64, kOut = 8;
int code_at(int o, int i) { return (3 * i + 5 * o) % 16; }
int group_of(int i, bool ordered) { return ordered ? i % 2 : i / 32; }
float scale_of(int o, int group) { return 0.25f * static_cast<float>(1 + o) * (group ? -1.0f : 1.0f); }

/// GPTQ: eight inputs in a word; zeros of 6 in group 0, 10 in group 1, stored less one.
HandMade gptq(bool ordered) {
    std::vector<uint32_t> words, zeros{word_of({5, 5, 5, 5, 5, 5, 5, 5}), word_of({9, 9, 9, 9, 9, 9, 9, 9})};
    std::vector<float> scales;
    std::vector<int32_t> groups;
    for (int i = 0; i < kIn; i += 8)
        for (int o = 0; o < kOut; ++o) {
            std::vector<int> eight;
            for (int k = 0; k < 8; ++k) eight.push_back(code_at(o, i + k));
            words.push_back(word_of(eight));
        }
    for (int g = 0; g < 2; ++g)
        for (int o = 0; o < kOut; ++o) scales.push_back(scale_of(o, g));
    for (int i = 0; i < kIn; ++i) groups.push_back(group_of(i, ordered));
    HandMade out;
    out.add("q.qweight", "I32", {kIn / 8, kOut}, words).add("q.qzeros", "I32", {2, 1}, zeros);
    out.add("q.scales", "F32", {2, kOut}, scales).add("q.g_idx", "I32", {kIn}, groups);
    return out;
}

/// GPTQ of few bits: a stream of bits down each column of words, 32 inputs and outputs; zeros stored less
/// one.
HandMade gptq_stream(int bits) {
    std::vector<uint32_t> words(static_cast<size_t>(bits * 32)), zeros(static_cast<size_t>(bits));
    const auto put = [bits](std::vector<uint32_t>& to, int first, int step, int number, int value) {
        for (int bit = 0; bit < bits; ++bit) {
            const int at = number * bits + bit;
            if (value >> bit & 1) to[static_cast<size_t>(first + at / 32 * step)] |= 1u << (at % 32);
        }
    };
    for (int o = 0; o < 32; ++o)
        for (int i = 0; i < 32; ++i) put(words, o, 32, i, code_at(o, i) % (1 << bits));
    for (int o = 0; o < 32; ++o) put(zeros, 0, 1, o, o % 3);
    HandMade out;
    out.add("q.qweight", "I32", {bits, 32}, words).add("q.qzeros", "I32", {1, bits}, zeros);
    out.add("q.scales", "F32", {1, 32}, std::vector<float>(32, 0.5f));
    return out;
}

/// NVFP4: two rows of 32 in four groups; the first row's scales are 1 and 2, the global one 4.
HandMade nvfp4() {
    std::vector<uint8_t> codes;
    for (int i = 0; i < 32; ++i) codes.push_back(static_cast<uint8_t>((2 * i) % 16 | (2 * i + 1) % 16 << 4));
    HandMade out;
    out.add("q.weight_packed", "U8", {2, 16}, codes);
    out.add("q.weight_scale", "F8_E4M3", {2, 2}, std::vector<uint8_t>{0x38, 0x40, 0x30, 0x7e});
    out.add("q.weight_global_scale", "F32", {1}, std::vector<float>{4});
    return out;
}

/// Eight-bit floats of 1, by blocks of 2 × 32.
HandMade fp8() {
    HandMade out;
    out.add("q.weight", "F8_E4M3", {3, 64}, std::vector<uint8_t>(3 * 64, 0x38));
    out.add("q.weight_scale_inv", "F32", {2, 2}, std::vector<float>{1, 2, 3, 4});
    return out;
}
Quantization blocks(int64_t rows, int64_t columns) {
    Quantization q = quantization(Method::fp8);
    q.block_rows = rows;
    q.block_columns = columns;
    return q;
}

const std::string kStateName = "q.weight.quant_state.bitsandbytes__nf4";

HandMade nf4(const std::string& state, const std::vector<float>& levels) {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 64; ++i) bytes.push_back(static_cast<uint8_t>((i % 16) << 4 | (15 - i % 16)));
    std::vector<float> table(256);
    for (int i = 0; i < 256; ++i) table[i] = static_cast<float>(i) / 4;
    HandMade out;
    out.add("q.weight", "U8", {64, 1}, bytes).add("q.weight.absmax", "U8", {2}, std::vector<uint8_t>{8, 40});
    out.add("q.weight.quant_map", "F32", {16}, levels);
    out.add("q.weight.nested_absmax", "F32", {1}, std::vector<float>{0.5f});
    out.add("q.weight.nested_quant_map", "F32", {256}, table);
    out.add(kStateName, "U8", {std::ssize(state)}, std::vector<char>(state.begin(), state.end()));
    return out;
}
const std::string kState =
    R"({"quant_type":"nf4","blocksize":64,"shape":[2,64],"nested_blocksize":256,"nested_offset":0.25})";
const std::vector<float> kLevels{-1.0f,         -0.696192801f, -0.525073051f,  -0.394917488f,
                                 -0.284441382f, -0.184773430f, -0.0910500363f, 0.0f,
                                 0.0795802996f, 0.160930201f,  0.246112302f,   0.337915242f,
                                 0.440709829f,  0.562617004f,  0.722956836f,   1.0f};

/// Integers of three bits, from −4 on, in words that they straddle; rows of 32.
HandMade packed3() {
    std::vector<uint32_t> words(6), zeros(2);
    const auto put = [](std::vector<uint32_t>& to, int first, int step, int at, int value) {
        for (int bit = 0; bit < 3; ++bit)
            if (value >> bit & 1) to[first + (at + bit) / 32 * step] |= 1u << ((at + bit) % 32);
    };
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 32; ++c) put(words, 3 * r, 1, 3 * c, (c + r) % 8);
    for (int r = 0; r < 2; ++r) put(zeros, 0, 1, 3 * r, 2 + r);
    HandMade out;
    out.add("q.weight_packed", "I32", {2, 3}, words);
    out.add("q.weight_scale", "F32", {2, 1}, std::vector<float>{0.5f, 2});
    out.add("q.weight_shape", "I64", {2}, std::vector<int64_t>{2, 32});
    out.add("q.weight_zero_point", "I32", {1, 1}, zeros);
    out.reshape("q.weight_zero_point", {1, 1});
    return out;
}

HandMade mxfp4() {
    HandMade out;
    out.add("e_blocks", "U8", {1, 2, 1, 16}, std::vector<uint8_t>(32, 0x7a));
    out.add("e_scales", "U8", {1, 2, 1}, std::vector<uint8_t>{127, 129});
    return out;
}

}  // namespace

TEST_CASE("quantized tensors: GPTQ's words, zeros and groups, in order and mixed (act-order)") {
    for (const bool ordered : {false, true}) {
        const auto out = gptq(ordered).read(quantization(Method::gptq, 32));
        REQUIRE(out);
        const Matrix w = weights_of(*out, "q.weight");
        CHECK((out->tensors.tensors.at("q.weight").order != nullptr) == ordered);
        for (int o = 0; o < kOut; ++o)
            for (int i = 0; i < kIn; ++i) {
                const int g = group_of(i, ordered);
                CHECK(w(o, i) == static_cast<float>(code_at(o, i) - (g ? 10 : 6)) * scale_of(o, g));
            }
    }
    HandMade unordered = gptq(false);
    unordered.add("q.g_idx", "I32", {kIn}, std::vector<int32_t>(kIn, -1));  // as compressed-tensors says it
    CHECK(!unordered.read(quantization(Method::gptq, 32))->tensors.tensors.at("q.weight").order);
    Quantization second = quantization(Method::gptq, 32);
    second.zeros_less_one = false;  // gptq_v2
    CHECK(weights_of(*gptq(false).read(second), "q.weight")(0, 0) == -5 * scale_of(0, 0));
}

TEST_CASE("quantized tensors: GPTQ of two and three bits, across the border of words") {
    for (const int bits : {2, 3}) {
        CAPTURE(bits);
        Quantization how = quantization(Method::gptq, 32);
        how.bits = bits;
        const auto out = gptq_stream(bits).read(how);
        REQUIRE(out);
        const Matrix w = weights_of(*out, "q.weight");
        for (int o = 0; o < 32; ++o)
            for (int i = 0; i < 32; ++i)
                CHECK(w(o, i) == 0.5f * static_cast<float>(code_at(o, i) % (1 << bits) - o % 3 - 1));
        CHECK(gptq_stream(bits).reshape("q.qweight", {bits, 31}).problem(how).find("multiples of") !=
              std::string::npos);
    }
}

TEST_CASE("quantized tensors: NVFP4 has a scale for sixteen values, and one of all") {
    const auto out = nvfp4().read(quantization(Method::packed));
    REQUIRE(out);
    const Matrix w = weights_of(*out, "q.weight");
    constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6}, kScales[2][2] = {{1, 2}, {0.5f, 448}};
    for (int r = 0; r < 2; ++r)
        for (int i = 0; i < 32; ++i)
            CHECK(w(r, i) == (i & 8 ? -1.0f : 1.0f) * kValues[i % 8] * (kScales[r][i / 16] / 4));
    const Quantization how = quantization(Method::packed);
    CHECK(nvfp4().remove("q.weight_global_scale").problem(how).find("has no tensor") != std::string::npos);
    CHECK(nvfp4().reshape("q.weight_scale", {2, 1}).problem(how).find("[2, 1]") != std::string::npos);
    CHECK(nvfp4()
              .add("q.weight_global_scale", "F32", {1}, std::vector<float>{0})
              .problem(how)
              .find("one number above 0") != std::string::npos);
}

TEST_CASE("quantized tensors: AWQ writes the even outputs of eight first") {
    HandMade file;
    file.add("q.qweight", "I32", {32, 1}, std::vector<uint32_t>(32, word_of({0, 1, 2, 3, 4, 5, 6, 7})));
    file.add("q.qzeros", "I32", {1, 1}, std::vector<uint32_t>{word_of({1, 1, 1, 1, 1, 1, 1, 1})});
    file.add("q.scales", "F16", {1, 8}, std::vector<Eigen::half>(8, Eigen::half(2.0f)));
    const auto out = file.read(quantization(Method::awq, 32));
    REQUIRE(out);
    const Matrix w = weights_of(*out, "q.weight");
    const int codes[] = {0, 4, 1, 5, 2, 6, 3, 7};
    for (int o = 0; o < 8; ++o) CHECK(w(o, 5) == 2.0f * static_cast<float>(codes[o] - 1));
    CHECK(!file.has("q.qweight"));
}

TEST_CASE("quantized tensors: bitsandbytes' levels, high bits first, scales quantized in turn") {
    const auto out = nf4(kState, kLevels).read(quantization(Method::bitsandbytes));
    REQUIRE(out);
    const Matrix w = weights_of(*out, "q.weight");
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 64; ++c) {
            const int code = c % 2 ? 15 - c / 2 % 16 : c / 2 % 16;
            CHECK(w(r, c) == kLevels[code] * (r ? 40.0f / 4 * 0.5f + 0.25f : 8.0f / 4 * 0.5f + 0.25f));
        }
}

TEST_CASE("quantized tensors: scales of tensors, rows, groups and blocks, the last of which may be cut") {
    const Matrix cut = weights_of(*fp8().read(blocks(2, 32)), "q.weight");
    CHECK((cut(0, 0) == 1 && cut(1, 31) == 1 && cut(0, 32) == 2 && cut(2, 0) == 3 && cut(2, 63) == 4));
    const auto with = [](const std::vector<int64_t>& shape, const std::vector<float>& scales) {
        HandMade file = std::move(fp8().remove("q.weight_scale_inv"));
        file.add("q.weight_scale", "F32", shape, scales);
        const auto out = file.read(quantization(Method::packed));
        REQUIRE(out);
        return weights_of(*out, "q.weight");
    };
    CHECK(with({}, {5})(2, 63) == 5);
    CHECK(with({1}, {5})(2, 63) == 5);
    CHECK(with({3}, {1, 2, 3})(1, 7) == 2);
    CHECK(with({3, 1}, {1, 2, 3})(2, 7) == 3);
    CHECK(with({3, 2}, {1, 2, 3, 4, 5, 6})(2, 40) == 6);
    HandMade integers;
    integers.add("q.weight", "I8", {1, 32}, std::vector<int8_t>(32, -3));
    integers.add("q.SCB", "F32", {1}, std::vector<float>{254});
    CHECK(weights_of(*integers.read(quantization(Method::bitsandbytes)), "q.weight")(0, 9) == -6);
    HandMade experts;
    experts.add("e", "F8_E5M2", {2, 1, 32}, std::vector<uint8_t>(64, 0x3c));
    experts.add("e_scale_inv", "F32", {2, 1, 1}, std::vector<float>{7, 8});
    const Matrix both = weights_of(*experts.read(blocks(128, 128)), "e");
    CHECK((both(0, 0) == 7 && both(1, 31) == 8));
}

TEST_CASE("quantized tensors: packed integers straddle words; zeros are packed by rows") {
    const auto out = packed3().read(quantization(Method::packed));
    REQUIRE(out);
    const Matrix w = weights_of(*out, "q.weight");
    for (int c = 0; c < 32; ++c) {
        CHECK(w(0, c) == 0.5f * static_cast<float>(c % 8 - 2));
        CHECK(w(1, c) == 2.0f * static_cast<float>((c + 1) % 8 - 3));
    }
    const auto even = packed3().remove("q.weight_zero_point").read(quantization(Method::packed));
    CHECK(weights_of(*even, "q.weight")(0, 0) == -2);
}

TEST_CASE("quantized tensors: MXFP4, the even ones in the low bits") {
    const auto out = mxfp4().read(quantization(Method::mxfp4));
    REQUIRE(out);
    CHECK(out->tensors.tensors.at("e").shape == std::vector<int64_t>{1, 2, 32});
    const Matrix w = weights_of(*out, "e");
    CHECK((w(0, 0) == -1 && w(0, 1) == 6 && w(1, 30) == -4 && w(1, 31) == 24));
}

TEST_CASE("quantized tensors: what is missing, misshapen or beyond its table is one sentence") {
    const Quantization g = quantization(Method::gptq, 32), b = quantization(Method::bitsandbytes),
                       p = quantization(Method::packed), m = quantization(Method::mxfp4);
    const auto other = [](size_t at) {
        std::vector<float> levels = kLevels;
        levels[at] += 0.1f;
        return levels;
    };
    const std::vector<int32_t> far(kIn, 2), one(kIn, 0);
    const std::vector<int64_t> absurd{2, int64_t{1} << 62};
    const std::pair<std::string, std::string> cases[] = {
        {gptq(false).remove("q.scales").problem(g), "has no tensor q.scales"},
        {gptq(false).remove("q.qzeros").problem(g), "has no tensor q.qzeros"},
        {gptq(false).reshape("q.scales", {1, kOut}).problem(g), "[1, 8]"},
        {gptq(false).reshape("q.qzeros", {1, 1}).problem(g), "[1, 1]"},
        {gptq(false).reshape("q.qweight", {8}).problem(g), "not that of a matrix"},
        {gptq(false).reshape("q.qweight", {8, 7}).problem(g), "multiples of 8"},
        {gptq(false).problem(quantization(Method::gptq, 24)), "q.qzeros"},
        {gptq(false).add("q.g_idx", "I32", {kIn}, far).problem(g), "in group 2 of 2"},
        {gptq(false).add("q.g_idx", "I32", {kIn}, one).problem(g), "64 inputs in group 0"},
        {gptq(false).add("q.scales", "F32", {2, kOut}, std::vector<float>(16, INFINITY)).problem(g),
         "not a finite number"},
        {nf4("[1]", kLevels).problem(b), "is not an object"},
        {nf4("{", kLevels).problem(b), "bitsandbytes__nf4"},
        {nf4(R"({"shape":[2,65]})", kLevels).problem(b), "2 × 65 values"},
        {nf4(R"({"shape":[2147483648,2147483648]})", kLevels).problem(b), "64 bytes"},
        {nf4(R"({"shape":[-2,-64]})", kLevels).problem(b), "shape"},
        {nf4(R"({"shape":[2,64],"blocksize":0})", kLevels).problem(b), "blocksize"},
        {nf4(R"({"shape":[4,32],"blocksize":64})", kLevels).problem(b), "multiples of 64"},
        {nf4(kState, other(3)).problem(b), "gives code 3 another value"},
        {nf4(kState, kLevels).remove("q.weight.absmax").problem(b), "has no tensor q.weight.absmax"},
        {nf4(kState, kLevels).reshape("q.weight.absmax", {1}).problem(b), "[1]"},
        {nf4(kState, kLevels).remove("q.weight").problem(b), "has no tensor q.weight"},
        {fp8().remove("q.weight_scale_inv").problem(blocks(2, 32)), "q.weight_scale"},
        {fp8().reshape("q.weight_scale_inv", {4}).problem(blocks(2, 32)), "does not fit [3, 64]"},
        {fp8().problem(blocks(0, 0)), "does not fit [3, 64]"},
        {fp8().reshape("q.weight", {3, 48}).reshape("q.weight_scale_inv", {1, 1}).problem(blocks(0, 0)),
         "multiples of 32"},
        {packed3().remove("q.weight_shape").problem(p), "has no tensor q.weight_shape"},
        {packed3().add("q.weight_shape", "I64", {2}, absurd).problem(p), "[2, 3]"},
        {packed3().reshape("q.weight_scale", {1, 2}).problem(p), "[1, 2]"},
        {packed3().reshape("q.weight_packed", {1, 3}).problem(p), "[1, 3]"},
        {mxfp4().remove("e_scales").problem(m), "has no tensor e_scales"},
        {mxfp4().reshape("e_scales", {1, 1, 1}).problem(m), "[1, 1, 1]"},
        {mxfp4().add("e_scales", "U8", {1, 2, 1}, std::vector<uint8_t>{1, 255}).problem(m), "255"},
        {mxfp4().reshape("e_blocks", {2, 16}).problem(m), "[2, 16]"},
    };
    for (const auto& one : cases) {
        const std::string problem = one.first, part = one.second;
        CAPTURE(part);
        CAPTURE(problem);
        CHECK(says(problem, part));
        CHECK((says(problem, "model") && problem.ends_with(".")));
    }
}
