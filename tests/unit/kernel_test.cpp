// Tests the kernels of every instruction set of this machine against plain sums in double precision and
// against each other: at sizes that end within a vector, a panel or a block, and for independence from other
// rows.
#include <array>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "helpers.h"
#include "kernels/choice.h"

using namespace headlight;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Product product_of(const Matrix& x, const Matrix& panel, int64_t width, const float* bias, Matrix& y) {
    return {x.data(), x.cols(), x.rows(), panel.data(), panel.cols(), panel.rows(),
            width,    y.data(), y.cols(), true,         bias};
}

/// x · panel + bias in double precision, and a bound on rounding: a share of the sum of magnitudes.
std::pair<Eigen::MatrixXd, Eigen::MatrixXd> plain_product(const Matrix& x, const Matrix& panel,
                                                          const Matrix& bias) {
    const Eigen::MatrixXd a = x.cast<double>(), b = panel.cast<double>(), c = bias.cast<double>();
    Eigen::MatrixXd y = a * b, size = a.cwiseAbs() * b.cwiseAbs();
    y.rowwise() += c.row(0);
    size.rowwise() += c.cwiseAbs().row(0);
    return {y, size};
}

std::vector<int> rows_to_try() {
    std::vector<int> out;
    for (int n = 1; n <= 33; ++n) out.push_back(n);
    return out;
}

/// Returns the largest difference relative to the larger of 1 and the value.
double vectors_apart(const std::vector<float>& got, const std::vector<double>& want) {
    REQUIRE(got.size() == want.size());
    double max = 0;
    for (size_t i = 0; i < got.size(); ++i)
        max = std::max(max, std::abs(got[i] - want[i]) / std::max(1.0, std::abs(want[i])));
    return max;
}

std::vector<float> random_row(int count, unsigned seed, float scale = 1) {
    const Matrix m = random_matrix(1, count, seed) * scale;
    return {m.data(), m.data() + count};
}

constexpr int kOddSizes[] = {1, 7, 8, 9, 15, 16, 17, 47, 48, 49, 50, 191, 192, 193};

}  // namespace

TEST_CASE(
    "kernels: a product equals plain sums, on every instruction set, whatever its rows, depth and width") {
    for (const int depth : kOddSizes)
        for (const int width : {1, 7, 8, 9, 16, 17, 32, 47, 48})
            for (const int rows : rows_to_try()) {
                const Matrix x = random_matrix(rows, depth, 1), panel = random_matrix(depth, kPanel, 2),
                             bias = random_matrix(1, width, 3);
                const auto [want, size] = plain_product(x, panel.leftCols(width), bias);
                for (const Kernels* set : usable_kernels()) {
                    Matrix y = Matrix::Constant(rows, width + 1, -7);
                    set->multiply(product_of(x, panel, width, bias.data(), y));
                    const double error =
                        ((y.leftCols(width).cast<double>() - want).array() / size.array()).abs().maxCoeff();
                    INFO(set->name, " depth ", depth, " width ", width, " rows ", rows);
                    CHECK(error < 6e-8 * (depth + 1));
                    CHECK((y.col(width).array() == -7).all());
                }
            }
}

TEST_CASE("kernels: an entry of a product is the same bits alone, among other rows, and cut anywhere") {
    for (const Kernels* set : usable_kernels())
        for (const int rows : rows_to_try()) {
            const int depth = 193, cut = 7 * rows % depth;
            const Matrix x = random_matrix(rows, depth, 4), panel = random_matrix(depth, kPanel, 5),
                         bias = random_matrix(1, kPanel, 6);
            Matrix together(rows, kPanel), alone(1, kPanel), narrow(rows, 23), halves(rows, kPanel);
            set->multiply(product_of(x, panel, kPanel, bias.data(), together));
            set->multiply(product_of(x, panel, 23, bias.data(), narrow));
            INFO(set->name, " rows ", rows);
            CHECK(narrow == together.leftCols(23));
            for (int r = 0; r < rows; ++r) {
                set->multiply(product_of(x.row(r), panel, kPanel, bias.data(), alone));
                CHECK(alone.row(0) == together.row(r));
            }
            Product part = product_of(x, panel, kPanel, bias.data(), halves);
            part.depth = cut;
            set->multiply(part);
            part = product_of(x, panel, kPanel, bias.data(), halves);
            part.x += cut;
            part.w += cut * kPanel;
            part.depth -= cut;
            part.begin = false;
            set->multiply(part);
            CHECK(halves == together);
        }
}

TEST_CASE(
    "kernels: dot products with rows of weights equal plain sums, the same bits alone and among "
    "other rows") {
    for (const Kernels* set : usable_kernels())
        for (const int depth : kOddSizes)
            for (const int count : {1, 2, 3, 7, 8, 9, 47, 48})
                for (const int rows : {1, 2, 3, 8, 33}) {
                    const Matrix x = random_matrix(rows, depth, 1), w = random_matrix(count, depth, 2),
                                 bias = random_matrix(1, count, 3);
                    std::vector<const uint8_t*> at;
                    for (int i = 0; i < count; ++i)
                        at.push_back(reinterpret_cast<const uint8_t*>(w.row(i).data()));
                    const auto dots = [&](int row, int n, Matrix& y) {
                        y = Matrix::Constant(n, count + 1, -7);
                        set->dot({x.row(row).data(), depth, n, at.data(), count, depth, y.data(), count + 1,
                                  true, bias.data()});
                    };
                    Matrix together, alone;
                    dots(0, rows, together);
                    const auto [want, size] = plain_product(x, w.transpose(), bias);
                    INFO(set->name, " depth ", depth, " count ", count, " rows ", rows);
                    CHECK(((together.leftCols(count).cast<double>() - want).array() / size.array())
                              .abs()
                              .maxCoeff() < 6e-8 * (depth + 1));
                    CHECK((together.col(count).array() == -7).all());
                    dots(rows - 1, 1, alone);
                    CHECK(alone.row(0) == together.row(rows - 1));
                }
}

TEST_CASE("kernels: a panel is the transpose of its rows, with zeros beyond") {
    for (const Kernels* set : usable_kernels())
        for (const int count : {1, 7, 8, 9, 15, 16, 17, 47, 48})
            for (const int depth : kOddSizes) {
                const Matrix rows = random_matrix(count, depth, 7);
                std::vector<const float*> at;
                for (int i = 0; i < count; ++i) at.push_back(rows.row(i).data());
                Matrix panel = Matrix::Constant(depth, kPanel, NAN);
                set->transpose(at.data(), count, depth, panel.data());
                INFO(set->name, " count ", count, " depth ", depth);
                CHECK(panel.leftCols(count) == rows.transpose());
                CHECK(panel.rightCols(kPanel - count).isZero(0));
            }
}

TEST_CASE("kernels: softmax, norms and activations equal plain ones, on every instruction set") {
    for (const Kernels* set : usable_kernels())
        for (const int n : kOddSizes) {
            INFO(set->name, " n ", n);
            const std::vector<float> x = random_row(n, 8, 5);
            std::vector<double> want(x.begin(), x.end());
            std::vector<float> got = x;
            double sum = 0;
            for (double& v : want) sum += v = std::exp(v);
            for (double& v : want) v /= sum;
            set->softmax(got.data(), n);
            CHECK(vectors_apart(got, want) < 3e-7);

            const std::vector<float> weight = random_row(n, 9), bias = random_row(n, 10);
            for (const bool center : {false, true})
                for (const float* b : {bias.data(), static_cast<const float*>(nullptr)}) {
                    double mean = 0, squares = 0;
                    for (const float v : x) mean += center ? static_cast<double>(v) / n : 0;
                    for (const float v : x) squares += (v - mean) * (v - mean) / n;
                    for (size_t i = 0; i < x.size(); ++i)
                        want[i] = (x[i] - mean) / std::sqrt(squares + 1e-5) * weight[i] + (b ? bias[i] : 0);
                    set->norm(x.data(), n, weight.data(), b, 1e-5f, center, got.data());
                    CHECK(vectors_apart(got, want) < 3e-6);
                }

            const auto each = [&](auto kernel, auto plain) {
                got = x;
                kernel(got.data());
                for (size_t i = 0; i < x.size(); ++i) want[i] = plain(static_cast<double>(x[i]));
                return vectors_apart(got, want);
            };
            CHECK(each([&](float* v) { set->gelu_tanh(v, n); },
                       [](double v) {
                           return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
                       }) < 4e-7);
            CHECK(each([&](float* v) { set->gelu(v, n); },
                       [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }) < 2e-7);
            CHECK(each([&](float* v) { set->relu(v, n); }, [](double v) { return std::max(v, 0.0); }) == 0);
            CHECK(each([&](float* v) { set->silu(v, n); }, [](double v) { return v / (1 + std::exp(-v)); }) <
                  4e-7);
            CHECK(each([&](float* v) { set->quick_gelu(v, n); },
                       [](double v) { return v / (1 + std::exp(-1.702 * v)); }) < 6e-7);
            CHECK(each([&](float* v) { set->soft_cap(v, n, 3); },
                       [](double v) { return 3 * std::tanh(v / 3); }) < 4e-7);
        }
}

TEST_CASE("kernels: masked keys weigh exactly 0, and sixteens of them in front change no bit") {
    for (const Kernels* set : usable_kernels())
        for (const int n : kOddSizes) {
            INFO(set->name, " n ", n);
            std::vector<float> row = random_row(n, 11, 9), longer(32, -kInfinity);
            if (n > 2) row[1] = -kInfinity;
            longer.insert(longer.end(), row.begin(), row.end());
            set->softmax(row.data(), n);
            set->softmax(longer.data(), n + 32);
            CHECK(std::vector<float>(longer.begin() + 32, longer.end()) == row);
            CHECK(std::vector<float>(longer.begin(), longer.begin() + 32) == std::vector<float>(32, 0.0f));
            if (n > 2) CHECK(row[1] == 0);
        }
}

TEST_CASE("kernels: far values and what is not finite") {
    for (const Kernels* set : usable_kernels()) {
        INFO(set->name);
        std::array<float, 6> v{-200, -90, 90, 200, 0, NAN};
        set->gelu_tanh(v.data(), 6);
        CHECK(std::array{v[0], v[1], v[2], v[3], v[4]} == std::array{0.0f, 0.0f, 90.0f, 200.0f, 0.0f});
        CHECK(std::isnan(v[5]));
        v = {-200, -90, 90, 200, 0, NAN};
        set->gelu(v.data(), 6);
        CHECK(std::array{v[0], v[1], v[2], v[3], v[4]} == std::array{0.0f, 0.0f, 90.0f, 200.0f, 0.0f});
        CHECK(std::isnan(v[5]));
        v = {-200, -0.0f, 90, 200, 0, NAN};
        set->relu(v.data(), 6);
        CHECK(std::array{v[0], v[2], v[3], v[4]} == std::array{0.0f, 90.0f, 200.0f, 0.0f});
        CHECK(std::isnan(v[5]));
        v = {-200, -100, 90, 200, 0, NAN};
        set->silu(v.data(), 6);
        CHECK(std::array{v[0], v[2], v[3], v[4]} == std::array{0.0f, 90.0f, 200.0f, 0.0f});
        CHECK(std::isnan(v[5]));
        v = {-kInfinity, -1e-4f, 1e-4f, kInfinity, 0, NAN};
        set->soft_cap(v.data(), 6, 1);
        CHECK(v[0] == -1);
        CHECK(v[2] == doctest::Approx(1e-4f).epsilon(1e-6));
        CHECK(v[3] == 1);
        CHECK(std::isnan(v[5]));
        std::array<float, 3> row{1, NAN, 2};
        set->softmax(row.data(), 3);
        CHECK(std::isnan(row[0]));
        row = {1, kInfinity, 2};
        set->softmax(row.data(), 3);
        CHECK(std::isnan(row[1]));
    }
}

TEST_CASE("kernels: prefetching changes no bit") {
    const int depth = 193;
    const Matrix x = random_matrix(33, depth, 7), w = random_matrix(depth, kPanel, 8),
                 bias = random_matrix(1, kPanel, 9);
    for (const Kernels* set : usable_kernels())
        for (const int width : {1, 17, 47, 48})
            for (const int rows : {1, 2, 9, 33})
                for (const int bytes : {2, 4}) {
                    Matrix plain = Matrix::Constant(rows, width + 1, -7), fetching = plain;
                    const Matrix some = x.topRows(rows);
                    Product product = product_of(some, w, width, bias.data(), plain);
                    set->multiply(product);
                    product.y = fetching.data();
                    product.ahead = reinterpret_cast<uintptr_t>(w.data());
                    product.ahead_bytes = bytes * w.size();
                    set->multiply(product);
                    INFO(set->name, " width ", width, " rows ", rows);
                    CHECK(fetching == plain);
                    CHECK((plain.col(width).array() == -7).all());
                }
}

TEST_CASE("kernels: GELU is as exact as the C library's erf over the whole range") {
    for (const Kernels* set : usable_kernels()) {
        std::vector<float> x;
        for (float v = -14; v < 14; v += 1.0f / 1024) x.push_back(v);
        for (float v = 1e-30f; v < 1e30f; v *= 3) x.insert(x.end(), {v, -v});
        std::vector<float> got = x;
        set->gelu(got.data(), isize(x));
        double error = 0, tail = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double v = x[i], want = 0.5 * v * std::erfc(-v / std::sqrt(2.0));
            error = std::max(error, std::abs(got[i] - want) / std::max(1.0, std::abs(v)));
            if (v < 0 && v > -5) tail = std::max(tail, std::abs(got[i] / want - 1));
        }
        INFO(set->name, " error ", error, " tail ", tail);
        CHECK(error < 1.2e-7);
        CHECK(tail < 1e-4);  // where 1 + erf has lost most digits
    }
}

TEST_CASE("kernels: each is found by its name, an unknown one is refused in a sentence") {
    for (const Kernels* set : usable_kernels()) CHECK(*find_kernels(set->name) == set);
    CHECK(*find_kernels("v1") == usable_kernels().front());
    const auto unknown = find_kernels("v9");
    REQUIRE(!unknown);
    CHECK(unknown.error().message.find("v9") != std::string::npos);
    CHECK(unknown.error().message.find("base") != std::string::npos);
}
