// Tests scores, normalizers, neighbors and random numbers of Learn by hand.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/draws.h"
#include "helpers.h"
#include "learn/nearest_tokens.h"
#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "learn/trained_scores.h"

using namespace headlight;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

Vector vector(std::initializer_list<float> values) {
    Vector out(narrow<Index>(values.size()));
    std::copy(values.begin(), values.end(), out.begin());
    return out;
}

void check_near(const Vector& found, std::initializer_list<double> expected) {
    REQUIRE(found.size() == narrow<Index>(expected.size()));
    for (Index i = 0; i < found.size(); ++i)
        CHECK(double(found[i]) == doctest::Approx(expected.begin()[i]).epsilon(1e-6));
}

Vector scores_of(ScoreFunction f, const Matrix& q, const Matrix& k, const ScoreParameters& p) {
    return score_functions()[static_cast<int>(f)].scores(q, k, p).row(0).transpose();
}

Matrix matrix(const Json& rows) {
    Matrix out(isize(rows), isize(rows[0]));
    for (int i = 0; i < out.rows(); ++i)
        for (int j = 0; j < out.cols(); ++j) out(i, j) = rows[i][j].get<float>();
    return out;
}

}  // namespace

TEST_CASE("random numbers are the same on every machine") {
    Draws draws(1);
    CHECK(draws.uniform() == doctest::Approx((1791095845 + 0.5) / 4294967296.0).epsilon(1e-12));
    Draws again(1);
    CHECK(again.normal() == doctest::Approx(1.3223786781134519).epsilon(1e-9));
    CHECK(again.normal() == doctest::Approx(0.7383606671238929).epsilon(1e-9));
    Draws a(7), b(7);
    CHECK(normal_matrix(2, 3, 1, a) == normal_matrix(4, 3, 1, b).topRows(2));
    std::vector<int> order = shuffled(9, a);
    CHECK(order != std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("normal numbers have mean 0 and variance 1") {
    Draws draws(3);
    const Matrix x = normal_matrix(200, 500, 2, draws);
    CHECK(std::abs(x.mean()) < 0.03f);  // five of its standard errors: 2 / √100,000
    CHECK(x.array().square().mean() == doctest::Approx(4).epsilon(0.025));  // five: √(2 / 100,000)
}

TEST_CASE("normalizers, by hand") {
    check_near(softmax_weights(vector({0, std::log(3.0f)})), {0.25, 0.75});
    check_near(softmax_weights(vector({1000, 1000})), {0.5, 0.5});
    check_near(sum_weights(vector({1, 3})), {0.25, 0.75});
    check_near(sum_weights(vector({1, -3})), {-0.5, 1.5});
    CHECK(std::isnan(sum_weights(vector({1, -1}))[0]));
    // Sorted 1, ½, 0: two are kept, because 1 + 2·½ > 1½ and 1 + 3·0 < 1½; τ = (1½ − 1) / 2 = ¼.
    check_near(sparsemax_weights(vector({0.5f, 0, 1})), {0.25, 0, 0.75});
    check_near(sparsemax_weights(vector({2, 0})), {1, 0});
    check_near(sparsemax_weights(vector({3, 3})), {0.5, 0.5});
    check_near(hard_weights(vector({1, 3, 3})), {0, 1, 0});
}

TEST_CASE("sparsemax is the nearest point of the simplex") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Vector z = random_matrix(1, 12, seed).row(0).transpose(), p = sparsemax_weights(z);
        CHECK(p.sum() == doctest::Approx(1));
        float threshold = -std::numeric_limits<float>::infinity();
        for (Index i = 0; i < z.size(); ++i)
            if (p[i] > 0) threshold = z[i] - p[i];
        for (Index i = 0; i < z.size(); ++i) {  // the Karush–Kuhn–Tucker conditions
            CHECK(p[i] >= 0);
            if (p[i] > 0)
                CHECK(z[i] - p[i] == doctest::Approx(threshold).epsilon(1e-5));
            else
                CHECK(z[i] <= threshold + 1e-5f);
        }
    }
}

TEST_CASE("masked scores have weight 0, under any normalizer") {
    Matrix scores(2, 3);
    scores << 2, kNone, 2, kNone, kNone, kNone;
    for (const NormalizerKind& kind : normalizers()) {
        CAPTURE(kind.key);
        const Matrix weights = normalize_rows(kind, scores);
        CHECK(weights(0, 1) == 0);
        CHECK(weights.row(0).sum() == doctest::Approx(1));
        CHECK(weights.row(1).isZero(0));
    }
}

TEST_CASE("entropy and asymmetry, by hand") {
    CHECK(entropy_bits(vector({0.5f, 0.25f, 0.25f, 0})) == doctest::Approx(1.5));
    CHECK(std::isnan(entropy_bits(vector({1.5f, -0.5f}))));
    Matrix s(2, 2);
    s << 1, 2, 2, 5;
    CHECK(asymmetry(s) == 0);
    s << 0, 3, -3, 0;
    CHECK(asymmetry(s) == doctest::Approx(1));
    s << 1, 1, 0, 1;  // (S − Sᵀ)/2 has ±½ twice: ½ of 3
    CHECK(asymmetry(s) == doctest::Approx(1.0 / 6));
    CHECK(asymmetry(Matrix::Zero(3, 3)) == 0);
    CHECK(asymmetry(random_matrix(80, 80, 1)) == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("score functions, by hand") {
    Matrix q(1, 2), k(2, 2);
    q << 1, 2;
    k << 3, -1, 0, 2;
    ScoreParameters p;
    p.general = Matrix(2, 2);
    p.general << 0, 1, 1, 0;
    p.of_query = p.of_key = p.location = Matrix::Identity(2, 2);
    p.additive = vector({1, 2});
    p.sharpness = 5;
    const double root = std::sqrt(2.0), t1 = std::tanh(1.0), t4 = std::tanh(4.0);
    check_near(scores_of(ScoreFunction::dot, q, k, p), {1, 4});
    check_near(scores_of(ScoreFunction::scaled_dot, q, k, p), {1 / root, 4 / root});
    check_near(scores_of(ScoreFunction::general, q, k, p), {5 / root, 2 / root});  // qᵀW = (2, 1)
    check_near(scores_of(ScoreFunction::additive, q, k, p),
               {t4 + 2 * t1, t1 + 2 * t4});  // q + k: (4, 1), (1, 4)
    check_near(scores_of(ScoreFunction::location, q, k, p), {1, 2});
    check_near(scores_of(ScoreFunction::cosine, q, k, p), {5 / std::sqrt(50.0), 20 / std::sqrt(20.0)});
    check_near(scores_of(ScoreFunction::kernel, q, k, p), {-13.0 / 4, -1.0 / 4});  // σ = √2
    p.width = 1;
    check_near(scores_of(ScoreFunction::kernel, q, k, p), {-13.0 / 2, -1.0 / 2});
}

TEST_CASE("scores and normalizers as torch computes them") {
    const Json reference = Json::parse(read_bytes(kTests / "reference/learn_scores.json"));
    const auto read = [&](const char* name) { return matrix(reference[name]); };
    const ScoreParameters p{read("general"),
                            read("of_query"),
                            read("of_key"),
                            read("additive").col(0),
                            read("location"),
                            reference["sharpness"].get<float>(),
                            reference["width"].get<float>()};
    for (const ScoreKind& kind : score_functions()) {
        CAPTURE(kind.key);
        const Matrix expected = matrix(reference["scores"][kind.key]);
        CHECK((kind.scores(read("q"), read("k"), p) - expected).cwiseAbs().maxCoeff() < 2e-5f);
    }
    const Matrix scores = matrix(reference["scores"]["scaled_dot"]);
    for (const NormalizerKind& kind : normalizers()) {
        CAPTURE(kind.key);
        const Matrix expected = matrix(reference["weights"][kind.key]);
        CHECK((normalize_rows(kind, scores) - expected).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("random score functions depend only on the seed") {
    const ScoreParameters a = ScoreParameters::random(4, 2, 9), b = ScoreParameters::random(4, 6, 9),
                          c = ScoreParameters::random(4, 2, 10);
    CHECK(a.general == b.general);
    CHECK(a.location == b.location.topRows(2));
    CHECK(a.general != c.general);
    CHECK(a.additive.norm() == doctest::Approx(2));
    const Matrix q = random_matrix(1, 4, 1), one = random_matrix(2, 4, 2), other = random_matrix(2, 4, 3);
    CHECK(scores_of(ScoreFunction::location, q, one, a) == scores_of(ScoreFunction::location, q, other, a));
}

TEST_CASE("scaled dot and softmax give a model's own pattern") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 77}, pool);
    for (int head = 0; head < trace->config().heads(1); ++head) {
        Matrix scores = scaled_dot_scores(trace->q(1, head).all(), trace->k(1, head).all());
        for (int i = 0; i < 6; ++i)
            for (int j = i + 1; j < 6; ++j) scores(i, j) = kNone;
        const Matrix weights = normalize_rows(normalizers()[0], scores);
        CHECK((weights - trace->pattern(1, head)).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("the nearest rows of a table, by hand") {
    ThreadPool pool(2);
    const float rows[] = {1, 0, 0, 2, 3, 3, 0, 0, -1, 0.5f};  // to (1, 0): 1, 0, 0.71, none, −0.89
    const Linear table = Linear::of_floats(rows, nullptr, 2, 5, WeightLayout::out_in);
    Matrix to(2, 2);
    to << 2, 0, 0, -1;
    const Vector zero = Vector::Zero(2);
    const auto near = nearest_rows(table, to, zero, 9, pool);
    REQUIRE(near.size() == 2);
    REQUIRE(near[0].size() == 4);  // not the zero row
    const int order[] = {0, 2, 1, 4};
    for (int i = 0; i < 4; ++i) CHECK(near[0][i].id == order[i]);
    CHECK(near[0][1].cosine == doctest::Approx(std::sqrt(0.5)));
    CHECK(near[1][0].id == 0);  // 0 is the largest of 0, −1, −0.71, −0.45
    CHECK(near[1][1].cosine == doctest::Approx(-0.5 / std::sqrt(1.25)));
    CHECK(nearest_rows(table, to, zero, 1, pool)[0].size() == 1);
    CHECK(table_rows(table, {2, 1}).row(1) == Eigen::RowVector2f(0, 2));
    CHECK(mean_row(table, pool).isApprox(Eigen::Vector2f(0.6f, 1.1f)));
    const auto seen = nearest_rows(table, to, Eigen::Vector2f(1, 1), 9, pool);
    // From (1, 1), (2, 0) lies at (1, −1), (1, 0) at (0, −1): cosine √½. And (0, 2) at (−1, 1): cosine −1.
    CHECK(seen[0][0].id == 0);
    CHECK(seen[0][0].cosine == doctest::Approx(std::sqrt(0.5)));
    CHECK(seen[0].back().id == 1);
    CHECK(seen[0].back().cosine == doctest::Approx(-1));
}

TEST_CASE("learn scores: what dot and additive cost, by hand") {
    const ScoreCost dot = dot_cost(2, 3, 4), additive = additive_cost(2, 3, 4, 5);
    CHECK(dot.products == 24);
    CHECK(dot.tanhs == 0);
    CHECK(dot.kept == 6);
    CHECK(additive.products == 5 * 4 * 5 + 2 * 3 * 5);
    CHECK(additive.tanhs == 30);
    CHECK(additive.kept == 36);
}

TEST_CASE("learn scores: an additive score is trained down the gradient of differences") {
    const Matrix q = random_matrix(3, 4, 1), k = random_matrix(5, 4, 2);
    Matrix target = Matrix::Constant(3, 5, 0.2f);
    target.row(1) << 0.5f, 0.5f, 0, 0, std::numeric_limits<float>::quiet_NaN();  // a masked key
    AdditiveScore score{random_matrix(2, 4, 3), random_matrix(2, 4, 4), random_matrix(2, 1, 5).col(0)};
    const auto zero = [] { return AdditiveScore{Matrix::Zero(2, 4), Matrix::Zero(2, 4), Vector::Zero(2)}; };
    AdditiveScore slopes = zero();
    additive_loss(score, q, k, target, slopes);
    constexpr float kStep = 1e-2f;
    const auto difference = [&](float& value) {
        AdditiveScore unused = zero();
        const float at = value;
        value = at + kStep;
        const double more = additive_loss(score, q, k, target, unused);
        value = at - kStep;
        const double less = additive_loss(score, q, k, target, unused);
        value = at;
        return (more - less) / (2 * double(kStep));
    };
    for (Index i = 0; i < 8; ++i) {
        CHECK(double(slopes.of_query.data()[i]) ==
              doctest::Approx(difference(score.of_query.data()[i])).epsilon(0.02).scale(0.1));
        CHECK(double(slopes.of_key.data()[i]) ==
              doctest::Approx(difference(score.of_key.data()[i])).epsilon(0.02).scale(0.1));
    }
    CHECK(double(slopes.v[1]) == doctest::Approx(difference(score.v[1])).epsilon(0.02).scale(0.1));
    // Two keys at ±1 of one number: it learns to look at the first, from ln 2 or so to nearly 0.
    Matrix one(1, 1), two(2, 1), first(1, 2);
    one << 1;
    two << 1, -1;
    first << 1, 0;
    const TrainedScore trained = train_additive(one, two, first, 4, 200, 1);
    CHECK(trained.losses.size() == 201);
    CHECK(trained.losses.back() < 0.1f);
    CHECK(trained.losses.back() < trained.losses.front());
}
