#include "model/vector_jacobian.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/activation.h"

namespace headlight {

Matrix through_linear(ThreadPool& pool, ConstMatrixRef gradient, const Linear& w) {
    Matrix out = spare_matrix(gradient.rows(), w.in);
    apply_transposed(pool, gradient, w, out);
    return out;
}

// y = g x̂ + b with x̂ = (x − mean) / σ: dx = (ĝ − mean ĝ − x̂ · mean(ĝ x̂)) / σ with ĝ = g · dy; RMSNorm takes
// no means off.
Matrix through_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                    ThreadPool& pool) {
    HEADLIGHT_CHECK(norm && gradient.rows() % x.rows() == 0 && x.cols() == gradient.cols());
    Matrix out = spare_matrix(gradient.rows(), x.cols());
    const Eigen::Map<const Eigen::ArrayXf> weight(norm.weight, x.cols());
    const bool center = config.norm == NormKind::layer_norm;
    for_row_blocks(pool, gradient.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            Eigen::ArrayXf normal = x.row(i % x.rows()).transpose().array();
            if (center) normal -= normal.mean();
            const float deviation = std::sqrt(normal.square().mean() + config.norm_eps);
            normal /= deviation;
            Eigen::ArrayXf g = gradient.row(i).transpose().array() * weight;
            g -= normal * (g * normal).mean() + (center ? g.mean() : 0.0f);
            out.row(i) = (g / deviation).matrix().transpose();
        }
    });
    return out;
}

namespace {

using RowOf = Eigen::Ref<Eigen::ArrayXf>;

/// Applies of(row) to each row, on all threads.
void each_row(ThreadPool& pool, Matrix& m, void (*of)(RowOf)) {
    for_row_blocks(pool, m.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) of(m.row(i).transpose().array());
    });
}

/// What the MLP held of some rows.
struct HiddenRows {
    Matrix in, activated, slope;  // activated: of the gate, or of `in` where a norm reads it
    Matrix out;                   // before the norm behind it, where there is one
};

HiddenRows mlp_again(const StackRun& run, const LayerWeights& w, ConstMatrixRef x) {
    const ActivationRow& activation = activation_row(run.config().activation);
    HiddenRows h;
    h.in = project(run.pool, x, w.mlp_in);
    h.slope = w.mlp_gate ? project(run.pool, x, w.mlp_gate) : h.in;
    if (w.mlp_gate || w.mlp_post_norm) h.activated = h.slope;
    each_row(run.pool, h.slope, activation.slope);
    each_row(run.pool, h.activated, activation.apply);
    if (!w.mlp_post_norm) return h;
    h.out = w.mlp_gate ? project(run.pool, h.activated.cwiseProduct(h.in), w.mlp_out)
                       : project(run.pool, h.activated, w.mlp_out);
    return h;
}

Matrix through_mlp_rows(const StackRun& run, const LayerWeights& w, const HiddenRows& h, Matrix d) {
    if (w.mlp_post_norm) d = through_norm(run.config(), w.mlp_post_norm, h.out, d, run.pool);
    Matrix by_hidden = through_linear(run.pool, d, w.mlp_out), by_gate;
    if (w.mlp_gate) {
        by_gate = by_hidden.cwiseProduct(h.in).cwiseProduct(h.slope);
        by_hidden.array() *= h.activated.array();
    } else {
        by_hidden.array() *= h.slope.array();
    }
    Matrix out = through_linear(run.pool, by_hidden, w.mlp_in);
    if (w.mlp_gate) out += through_linear(run.pool, by_gate, w.mlp_gate);
    return out;
}

}  // namespace

Matrix through_mlp(const StackRun& run, const LayerWeights& w, const Matrix& x, const Matrix& gradient) {
    constexpr Index kRows = 256;  // hidden rows are wide
    Matrix out = spare_matrix(gradient.rows(), x.cols());
    for (Index first = 0; first < x.rows(); first += kRows) {
        const Index rows = std::min(kRows, x.rows() - first);
        const HiddenRows hidden = mlp_again(run, w, x.middleRows(first, rows));
        for (Index at = first; at < gradient.rows(); at += x.rows())
            out.middleRows(at, rows) = through_mlp_rows(run, w, hidden, gradient.middleRows(at, rows));
    }
    return out;
}

GradientSeed logits_seed(const Model& model, const Activations& activations, int row, const Vector& gradient,
                         ThreadPool& pool) {
    const ModelConfig& c = model.config;
    const ModelWeights& w = model.weights;
    HEADLIGHT_CHECK(w.unembedding && gradient.size() == w.unembedding.out);
    const Matrix normalized = activations.stacks.back()->normalized.middleRows(row, 1);
    Matrix d = gradient.transpose();
    if (c.logit_cap > 0)  // cap · tanh(x / cap)
        d.array() *= 1 - (unembed(model, normalized, pool) / c.logit_cap).array().square();
    d = through_linear(pool, d, w.unembedding);
    Matrix dense = normalized * c.logit_scale;
    if (w.head_dense) dense = project(pool, dense, w.head_dense);
    const ActivationRow& activation = activation_row(c.head_activation);
    Matrix active = dense;
    if (c.mlm_head) each_row(pool, active, activation.apply);
    if (w.head_norm) d = through_norm(c, w.head_norm, active, d, pool);
    if (c.mlm_head) {
        each_row(pool, dense, activation.slope);
        d.array() *= dense.array();
    }
    if (w.head_dense) d = through_linear(pool, d, w.head_dense);
    return {isize(c.stacks) - 1, c.stacks.back().layers + 1, row, d * c.logit_scale};
}

}  // namespace headlight
