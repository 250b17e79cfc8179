// Tests the stations no-weights, database and score-functions: by hand, and on reference models.
#include <cmath>

#include "learn/stations/database.h"
#include "learn/stations/embedding_space.h"
#include "learn/stations/no_weights.h"
#include "learn/stations/score_functions.h"
#include "learn/stations/small_vectors.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("attention without weights, by hand") {
    Matrix v(2, 2);
    v << 1, 1, 0, 1;
    const PlainAttention a = attend_plainly(v, NoWeightsState::Scores::plain, 1);
    Matrix scores(2, 2), weights(2, 2), mixed(2, 2);
    scores << 2, 1, 1, 1;
    weights << 2 / 3.0f, 1 / 3.0f, 0.5f, 0.5f;
    mixed << 2 / 3.0f, 1, 0.5f, 1;
    CHECK(a.scores == scores);
    CHECK(a.weights.isApprox(weights));
    CHECK(a.mixed.isApprox(mixed));
    CHECK(attend_plainly(v, NoWeightsState::Scores::scaled, 0).scores(0, 0) ==
          doctest::Approx(std::sqrt(2.0)));
    CHECK(attend_plainly(v, NoWeightsState::Scores::cosine, 0).scores(0, 1) ==
          doctest::Approx(std::sqrt(0.5)));
}

TEST_CASE("shuffled words take their Y with them") {
    const Matrix v = random_matrix(5, 3, 1);
    for (const auto scores : {NoWeightsState::Scores::plain, NoWeightsState::Scores::cosine})
        CHECK(change_by_shuffling(v, {4, 2, 0, 1, 3}, scores, 0) < 1e-6f);
}

TEST_CASE("the article's words have vectors that make Bark attend to dog and cute") {
    ThreadPool pool(1);
    StationInput input;
    input.query = 0;
    const std::vector<std::string> words = words_of("\"Bark\" is very cute, and he is a dog.");
    CHECK(words == words_of(""));
    CHECK(isize(words) == 9);
    const Matrix v = small_vectors(words);
    CHECK(v.row(0) == Eigen::RowVector3f(2, 1, 0));
    CHECK(v.row(1) == v.row(6));  // is, is
    const Matrix a = attend_plainly(v, NoWeightsState::Scores::plain, 0).weights;
    CHECK(a(0, 8) > a(0, 3));
    CHECK(a(0, 3) > a(0, 1));
    NoWeightsState state;
    state.by_hand = {1, 2, 3};  // of another text: ignored
    CHECK(grid_of(*no_weights_page(input, state, pool), "V").values == v);
    state.by_hand.assign(27, 1);
    CHECK(grid_of(*no_weights_page(input, state, pool), "V").values == Matrix::Ones(9, 3));
}

TEST_CASE("attention without weights on a model, in any order") {
    Opened gpt2("gpt2");
    NoWeightsState state;
    for (const auto vectors : {NoWeightsState::Vectors::embeddings, NoWeightsState::Vectors::contextual,
                               NoWeightsState::Vectors::by_hand}) {
        state.vectors = vectors;
        state.shuffle = 0;
        const auto page = no_weights_page(gpt2.input, state, gpt2.pool);
        REQUIRE(page);
        check_page(*page);
        CHECK(sum_of(blocks_of<BarRows>(*page)[0].rows[0]) == doctest::Approx(1));
        CHECK(grid_of(*page, "Scores S")
                  .values.isApprox(grid_of(*page, "Scores S").values.transpose().eval(), 1e-5f));
        state.shuffle = 3;
        const auto shuffled = no_weights_page(gpt2.input, state, gpt2.pool);
        CHECK(shuffled->note.find("shuffled") != std::string::npos);
        check_page(*shuffled);
    }
}

TEST_CASE("the neighbors of typed words are those of the model's table") {
    ThreadPool pool(2);
    const auto model = translator();
    const auto blocks = embedding_space(*model, "king, dog , ,", pool);
    REQUIRE(blocks.size() == 2);
    const auto& plane = std::get<Plane>(blocks[0]);
    const auto& table = std::get<learn::Table>(blocks[1]);
    CHECK(isize(table.rows) == 12);
    CHECK(table.values[0][2] >= table.values[1][2]);
    CHECK(table.values[0][2] < 1);
    CHECK(plane.points[0].emphasized);
    CHECK(isize(plane.points) <= 14);
}

TEST_CASE("a database, exact, nearest and soft, by hand") {
    Matrix keys(3, 1), query(1, 1);
    keys << 0, 2, 0;
    query << 0;
    CHECK(exact_weights(keys, query) == Eigen::Vector3f(0.5f, 0, 0.5f));
    query << 1;
    CHECK(exact_weights(keys, query).isZero(0));
    const Vector scores = database_scores(keys, query, DatabaseState::Similarity::distance);
    CHECK(scores == Eigen::Vector3f(-1, -1, -1));
    CHECK(soft_weights(scores, 5).isApprox(Eigen::Vector3f::Constant(1 / 3.0f)));
    CHECK(soft_weights(scores, 0) == Eigen::Vector3f(1, 0, 0));
    query << 3;
    CHECK(database_scores(keys, query, DatabaseState::Similarity::dot) == Eigen::Vector3f(0, 6, 0));
    Vector two(2);
    two << 0, 2 * std::log(3.0f);
    CHECK(soft_weights(two, 2)[1] == doctest::Approx(0.75));
    CHECK(soft_weights(two * 1e6f, 1e-3f)[1] == doctest::Approx(1));
}

TEST_CASE("the database's page uses edited numbers") {
    ThreadPool pool(1);
    DatabaseState state;
    auto page = database_page({}, state, pool);
    REQUIRE(page);
    check_page(*page);
    auto rows = blocks_of<BarRows>(*page)[0].rows;
    CHECK(rows[0].note == "no such key: no answer");
    CHECK(rows[1].note == "answer 70.0 km/h");  // the horse
    // Distances² 65, 37, 41, 4, 9; T = 4: e⁰, e^−1.25, e^−8.25, e^−9.25, e^−15.25 after the largest.
    CHECK(rows[2].values[3] ==
          doctest::Approx(1 / (1 + std::exp(-1.25) + std::exp(-8.25) + std::exp(-9.25) + std::exp(-15.25))));
    state.query = {3, 9};
    state.values = {1, 2, 3, 4, 5};
    page = database_page({}, state, pool);
    rows = blocks_of<BarRows>(*page)[0].rows;
    CHECK(rows[0].note == "answer 3.0 km/h");
    const auto curves = blocks_of<Curves>(*page)[0];
    CHECK(curves.lines[0].y.front() == doctest::Approx(3));               // hard: the dog
    CHECK(curves.lines[0].y.back() == doctest::Approx(3).epsilon(0.05));  // soft: the mean of 1 … 5
}

TEST_CASE("score functions and normalizers side by side") {
    Opened gpt2("gpt2", 1);
    ScoreFunctionsState state;
    const auto page = score_functions_page(gpt2.input, state, gpt2.pool);
    REQUIRE(page);
    check_page(*page);
    const auto bars = blocks_of<BarRows>(*page);
    REQUIRE(bars.size() == 2);
    CHECK(isize(bars[0].rows) == 7);
    CHECK(isize(bars[1].rows) == 4);
    for (const BarRows& block : bars)
        for (const BarRows::Row& row : block.rows) {
            CAPTURE(row.title);
            CHECK(sum_of(row) == doctest::Approx(1).epsilon(1e-4));
            CHECK(std::isnan(row.values[5]));  // later keys are masked for query 4
            CHECK(!row.formula.empty());
            CHECK(!row.source.empty());
        }
    const Matrix own = gpt2.trace->pattern(1, 1);
    for (int key = 0; key < 5; ++key)
        CHECK(bars[0].rows[1].values[key] == doctest::Approx(own(4, key)).epsilon(1e-4));
    const auto alone = score_functions_page({}, state, gpt2.pool);
    REQUIRE(alone);
    check_page(*alone);
    CHECK(isize(blocks_of<BarRows>(*alone)[0].columns) == 9);
}
