// Tests the rows of the station "Implicit attention" against their definitions.
#include "analysis/attribution/contribution.h"
#include "analysis/attribution/influence_map.h"
#include "helpers.h"
#include "learn/random_layers.h"
#include "learn/stations/implicit.h"
#include "learn/stations/pictures.h"
#include "model/input.h"

using namespace headlight;

TEST_CASE("learn: sensitivity of an output beside attention of a head") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models/stories");
    const auto trace = *run_trace(
        model, {encode_input(*model, {"Bark is very cute", {}, {}, {}, {}, {}, {}})->sequences, {}}, pool);
    const int query = 3;
    const learn::StationInput input{trace.get(), model.get(), "Bark is very cute", nullptr, 1, 2, query};
    learn::ImplicitState state;
    state.after = 1;
    const auto page = learn::implicit_page(input, state, pool);
    REQUIRE(page);
    const auto& bars = std::get<learn::BarRows>(page->blocks[0]);
    REQUIRE(bars.rows.size() == 4);
    const Matrix exact = jacobian_norms(*trace, 0, pool, nullptr, {}, {0, 1})->norms.row(query),
                 weights = trace->pattern(1, 2).row(query),
                 rollout = shares_through(*trace, 0, 1, rollout_shares(*trace, {}), pool)->row(query);
    const float whole = exact.sum();
    for (int key = 0; key <= query; ++key) {
        CHECK(bars.rows[0].values[key] == doctest::Approx(exact(0, key) / whole));
        CHECK(bars.rows[1].values[key] == doctest::Approx(weights(0, key)));
        CHECK(bars.rows[2].values[key] == doctest::Approx(rollout(0, key)));
    }
    for (size_t key = query + 1; key < bars.columns.size(); ++key)
        CHECK(std::isnan(bars.rows[0].values[key]));
    const auto& table = std::get<learn::Table>(page->blocks[1]);
    std::vector<float> answers, looks;
    for (int key = 0; key <= query; ++key) {
        answers.push_back(exact(0, key));
        looks.push_back(weights(0, key));
    }
    CHECK(table.values[0][1] == doctest::Approx(rank_correlation(answers, looks)).epsilon(0.01));
    CHECK(page->limits[0].high == model->config.stacks[0].depth() - 1);
    CHECK(learn::implicit_page({}, state, pool)->blocks.size() == 1);
}

TEST_CASE("learn implicit: a picture's class token leans on the patches of the largest shape") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models/scenes");
    TextInput typed;
    typed.image = std::make_shared<const RgbImage>(learn::sample_picture());
    const auto trace = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    const auto cell = learn::telling_nudge(*trace, std::nullopt, pool);
    CHECK(cell->query == 0);
    const learn::StationInput input{trace.get(),      model.get(),     "", nullptr,
                                    cell->head.block, cell->head.head, 0};
    const auto page = learn::implicit_page(input, {}, pool);
    REQUIRE(page);
    const auto& moves = std::get<learn::Pixels>(page->blocks[0]);
    CHECK(moves.title == "What moves the output, by patch");
    REQUIRE(moves.weights.size() == 36);
    const Matrix exact = jacobian_rows(*trace, {}, 0, 1, 0, pool, nullptr)->norms;
    float inside = 0, all = 0;
    for (int patch = 0; patch < 36; ++patch) {
        CHECK(moves.weights[patch] == doctest::Approx(exact(0, patch + 1) / exact.sum()).epsilon(1e-4));
        const int down = patch / 6, across = patch % 6;
        all += moves.weights[patch];
        if (down >= 2 && down <= 4 && across >= 1 && across <= 4) inside += moves.weights[patch];
    }
    CHECK(inside > 0.7f * all);  // a third of the patches
    CHECK(std::get<learn::Pixels>(page->blocks[1]).weights[7] ==
          doctest::Approx(trace->pattern_rows(0, 0, 0, 1)(0, 8)));
}

TEST_CASE(
    "learn implicit: the gradient through random layers is that of differences, and a residual keeps it") {
    const Matrix x = random_matrix(5, 1, 1), top = random_matrix(5, 1, 2);
    for (const bool residual : {false, true}) {
        CAPTURE(residual);
        const RandomLayers stack(3, 5, 1, residual, 7);
        const auto gradients = stack.gradients(stack.forward(x.col(0)), top.col(0));
        for (int i = 0; i < 5; ++i) {
            constexpr float kStep = 1e-2f;
            Vector more = x.col(0), less = x.col(0);
            more[i] += kStep;
            less[i] -= kStep;
            const float slope =
                (stack.forward(more).back() - stack.forward(less).back()).dot(Vector(top.col(0))) /
                (2 * kStep);
            CHECK(gradients[0][i] == doctest::Approx(slope).epsilon(0.01).scale(0.1));
        }
    }
    const RandomLayers nothing(4, 5, 0, true, 1), lost(4, 5, 0, false, 1);  // W = 0
    CHECK(nothing.gradients(nothing.forward(x.col(0)), top.col(0))[0].isApprox(top.col(0)));
    CHECK(lost.gradients(lost.forward(x.col(0)), top.col(0))[0].isZero());
    CHECK(gradient_by_depth(64, 64, 0.9, false, 1).back() < 0.01f);  // vanishes
    CHECK(gradient_by_depth(64, 64, 2, false, 1).back() > 10);       // explodes
    CHECK(gradient_by_depth(64, 64, 0.9, true, 1).back() == doctest::Approx(1.25).epsilon(0.4));
}
