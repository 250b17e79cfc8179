// Tests the station "Why divide by √d_k": sampled variances, and softmax of large scores.
#include <cmath>
#include <numeric>

#include "base/draws.h"
#include "helpers.h"
#include "learn/dot_products.h"
#include "learn/normalizers.h"
#include "learn/stations/scale.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("learn scale: mean, variance and its standard error by hand") {
    // Deviations −3, −1, 1, 3: variance 20 / 3, fourth moment (81 + 1 + 1 + 81) / 4 = 41.
    const std::vector<double> numbers{1, 3, 5, 7};
    const Spread s = spread_of(numbers);
    CHECK(s.mean == doctest::Approx(4));
    CHECK(s.variance == doctest::Approx(20.0 / 3));
    CHECK(s.error == doctest::Approx(std::sqrt((41 - 400.0 / 9 / 3) / 4)));
    CHECK(spread_of(std::vector<double>{5}).variance == 0);
}

TEST_CASE("learn scale: the standard error is how far sampled variances scatter") {
    constexpr int kTimes = 200;
    std::vector<double> variances, errors;
    for (unsigned i = 0; i < kTimes; ++i) {
        const Spread s = spread_of(sampled_products(8, 200, i));
        variances.push_back(s.variance);
        errors.push_back(s.error);
    }
    const double error = std::accumulate(errors.begin(), errors.end(), 0.0) / kTimes;
    const Spread scatter = spread_of(variances);
    CHECK(std::abs(scatter.mean - 8) < 5 * error / std::sqrt(double(kTimes)));
    CHECK(std::sqrt(scatter.variance) > 0.8 * error);
    CHECK(std::sqrt(scatter.variance) < 1.25 * error);
}

TEST_CASE("learn scale: the variance of q · k is d_k, within its error") {
    for (const int d : {1, 4, 16, 64}) {
        const Spread s = spread_of(sampled_products(d, 4000, 7));
        CHECK(std::abs(s.mean) < 5 * std::sqrt(d / 4000.0));
        CHECK(std::abs(s.variance - d) < 5 * s.error);
        CHECK(s.error < 0.15 * d);
    }
    CHECK(sampled_products(16, 50, 3) == sampled_products(16, 50, 3));
    CHECK(sampled_products(16, 50, 3) != sampled_products(16, 50, 4));
}

TEST_CASE("learn scale: entropy and gradient of the softmax by hand") {
    CHECK(softness_of(Vector::Constant(2, 0.5f)).entropy == doctest::Approx(1));
    CHECK(softness_of(Vector::Constant(2, 0.5f)).gradient == doctest::Approx(0.5));
    CHECK(softness_of(Vector::Unit(3, 0)).entropy == 0);
    CHECK(softness_of(Vector::Unit(3, 0)).gradient == 0);
    CHECK(softness_of(Vector::Constant(4, 0.25f)).gradient == doctest::Approx(std::sqrt(3.0) / 4));
}

TEST_CASE("learn scale: the gradient's size is that of differences") {
    const Vector scores = Eigen::Vector4f(0.3f, -1.2f, 0.9f, 2);
    double squares = 0;
    for (int j = 0; j < 4; ++j) {
        Vector up = scores, down = scores;
        up[j] += 1e-2f;
        down[j] -= 1e-2f;
        squares += (softmax_weights(up) - softmax_weights(down)).squaredNorm() / 4e-4;
    }
    CHECK(softness_of(softmax_weights(scores)).gradient == doctest::Approx(std::sqrt(squares)).epsilon(1e-3));
}

TEST_CASE("learn scale: without the division wide heads decide for one key, with it they do not") {
    const SoftnessPair narrow_head = sampled_softness(1, 16, 100, 1),
                       wide = sampled_softness(256, 16, 100, 1);
    CHECK(narrow_head.divided.entropy == doctest::Approx(narrow_head.plain.entropy));
    CHECK(wide.divided.entropy > 3);
    CHECK(wide.plain.entropy < 1);
    CHECK(wide.plain.gradient < wide.divided.gradient);
}

TEST_CASE("learn scale: the softmax of drawn lengths is that of drawn keys") {
    Draws draws(3);
    double entropy = 0;
    for (int i = 0; i < 400; ++i) {
        const Matrix q = normal_matrix(1, 8, 1, draws), k = normal_matrix(16, 8, 1, draws);
        entropy += softness_of(softmax_weights(k * q.row(0).transpose())).entropy / 400;
    }
    CHECK(sampled_softness(8, 16, 400, 1).plain.entropy == doctest::Approx(entropy).epsilon(0.08));
}

TEST_CASE("learn scale: products of a head are those of its scores") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 17, 3, 8}, pool);
    const HeadProducts of = head_products(*trace, 1, 2);
    const Matrix scores = trace->scores(1, 2), pattern = trace->pattern(1, 2);
    std::vector<double> products;
    double entropy = 0;
    for (int q = 0; q < 6; ++q) {
        for (int k = 0; k <= q; ++k) products.push_back(scores(q, k) / of.scale);
        if (q > 0) entropy += softness_of(pattern.row(q)).entropy / 5;
    }
    CHECK(of.pairs == 21);
    CHECK(of.products.variance == doctest::Approx(spread_of(products).variance).epsilon(1e-4));
    CHECK(of.softness.divided.entropy == doctest::Approx(entropy).epsilon(1e-4));
}

TEST_CASE("learn scale: the page holds the sampled line within its errors beside d_k, and the open head") {
    ThreadPool pool(2);
    const auto alone = scale_page({}, {}, pool);
    REQUIRE(alone);
    CHECK(alone->blocks.size() == 4);
    CHECK(std::get<learn::Words>(alone->blocks[0]).text.starts_with("At d_k = 256 dot products"));
    const auto& variance = std::get<Curves>(alone->blocks[1]);
    const Curves::Line &theory = variance.lines[0], &measured = variance.lines[1];
    CHECK(theory.dashed);
    for (size_t i = 0; i < measured.x.size(); ++i) {
        CHECK(theory.y[i] == measured.x[i]);
        CHECK(std::abs(measured.y[i] - theory.y[i]) < 5 * measured.error[i]);
    }
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 17}, pool);
    StationInput input;
    input.trace = trace.get();
    input.model = trace->model.get();
    const auto page = scale_page(input, {}, pool);
    REQUIRE(page);
    const auto& heads = std::get<learn::Table>(page->blocks[5]);
    CHECK(int(heads.rows.size()) == trace->config().heads(0));
    CHECK(std::get<Curves>(page->blocks[2]).lines.back().x[0] == float(trace->config().d_head(0)));
    const std::string keys = ", up to " + std::to_string(trace->key_count(0)) + " keys";
    CHECK(std::get<Curves>(page->blocks[3]).lines[3].name.ends_with(keys));  // beside curves of 16
}

TEST_CASE("learn scale: what is divided has one color in every plot, as what is not") {
    ThreadPool pool(2);
    const auto page = scale_page({}, {}, pool);
    REQUIRE(page);
    const auto color = [&](int block, int line) {
        return std::get<Curves>(page->blocks[block + 1]).lines[line].color;
    };
    CHECK(color(0, 2) == color(1, 0));
    CHECK(color(0, 1) == color(1, 1));
    CHECK(color(1, 0) == color(2, 0));
    CHECK(color(1, 0) != color(1, 1));
}

TEST_CASE("learn scale: additive scores stay soft however wide, undivided dot products do not") {
    const Softness narrow = sampled_additive_softness(4, 16, 200, 3),
                   wide = sampled_additive_softness(256, 16, 40, 3);
    CHECK(wide.entropy == doctest::Approx(narrow.entropy).epsilon(0.25));
    CHECK(wide.entropy > 2 * sampled_softness(256, 16, 100, 3).plain.entropy);
    CHECK(wide.gradient > 2 * sampled_softness(256, 16, 100, 3).plain.gradient);
}
