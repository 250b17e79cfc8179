// Norms of v, and of q and k before their rotation: of each head (Qwen3), of each head with its own weights
// (Cohere), or of all heads together (OLMo 2).
#pragma once

#include "base/matrix.h"
#include "base/threads.h"
#include "model/model.h"

namespace headlight {

/// Returns the weights by which the norm multiplies one head's q (or k), and its biases.
Norm norm_of_head(const AttentionSpec& spec, const Norm& norm, Index head);

/// Norms q (or k) of all heads: y[rows, heads · d_head].
Matrix norm_heads(const ModelConfig& config, const AttentionSpec& spec, const Norm& norm, ConstMatrixRef y,
                  ThreadPool& pool);

/// Norms v of all heads, each by itself: [rows, kv_heads · d_value].
Matrix norm_values(const ModelConfig& config, const AttentionSpec& spec, const Norm& norm, const Matrix& v,
                   ThreadPool& pool);
/// Maps the gradient by norm_values' output to the one by v, as norm_heads_vjp does.
Matrix norm_values_vjp(const ModelConfig& config, const AttentionSpec& spec, const Norm& norm,
                       const Matrix& v, const Matrix& gradient, std::span<const int> tokens,
                       ThreadPool& pool);

/// Maps the gradient by norm_heads' output to the one by its input x[tokens, heads · d_head]; `tokens`: the
/// row of x for each row of the gradient.
Matrix norm_heads_vjp(const ModelConfig& config, const AttentionSpec& spec, const Norm& norm,
                      ConstMatrixRef x, ConstMatrixRef gradient, std::span<const int> tokens,
                      ThreadPool& pool);

}  // namespace headlight
