// Checks by hand which row of the table a distance takes, and that the parts of a disentangled score and
// their gradients are those of the equation.
#include "model/mixers/disentangled.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/loading/config.h"

using namespace headlight;

namespace {

/// Numbers without a pattern, from −1 to 1.
Matrix numbers(Index rows, Index cols, float seed) {
    Matrix out(rows, cols);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) out(i, j) = std::sin(seed + float(3 * i) + 1.7f * float(j * j));
    return out;
}

constexpr int kTextTokens = 70, kTextWidth = 4;

/// Two heads over a table of ten distances.
DisentangledBias made_bias(const DisentangledSpec& spec, const std::vector<int>& positions) {
    AttentionWeights w;
    w.relative_keys = numbers(2 * spec.span, 2 * kTextWidth, 0.3f);
    w.relative_queries = numbers(2 * spec.span, 2 * kTextWidth, 0.7f);
    return disentangled_bias(spec, w, kTextTokens, positions);
}

}  // namespace

TEST_CASE("disentangled: a distance has a row of its own, and farther ones the last") {
    const DisentangledSpec spec{.span = 3};
    for (int distance = -3; distance < 3; ++distance) CHECK(row_of_distance(spec, distance) == distance + 3);
    CHECK(row_of_distance(spec, -9) == 0);
    CHECK(row_of_distance(spec, 9) == 5);
}

TEST_CASE("disentangled: buckets are exact up to half of them, then logarithmic") {
    // 8 buckets up to 33: beyond 4, 4 + ⌈3 · ln(distance / 4) / ln(32 / 4)⌉
    const DisentangledSpec spec{.span = 8, .buckets = 8, .max_distance = 33};
    for (int distance = -4; distance <= 4; ++distance) CHECK(row_of_distance(spec, distance) == distance + 8);
    CHECK(row_of_distance(spec, 5) == 8 + 5);
    CHECK(row_of_distance(spec, 9) == 8 + 6);
    CHECK(row_of_distance(spec, 17) == 8 + 7);
    CHECK(row_of_distance(spec, -17) == 8 - 7);
    CHECK(row_of_distance(spec, -1000) == 0);
}

TEST_CASE("disentangled: both terms are the equation's, in tiles and under shuffled positions") {
    std::vector<int> shuffled(kTextTokens);
    for (int i = 0; i < kTextTokens; ++i) shuffled[size_t(i)] = i * 3 % kTextTokens;
    const Matrix q = numbers(kTextTokens, kTextWidth, 0), k = numbers(kTextTokens, kTextWidth, 5);
    const DisentangledSpec spec{.span = 5, .to_position = true, .from_position = true};
    for (const auto& positions : {std::vector<int>(), shuffled}) {
        const DisentangledBias bias = made_bias(spec, positions);
        const int first = 2, first_key = 1, rows = 5, keys = 68;
        Matrix scores = Matrix::Zero(rows, keys);
        bias.add_to_position(1, q.middleRows(first, rows), first, first_key, scores);
        bias.add_from_position(1, Rows(k), 0.5f, first, first_key, scores);
        const auto at = [&](int token) { return positions.empty() ? token : positions[size_t(token)]; };
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < keys; ++j) {
                const int row = row_of_distance(spec, at(first + i) - at(first_key + j));
                const float expected =
                    q.row(first + i).dot(bias.keys.columns(kTextWidth, kTextWidth).row(row)) +
                    0.5f * k.row(first_key + j).dot(bias.queries.columns(kTextWidth, kTextWidth).row(row));
                CHECK(scores(i, j) == doctest::Approx(expected).epsilon(1e-4));
            }
    }
}

TEST_CASE("disentangled: the gradient by q and k is the transposed product") {
    const DisentangledSpec spec{.span = 5, .to_position = true, .from_position = true};
    const DisentangledBias bias = made_bias(spec, {});
    const Matrix q = numbers(kTextTokens, kTextWidth, 0), k = numbers(kTextTokens, kTextWidth, 5),
                 d = numbers(kTextTokens, kTextTokens, 2);
    Matrix to = Matrix::Zero(kTextTokens, kTextTokens), from = to, dq = Matrix::Zero(kTextTokens, kTextWidth),
           dk = dq;
    bias.add_to_position(0, q, 0, 0, to);
    bias.add_from_position(0, Rows(k), 1, 0, 0, from);
    bias.to_position_vjp(0, d, 0, 0, dq);
    bias.from_position_vjp(0, d, 0, 0, dk);
    // both terms are linear: ⟨d, term(x)⟩ = ⟨term's transpose(d), x⟩
    CHECK(d.cwiseProduct(to).sum() == doctest::Approx(dq.cwiseProduct(q).sum()).epsilon(1e-3));
    CHECK(d.cwiseProduct(from).sum() == doctest::Approx(dk.cwiseProduct(k).sum()).epsilon(1e-3));
}

TEST_CASE("disentangled: what the file cannot mean, or the pass does not compute, is refused") {
    const auto problem = [](const Json& more) {
        Json config{{"model_type", "deberta-v2"}, {"relative_attention", true}};
        config.update(more);
        const auto parsed = parse_config(config, "config.json");
        return parsed ? std::string() : parsed.error().message;
    };
    CHECK(problem(Json::object()).empty());
    CHECK(problem({{"position_buckets", 256}, {"pos_att_type", "p2c|c2p"}}).empty());
    CHECK(problem({{"position_buckets", 1}}).find("position_buckets") != std::string::npos);
    CHECK(problem({{"position_buckets", 64}, {"max_relative_positions", 20}}).find("cannot hold") !=
          std::string::npos);
    CHECK(problem({{"pos_att_type", "p2p"}}).find("p2p") != std::string::npos);
    CHECK(problem({{"pos_att_type", 3}}).find("pos_att_type") != std::string::npos);
    CHECK(problem({{"norm_rel_ebd", "rms"}}).find("norm_rel_ebd") != std::string::npos);
}
