// Tests products of weights in every layout and number format: the way they are read changes no bit.
#include "helpers.h"
#include "io/dtype.h"
#include "kernels/kernels.h"
#include "model/loading/packed.h"

using namespace headlight;

namespace {

/// Returns the distance of y from x · w + bias in double precision, relative to the sum of magnitudes.
double rounding(const Matrix& x, const Matrix& w, const Matrix& bias, const Matrix& y) {
    const Eigen::MatrixXd a = x.cast<double>(), b = w.cast<double>(), c = bias.cast<double>();
    Eigen::MatrixXd want = a * b, size = a.cwiseAbs() * b.cwiseAbs();
    want.rowwise() += c.row(0);
    size.rowwise() += c.cwiseAbs().row(0);
    return ((y.cast<double>() - want).array() / size.array()).abs().maxCoeff();
}

}  // namespace

TEST_CASE("dense product: the same bits for any number of rows and threads, in both layouts, packed or not") {
    ThreadPool one(1), three(3);
    const std::pair<int, int> sizes[] = {{1, 1},     {7, 9},      {193, 50}, {193, 400},
                                         {192, 384}, {1000, 191}, {9, 50257}};
    for (const auto& size : sizes) {
        const int in = size.first, out = size.second, most = out > 1000 ? 33 : 110;
        const Matrix w = random_matrix(in, out, 1), wt = w.transpose(), bias = random_matrix(1, out, 2),
                     x = random_matrix(most, in, 3);
        Linear by_input = Linear::of_floats(w.data(), bias.data(), in, out, WeightLayout::in_out),
               by_output = Linear::of_floats(wt.data(), bias.data(), in, out, WeightLayout::out_in);
        Matrix all(most, out);
        apply_linear(one, x, by_input, all);
        CHECK(rounding(x, w, bias, all) < 6e-8 * (in + 1));
        PackedWeights packed({&by_input, &by_output});
        for (const char* weights : {"mapped", "packed"}) {
            for (const Linear* linear : {&by_input, &by_output})
                for (int rows = 1; rows <= most; rows += rows < 33 ? 1 : 11) {
                    INFO(in, " to ", out, ", rows ", rows, ", weights ", weights);
                    Matrix some(rows, out);
                    apply_linear(three, x.bottomRows(rows), *linear, some);
                    CHECK(some == all.bottomRows(rows));
                }
            packed.start();
            packed.wait();
        }
        CHECK(by_input.packed->load() != nullptr);
    }
}

TEST_CASE("dense product: packed weights give the same bits in 16 bits, in groups, and for a part") {
    ThreadPool pool(2);
    const int in = 50, heads = 5, d = 7, inner = heads * d;
    std::vector<uint16_t> halves(static_cast<size_t>(3 * inner * in));
    for (size_t i = 0; i < halves.size(); ++i)
        halves[i] = static_cast<uint16_t>((i * 40503 & 0x83ff) | 0x3800);  // F16 and BF16 alike: finite
    const Matrix x = random_matrix(40, in, 2), bias = random_matrix(1, 3 * inner, 3);
    for (const char* name : {"F16", "BF16"})
        for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
            const DType& t = *find_dtype(name);
            const bool rows_are_outputs = layout == WeightLayout::out_in;
            const Linear mixed{reinterpret_cast<const std::byte*>(halves.data()), bias.data(), in, 3 * inner,
                               t.size(rows_are_outputs ? in : 3 * inner),         layout,      &t};
            Linear whole = mixed, part = mixed.columns(d, inner);
            if (rows_are_outputs) {
                part.group = d;
                part.group_stride = 3 * d * part.stride;
            }
            PackedWeights packed({&whole, &part, &whole});
            CHECK(packed.bytes() == int64_t{2} * in * (144 + kPanel));  // whole once: three panels; part: one
            Matrix before[3], after[3];
            for (Matrix* results : {before, after}) {
                const Linear* const matrices[] = {&whole, &part};
                for (int i = 0; i < 2; ++i) {
                    results[i].resize(40, matrices[i]->out);
                    apply_linear(pool, x, *matrices[i], results[i]);
                }
                results[2].resize(40, 2);
                apply_linear(pool, x, whole.columns(60, 2), results[2]);
                packed.start();
                packed.wait();
            }
            INFO(name, rows_are_outputs);
            for (int i = 0; i < 3; ++i) CHECK(before[i] == after[i]);
            CHECK(after[2] == after[0].middleCols(60, 2));
            CHECK((whole.packed->load() && part.packed->load()));
            for (const int rows : {1, 3, 4, 8}) {
                Matrix few(rows, whole.out);
                apply_linear(pool, x.topRows(rows), whole, few);
                CHECK(few == after[0].topRows(rows));
            }
            Matrix decoded(rows_are_outputs ? whole.out : in, rows_are_outputs ? in : whole.out);
            for (Index i = 0; i < decoded.rows(); ++i)
                whole.read(i, 0, decoded.cols(), decoded.row(i).data());
            Matrix plain(40, whole.out);
            apply_linear(pool, x, Linear::of_floats(decoded.data(), bias.data(), in, whole.out, layout),
                         plain);
            CHECK(plain == after[0]);
        }
}

TEST_CASE("encodings: a typed token is the same bits as in a fresh pass, for any prefix") {
    const auto model = Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    REQUIRE(model);
    ThreadPool one(1), three(3);
    const auto request = [](int n) {
        Sequence s;
        for (int i = 0; i < n; ++i) s.ids.push_back(7 * i % 50);
        s.tokens.resize(n);
        return ForwardRequest{{s}, {}};
    };
    const auto fresh = run_trace(*model, request(20), three);
    REQUIRE(fresh);
    for (const int cut : {1, 7, 18, 19}) {
        const auto past = run_trace(*model, request(cut), one);
        REQUIRE(past);
        const auto typed = run_trace(*model, request(20), one, nullptr, past->get());
        REQUIRE(typed);
        CHECK((*typed)->normalized().all() == (*fresh)->normalized().all());
    }
}
