// Tests hard and local attention, and the cost of each kind.
#include <cmath>
#include <limits>
#include <numeric>

#include "helpers.h"
#include "learn/attention_reach.h"
#include "learn/hard_attention.h"
#include "learn/stations/hard_soft.h"

using namespace headlight;
using namespace headlight::learn;

namespace {
constexpr ReachSizes kSizes{.kernel = 3, .window = 5, .rank = 7};

const Reach& find_reach(const char* key) {
    const auto reach = std::find_if(reaches().begin(), reaches().end(),
                                    [&](const Reach& r) { return std::string_view(r.key) == key; });
    REQUIRE(reach != reaches().end());
    return *reach;
}
double path(const char* key, double n) { return find_reach(key).path(n, kSizes); }
double scored(const char* key, double n) { return find_reach(key).scores(n, kSizes); }
}  // namespace

TEST_CASE("learn hard and soft: paths and steps by hand") {
    CHECK(path("recurrence", 9) == 8);
    CHECK(path("convolution", 9) == 4);  // two tokens further per layer
    CHECK(path("convolution", 10) == 5);
    CHECK(path("dilated", 9) == 2);  // 3 · 3
    CHECK(path("dilated", 10) == 3);
    CHECK(path("full", 1e6) == 1);
    CHECK(path("windowed", 9) == 2);  // four tokens further per layer
    CHECK(path("strided", 1e6) == 2);
    CHECK(find_reach("recurrence").steps(1000, kSizes) == 1000);
    CHECK(find_reach("full").steps(1000, kSizes) == 1);
    for (const Reach& reach : reaches()) CHECK(reach.path(1, kSizes) <= 2);
}

TEST_CASE("learn hard and soft: scores by hand, never more than n²") {
    CHECK(scored("full", 1000) == 1e6);
    CHECK(scored("windowed", 1000) == 5000);
    CHECK(scored("windowed", 3) == 9);
    CHECK(scored("strided", 10000) == 2e6);  // 10,000 · 2 · 100
    CHECK(scored("low-rank", 1000) == 7000);
    CHECK(std::isnan(scored("recurrence", 10)));
    for (const Reach& reach : reaches())
        for (const double n : {1.0, 2.0, 3.0, 50.0})
            if (!std::isnan(reach.scores(n, kSizes))) CHECK(reach.scores(n, kSizes) <= n * n);
}

TEST_CASE("learn hard and soft: draws average to the mixture, with the expected error") {
    const std::vector<float> weights{0.25f, 0.75f};
    Matrix values(2, 1);
    values << 0, 4;
    const HardDraws draws = draw_hard(weights, values, 1024, 1);
    CHECK(draws.mixture[0] == doctest::Approx(3));
    CHECK(std::accumulate(draws.counts.begin(), draws.counts.end(), 0) == 1024);
    CHECK(draws.counts[1] / 1024.0 == doctest::Approx(0.75).epsilon(0.07));
    // Variance ¼ · 3² + ¾ · 1² = 3.
    CHECK(draws.errors[0].expected == doctest::Approx(std::sqrt(3.0)));
    CHECK(draws.errors[2].draws == 4);
    CHECK(draws.errors[2].expected == doctest::Approx(std::sqrt(0.75)));
    REQUIRE(draws.errors.size() == 11);
    for (const DrawError& e : draws.errors) {
        CHECK(e.measured > 0.4f * e.expected);
        CHECK(e.measured < 2 * e.expected);
    }
}

TEST_CASE("learn hard and soft: a key without weight is never drawn") {
    const HardDraws draws = draw_hard(std::vector<float>{0, 1, 0}, Matrix::Random(3, 4), 64, 5);
    CHECK(draws.counts == std::vector<int>{0, 64, 0});
    CHECK(draws.errors.back().measured == doctest::Approx(0));
}

TEST_CASE("learn hard and soft: nothing is drawn from a recorded row without weights") {
    const HardDraws draws = draw_hard(std::vector<float>{0, 0}, Matrix::Ones(2, 3), 8, 5);
    CHECK(draws.counts == std::vector<int>{0, 0});
    for (const DrawError& e : draws.errors) CHECK(e.measured == 0);
}

TEST_CASE("learn hard and soft: local windows by hand") {
    const std::vector<float> scores(5, 0.7f);
    const std::vector<bool> all(5, true);
    const auto flat = local_weights(scores, all, {.center = 2, .half = 1});
    CHECK(flat[0] == 0);
    CHECK(flat[1] == doctest::Approx(1.0 / 3));
    CHECK(flat[3] == doctest::Approx(1.0 / 3));
    const auto bell = local_weights(scores, all, {.center = 2, .half = 2, .gaussian = true});  // σ = 1
    CHECK(bell[2] == doctest::Approx(0.2));
    CHECK(bell[1] == doctest::Approx(0.2 * std::exp(-0.5)));
    CHECK(bell[4] == doctest::Approx(0.2 * std::exp(-2.0)));
    const auto masked = local_weights(scores, {true, true, false, false, false}, {.center = 2, .half = 1});
    CHECK(masked[1] == doctest::Approx(1));
    const auto nothing = local_weights(scores, std::vector<bool>(5, false), {.center = 2, .half = 1});
    for (const float w : nothing) CHECK(w == 0);
}

TEST_CASE("learn hard and soft: the predictive window, and the keys of a stride") {
    CHECK(predicted_center(Vector::Zero(8), 12, 1) == doctest::Approx(6));  // sigmoid(0) = ½
    for (unsigned seed = 1; seed < 20; ++seed) {
        const float p = predicted_center(Vector::Constant(8, 3), 12, seed);
        CHECK(p > 0);
        CHECK(p < 12);
    }
    std::vector<int> seen;
    for (int key = 0; key <= 9; ++key)
        if (strided_sees(9, key, 4)) seen.push_back(key);
    CHECK(seen == std::vector<int>{1, 5, 6, 7, 8, 9});
}

TEST_CASE("learn hard and soft: the page's rows are attention's, and its costs those of the open model") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 17, 3, 8}, pool);
    StationInput input;
    input.trace = trace.get();
    input.model = trace->model.get();
    input.query = 4;
    const auto page = hard_soft_page(input, {}, pool);
    REQUIRE(page);
    REQUIRE(page->blocks.size() == 10);
    CHECK(page->main == 1);
    const auto& bars = std::get<BarRows>(page->blocks[0]);
    CHECK(std::get<learn::Words>(page->blocks[1]).text.starts_with("One draw misses the gradient by "));
    const Matrix pattern = trace->pattern(0, 0);
    for (int k = 0; k <= 4; ++k) {
        CHECK(bars.rows[0].values[k] == doctest::Approx(pattern(4, k)));
        CHECK(bars.rows[2].values[k] == doctest::Approx(pattern(4, k)).epsilon(0.2));
    }
    for (const auto& row : bars.rows) CHECK(std::isnan(row.values[5]));
    const auto& scores = std::get<Curves>(page->blocks[8]);
    CHECK(scores.lines[0].x.back() == 1048576);
    CHECK(scores.lines[0].y[0] == float(256 * trace->config().head_count()));
    CHECK(scores.mark_x == float(trace->config().context));
    const auto& bytes = std::get<Curves>(page->blocks[9]);
    CHECK(bytes.lines[0].y[3] == 4 * scores.lines[0].y[3]);
    const auto alone = hard_soft_page({}, {}, pool);
    REQUIRE(alone);
    CHECK(alone->blocks.size() == 3);
}

TEST_CASE("learn hard and soft: REINFORCE's gradient and variance by hand") {
    const std::vector<float> even{0.5f, 0.5f};
    Vector rewards(2);
    rewards << 3, 1;
    // r̄ = 2: exact ½ (3 − 2), ½ (1 − 2). Of one draw 3 (½, −½) or 1 (−½, ½): squares 4.5 and 0.5, mean 2.5,
    // less ½. With the baseline both draws give (½, −½): no variance.
    const HardGradient g = hard_gradient(even, rewards, 64, 1);
    CHECK(g.exact.isApprox(Eigen::Vector2f(0.5f, -0.5f)));
    CHECK(g.variance == doctest::Approx(2));
    CHECK(g.baseline_variance == doctest::Approx(0));
    REQUIRE(g.errors.size() == 7);
    CHECK(g.errors[0].expected == doctest::Approx(std::sqrt(2.0)));
    CHECK(g.errors[6].expected == doctest::Approx(std::sqrt(2.0) / 8));
    for (const GradientError& e : g.errors) CHECK(e.measured < 2.5f * e.expected);
    const std::vector<float> sure{1, 0};
    CHECK(hard_gradient(sure, rewards, 4, 1).exact.isZero());
}

TEST_CASE("learn hard and soft: a convolution's weights are the means by distance") {
    Matrix weights(3, 3);
    const float none = std::numeric_limits<float>::quiet_NaN();
    weights << 1, none, none, 0.3f, 0.7f, none, none, 0.5f, 0.5f;
    const std::vector<float> kernel = weights_by_distance(weights, 1);
    CHECK(kernel[0] == doctest::Approx(0.4));
    CHECK(kernel[1] == doctest::Approx(2.2 / 3));
    CHECK(kernel[2] == 0);
}
