// Computes the two products of attention, q kᵀ and P v, over rows stored in blocks.
#pragma once

#include "base/matrix.h"
#include "base/rows.h"

namespace headlight {

/// Reads keys and values in place for up to this many queries (a typed token); packing them would cost more.
inline constexpr int kFewQueries = 3;

/// S = q kᵀ: scores[queries, keys] for the keys from `first_key` on; q: [queries, d_head], k: [n, d_head].
/// Sums each score in ascending order of components, whatever else is computed with it.
void multiply_keys(ConstMatrixRef q, const Rows& k, int first_key, MatrixRef scores);

/// z = P v: z[queries, d_value]; weights: [queries, keys from `first_key` on], v: [n, d_value]. Sums in
/// ascending order of keys.
void weigh_values(ConstMatrixRef weights, int first_key, const Rows& v, MatrixRef z);

}  // namespace headlight
