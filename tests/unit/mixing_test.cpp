// Checks mixing matrices against their recurrences, run token by token, and their gradients by small changes.
#include "model/mixers/mixing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "model/attention.h"
#include "trace/trace.h"

using namespace headlight;

namespace {

constexpr int kMixedTokens = 70, kMixedKey = 6, kMixedValue = 3;  // more than one tile of queries

Matrix mixed_waves(Index rows, Index columns, float phase) {
    Matrix out(rows, columns);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = std::sin(phase + 1.3f * float(i));
    return out;
}

struct Mixed {
    AttentionRule rule;
    Matrix q = mixed_waves(kMixedTokens, kMixedKey, 0.2f), k,
           v = mixed_waves(kMixedTokens, kMixedValue, 2.1f);

    explicit Mixed(RecurrenceSpec::Kind kind) {
        rule.mask = MaskPlan::make({}, {true, 0, 0}, std::vector<int>(kMixedTokens, 0));
        rule.scale = 0.7f;
        rule.recurrence = AttentionRule::Recurrence{kind, {0.4f}, {0.1f, 0.9f, 0.3f, 0.0f, 0.6f, 0.2f}};
        k.resize(kMixedTokens, rule.key_width(kMixedKey));
        k.leftCols(kMixedKey) = mixed_waves(kMixedTokens, kMixedKey, 0.9f) / 2;
        for (Index i = 0; i < kMixedTokens; ++i) {
            k(i, k.cols() - 1) = 0.3f + 0.1f * float(i % 5);  // the strength, or Δ
            if (rule.shares_vectors()) continue;
            k(i, kMixedKey + Index(KeyRate::decay)) = -0.1f - 0.2f * float(i % 3);
        }
    }
    /// Runs the state S [d_head, d_value] over the text.
    Matrix by_state() const {
        const bool delta = rule.recurrence->kind == RecurrenceSpec::Kind::delta_rule;
        Matrix state = Matrix::Zero(kMixedKey, kMixedValue), out(kMixedTokens, kMixedValue);
        for (Index t = 0; t < kMixedTokens; ++t) {
            const auto key = k.row(t).head(kMixedKey);
            const float strength = k(t, k.cols() - 1);
            if (!rule.shares_vectors()) state *= std::exp(k(t, kMixedKey + Index(KeyRate::decay)));
            for (Index c = 0; rule.shares_vectors() && c < kMixedKey; ++c)
                state.row(c) *= std::exp(-strength * rule.recurrence->rates[size_t(c)]);
            const Eigen::RowVectorXf written = delta ? Eigen::RowVectorXf(v.row(t) - key * state) : v.row(t);
            state += strength * key.transpose() * written;
            out.row(t) = rule.scale * q.row(t) * state;
            if (!delta) out.row(t) += rule.recurrence->skip[0] * v.row(t);
        }
        return out;
    }
    Matrix matrix() const {
        Matrix out(kMixedTokens, kMixedTokens);
        head_pattern(rule, 0, Rows(q), Rows(k), 0, out);
        return out;
    }
};

constexpr RecurrenceSpec::Kind kMixedKinds[] = {
    RecurrenceSpec::Kind::delta_rule, RecurrenceSpec::Kind::state_space, RecurrenceSpec::Kind::selective};

}  // namespace

TEST_CASE("mixing: the matrix times the values is the recurrence's output, and later keys have no part") {
    for (const auto kind : kMixedKinds) {
        const Mixed m(kind);
        const Matrix matrix = m.matrix();
        CHECK((matrix * m.v - m.by_state()).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(matrix.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().isZero(0));
        CHECK(matrix.minCoeff() < 0);
    }
}

TEST_CASE("mixing: each tap of a short convolution reads the token so many places back") {
    Mixed m(RecurrenceSpec::Kind::convolution);
    m.rule.heads = m.rule.kv_heads = 3;
    const Matrix q = Matrix::Zero(kMixedTokens, 1), k = Matrix::Zero(kMixedTokens, 1 + kKeyRates);
    for (int head = 0; head < 3; ++head) {
        Matrix matrix(kMixedTokens, kMixedTokens);
        head_pattern(m.rule, head, Rows(q), Rows(k), 0, matrix);
        for (int i = 0; i < kMixedTokens; ++i)
            for (int j = 0; j < kMixedTokens; ++j) CHECK(matrix(i, j) == (j == i - head ? 1.0f : 0.0f));
    }
}

TEST_CASE("mixing: a delta rule of two tokens by hand") {
    Mixed m(RecurrenceSpec::Kind::delta_rule);
    const Matrix matrix = m.matrix();
    const auto k0 = m.k.row(0).head(kMixedKey), k1 = m.k.row(1).head(kMixedKey);
    const float s0 = m.k(0, kMixedKey + 1), s1 = m.k(1, kMixedKey + 1), decay = std::exp(m.k(1, kMixedKey));
    CHECK(matrix(1, 1) == doctest::Approx(0.7f * s1 * m.q.row(1).dot(k1)));
    const float through = m.q.row(1).dot(k0) - s1 * m.q.row(1).dot(k1) * k1.dot(k0);
    CHECK(matrix(1, 0) == doctest::Approx(0.7f * s0 * decay * through));
}

TEST_CASE("mixing: attend gives the same bits for all queries together and for the last alone") {
    ThreadPool pool(2);
    for (const auto kind : kMixedKinds) {
        const Mixed m(kind);
        Matrix all(kMixedTokens, kMixedValue), last(1, kMixedValue);
        attend(pool, m.rule, Rows(m.q), Rows(m.k), Rows(m.v), 0, all);
        attend(pool, m.rule, Rows(m.q), Rows(m.k), Rows(m.v), kMixedTokens - 1, last);
        CHECK(all.row(kMixedTokens - 1) == last.row(0));
        CHECK((all - m.by_state()).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("mixing: a row has the same bits alone, in a tile and from any key on") {
    for (const auto kind : kMixedKinds) {
        const Mixed m(kind);
        const Matrix all = m.matrix();
        for (const auto& [first, rows, from] :
             {std::tuple{0, 1, 0}, {31, 1, 0}, {32, 1, 5}, {30, 5, 16}, {64, 6, 40}, {69, 1, 69}}) {
            Matrix some(rows, kMixedTokens - from);
            mixing_matrix(m.rule, 0, Rows(m.q), Rows(m.k), first, from, some);
            CHECK(some == all.block(first, from, rows, kMixedTokens - from));
        }
    }
}

TEST_CASE("mixing: what has faded is 0, never a denormal number, and the rest is as it was") {
    for (const auto kind : kMixedKinds) {
        Mixed m(kind);
        if (m.rule.shares_vectors())
            for (float& rate : m.rule.recurrence->rates) rate = 12;
        else
            m.k.col(kMixedKey + Index(KeyRate::decay)).setConstant(-5);
        const Matrix matrix = m.matrix();
        CHECK((matrix * m.v - m.by_state()).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(matrix.bottomLeftCorner(1, 40).isZero(0));
        for (Index i = 0; i < matrix.size(); ++i) {
            const float x = matrix.data()[i];
            CHECK((x == 0 || std::isnormal(x)));
        }
        ThreadPool pool(1);
        Matrix z(kMixedTokens, kMixedValue);
        attend(pool, m.rule, Rows(m.q), Rows(m.k), Rows(m.v), 0, z, [](const PatternTile& tile) {
            if (tile.first > 0) CHECK(tile.first_key > 0);
        });
        CHECK((z - m.by_state()).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("mixing: a mask takes entries out and leaves the others as they are") {
    for (const auto kind : kMixedKinds) {
        Mixed m(kind);
        const Matrix whole = m.matrix();
        m.rule.mask.set({9, 4, 1, 3}, false);
        const Matrix masked = m.matrix();
        CHECK(masked.block(9, 4, 1, 3).isZero(0));
        Matrix rest = whole;
        rest.block(9, 4, 1, 3).setZero();
        CHECK(masked == rest);
    }
}

TEST_CASE("mixing: gradients by q, k, decay and strength are those of small changes") {
    for (const auto kind : kMixedKinds) {
        const Mixed m(kind);
        constexpr Index kFirst = 20, kRows = 12, kFrom = 5, kCount = 27;  // queries 20 … 31, keys from 5 on
        const Matrix seed = mixed_waves(kRows, kCount, 0.4f);
        Matrix by_q = Matrix::Zero(kRows, kMixedKey), by_k = Matrix::Zero(kCount, m.k.cols());
        mixing_vjp(m.rule, 0, Rows(m.q), Rows(m.k), kFirst, kFrom, seed, by_q, by_k);
        const auto value = [&](const Matrix& q, const Matrix& k) {
            Matrix out(kRows, kCount);
            mixing_matrix(m.rule, 0, Rows(q), Rows(k), kFirst, kFrom, out);
            return out.cast<double>().cwiseProduct(seed.cast<double>()).sum();
        };
        constexpr float kStep = 2e-2f;
        const auto slope = [&](bool of_q, Index row, Index column) {
            Matrix up = of_q ? m.q : m.k, down = up;
            up(row, column) += kStep;
            down(row, column) -= kStep;
            return (of_q ? value(up, m.k) - value(down, m.k) : value(m.q, up) - value(m.q, down)) /
                   (2 * double(kStep));
        };
        for (Index c = 0; c < kMixedKey; ++c)
            CHECK(std::abs(double(by_q(3, c)) - slope(true, kFirst + 3, c)) < 2e-3);
        for (const Index key : {Index{0}, Index{11}, kCount - 1})
            for (Index c = 0; c < m.k.cols(); ++c)
                CHECK(std::abs(double(by_k(key, c)) - slope(false, kFrom + key, c)) < 4e-3);
    }
}
