// Makes rows of the delta rule's mixing matrix (model/mixers/mixing.h) a chunk of keys at a time, as
// products.
//
// Within a chunk [s, e) let G_j = a_s + … + a_j, t = min(i, e − 1) for query i, and r its state as it comes
// to key t. Each product p_j = r_j·k_j then solves
//     p_j + Σ_{l > j} p_l T_lj = e^{G_t − G_j} r·k_j,   T_lj = e^{G_l − G_j} β_l k_l·k_j for l > j,
// so p = b (I + T)⁻¹ with b the right-hand side, 0 for j > t; M_ij = β_j p_j, and behind the chunk
//     r ← e^{G_t} r − Σ_l e^{G_l} β_l p_l k_l
// (the WY form of Bischof and Van Loan 1987, with decay as in Yang et al. 2025).
#pragma once

#include "base/matrix.h"
#include "base/rows.h"

namespace headlight {

/// Fixes the keys of a chunk. Chunks begin at its multiples, so that a row's bits do not depend on who asks.
inline constexpr Index kChunkKeys = 32;

/// M[rows, keys] of queries from `first` on and keys from `first_key` on; q: [n, d_head], k: [n, d_head +
/// kKeyRates].
void delta_matrix(float scale, const Rows& q, const Rows& k, Index first, Index first_key, MatrixRef out);

}  // namespace headlight
