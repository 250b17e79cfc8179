// Mixing matrices: what a recurrence makes of a text, written as a token × token matrix M whose product with
// the values is the recurrence's output, exactly. Signed, lower triangular; rows do not sum to 1.
//
// With decay e^a and strength β of each token, and r = scale · q_i before key i:
//   delta rule (gated delta net, Yang et al. 2025): M_ij = β_j r·k_j, then r ← e^{a_j} (r − β_j (r·k_j) k_j),
//     for j = i … 0: the state S_j = e^{a_j} (I − β_j k_j k_jᵀ) S_{j−1} + β_j k_j v_jᵀ read from the right;
//   state space (Mamba-2, Dao and Gu 2024): M_ij = β_j q_i·k_j e^{a_{j+1} + … + a_i}, β the step Δ, and
//     D added on the diagonal;
//   selective (Mamba, Gu and Dao 2023): M_ij = Δ_j r·k_j, then r ← e^{−A Δ_j} ∘ r, for j = i … 0, with a rate
//     A of each component, and D added on the diagonal. Δ of head h is column d_head + h of the keys;
//   convolution (model/mixers/short_convolution.h): M_ij of tap s is 1 where j = i − s, else 0.
#pragma once

#include <cmath>

#include "base/matrix.h"
#include "base/rows.h"
#include "model/attention.h"

namespace headlight {

/// Places a key's rates behind its d_head components.
inline constexpr int kKeyRates = 2;
enum class KeyRate { decay, strength };  // a ≤ 0, β

/// Takes smaller entries of states and matrices for 0: no sum shows them, and denormal numbers cost hundreds
/// of cycles each.
inline constexpr float kNegligible = 1e-30f;
inline float unless_negligible(float x) { return std::abs(x) < kNegligible ? 0 : x; }
/// Replaces negligible entries by 0.
void drop_negligible(MatrixRef entries);

/// M[rows, keys] of one head for queries from `first` on and the keys from `first_key` on, 0 at later keys;
/// q: [n, d_head], k: [n, AttentionRule::key_width]. Bit for bit the same whatever rows are asked for
/// together.
void mixing_matrix(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                   int first_key, MatrixRef out);

/// Returns the columns of one head's gradient by its keys: d_head, and its own rates.
inline Index rated_width(const AttentionRule& rule, Index d_head) {
    return !rule.recurrence ? d_head : rule.shares_vectors() ? d_head + 1 : d_head + kKeyRates;
}

/// Adds to the gradients by q[rows, d_head], and by k[keys, rated_width], given that by M[rows, keys].
void mixing_vjp(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first, int first_key,
                ConstMatrixRef by_matrix, MatrixRef by_q, MatrixRef by_k);

}  // namespace headlight
