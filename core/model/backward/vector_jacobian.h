// Vector–Jacobian products of the parts of a layer: from the gradient by what a part gave to the gradient by
// what it took. A gradient may be several, one below the other, of the same x.
#pragma once

#include <functional>
#include <span>

#include "model/backward/backward.h"
#include "model/backward/gradient_rows.h"
#include "model/pass.h"

namespace headlight {

/// [rows, w.in]: through a projection.
Matrix linear_vjp(ThreadPool& pool, ConstMatrixRef gradient, const Linear& w);

/// [rows, d]: through norm(x), row by row; `tokens`: the row of x that each row of the gradient is by.
Matrix norm_vjp(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                std::span<const int> tokens, ThreadPool& pool);

/// [rows, d_model]: through the MLP on x, with the norm behind it where there is one.
Matrix mlp_vjp(const StackRun& run, const LayerWeights& weights, const Matrix& x, const Matrix& gradient,
               std::span<const int> tokens);

/// Called for tiles of each head.
using SeeGradient = std::function<void(const GradientTile&)>;

/// Through softmax(scores) · v of every head under the block's rule, from `out.z` to the rest of `out`: z and
/// q have the rows `queries`, k and v the rows `keys`, which hold all that those queries may weigh. A tile of
/// a head's pattern is made once for some of the gradients: memory grows with n.
void attention_vjp(ThreadPool& pool, const AttentionActivations& a, const GradientRows& queries,
                   const GradientRows& keys, AttentionGradients& out, const SeeGradient& see);

}  // namespace headlight
