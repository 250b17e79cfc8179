// Multiplies gradients by the Jacobians of projections, norms, the MLP and the head.
#include "model/backward/vector_jacobian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "base/check.h"
#include "base/spare.h"
#include "model/activation.h"
#include "model/feed_forward/experts.h"
#include "model/sparse_gate.h"

namespace headlight {

Matrix linear_vjp(ThreadPool& pool, ConstMatrixRef gradient, const Linear& w) {
    Matrix out = spare_matrix(gradient.rows(), w.in);
    apply_transposed(pool, gradient, w, out);
    return out;
}

// y = g x̂ + b with x̂ = (x − mean) / σ: dx = (ĝ − mean ĝ − x̂ · mean(ĝ x̂)) / σ with ĝ = g · dy; RMSNorm
// subtracts no means.
Matrix norm_vjp(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                std::span<const int> tokens, ThreadPool& pool) {
    HEADLIGHT_CHECK(norm && gradient.rows() == std::ssize(tokens) && x.cols() == gradient.cols());
    Matrix out = spare_matrix(gradient.rows(), x.cols());
    const Eigen::Map<const Eigen::ArrayXf> weight(norm.weight, x.cols());
    const bool center = config.norm == NormKind::layer_norm;
    for_row_blocks(pool, gradient.rows(), 16, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            Eigen::ArrayXf normal = x.row(tokens[static_cast<size_t>(i)]).transpose().array();
            if (center) normal -= normal.mean();
            const float deviation = std::sqrt(normal.square().mean() + eps_of(config, norm));
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

void each_row(ThreadPool& pool, Matrix& m, const std::function<void(RowOf)>& of) {
    for_row_blocks(pool, m.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) of(m.row(i).transpose().array());
    });
}

struct HiddenRows {
    Matrix in, activated, slope;  // activated: of the gate, or of `in` where a norm reads it
    Matrix uncut;                 // gate before it is cut, if it is
    Matrix out;                   // output before the MLP's post-norm, if it has one
};

HiddenRows mlp_again(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x) {
    HiddenRows h;
    h.in = project(run.pool, x, w.mlp_in);
    h.slope = w.mlp_gate ? project(run.pool, x, w.mlp_gate) : h.in;
    if (spec.sparsity > 0) {
        h.uncut = h.slope;
        each_row(run.pool, h.slope, [&](RowOf row) { cut_gate(spec.sparsity, row); });
    }
    if (w.mlp_gate || w.mlp_post_norm) h.activated = h.slope;
    each_row(run.pool, h.slope, [&](RowOf row) { apply_slope(spec.activation, w.xielu, row); });
    each_row(run.pool, h.activated, [&](RowOf row) { apply_activation(spec.activation, w.xielu, row); });
    if (!w.mlp_post_norm) return h;
    h.out = w.mlp_gate ? project(run.pool, h.activated.cwiseProduct(h.in), w.mlp_out)
                       : project(run.pool, h.activated, w.mlp_out);
    return h;
}

/// Propagates through the activation in place: by_hidden becomes the gradient by `in`, by_gate the one by the
/// gate; `tokens`: the row of h for each row of a gradient.
void activation_vjp(ThreadPool& pool, const MlpSpec& spec, const HiddenRows& h, std::span<const int> tokens,
                    MatrixRef by_hidden, MatrixRef by_gate) {
    for_row_blocks(pool, by_hidden.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            const int token = tokens[static_cast<size_t>(i)];
            auto by = by_hidden.row(i).array();
            if (by_gate.size() == 0) {
                by *= h.slope.row(token).array();
                continue;
            }
            by_gate.row(i).array() = by * h.in.row(token).array() * h.slope.row(token).array();
            by *= h.activated.row(token).array();
            if (spec.sparsity > 0)
                cut_gate_vjp(spec.sparsity, h.uncut.row(token).transpose().array(),
                             by_gate.row(i).transpose().array());
        }
    });
}

/// Pads rows of [rows, hidden]: at a stride of a multiple of 4 KB they would share one set of the L1 cache.
struct PaddedRows {
    static constexpr Index kApart = 16;
    Matrix memory;
    Index width;
    PaddedRows(Index rows, Index width)
        : memory(spare_matrix(rows, width ? width + kApart : 0)), width(width) {}
    ~PaddedRows() { leave_spare(std::move(memory)); }
    PaddedRows(const PaddedRows&) = delete;
    PaddedRows& operator=(const PaddedRows&) = delete;
    MatrixRef rows() { return memory.leftCols(width); }
};

Matrix mlp_rows_vjp(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, const HiddenRows& h,
                    std::span<const int> tokens, Matrix d) {
    if (w.mlp_post_norm) d = norm_vjp(run.config(), w.mlp_post_norm, h.out, d, tokens, run.pool);
    PaddedRows by_hidden(d.rows(), w.mlp_out.in), by_gate(d.rows(), w.mlp_gate ? w.mlp_out.in : 0);
    apply_transposed(run.pool, d, w.mlp_out, by_hidden.rows());
    leave_spare(std::move(d));
    activation_vjp(run.pool, spec, h, tokens, by_hidden.rows(), by_gate.rows());
    Matrix out = linear_vjp(run.pool, by_hidden.rows(), w.mlp_in);
    if (w.mlp_gate) {
        Matrix part = linear_vjp(run.pool, by_gate.rows(), w.mlp_gate);
        out += part;
        leave_spare(std::move(part));
    }
    return out;
}

/// Finds the rows of the gradients whose tokens lie in x's [first, first + rows).
std::vector<Index> rows_within(std::span<const int> tokens, Index first, Index rows) {
    std::vector<Index> out;
    for (Index i = 0; i < std::ssize(tokens); ++i)
        if (const int token = tokens[static_cast<size_t>(i)]; token >= first && token < first + rows)
            out.push_back(i);
    return out;
}

}  // namespace

// Works on blocks of tokens, because hidden rows are wide, for all outputs, so that weights are read seldom.
Matrix mlp_vjp(const StackRun& run, int layer, const Matrix& x, const Matrix& gradient,
               std::span<const int> tokens, std::span<const int> off) {
    const MlpSpec& spec = run.stack.layers[layer].mlp;
    const LayerWeights& w = run.weights.layers[layer];
    if (spec.experts) {
        Matrix d = gradient;
        if (w.mlp_post_norm)
            d = norm_vjp(run.config(), w.mlp_post_norm, experts_output(run, spec, w, x, off), d, tokens,
                         run.pool);
        return experts_vjp(run, spec, w, x, d, tokens, off);
    }
    constexpr Index kTokens = 256, kGradients = 512;
    Matrix out = spare_matrix(gradient.rows(), x.cols());
    for (Index first = 0; first < x.rows(); first += kTokens) {
        const std::vector<Index> hits = rows_within(tokens, first, kTokens);
        if (hits.empty()) continue;
        const auto [low, high] = std::minmax_element(hits.begin(), hits.end(), [&](Index a, Index b) {
            return tokens[size_t(a)] < tokens[size_t(b)];
        });
        const int begin = tokens[size_t(*low)], end = tokens[size_t(*high)] + 1;
        const HiddenRows hidden = mlp_again(run, spec, w, x.middleRows(begin, end - begin));
        for (Index at = 0; at < std::ssize(hits); at += kGradients) {
            const Index count = std::min(kGradients, std::ssize(hits) - at);
            Matrix some = spare_matrix(count, gradient.cols());
            std::vector<int> own;
            for (Index i = 0; i < count; ++i) {
                some.row(i) = gradient.row(hits[size_t(at + i)]);
                own.push_back(tokens[size_t(hits[size_t(at + i)])] - begin);
            }
            Matrix part = mlp_rows_vjp(run, spec, w, hidden, own, std::move(some));
            for (Index i = 0; i < count; ++i) out.row(hits[size_t(at + i)]) = part.row(i);
            leave_spare(std::move(part));
        }
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
    d = linear_vjp(pool, d, w.unembedding);
    Matrix dense = normalized * c.logit_scale;
    if (w.head_dense) dense = project(pool, dense, w.head_dense);
    const ActivationRow& activation = activation_row(c.head_activation);
    Matrix active = dense;
    if (c.mlm_head) each_row(pool, active, activation.apply);
    if (w.head_norm) d = norm_vjp(c, w.head_norm, active, d, std::array{0}, pool);
    if (c.mlm_head) {
        each_row(pool, dense, activation.slope);
        d.array() *= dense.array();
    }
    if (w.head_dense) d = linear_vjp(pool, d, w.head_dense);
    return {isize(c.stacks) - 1, c.stacks.back().depth() + 1, row, d * c.logit_scale};
}

AttentionGradients no_gradients(const AttentionActivations& a, const GradientRows& queries,
                                const GradientRows& keys) {
    const AttentionRule& rule = *a.rule;
    const auto zeros = [](const GradientRows& rows, Index width) -> Matrix {
        return Matrix::Zero(rows.rows(), width);
    };
    return {zeros(queries, a.q.cols()),
            zeros(queries, a.v.cols() / rule.kv_heads * rule.heads),
            zeros(keys, a.k.cols()),
            zeros(keys, a.v.cols()),
            {}};
}

}  // namespace headlight
