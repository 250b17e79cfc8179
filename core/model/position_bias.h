// Numbers that attention scores get for where query and key stand: ALiBi and T5's buckets.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "model/model.h"

namespace headlight {

/// What is added to a score for where query and key stand. One of the two tables is filled, or none.
struct PositionBias {
    Matrix by_key;       // [heads, keys]: ALiBi's slope · key position (Press et al. 2022)
    Matrix by_distance;  // [heads, queries + keys − 1]: T5's, entry key − query + queries − 1 (Raffel et al.
                         // 2020)
    std::vector<int> positions;  // of each token, for by_distance; empty: its own
    /// Adds to scores[rows, keys] of one head, for queries from `first` and keys from `first_key` on.
    void add(int head, int first, int first_key, MatrixRef scores) const;
};

/// The bucket of key − query (Raffel et al. 2020): near ones exactly, far ones by the logarithm of the
/// distance.
int bucket_of(const RelativeBuckets& buckets, int apart, bool causal);

PositionBias alibi_bias(int heads, int keys);
/// table: [buckets, heads]. Without `causal` keys on both sides have buckets of their own.
PositionBias bucket_bias(const RelativeBuckets& buckets, const float* table, bool causal, int heads, int n);

}  // namespace headlight
