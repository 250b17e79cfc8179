// Tests the station qkv: by hand, and on reference models; there also the stations before it.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/comparison/words.h"
#include "learn/heads_of_words.h"
#include "learn/stations/no_weights.h"
#include "learn/stations/qkv.h"
#include "learn/stations/score_functions.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("heads made of matrices, by hand") {
    Matrix m(2, 3);
    m << 0, 1, 0, 1, 0, 1;
    CHECK(identity_columns(2, 3, 1) == m);
    CHECK(identity_columns(3, 3) == Matrix::Identity(3, 3));
    const Matrix one = Matrix::Identity(2, 2);
    const HeadOutcome h = head_outcome(one, one, 2 * one, {{true, false}, {true, true}});
    const double w = 1 / (1 + std::exp(-1 / std::sqrt(2.0)));  // of the scores 0 and 1/√2
    CHECK(h.weights(0, 0) == 1);
    CHECK(h.weights(0, 1) == 0);
    CHECK(h.weights(1, 1) == doctest::Approx(w));
    CHECK(h.z(1, 1) == doctest::Approx(2 * w));
    Matrix a(2, 2), b(2, 2);
    a << 1, 0, 0.5f, 0.5f;
    b << 0, 1, 0.5f, 0.5f;
    CHECK(moved_weight(a, b) == doctest::Approx(0.5));  // all of one row of two
}

TEST_CASE("the open head's own matrices give its own pattern, and its part of the block's output") {
    Opened gpt2("gpt2", 1);
    QkvState state;
    state.heads = 2;
    const auto page = qkv_page(gpt2.input, state, gpt2.pool);
    REQUIRE(page);
    check_page(*page);
    const auto bars = blocks_of<BarRows>(*page)[0];
    REQUIRE(isize(bars.rows) == 2);
    for (int i = 0; i < 2; ++i)
        for (int key = 0; key < 5; ++key)
            CHECK(bars.rows[i].values[key] ==
                  doctest::Approx(gpt2.trace->pattern(1, i + 1)(4, key)).epsilon(1e-4));
    const auto tables = blocks_of<learn::Table>(*page);
    CHECK(tables[0].values[0][4] == 0);                                 // unchanged: nothing moves
    CHECK(tables[0].values[3][1] == doctest::Approx(0).epsilon(1e-6));  // only M_v: q = k, symmetric
    const Matrix own = gpt2.trace->results(1, 4, gpt2.pool);
    CHECK(tables[1].values[0][2] == doctest::Approx(own.row(1).norm()).epsilon(1e-4));
    CHECK(tables[1].values[2][2] == doctest::Approx((own.row(1) + own.row(2)).norm()).epsilon(1e-4));
}

TEST_CASE("k and v frame the key that fits best, and hidden keys have no weight") {
    Opened gpt2("gpt2", 1);
    const auto page = qkv_page(gpt2.input, {}, gpt2.pool);
    REQUIRE(page);
    const std::vector<float> values = blocks_of<BarRows>(*page)[0].rows[0].values;
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    const auto grids = blocks_of<learn::Grid>(*page);
    for (const learn::Grid& grid : grids)
        if (grid.title == "k" || grid.title == "v") CHECK(grid.marked_row.value_or(-1) == int(best));
    const auto a =
        std::find_if(grids.begin(), grids.end(), [](const learn::Grid& g) { return g.title == "Weights A"; });
    REQUIRE(a != grids.end());
    CHECK(std::isnan(a->values(0, 1)));
    CHECK(a->values(0, 0) == doctest::Approx(1));
}

TEST_CASE("every matrix may have any source, in every kind of block") {
    constexpr MatrixSource kAll[] = {MatrixSource::head, MatrixSource::random, MatrixSource::identity,
                                     MatrixSource::by_hand};
    struct Place {
        const char* model;
        int block;
    };
    for (const Place& place : {Place{"gpt2", 0}, Place{"llama", 1}, Place{"gemma2", 0}, Place{"bert", 1},
                               Place{"bart", 0}, Place{"bart", 4}, Place{"t5", 4}}) {
        CAPTURE(place.model);
        Opened open(place.model, place.block);
        for (const bool small : {false, true})
            for (const MatrixSource source : kAll) {
                QkvState state;
                state.query = source;
                state.value = kAll[static_cast<int>(source) ^ 1];
                state.heads = 3;
                state.small = small;
                const auto page = qkv_page(open.input, state, open.pool);
                REQUIRE(page);
                check_page(*page);
            }
        const auto plain = no_weights_page(open.input, {}, open.pool);
        REQUIRE(plain);
        check_page(*plain);
        const auto scores = score_functions_page(open.input, {}, open.pool);
        REQUIRE(scores);
        check_page(*scores);
    }
}

TEST_CASE("matrices edited by hand, three heads of one number") {
    ThreadPool pool(1);
    QkvState state;
    state.query = state.key = state.value = MatrixSource::by_hand;
    state.heads = 3;
    state.vectors = std::vector<float>(27, 1);
    state.m_v = {1, 0, 0, 0, 2, 0, 0, 0, 3};  // of vectors (1, 1, 1), all equal: heads give 1, 2 and 3
    const auto page = qkv_page({}, state, pool);
    REQUIRE(page);
    check_page(*page);
    CHECK(grid_of(*page, "M_v, by hand").editable == "m_v");
    const Matrix together = grid_of(*page, "Heads side by side, W_O the identity").values;
    CHECK(together.row(8).isApprox(Eigen::RowVector3f(1, 2, 3)));
}

TEST_CASE("matrices for the article's words make the dog attend to its trait") {
    ThreadPool pool(1);
    const auto page = qkv_page({}, {}, pool);
    REQUIRE(page);
    check_page(*page);
    // q of "dog" (2, 0, 0) is (0, 4, 0); k of "cute" (0, 2, 0), "Bark" and "very" (…, 1, …): scores 8, 4, 4 ÷
    // √3.
    const auto row = blocks_of<BarRows>(*page)[0].rows[0].values;
    const double c = std::exp(8 / std::sqrt(3.0)), b = std::exp(4 / std::sqrt(3.0)), all = c + 2 * b + 6;
    CHECK(row[3] == doctest::Approx(c / all));
    CHECK(row[0] == doctest::Approx(b / all));
    const Matrix z = grid_of(*page, "z = A · v").values;
    CHECK(z(8, 1) == doctest::Approx((2 * c + 2 * b) / all));
    CHECK(z(8, 0) == 0);
}

TEST_CASE("a creature asks for adjectives: fluffy and blue answer, each with half") {
    ThreadPool pool(1);
    StationInput input;
    input.text = "A fluffy blue creature";
    QkvState state;
    state.small = true;
    const auto page = qkv_page(input, state, pool);
    REQUIRE(page);
    // q (0, 4, 0) meets k (0, 2, 0) of both: 8 ÷ √3; "A" and itself: 0.
    const auto row = blocks_of<BarRows>(*page)[0].rows[0].values;
    const double each = std::exp(8 / std::sqrt(3.0));
    CHECK(row[1] == doctest::Approx(each / (2 * each + 2)));
    CHECK(row[2] == doctest::Approx(row[1]));
    CHECK(page->note == "three numbers per word");
}

TEST_CASE("the identity is called a cut in a head that is narrower than X") {
    Opened gpt2("gpt2", 1);
    QkvState state;
    state.query = MatrixSource::identity;
    const auto page = qkv_page(gpt2.input, state, gpt2.pool);
    REQUIRE(page);
    const ModelConfig& c = gpt2.trace->config();
    const std::string cut =
        "cut to " + std::to_string(c.d_head(1)) + " of " + std::to_string(c.d_model) + " numbers";
    CHECK(blocks_of<learn::Steps>(*page)[0].lines[0].what.find(cut) != std::string::npos);
    CHECK(blocks_of<learn::Table>(*page)[0].title.find("only cut out") != std::string::npos);
    state.small = true;  // three numbers and one head: square
    const auto square = qkv_page(gpt2.input, state, gpt2.pool);
    CHECK(blocks_of<learn::Steps>(*square)[0].lines[0].what == "q = X · M_q, identity");
}

TEST_CASE("heads that look at different words, and their mean") {
    const auto trace = read_by_stories("Bark is very cute and he is a dog");
    const int dog = trace->request.inputs[0].size() - 1;
    const auto found = heads_of_words(*trace, 0, dog, 3);
    REQUIRE(found.has_value());
    REQUIRE(found->heads.size() == 3);
    const auto words = word_numbers(trace->request.inputs[0].tokens);
    for (int i = 0; i < 3; ++i) {
        const HeadOfWord& h = found->heads[i];
        CHECK(h.word + 1 < words[dog]);  // neither the word itself nor the one before it
        CHECK(h.weight > 0.3f);
        for (int other = 0; other < i; ++other) CHECK(found->heads[other].word != h.word);
        float weight = 0;
        const Matrix row = trace->pattern_rows(h.head.block, h.head.head, dog, 1);
        for (int key = 0; key < row.cols(); ++key)
            if (words[key] == h.word) weight += row(0, key);
        CHECK(h.weight == doctest::Approx(weight));
        CHECK(found->mean[h.word] < h.weight);
    }
    CHECK(found->mean.sum() == doctest::Approx(1).epsilon(1e-3));
    std::set<std::string> looked;
    const auto four = heads_of_words(*trace, 0, dog, 4);
    REQUIRE(four.has_value());
    for (const HeadOfWord& h : four->heads) looked.insert(found->words[h.word]);
    for (const char* word : {"Bark", "cute"}) CHECK(looked.count(word) == 1);  // of the article's three
    CHECK(!heads_of_words(*trace, 0, 0, 3));  // the first word sees only itself
}
