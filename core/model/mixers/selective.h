// Makes what a selective state space reads (Mamba, Gu and Dao 2023): with u = SiLU(conv(x W_V)), one value
// for each head, all rows narrow but Δ,
//     [d, k, q] = u W, each normed in some families; Δ = softplus(d W_Δ + b), one step for each head.
// The matrix of head h is then M_ij = Δ_j Σ_c q_i[c] k_j[c] e^{−A_hc (Δ_{j+1} + … + Δ_i)}, with D_h added on
// the diagonal (model/mixers/mixing.h).
#pragma once

#include "model/mixers/recurrence.h"

namespace headlight {

/// q [rows, d_head] and k [rows, d_head + heads], each token's key and then Δ of every head, which all heads
/// share; v [rows, heads]. Of the rows of x behind the first `before`.
QueryKeyValue selective_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                              Index before, ThreadPool& pool);

/// [rows of `wide`, d_model]: from the gradients by q, k and v, whose rows are `keys`, to the one by x.
Matrix selective_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x,
                     const Matrix& by_q, const Matrix& by_k, const Matrix& by_v, const GradientRows& keys,
                     const GradientRows& wide, ThreadPool& pool);

}  // namespace headlight
