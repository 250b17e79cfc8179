// A short convolution between gates (LFM2, Liquid AI 2025): with b, c, u = W_in x and one kernel per channel,
//     z_i = Σ_s κ_s ⊙ (b_{i−s} ⊙ u_{i−s}),   output = W_out (c_i ⊙ z_i).
// Each tap s is a head: its mixing matrix has a 1 at key i − s, its values are κ_s ⊙ b ⊙ u, and all heads are
// written through the same W_out.
#pragma once

#include <span>

#include "model/mixers/latent.h"

namespace headlight {

/// q and k, which no entry depends on, are 0; v [rows, heads · d_value]: the values of each tap.
QueryKeyValue tap_heads(const AttentionSpec& spec, const AttentionWeights& w, ConstMatrixRef x,
                        ThreadPool& pool);

/// [rows, d_model]: from the gradient by v to the one by x; `tokens`: the row of x for each row of it.
Matrix taps_vjp(const AttentionSpec& spec, const AttentionWeights& w, const Matrix& x, const Matrix& by_v,
                std::span<const int> tokens, ThreadPool& pool);

}  // namespace headlight
