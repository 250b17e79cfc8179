// Gates z, and gradients back.
#include "model/mixers/attention_gate.h"

#include <cmath>

#include "base/check.h"
#include "model/activation.h"
#include "model/forward.h"
#include "model/pass.h"

namespace headlight {

namespace {

using By = AttentionGate::By;
using Row = Eigen::RowVectorXf;

float factor(By by, float score) {
    return by == By::sigmoid    ? sigmoid(score)
           : by == By::softplus ? softplus(score)
           : by == By::product  ? score
                                : score * sigmoid(score);
}

float factor_slope(By by, float score) {
    if (by == By::product) return 1;
    const float s = sigmoid(score);
    return by == By::sigmoid ? s * (1 - s) : by == By::softplus ? s : s * (1 + score * (1 - s));
}

/// Returns one factor for each component of z.
Row spread(By by, float (*of)(By, float), Eigen::Map<const Row> scores, Index width) {
    Row out(width);
    const Index each = width / scores.size();
    for (Index i = 0; i < scores.size(); ++i) out.segment(i * each, each).setConstant(of(by, scores[i]));
    return out;
}

/// Calls part(first component, width, weights) for each part that is normed by itself.
template <class Part>
void for_parts(const Gate& gate, Index width, const Part& part) {
    const Index each = width / gate.spec.norms;
    for (Index first = 0; first < width; first += each)
        part(first, each,
             Eigen::Map<const Row>(gate.norm_weights + (gate.spec.norm_shared ? 0 : first), each));
}

float root_mean_square(const Gate& gate, const Row& part) {
    return std::sqrt(part.squaredNorm() / float(part.size()) + gate.eps);
}

/// y = u / rms(u) ⊙ w of each part.
Row normed(const Gate& gate, const Row& u) {
    Row out = u;
    if (gate.spec.norms)
        for_parts(gate, u.size(), [&](Index first, Index width, const Eigen::Map<const Row>& w) {
            const Row part = u.segment(first, width);
            out.segment(first, width) = part.cwiseProduct(w) / root_mean_square(gate, part);
        });
    return out;
}

/// du = (w ⊙ dy − n · mean(w ⊙ dy ⊙ n)) / rms(u), n = u / rms(u).
Row normed_vjp(const Gate& gate, const Row& u, const Row& d) {
    Row out = d;
    if (gate.spec.norms)
        for_parts(gate, u.size(), [&](Index first, Index width, const Eigen::Map<const Row>& w) {
            const Row part = u.segment(first, width);
            const float rms = root_mean_square(gate, part);
            const Row n = part / rms, by_n = d.segment(first, width).cwiseProduct(w);
            out.segment(first, width) = (by_n - n * (by_n.dot(n) / float(width))) / rms;
        });
    return out;
}

}  // namespace

Gate gate_of(const ModelConfig& c, const AttentionSpec& spec, const AttentionWeights& w) {
    return {spec.gate, w.gate_norm, spec.gate.norm_eps > 0 ? spec.gate.norm_eps : c.norm_eps};
}

Matrix gate_factors(const AttentionGate& gate, ConstMatrixRef scores) {
    return scores.unaryExpr([&](float score) { return factor(gate.by, score); });
}

Row gate_multipliers(const Gate& gate, const AttentionActivations& a, Index query, ConstMatrixRef z) {
    Row out = spread(gate.spec.by, factor, a.gate.row(query), z.cols());
    const Row own = z.row(0), sized = gate.spec.norm_after ? Row(own.cwiseProduct(out)) : own;
    if (gate.spec.norms)
        for_parts(gate, out.size(), [&](Index first, Index width, const Eigen::Map<const Row>& w) {
            out.segment(first, width).array() *=
                w.array() / root_mean_square(gate, sized.segment(first, width));
        });
    return out;
}

void apply_gate(ThreadPool& pool, const Gate& gate, const AttentionActivations& a, Index first, MatrixRef z) {
    if (a.gate.size() == 0) return;
    HEADLIGHT_CHECK(z.cols() % a.gate.cols() == 0 && first + z.rows() <= a.gate.rows());
    for_row_blocks(pool, z.rows(), 4, [&](Index begin, Index count) {
        for (Index r = begin; r < begin + count; ++r)
            z.row(r).array() *= gate_multipliers(gate, a, first + r, z.row(r)).array();
    });
}

Matrix gate_vjp(const Gate& gate, const AttentionActivations& a, const Matrix& z, std::span<const int> tokens,
                MatrixRef d) {
    Matrix by_score(d.rows(), a.gate.cols());
    const Index each = d.cols() / a.gate.cols();
    for (Index r = 0; r < d.rows(); ++r) {
        const int token = tokens[size_t(r)];
        const Row factors = spread(gate.spec.by, factor, a.gate.row(token), d.cols()), own = z.row(token);
        Row by_factors = d.row(r);
        if (gate.spec.norm_after) {
            const Row by_product = normed_vjp(gate, own.cwiseProduct(factors), by_factors);
            by_factors = by_product.cwiseProduct(own);
            d.row(r) = by_product.cwiseProduct(factors);
        } else {
            const Row by_normed = by_factors.cwiseProduct(factors);
            by_factors = by_factors.cwiseProduct(normed(gate, own));
            d.row(r) = normed_vjp(gate, own, by_normed);
        }
        const Row slopes = spread(gate.spec.by, factor_slope, a.gate.row(token), d.cols());
        for (Index i = 0; i < by_score.cols(); ++i)
            by_score(r, i) = by_factors.segment(i * each, each).dot(slopes.segment(i * each, each));
    }
    return by_score;
}

}  // namespace headlight
