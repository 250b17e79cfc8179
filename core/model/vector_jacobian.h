// Vector–Jacobian products of the parts of a layer: from the gradient by what a part gave to the gradient by
// what it took. A gradient may be several, one below the other, of the same x.
#pragma once

#include <functional>

#include "model/backward.h"
#include "model/pass.h"

namespace headlight {

/// [rows, w.in]: through a projection.
Matrix through_linear(ThreadPool& pool, ConstMatrixRef gradient, const Linear& w);

/// [rows, d]: through norm(x), row by row.
Matrix through_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient,
                    ThreadPool& pool);

/// [rows, d_model]: through the MLP on x, with the norm behind it where there is one.
Matrix through_mlp(const StackRun& run, const LayerWeights& weights, const Matrix& x, const Matrix& gradient);

/// Called for tiles of each head.
using SeeGradient = std::function<void(const GradientTile&)>;

/// Through softmax(scores) · v of every head under the block's rule, from `out.z` to the rest of `out`. Tiles
/// of one head and some queries: memory grows with n. `see` is told of a lone gradient.
void through_attention(ThreadPool& pool, const AttentionActivations& a, AttentionGradients& out,
                       const SeeGradient& see);

}  // namespace headlight
