// Adds position biases to attention scores: ALiBi and T5's buckets.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "model/model.h"

namespace headlight {

/// Holds the position bias of scores. At most one of the two tables is filled.
struct PositionBias {
    Matrix by_key;  // [heads, keys]: ALiBi's slope · key position (Press et al. 2022)
    /// [heads, queries + keys − 1]: T5's, column key − query + queries − 1 (Raffel et al. 2020)
    Matrix by_distance;
    std::vector<int> positions;  // of each token, for by_distance; empty: its own
    /// Adds to scores[rows, keys] of one head, for queries from `first` and keys from `first_key` on.
    void add(int head, int first, int first_key, MatrixRef scores) const;
};

/// Returns the bucket of key − query (Raffel et al. 2020): exact if small, logarithmic if large.
int bucket_of(const RelativeBuckets& buckets, int distance, bool causal);

PositionBias alibi_bias(const Alibi& alibi, int heads, int keys);
/// Builds T5's bias; table: [buckets, heads]. If not `causal`, later keys have their own buckets.
PositionBias bucket_bias(const RelativeBuckets& buckets, const float* table, bool causal, int heads, int n);

}  // namespace headlight
