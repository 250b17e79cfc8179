// Tests the station Positions: dot products of sinusoids, and their distances.
#include <cmath>

#include "analysis/prediction/predict.h"
#include "helpers.h"
#include "learn/later_start.h"
#include "learn/stations/positions.h"
#include "model/input.h"
#include "model/sinusoids.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("learn positions: with one wave the dot product is the cosine of the distance") {
    const auto dots = dots_by_distance(2, 10000, 4);
    REQUIRE(dots.size() == 4);
    for (int d = 0; d < 4; ++d) CHECK(dots[d] == doctest::Approx(std::cos(double(d))));
}

TEST_CASE("learn positions: two waves by hand: base 100, 4 components, frequencies 1 and 1/10") {
    const auto dots = dots_by_distance(4, 100, 11);
    CHECK(dots[0] == doctest::Approx(2));
    CHECK(dots[10] == doctest::Approx(std::cos(10.0) + std::cos(1.0)));
}

TEST_CASE("learn positions: the dot product of any two rows is that of their distance") {
    const Matrix rows = sinusoids(32, 0, 40);
    const auto dots = dots_by_distance(32, 10000, 40);
    for (int a = 0; a < 40; ++a)
        for (int b = a; b < 40; ++b)
            CHECK(rows.row(a).dot(rows.row(b)) == doctest::Approx(dots[b - a]).epsilon(1e-4));
    CHECK(dots[0] == doctest::Approx(16));  // half the components: sin² + cos² = 1 each
}

TEST_CASE("learn positions: the closest rows of three") {
    Matrix rows(3, 2);
    rows << 0, 0, 3, 4, 3, 3;
    const ClosestRows pair = closest_rows(rows);
    CHECK(pair.first == 1);
    CHECK(pair.second == 2);
    CHECK(pair.distance == 1);
}

TEST_CASE("learn positions: one wave nearly repeats after 44 positions, 7 periods; two waves do not") {
    const ClosestRows one = closest_rows(sinusoids(2, 0, 64));
    CHECK(one.second - one.first == 44);  // 14 π = 43.98
    CHECK(one.distance == doctest::Approx(2 * std::sin((44 - 14 * M_PI) / 2)).epsilon(1e-3));
    CHECK(closest_rows(sinusoids(4, 0, 64)).distance > 10 * one.distance);
}

TEST_CASE("learn positions: a page without a model, its numbers by position") {
    ThreadPool pool(1);
    PositionsState state;
    state.width = 8;
    state.count = 5;
    const learn::Page page = *positions_page({}, state, pool);
    const learn::Grid& vectors = std::get<learn::Grid>(page.blocks[1]);
    CHECK(vectors.values == sinusoids(8, 0, 5));
    CHECK(vectors.rows == std::vector<std::string>{"0", "1", "2", "3", "4"});
    const learn::Grid& between = std::get<learn::Grid>(page.blocks[2]);
    CHECK(between.values(1, 4) == doctest::Approx(dots_by_distance(8, 10000, 4)[3]));
    CHECK(between.marked_row == 4);
}

TEST_CASE("learn positions: the open model as it is, without positions, and in another order") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 17, 5}, pool);
    StationInput in;
    in.trace = trace.get();
    in.model = trace->model.get();
    std::tie(in.block, in.head) = std::pair{1, 0};
    const learn::Page page = *positions_page(in, {}, pool);
    std::vector<learn::Grid> told;
    for (const Block& block : page.blocks)
        if (const auto* grid = std::get_if<learn::Grid>(&block); grid && grid->columns_are == "key")
            told.push_back(*grid);
    REQUIRE(told.size() == 3);
    CHECK(told[0].values(4, 2) == trace->pattern(1, 0)(4, 2));
    CHECK(told[1].values(4, 2) != told[0].values(4, 2));
    CHECK(told[2].values(4, 2) != told[1].values(4, 2));
    CHECK(std::get_if<learn::Grid>(&page.blocks[0])->title.find("positions as they are") !=
          std::string::npos);
    const auto& table = std::get<learn::Table>(page.blocks[3]);
    CHECK(table.rows[1].back() == "positions:off");
    CHECK(table.rows[2].back() == "positions:shuffle:7");
    CHECK(table.values[0][2] == doctest::Approx(table.values[0][3]).epsilon(1e-6));  // its own prediction
}

TEST_CASE("learn positions: words that begin later, with rotary, learned and sinusoidal positions") {
    ThreadPool pool(2);
    const Sequence text = request_of({5, 9, 200, 17, 5}).inputs[0];
    const auto rotary = later_starts(reference_model("llama"), text, pool, nullptr);
    REQUIRE(rotary);
    REQUIRE(rotary->starts.size() > 4);
    for (const LaterStart& at : rotary->starts)  // only distances count, and what stands before is hidden
        CHECK(at.probability == doctest::Approx(rotary->starts[0].probability).epsilon(2e-3));
    const auto gpt2 = reference_model("gpt2");
    const auto learned = later_starts(gpt2, text, pool, nullptr);
    REQUIRE(learned);
    const auto own = trace_of(gpt2, text.ids, pool);
    CHECK(learned->starts[0].probability ==
          doctest::Approx(probabilities(logits_at(*own, 4, pool)).maxCoeff()));
    CHECK(learned->last + text.size() == gpt2->config.context);
    bool moved = false;
    for (const LaterStart& at : learned->starts)
        moved = moved || std::abs(at.probability - learned->starts[0].probability) > 1e-4f;
    CHECK(moved);
    TextInput typed;
    typed.text = "The tree is blue.";
    const auto translated =
        later_starts(translator(), encode_input(*translator(), typed)->sequences[0], pool, nullptr);
    REQUIRE(translated);
    CHECK(translated->what == "a token of the translation");
    CHECK(translated->starts[0].probability > 0.7f);
    CHECK(later_starts(reference_model("bert"), text, pool, nullptr)->starts.empty());
}
