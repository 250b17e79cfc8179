// Norms q and k.
#include "model/qk_norm.h"

#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/spare.h"
#include "model/backward/vector_jacobian.h"
#include "model/forward.h"

namespace headlight {

namespace {

/// Calls part(norm of the head, first column) for each head that has weights of its own.
template <class Part>
void for_own_norms(const AttentionSpec& spec, const Norm& norm, Index columns, const Part& part) {
    for (Index h = 0; h < columns / spec.d_head; ++h) part(norm_of_head(spec, norm, h), h * spec.d_head);
}

/// Returns rows as one row for each head; y must be contiguous.
Eigen::Map<const Matrix> by_head(const Matrix& y, Index d_head) {
    return {y.data(), y.size() / d_head, d_head};
}

/// Norms each head's part of y, `width` wide, by the same weights.
Matrix norm_each(const ModelConfig& c, const Norm& norm, ConstMatrixRef y, Index width, ThreadPool& pool) {
    const Matrix all = y;
    const Matrix normal = apply_norm(c, norm, by_head(all, width), pool);
    return Eigen::Map<const Matrix>(normal.data(), y.rows(), y.cols());
}

Matrix norm_each_vjp(const ModelConfig& c, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                     std::span<const int> tokens, Index width, ThreadPool& pool) {
    const Index heads = x.cols() / width;
    std::vector<int> rows;
    for (const int token : tokens)
        for (Index h = 0; h < heads; ++h) rows.push_back(narrow<int>(token * heads + h));
    const Matrix all = x, by = gradient;
    const Matrix out = norm_vjp(c, norm, by_head(all, width), by_head(by, width), rows, pool);
    return Eigen::Map<const Matrix>(out.data(), gradient.rows(), gradient.cols());
}

}  // namespace

Norm norm_of_head(const AttentionSpec& spec, const Norm& norm, Index head) {
    if (!norm || spec.qk_norm == QkNorm::per_head || spec.qk_norm == QkNorm::unweighted) return norm;
    const Index first = head * spec.d_head;
    return {norm.weight + first, norm.bias ? norm.bias + first : nullptr};
}

Matrix norm_heads(const ModelConfig& c, const AttentionSpec& spec, const Norm& norm, ConstMatrixRef y,
                  ThreadPool& pool) {
    if (spec.qk_norm == QkNorm::whole) return apply_norm(c, norm, y, pool);
    if (spec.qk_norm == QkNorm::own_weights) {
        Matrix out(y.rows(), y.cols());
        for_own_norms(spec, norm, y.cols(), [&](const Norm& own, Index at) {
            out.middleCols(at, spec.d_head) = apply_norm(c, own, y.middleCols(at, spec.d_head), pool);
        });
        return out;
    }
    return norm_each(c, norm, y, spec.d_head, pool);
}

Matrix norm_values(const ModelConfig& c, const AttentionSpec& spec, const Norm& norm, const Matrix& v,
                   ThreadPool& pool) {
    return norm_each(c, norm, v, spec.value_width(), pool);
}

Matrix norm_heads_vjp(const ModelConfig& c, const AttentionSpec& spec, const Norm& norm, ConstMatrixRef x,
                      ConstMatrixRef gradient, std::span<const int> tokens, ThreadPool& pool) {
    if (spec.qk_norm == QkNorm::whole) return norm_vjp(c, norm, x, gradient, tokens, pool);
    if (spec.qk_norm == QkNorm::own_weights) {
        Matrix out(gradient.rows(), gradient.cols());
        for_own_norms(spec, norm, x.cols(), [&](const Norm& own, Index at) {
            out.middleCols(at, spec.d_head) = norm_vjp(c, own, x.middleCols(at, spec.d_head),
                                                       gradient.middleCols(at, spec.d_head), tokens, pool);
        });
        return out;
    }
    return norm_each_vjp(c, norm, x, gradient, tokens, spec.d_head, pool);
}

Matrix norm_values_vjp(const ModelConfig& c, const AttentionSpec& spec, const Norm& norm, const Matrix& v,
                       const Matrix& gradient, std::span<const int> tokens, ThreadPool& pool) {
    return norm_each_vjp(c, norm, v, gradient, tokens, spec.value_width(), pool);
}

}  // namespace headlight
