// Tests the stations no-weights, database and score-functions: by hand, and on reference models.
#include <cmath>

#include "learn/nearest_tokens.h"
#include "learn/stations/database.h"
#include "learn/stations/embedding_space.h"
#include "learn/stations/no_weights.h"
#include "learn/stations/score_functions.h"
#include "learn/stations/small_vectors.h"
#include "learn/word_senses.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

const std::shared_ptr<const Model>& stories() {
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    return model;
}

}  // namespace

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
        const auto rows = blocks_of<BarRows>(*page)[0].rows;
        CHECK(sum_of(rows[1]) == doctest::Approx(1));
        CHECK(rows[0].all->isApprox(rows[0].all->transpose().eval(), 1e-5f));
        CHECK(page->blocks.size() <= 11);
        state.shuffle = 3;
        const auto shuffled = no_weights_page(gpt2.input, state, gpt2.pool);
        CHECK(shuffled->note.find("shuffled") != std::string::npos);
        check_page(*shuffled);
    }
}

TEST_CASE("words without numbers of their own get the model's, flattened, or are called made up") {
    CHECK(unknown_words({"Bark", "Lily", "dog", "Lily", "gave"}) == std::vector<std::string>{"Lily", "gave"});
    StationInput input;
    ThreadPool pool(2);
    input.text = "Lily gave Bark a ball";
    const auto alone = no_weights_page(input, {}, pool);
    CHECK(blocks_of<learn::Words>(*alone)[0].text.find("made-up numbers") != std::string::npos);
    TextInput typed;
    typed.text = input.text;
    const auto trace = *run_trace(stories(), {encode_input(*stories(), typed)->sequences, {}}, pool);
    input.trace = trace.get();
    input.model = trace->model.get();
    const auto page = no_weights_page(input, {}, pool);
    check_page(*page);
    CHECK(page->note.find("% of the spread of embeddings of stories") != std::string::npos);
    CHECK(blocks_of<learn::Words>(*page)[0].text.find("made-up") == std::string::npos);
    const Matrix v = grid_of(*page, "V").values;
    CHECK(v.cols() == 3);
    CHECK(v.rowwise().norm().maxCoeff() == doctest::Approx(2).epsilon(0.04));
}

TEST_CASE("attention without weights begins with a word that takes most from one other, and moves there") {
    ThreadPool pool(2);
    const auto trace = read_by_stories("Bark is very cute and he is a dog");
    const auto cell = telling_move(*trace, std::nullopt, pool);
    REQUIRE(cell.has_value());
    StationInput input;
    input.trace = trace.get();
    input.model = trace->model.get();
    input.text = "Bark is very cute and he is a dog";
    input.query = cell->query;
    const auto page = no_weights_page(input, {}, pool);
    CHECK(blocks_of<learn::Words>(*page)[0].text.find("“dog” moves toward “Bark”") != std::string::npos);
    const auto table = blocks_of<learn::Table>(*page)[0];
    CHECK(table.values[3][1] > table.values[2][1] + 0.02);  // cosine of Y, of V
}

TEST_CASE(
    "attention brings the sense of mole to the word behind it, and says nothing in a model that cannot "
    "tell") {
    ThreadPool pool(2);
    const auto trace = read_by_stories("Bark is very cute");
    StationInput input;
    input.trace = trace.get();
    input.model = trace->model.get();
    input.text = "Bark is very cute";
    NoWeightsState state;
    state.vectors = NoWeightsState::Vectors::contextual;
    const auto tables = blocks_of<learn::Table>(*no_weights_page(input, state, pool));
    const auto moles = std::find_if(tables.begin(), tables.end(),
                                    [](const auto& t) { return t.title.starts_with("The last “the”"); });
    REQUIRE(moles != tables.end());
    REQUIRE(moles->rows.size() == 3);
    for (const auto& [row, word] : {std::pair{0, "tunnel"}, std::pair{1, "skin"}, std::pair{2, "lesson"}})
        for (int other = 0; other < 3; ++other)
            CHECK((moles->rows[other][1].find(word) != std::string::npos) == (other == row));
    CHECK(!*word_senses(reference_model("bert"), {"mole"}, pool, nullptr));
}

TEST_CASE("flattened vectors keep a triangle as it is, and three numbers of four of a tetrahedron") {
    Matrix right(3, 5);
    right.setZero();
    right(1, 2) = 3;
    right(2, 4) = 4;  // sides 3, 4, 5
    const Flattened flat = flatten(right);
    CHECK(flat.kept == doctest::Approx(1));
    const auto side = [&](int a, int b) { return (flat.vectors.row(a) - flat.vectors.row(b)).norm(); };
    CHECK(side(0, 2) / side(0, 1) == doctest::Approx(4.0 / 3).epsilon(0.05));  // tenths
    CHECK(side(1, 2) / side(0, 1) == doctest::Approx(5.0 / 3).epsilon(0.05));
    CHECK(flatten(Matrix::Identity(5, 5)).kept == doctest::Approx(0.75));  // of four equal directions
}

TEST_CASE("leftovers of merging are no words") {
    const auto model = stories();
    const Tokenizer& tokenizer = **model->tokenizer;
    const std::vector<bool> whole = whole_words(tokenizer, tokenizer.size());
    for (const char* word : {"Ġking", "Ġzebra", "Ġdog", "Ġlion", "Ġhappy"}) {
        CAPTURE(word);
        CHECK(whole[tokenizer.id_of(word)]);
    }
    for (const char* piece : {"Ġholid", "Ġexcla", "Ġdishwas", "Ġtig", "ing", ".", "Ġ3"}) {
        CAPTURE(piece);
        if (const int id = tokenizer.id_of(piece); id >= 0) CHECK(!whole[id]);
    }
}

TEST_CASE("the neighbors of typed words are those of the model's table") {
    ThreadPool pool(2);
    const auto blocks = embedding_space(*translator(), "king, dog , ,", pool);
    REQUIRE(blocks.size() >= 3);
    CHECK(std::get<learn::Grid>(blocks[0]).values(0, 0) == doctest::Approx(1));
    const auto& plane = std::get<learn::Plane>(blocks[1]);
    const auto& table = std::get<learn::Table>(blocks[2]);
    CHECK(isize(table.rows) == 8);
    CHECK(table.values[0][2] >= table.values[1][2]);
    CHECK(table.values[0][2] < 1);
    CHECK(plane.points[0].emphasized);
    CHECK(isize(plane.points) <= 10);
}

TEST_CASE("zebra is nearer to horse and stripes than to emotion, which the model reads in pieces") {
    ThreadPool pool(2);
    const auto blocks = embedding_space(*stories(), "zebra, horse, stripes, emotion", pool);
    const Matrix cosine = std::get<learn::Grid>(blocks[0]).values;
    CHECK(cosine(0, 1) > cosine(0, 3) + 0.1f);
    CHECK(cosine(0, 2) > cosine(0, 3) + 0.1f);
    const Linear& tokens = stories()->weights.stacks[0].token_embedding;
    const Vector mean = mean_row(tokens, pool),
                 zebra = table_rows(tokens, *ids_of_word(*stories(), "zebra")).row(0).transpose() - mean;
    const auto pieces = *ids_of_word(*stories(), "emotion");
    REQUIRE(pieces.size() == 3);
    const Vector emotion = table_rows(tokens, pieces).colwise().mean().transpose() - mean;
    CHECK(cosine(0, 3) == doctest::Approx(zebra.dot(emotion) / zebra.norm() / emotion.norm()).epsilon(1e-4));
    CHECK(std::get<learn::Words>(blocks[3]).text ==
          "The model reads “stripes” and “emotion” in pieces: the mean of their vectors stands here.");
}

TEST_CASE("a direction carries meaning: king − he + she is nearest to queen") {
    ThreadPool pool(2);
    const auto steps = std::get<learn::Steps>(embedding_space(*stories(), "king", pool).back());
    REQUIRE(steps.lines.size() == 5);
    const auto cosine = [&](size_t line) { return std::stof(steps.lines[line].result); };
    CHECK(cosine(0) > 0.7f);                 // her − his
    CHECK(cosine(1) > 0.3f);                 // girl − boy
    CHECK(std::abs(cosine(2)) < cosine(1));  // queen − king
    CHECK(steps.lines[3].what == "dog − cat");
    CHECK(steps.lines[3].result.starts_with("−"));
    CHECK(steps.lines[4].worked == "is nearest, of all other words, to “queen”");
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
    REQUIRE(bars.size() == 3);
    const learn::Plane angles = blocks_of<learn::Plane>(*page)[0];
    CHECK(angles.arrows);
    for (size_t i = 1; i < angles.points.size(); ++i) {  // q · k is the shadow on q times its length
        const float dot = angles.points[i].x * angles.points[0].x;
        bool found = false;
        for (int key = 0; key < 5; ++key)
            found = found || std::abs(gpt2.trace->q(1, 1).row(4).dot(gpt2.trace->k(1, 1).row(key)) - dot) <
                                 1e-3f * (1 + std::abs(dot));
        CHECK(found);
    }
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
