// Disentangled attention (DeBERTa, He et al. 2021): a score is a sum of three products, of the query's and
// the key's content, of the query with a vector of the distance, and of the key with another:
//     S_ij = scale · (q_i·k_j + q_i·Kr[δ] + k_j·Qr[δ]),  δ = row of the distance i − j,
// with Kr and Qr the layer's projections of one table of distances.
#pragma once

#include <vector>

#include "base/rows.h"
#include "base/threads.h"
#include "model/model.h"

namespace headlight {

/// Returns the row of the table for query − key: the distance itself, or its logarithmic bucket (v2), clamped
/// to the table.
int row_of_distance(const DisentangledSpec& spec, int distance);

/// Adds the two terms that read the distance to scores. Empty: the block's attention is not disentangled.
struct DisentangledBias {
    Rows keys, queries;          // Kr, Qr: [rows, heads · d_head]; empty: without the term
    std::vector<int> rows;       // [2n − 1]: the row of each distance query − key, from 1 − n on
    std::vector<int> positions;  // of each token; empty: its own

    explicit operator bool() const { return !rows.empty(); }
    /// Returns the row of the table that a query and a key meet.
    int row(int query, int key) const;
    /// Adds scale · q·Kr (content to position) to scores[queries, keys] of one head, from query `first` and
    /// key `first_key` on; q [queries, d_head] are those queries times the scale.
    void add_to_position(int head, ConstMatrixRef q, int first, int first_key, MatrixRef scores) const;
    /// Adds scale · k·Qr (position to content); k: [n, d_head], all keys of the head.
    void add_from_position(int head, const Rows& k, float scale, int first, int first_key,
                           MatrixRef scores) const;

    /// dq_i += Σ_j d_ij Kr[δ]; d: [queries, keys], the gradient by the scores times the scale.
    void to_position_vjp(int head, ConstMatrixRef d, int first, int first_key, MatrixRef dq) const;
    /// dk_j += Σ_i d_ij Qr[δ].
    void from_position_vjp(int head, ConstMatrixRef d, int first, int first_key, MatrixRef dk) const;
};

/// Builds the terms of one layer for n tokens.
DisentangledBias disentangled_bias(const DisentangledSpec& spec, const AttentionWeights& weights, int n,
                                   const std::vector<int>& positions);

/// Projects every layer's distances: Kr and Qr of all layers, which no text changes. Throws Failure if they
/// do not fit in memory.
void project_distances(Model& model, ThreadPool& pool);

}  // namespace headlight
