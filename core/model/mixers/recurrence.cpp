// Projects, convolves and rates what a recurrence reads, and propagates gradients back.
#include "model/mixers/recurrence.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/spare.h"
#include "kernels/choice.h"
#include "model/activation.h"
#include "model/backward/vector_jacobian.h"
#include "model/mixers/channel_convolution.h"
#include "model/mixers/mixing.h"
#include "model/mixers/selective.h"
#include "model/mixers/short_convolution.h"

namespace headlight {

namespace {

using Kind = RecurrenceSpec::Kind;
constexpr float kLengthEps = 1e-6f;  // added to the squared length of q and k before its root, in all classes

/// Holds everything that one matrix product each makes of x.
struct Projected {
    Matrix channels;  // [rows, channels] of q, k and v, in the order of their kernels
    Matrix decay, strength;
};

Projected projected(const AttentionWeights& w, const RecurrenceChannels& of, ConstMatrixRef x,
                    ThreadPool& pool) {
    const RecurrenceWeights& own = w.recurrence;
    Projected out{spare_matrix(x.rows(), of.count()), Matrix(x.rows(), own.decay.out),
                  Matrix(x.rows(), own.strength.out)};
    std::vector<LinearProduct> products{{w.q, out.channels.middleCols(of.first_q, of.q)},
                                        {w.k, out.channels.middleCols(of.first_k, of.k)},
                                        {w.v, out.channels.middleCols(of.first_v, of.v)},
                                        {own.decay, out.decay}};
    if (own.strength) products.push_back({own.strength, out.strength});
    apply_linears(pool, x, products);
    return out;
}

/// Returns by what a head's q or k is multiplied: 1 / length in the delta rule.
float unit(Kind kind, const Eigen::RowVectorXf& y) {
    return kind == Kind::delta_rule ? 1 / std::sqrt(y.squaredNorm() + kLengthEps) : 1;
}

/// Holds what a token's rates are made of.
struct Step {
    float size, slope;  // Δ = softplus(x + b), cut to its limits, and its derivative
    float rate;         // a = −rate · Δ
};
Step step_of(const RecurrenceSpec& spec, const RecurrenceWeights& w, float x, Index head) {
    const float at = x + w.step_bias[head], size = softplus(at);
    const float cut = std::clamp(size, spec.least_step, spec.largest_step);
    return {cut, cut == size ? sigmoid(at) : 0.0f, w.decay_rate[head]};
}

/// Writes one token's keys of all heads, with their rates.
void put_keys(const AttentionSpec& spec, const RecurrenceWeights& w, const Eigen::RowVectorXf& own,
              const Projected& p, Index row, Eigen::Ref<Eigen::RowVectorXf> out) {
    const RecurrenceSpec& r = *spec.recurrence;
    const Index d = spec.d_head, shared = spec.heads / r.key_heads;
    for (Index h = 0; h < spec.heads; ++h) {
        auto key = out.segment(h * (d + kKeyRates), d + kKeyRates);
        key.head(d) = own.segment(h / shared * d, d);
        const Step step = step_of(r, w, p.decay(row, h), h);
        key[d + Index(KeyRate::decay)] = -step.rate * step.size;
        key[d + Index(KeyRate::strength)] =
            r.kind == Kind::delta_rule ? r.strength * sigmoid(p.strength(row, h)) : step.size;
    }
}

/// Returns a token's channels of q or k, which have passed SiLU, each head a unit where the rule has it so.
Eigen::RowVectorXf units_of(const AttentionSpec& spec, ConstRowRef channels) {
    Eigen::RowVectorXf out = channels;
    for (Index first = 0; first < out.size(); first += spec.d_head)
        out.segment(first, spec.d_head) *= unit(spec.recurrence->kind, out.segment(first, spec.d_head));
    return out;
}

/// Sums gradients of heads that share a head of q or k; each takes `stride` columns.
Eigen::RowVectorXf shared_sum(const AttentionSpec& spec, ConstRowRef by_heads, Index stride) {
    const Index d = spec.d_head, shared = spec.heads / spec.recurrence->key_heads;
    Eigen::RowVectorXf out = Eigen::RowVectorXf::Zero(spec.recurrence->key_heads * d);
    for (Index h = 0; h < spec.heads; ++h) out.segment(h / shared * d, d) += by_heads.segment(h * stride, d);
    return out;
}

/// Maps the gradient by units_of to the one by its channels, in place.
void units_vjp(const AttentionSpec& spec, ConstRowRef channels, Eigen::Ref<Eigen::RowVectorXf> by) {
    for (Index first = 0; first < by.size(); first += spec.d_head) {
        auto own = by.segment(first, spec.d_head);
        const Eigen::RowVectorXf y = channels.segment(first, spec.d_head).unaryExpr(&silu_at);
        const float by_length = unit(spec.recurrence->kind, y);
        if (spec.recurrence->kind == Kind::delta_rule)
            own = by_length * (own - by_length * by_length * own.dot(y) * y).eval();
    }
    by.array() *= channels.unaryExpr(&silu_slope_at).array();
}

}  // namespace

RecurrenceChannels RecurrenceChannels::of(const AttentionSpec& spec) {
    const RecurrenceSpec& r = *spec.recurrence;
    const int64_t keys = int64_t{r.key_heads} * spec.d_head,
                  values = int64_t{spec.heads} * spec.value_width();
    if (r.kind == Kind::state_space) return {keys, keys, values, values + keys, values, 0};
    if (r.kind == Kind::convolution) return {spec.value_width(), 0, spec.value_width(), 0, 0, 0};
    if (r.kind == Kind::selective) return {0, 0, values, 0, 0, 0};
    return {keys, keys, values, 0, keys, 2 * keys};
}

QueryKeyValue recurrence_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                               Index before, ThreadPool& pool) {
    const RecurrenceSpec& r = *spec.recurrence;
    if (r.is_convolution()) return tap_heads(spec, w, x, pool);
    if (r.is_selective()) return selective_heads(spec, w, x, before, pool);
    const RecurrenceChannels of = RecurrenceChannels::of(spec);
    Projected p = projected(w, of, x, pool);
    Matrix y = convolved(r, w.recurrence, p.channels, before, pool);
    leave_spare(std::move(p.channels));
    const Index d = spec.d_head, shared = spec.heads / r.key_heads;
    QueryKeyValue out{Matrix(y.rows(), spec.heads * d), Matrix(y.rows(), spec.heads * (d + kKeyRates)),
                      Matrix(y.rows(), of.v)};
    for_row_blocks(pool, y.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            kernels().silu(y.row(i).data(), y.cols());
            out.v.row(i) = y.row(i).segment(of.first_v, of.v);
            const auto q = units_of(spec, y.row(i).segment(of.first_q, of.q));
            for (Index h = 0; h < spec.heads; ++h)
                out.q.row(i).segment(h * d, d) = q.segment(h / shared * d, d);
            put_keys(spec, w.recurrence, units_of(spec, y.row(i).segment(of.first_k, of.k)), p, before + i,
                     out.k.row(i));
        }
    });
    leave_spare(std::move(y));
    return out;
}

namespace {

/// Holds gradients by what one token's products with x are, for each row of a gradient.
struct ProjectedGradients {
    Matrix channels, decay, strength;
};

/// Propagates to the channels behind the convolution, and to the scores of decay and strength.
ProjectedGradients channels_vjp(const AttentionSpec& spec, const RecurrenceWeights& w, const Projected& p,
                                const Matrix& y, const Matrix& by_q, const Matrix& by_k, const Matrix& by_v,
                                std::span<const int> tokens) {
    const RecurrenceSpec& r = *spec.recurrence;
    const RecurrenceChannels of = RecurrenceChannels::of(spec);
    const Index d = spec.d_head, rows = by_k.rows();
    ProjectedGradients out{Matrix(rows, of.count()), Matrix(rows, spec.heads),
                           Matrix::Zero(rows, p.strength.cols())};
    for (Index i = 0; i < rows; ++i) {
        const Index t = tokens[size_t(i)];
        auto row = out.channels.row(i);
        row.segment(of.first_q, of.q) = shared_sum(spec, by_q.row(i), d);
        row.segment(of.first_k, of.k) = shared_sum(spec, by_k.row(i), d + kKeyRates);
        units_vjp(spec, y.row(t).segment(of.first_q, of.q), row.segment(of.first_q, of.q));
        units_vjp(spec, y.row(t).segment(of.first_k, of.k), row.segment(of.first_k, of.k));
        row.segment(of.first_v, of.v) =
            by_v.row(i).cwiseProduct(y.row(t).segment(of.first_v, of.v).unaryExpr(&silu_slope_at));
        for (Index h = 0; h < spec.heads; ++h) {
            const auto rates = by_k.row(i).segment(h * (d + kKeyRates) + d, kKeyRates);
            const Step step = step_of(r, w, p.decay(t, h), h);
            float by_size = -step.rate * rates[Index(KeyRate::decay)];
            if (r.kind == Kind::state_space) {
                by_size += rates[Index(KeyRate::strength)];
            } else {
                const float s = sigmoid(p.strength(t, h));
                out.strength(i, h) = rates[Index(KeyRate::strength)] * r.strength * s * (1 - s);
            }
            out.decay(i, h) = by_size * step.slope;
        }
    }
    return out;
}

}  // namespace

RecurrenceGradients recurrence_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x,
                                   const Matrix& by_q, const GradientRows& queries, const Matrix& by_k,
                                   const Matrix& by_v, const GradientRows& keys, ThreadPool& pool) {
    if (spec.recurrence->is_convolution()) return {taps_vjp(spec, w, x, by_v, keys.token_of(), pool), keys};
    if (spec.recurrence->is_selective()) {
        RecurrenceGradients out{{}, reaching_back(keys, recurrence_reach(spec))};
        out.x = selective_vjp(spec, w, x, queries.widened(by_q, keys), by_k, by_v, keys, out.rows, pool);
        return out;
    }
    const RecurrenceChannels of = RecurrenceChannels::of(spec);
    const Projected p = projected(w, of, x, pool);
    const Matrix y = convolved(*spec.recurrence, w.recurrence, p.channels, 0, pool);
    const ProjectedGradients by =
        channels_vjp(spec, w.recurrence, p, y, queries.widened(by_q, keys), by_k, by_v, keys.token_of());
    RecurrenceGradients out{{}, reaching_back(keys, recurrence_reach(spec))};
    const Matrix channels = convolution_vjp(*spec.recurrence, w.recurrence, by.channels, keys, out.rows);
    out.x = linear_vjp(pool, channels.middleCols(of.first_q, of.q), w.q);
    out.x += linear_vjp(pool, channels.middleCols(of.first_k, of.k), w.k);
    out.x += linear_vjp(pool, channels.middleCols(of.first_v, of.v), w.v);
    Matrix rated = linear_vjp(pool, by.decay, w.recurrence.decay);
    if (w.recurrence.strength) rated += linear_vjp(pool, by.strength, w.recurrence.strength);
    out.x += keys.widened(std::move(rated), out.rows);
    return out;
}

}  // namespace headlight
