// Projects, convolves and norms what a selective state space reads, and propagates gradients back.
#include "model/mixers/selective.h"

#include <cmath>

#include "model/activation.h"
#include "model/backward/vector_jacobian.h"
#include "model/mixers/channel_convolution.h"

namespace headlight {

namespace {

/// Says where a part of a token's row of states stands, and how it is normed.
struct StatePart {
    Index first, width;
    const float* weight;  // [width], or null
};
std::array<StatePart, 3> parts_of(const AttentionSpec& spec, const RecurrenceWeights& w) {
    const Index rank = spec.recurrence->step_rank, d = spec.d_head;
    return {StatePart{0, rank, w.step_norm.weight}, StatePart{rank, d, w.key_norm.weight},
            StatePart{rank + d, d, w.query_norm.weight}};
}

/// Returns 1 / √(mean square + ε), by which a part is multiplied; 1 if it is not normed.
float norm_factor(const RecurrenceSpec& r, const Eigen::RowVectorXf& x) {
    return r.norms == RecurrenceSpec::Norms::none
               ? 1
               : 1 / std::sqrt(x.squaredNorm() / float(x.size()) + r.norm_eps);
}

/// Norms each part of each row, in place.
void norm_parts(const AttentionSpec& spec, const RecurrenceWeights& w, Matrix& states) {
    for (Index i = 0; i < states.rows(); ++i)
        for (const StatePart& part : parts_of(spec, w)) {
            auto own = states.row(i).segment(part.first, part.width);
            own *= norm_factor(*spec.recurrence, own);
            if (part.weight)
                own.array() *= Eigen::Map<const Eigen::RowVectorXf>(part.weight, part.width).array();
        }
}

/// Maps the gradient by norm_parts' output to the one by its input, in place; `tokens`: the row of `states`
/// for each row of it.
void norm_parts_vjp(const AttentionSpec& spec, const RecurrenceWeights& w, const Matrix& states,
                    std::span<const int> tokens, Matrix& by) {
    for (Index i = 0; i < by.rows(); ++i)
        for (const StatePart& part : parts_of(spec, w)) {
            auto own = by.row(i).segment(part.first, part.width);
            if (part.weight)
                own.array() *= Eigen::Map<const Eigen::RowVectorXf>(part.weight, part.width).array();
            if (spec.recurrence->norms == RecurrenceSpec::Norms::none) continue;
            const Eigen::RowVectorXf x = states.row(tokens[size_t(i)]).segment(part.first, part.width);
            const float f = norm_factor(*spec.recurrence, x);
            own = f * (own - f * f / float(part.width) * own.dot(x) * x).eval();
        }
}

/// Holds what is made of x, step by step.
struct SelectivePath {
    Matrix y;       // [rows, heads] behind the convolution
    Matrix u;       // SiLU(y)
    Matrix states;  // [rows, step_rank + 2 · d_head], before their norms
    Matrix normed;
    Matrix steps;  // [rows, heads], before softplus

    SelectivePath(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x, Index before,
                  ThreadPool& pool)
        : y(convolved(*spec.recurrence, w.recurrence, project(pool, x, w.v), before, pool)),
          u(y.unaryExpr(&silu_at)),
          states(project(pool, u, w.recurrence.states)),
          normed(states) {
        norm_parts(spec, w.recurrence, normed);
        steps = project(pool, normed.leftCols(spec.recurrence->step_rank), w.recurrence.decay);
    }
};

}  // namespace

QueryKeyValue selective_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                              Index before, ThreadPool& pool) {
    SelectivePath path(spec, w, x, before, pool);
    const Index rank = spec.recurrence->step_rank, d = spec.d_head;
    QueryKeyValue out{path.normed.middleCols(rank + d, d), Matrix(path.y.rows(), key_columns(spec)),
                      std::move(path.u)};
    out.k.leftCols(d) = path.normed.middleCols(rank, d);
    out.k.rightCols(spec.heads) = path.steps.unaryExpr(&softplus);
    return out;
}

Matrix selective_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x,
                     const Matrix& by_q, const Matrix& by_k, const Matrix& by_v, const GradientRows& keys,
                     const GradientRows& wide, ThreadPool& pool) {
    const SelectivePath path(spec, w, x, 0, pool);
    const Index rank = spec.recurrence->step_rank, d = spec.d_head, rows = by_k.rows();
    const std::span<const int> tokens = keys.token_of();
    Matrix by_steps = by_k.rightCols(spec.heads);
    for (Index i = 0; i < rows; ++i)
        by_steps.row(i).array() *= path.steps.row(tokens[size_t(i)]).unaryExpr(&sigmoid).array();
    Matrix by_states(rows, rank + 2 * d);
    by_states.leftCols(rank) = linear_vjp(pool, by_steps, w.recurrence.decay);
    by_states.middleCols(rank, d) = by_k.leftCols(d);
    by_states.rightCols(d) = by_q;
    norm_parts_vjp(spec, w.recurrence, path.states, tokens, by_states);
    Matrix by_y = by_v + linear_vjp(pool, by_states, w.recurrence.states);
    for (Index i = 0; i < rows; ++i)
        by_y.row(i).array() *= path.y.row(tokens[size_t(i)]).unaryExpr(&silu_slope_at).array();
    return linear_vjp(pool, convolution_vjp(*spec.recurrence, w.recurrence, by_y, keys, wide), w.v);
}

}  // namespace headlight
