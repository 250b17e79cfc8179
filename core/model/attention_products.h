// The two products of attention over rows that lie in blocks.
#pragma once

#include "base/matrix.h"
#include "base/rows.h"

namespace headlight {

/// Queries, as of a typed token, for which a copy of keys and values costs more than reading them as they
/// lie.
inline constexpr int kFewQueries = 3;

/// scores[queries, keys] = q kᵀ for the keys from `first_key` on; q: [queries, d_head], k: [n, d_head]. Each
/// score is a sum that goes up the width of a head, whatever else is computed with it.
void multiply_keys(ConstMatrixRef q, const Rows& k, int first_key, MatrixRef scores);

/// z[queries, d_head] = weights v; weights: [queries, keys from `first_key` on], v: [n, d_head]. Each sum
/// goes up the keys.
void weigh_values(ConstMatrixRef weights, int first_key, const Rows& v, MatrixRef z);

}  // namespace headlight
