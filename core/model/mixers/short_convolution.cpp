// Computes the values of a short convolution's taps, and gradients back.
#include "model/mixers/short_convolution.h"

#include "model/backward/vector_jacobian.h"
#include "model/mixers/mixing.h"

namespace headlight {

namespace {

/// Returns κ_s: what tap s multiplies each channel by; stored [channels, kernel], the token's own last.
Eigen::RowVectorXf tap(const AttentionSpec& spec, const AttentionWeights& w, Index s) {
    const Index kernel = spec.recurrence->kernel;
    Eigen::RowVectorXf out(spec.value_width());
    for (Index c = 0; c < out.size(); ++c) out[c] = w.recurrence.kernel[c * kernel + kernel - 1 - s];
    return out;
}

/// Holds b and u of rows of x.
struct Factors {
    Matrix b, u;
    Factors(const AttentionWeights& w, ConstMatrixRef x, ThreadPool& pool)
        : b(x.rows(), w.q.out), u(x.rows(), w.v.out) {
        const LinearProduct products[] = {{w.q, b}, {w.v, u}};
        apply_linears(pool, x, products);
    }
};

}  // namespace

QueryKeyValue tap_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                        ThreadPool& pool) {
    const Factors of(w, x, pool);
    const Matrix product = of.b.cwiseProduct(of.u);
    const Index d = spec.value_width(), keys = spec.d_head + kKeyRates;
    QueryKeyValue out{Matrix::Zero(x.rows(), Index{spec.heads} * spec.d_head),
                      Matrix::Zero(x.rows(), spec.heads * keys), Matrix(x.rows(), spec.heads * d)};
    for (Index s = 0; s < spec.heads; ++s)
        out.v.middleCols(s * d, d) = product.array().rowwise() * tap(spec, w, s).array();
    if (w.recurrence.kernel_bias)  // the own token is always there
        out.v.leftCols(d).rowwise() += Eigen::Map<const Eigen::RowVectorXf>(w.recurrence.kernel_bias, d);
    return out;
}

Matrix taps_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x, const Matrix& by_v,
                std::span<const int> tokens, ThreadPool& pool) {
    const Index d = spec.value_width();
    const Factors of(w, x, pool);
    Matrix by_b = Matrix::Zero(by_v.rows(), d), by_u(by_v.rows(), d);
    for (Index s = 0; s < spec.heads; ++s)
        by_b.array() += by_v.middleCols(s * d, d).array().rowwise() * tap(spec, w, s).array();
    for (Index i = 0; i < by_v.rows(); ++i) {
        by_u.row(i) = by_b.row(i).cwiseProduct(of.b.row(tokens[size_t(i)]));
        by_b.row(i).array() *= of.u.row(tokens[size_t(i)]).array();
    }
    return linear_vjp(pool, by_b, w.q) + linear_vjp(pool, by_u, w.v);
}

}  // namespace headlight
