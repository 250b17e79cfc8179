// Checks gates of attention by hand, and their gradients by finite differences.
#include "model/mixers/attention_gate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace headlight;

namespace {

constexpr int kGatedTokens = 3, kGatedWidth = 4;  // z: two heads of two components

Matrix some(int rows, int columns, float phase) {
    Matrix out(rows, columns);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = std::sin(phase + 1.7f * float(i));
    return out;
}

/// Weights of norms: of each component of z, the first ones of a part.
constexpr float kGateNorms[] = {0.5f, 1.5f, -0.7f, 2.0f};
Gate gate_with_norms(const AttentionGate& gate) { return {gate, kGateNorms, 1e-3f}; }

/// Returns z times its factors.
Matrix gated(const AttentionGate& gate, const Matrix& scores, Matrix z) {
    AttentionActivations a;
    a.gate = Rows(scores);
    ThreadPool pool(1);
    apply_gate(pool, gate_with_norms(gate), a, 0, z);
    return z;
}

}  // namespace

TEST_CASE("gates: σ of a head's score multiplies its z, softplus of a component's score that component") {
    Matrix scores(1, 2), z(1, 4);
    scores << 0, std::log(3.0f);
    z << 1, 2, 3, 4;
    const Matrix by_head = gated({AttentionGate::Width::head}, scores, z);
    CHECK(by_head(0, 1) == doctest::Approx(2 * 0.5));
    CHECK(by_head(0, 3) == doctest::Approx(4 * 0.75));
    const Matrix all = Matrix::Constant(1, 4, std::log(std::exp(1.0f) - 1));  // softplus: 1
    CHECK(gated({AttentionGate::Width::component, AttentionGate::By::softplus}, all, z).isApprox(z, 1e-6f));
    AttentionActivations none;
    const AttentionGate gate;
    ThreadPool pool(1);
    apply_gate(pool, {gate}, none, 0, z);
    CHECK(z(0, 3) == 4);
}

TEST_CASE("gates: z is normed before SiLU's factors, or the product after them, each part by itself") {
    Matrix scores = Matrix::Zero(1, 4), z(1, 4);
    scores << 2, 2, -1, 1;
    z << 3, 4, 1, -1;
    const auto silu = [](float x) { return x / (1 + std::exp(-x)); };
    using Gate = AttentionGate;
    const Matrix before = gated(
        {.width = Gate::Width::component, .by = Gate::By::silu, .norms = 2, .norm_shared = true}, scores, z);
    const float size = std::sqrt(25.0f / 2 + 1e-3f);
    CHECK(before(0, 1) ==
          doctest::Approx(4 / size * kGateNorms[1] * silu(2)));  // weights of a part are shared
    CHECK(before(0, 3) == doctest::Approx(-1 / std::sqrt(1.001f) * kGateNorms[1] * silu(1)));
    const Matrix own = gated({.width = Gate::Width::component, .by = Gate::By::silu, .norms = 2}, scores, z);
    CHECK(own(0, 3) == doctest::Approx(-1 / std::sqrt(1.001f) * kGateNorms[3] * silu(1)));
    const Matrix after = gated(
        {.width = Gate::Width::component, .by = Gate::By::silu, .norms = 1, .norm_after = true}, scores, z);
    Eigen::RowVectorXf product = z.row(0);
    for (Index i = 0; i < 4; ++i) product[i] *= silu(scores(0, i));
    CHECK(after(0, 2) ==
          doctest::Approx(product[2] * kGateNorms[2] / std::sqrt(product.squaredNorm() / 4 + 1e-3f)));
}

std::vector<AttentionGate> every_gate() {
    using Gate = AttentionGate;
    std::vector<AttentionGate> out;
    for (const auto by : {Gate::By::sigmoid, Gate::By::softplus, Gate::By::silu})
        for (const auto width : {Gate::Width::head, Gate::Width::component})
            for (const int norms : {0, 1, 2})
                for (const bool after : {false, true}) out.push_back({width, by, norms, after});
    return out;
}

TEST_CASE("gates: gradients by z and by the scores are those of small changes") {
    for (const AttentionGate& gate : every_gate()) {
        const int count = gate.width == AttentionGate::Width::head ? 2 : kGatedWidth;
        const Matrix scores = some(kGatedTokens, count, 0.3f), z = some(kGatedTokens, kGatedWidth, 1.1f),
                     seed = some(kGatedTokens, kGatedWidth, 2.2f);
        Matrix by_z = seed;
        AttentionActivations a;
        a.gate = Rows(scores);
        const std::vector<int> tokens{0, 1, 2};
        const Matrix by_scores = gate_vjp(gate_with_norms(gate), a, z, tokens, by_z);
        const auto value = [&](const Matrix& s, const Matrix& of) {
            return double(gated(gate, s, of).cwiseProduct(seed).sum());
        };
        constexpr float kStep = 1e-2f;
        for (Index i = 0; i < scores.size(); ++i) {
            Matrix up = scores, down = scores;
            up.data()[i] += kStep;
            down.data()[i] -= kStep;
            CHECK(by_scores.data()[i] ==
                  doctest::Approx((value(up, z) - value(down, z)) / (2 * kStep)).epsilon(5e-3));
        }
        for (Index i = 0; i < z.size(); ++i) {
            Matrix up = z, down = z;
            up.data()[i] += kStep;
            down.data()[i] -= kStep;
            CHECK(by_z.data()[i] ==
                  doctest::Approx((value(scores, up) - value(scores, down)) / (2 * kStep)).epsilon(5e-3));
        }
    }
}
