// Tests masking before and after softmax.
#include <cmath>

#include "helpers.h"
#include "learn/mask_ways.h"
#include "learn/stations/masks.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

void check_row(const std::vector<float>& row, const std::vector<float>& expected) {
    REQUIRE(row.size() == expected.size());
    for (size_t i = 0; i < row.size(); ++i) CHECK(row[i] == doctest::Approx(expected[i]));
}

/// Holds a page's input: a sentence of the reference GPT-2, its head 0.1 and query 3.
struct OpenHead {
    std::shared_ptr<const Trace> trace;
    StationInput input;

    explicit OpenHead(ThreadPool& pool)
        : trace(trace_of(reference_model("gpt2"), {5, 9, 200, 17, 3, 8}, pool)) {
        input.trace = trace.get();
        input.model = trace->model.get();
        input.head = 1;
        input.query = 3;
    }
};

}  // namespace

TEST_CASE("learn masks: the three ways by hand") {
    const std::vector<float> scores{0, std::log(3.0f), std::log(4.0f)};  // e^s: 1, 3, 4
    const std::vector<bool> last_hidden{true, true, false}, all_hidden(3, false);
    check_row(masked_weights(scores, last_hidden, MaskWay::none), {0.125f, 0.375f, 0.5f});
    check_row(masked_weights(scores, last_hidden, MaskWay::infinity_before), {0.25f, 0.75f, 0});
    check_row(masked_weights(scores, last_hidden, MaskWay::zero_after), {0.125f, 0.375f, 0});
    CHECK(masked_weights(scores, last_hidden, MaskWay::large_before) ==
          masked_weights(scores, last_hidden, MaskWay::infinity_before));
    for (const float w : masked_weights(scores, all_hidden, MaskWay::infinity_before)) CHECK(std::isnan(w));
    check_row(masked_weights(scores, all_hidden, MaskWay::zero_after), {0, 0, 0});
    check_row(masked_weights(scores, all_hidden, MaskWay::large_before), {1.0f / 3, 1.0f / 3, 1.0f / 3});
}

TEST_CASE("learn masks: −∞ before the softmax is the pattern of the model itself") {
    ThreadPool pool(2);
    const OpenHead open(pool);
    const auto page = masks_page(open.input, {}, pool);
    REQUIRE(page);
    const auto& bars = std::get<BarRows>(page->blocks[0]);
    const Matrix pattern = open.trace->pattern(0, 1);
    for (int k = 0; k < 6; ++k)
        if (k <= 3)
            CHECK(bars.rows[1].values[k] == doctest::Approx(pattern(3, k)).epsilon(1e-4));
        else
            CHECK(std::isnan(bars.rows[1].values[k]));
    CHECK(bars.rows[1].note == "sum 1.00");
    CHECK(bars.rows[1].all->rows() == 6);
    CHECK(!std::isnan(bars.rows[0].values[5]));
}

TEST_CASE("learn masks: zeros after the softmax leave rows short of 1, padding hides the last keys") {
    ThreadPool pool(2);
    const OpenHead open(pool);
    const auto causal = masks_page(open.input, {}, pool);
    REQUIRE(causal);
    const auto& sums = std::get<learn::Table>(causal->blocks[1]);
    CHECK(sums.values[1][1] == doctest::Approx(1));  // −∞ before
    CHECK(sums.values[2][1] < 0.99);                 // 0 after: the smallest sum
    CHECK(sums.values[3][1] == doctest::Approx(1));  // −1e9 before
    MasksState state;
    state.hides = MasksState::Hides::padding;
    const auto padding = masks_page(open.input, state, pool);
    REQUIRE(padding);
    const auto& row = std::get<BarRows>(padding->blocks[0]).rows[1];
    CHECK(std::isnan(row.values[4]));
    CHECK(std::isnan(row.values[5]));
    CHECK(row.values[3] > 0);
    state.hides = MasksState::Hides::nothing;
    state.dropout = 0;
    const auto none = masks_page(open.input, state, pool);
    REQUIRE(none);
    for (const auto& way : std::get<BarRows>(none->blocks[0]).rows) CHECK(way.note == "sum 1.00");
}

TEST_CASE("learn masks: without a model only the fully masked row is shown") {
    ThreadPool pool(1);
    const auto page = masks_page({}, {}, pool);
    REQUIRE(page);
    const auto& bars = std::get<BarRows>(page->blocks[1]);
    CHECK(bars.rows[0].note == "0 ÷ 0: no weights");
    CHECK(bars.rows[1].note == "sum 0.00");
    CHECK(bars.rows[2].note == "sum 1.00");
}

TEST_CASE("learn masks: dropout keeps the mean of every weight") {
    CHECK(dropped_out({0.5f, 0.5f}, 0, 1) == std::vector<float>{0.5f, 0.5f});
    std::vector<double> mean(3);
    constexpr int kSeeds = 4000;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        const auto weights = dropped_out({0.7f, 0.2f, 0.1f}, 0.5f, seed);
        for (int i = 0; i < 3; ++i) {
            const float kept = std::vector<float>{1.4f, 0.4f, 0.2f}[i];
            CHECK((weights[i] == 0 || weights[i] == doctest::Approx(kept)));
            mean[i] += double(weights[i]) / kSeeds;
        }
    }
    CHECK(mean[0] == doctest::Approx(0.7).epsilon(0.05));
    CHECK(mean[1] == doctest::Approx(0.2).epsilon(0.05));
}
