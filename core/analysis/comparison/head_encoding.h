// Restores one head's part of its block's matrices into a model in another encoding.
#pragma once

#include <deque>
#include <memory>

#include "model/heads.h"
#include "model/low_rank.h"

namespace headlight {

/// A copy of `coded` that computes one head with the rows of W_Q, W_K and W_V and the columns of W_O that
/// `exact` has: what they differ by is added beside the stored matrices (model/low_rank.h), so that all other
/// products stay as they were, bit for bit. Keys and values that heads share change for all of them. Null:
/// the head's q, k and v are no products of the stream, or its matrices have adapters already.
std::shared_ptr<const Model> with_exact_head(const Model& coded, const Model& exact, AttentionHead head);

}  // namespace headlight
