// Station "Query, key, value": the same attention with M_q, M_k and M_v from the open head, random, the
// identity, or edited; several heads side by side, and W_O.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Says where a matrix M comes from.
enum class MatrixSource { head, random, identity, by_hand };

struct QkvState {
    MatrixSource query = MatrixSource::head, key = MatrixSource::head, value = MatrixSource::head;
    int heads = 1;                              // side by side, from the selected one on
    int seed = 1;                               // of random matrices
    bool small = false;                         // three numbers per word instead of the model's vectors
    std::vector<float> vectors, m_q, m_k, m_v;  // edited numbers

    void visit(ControlVisitor& v);
};

Result<Page> qkv_page(const StationInput& input, const QkvState& state, ThreadPool& pool);

/// Cuts or repeats the identity of d rows to `columns` columns: column c is entry (first + c) mod d.
Matrix identity_columns(Index d, Index columns, Index first = 0);

/// Holds the results of a head with these matrices on a sentence.
struct HeadOutcome {
    Matrix scores, weights;  // [queries, keys]; masked scores are NaN
    Matrix z;                // [queries, d_head]
};

/// softmax(q kᵀ / √d_head + mask) v; allowed: [queries][keys].
HeadOutcome head_outcome(ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v,
                         const std::vector<std::vector<bool>>& allowed);

/// ½ Σ |a − b|, averaged over queries: the weight that two patterns [queries, keys] give to different keys.
float moved_weight(const Matrix& a, const Matrix& b);

}  // namespace headlight::learn
