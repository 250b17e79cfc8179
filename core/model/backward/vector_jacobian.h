// Vector–Jacobian products of the parts of a layer: each maps the gradient by a part's output to the one by
// its input. Gradients of several outputs by the same x may be stacked.
#pragma once

#include <functional>
#include <span>

#include "model/backward/backward.h"
#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [rows, w.in]: dx = dy Wᵀ.
Matrix linear_vjp(ThreadPool& pool, ConstMatrixRef gradient, const Linear& w);

/// [rows, d]: through norm(x), row by row; `tokens`: the row of x for each row of the gradient.
Matrix norm_vjp(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                std::span<const int> tokens, ThreadPool& pool);

/// [rows, d_model]: through the MLP on x, without the experts in `off`, and its post-norm, if it has one.
Matrix mlp_vjp(const StackRun& run, int layer, const Matrix& x, const Matrix& gradient,
               std::span<const int> tokens, std::span<const int> off = {});

/// Returns zero gradients, for a skipped block.
AttentionGradients no_gradients(const AttentionActivations& a, const GradientRows& queries,
                                const GradientRows& keys);

/// Receives the tiles of each head.
using SeeGradient = std::function<void(const GradientTile&)>;

/// Propagates through z = softmax(S) v of every head under the block's rule, from `out.z` to `out.q`, `out.k`
/// and `out.v`: z and q have the rows `queries`, k and v the rows `keys`, which contain all keys that those
/// queries may weigh. Computes each tile of a head's pattern once for several outputs; memory grows with n.
void attention_vjp(ThreadPool& pool, const AttentionActivations& a, const GradientRows& queries,
                   const GradientRows& keys, AttentionGradients& out, const SeeGradient& see);

}  // namespace headlight
