// Station "Query, key, value": the same attention with the matrices M_q, M_k and M_v, each from the open
// head, at random, the identity, or edited by hand; several heads side by side, and W_O.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Where a matrix M comes from.
enum class MatrixSource { head, random, identity, by_hand };

struct QkvState {
    MatrixSource query = MatrixSource::head, key = MatrixSource::head, value = MatrixSource::head;
    int heads = 1;                              // side by side, beginning with the chosen one
    int seed = 1;                               // of random matrices
    bool small = false;                         // three numbers per word in place of the model's vectors
    std::vector<float> vectors, m_q, m_k, m_v;  // edited numbers

    void visit(ControlVisitor& v);
};

Result<Page> qkv_page(const StationInput& input, const QkvState& state, ThreadPool& pool);

/// The identity of d rows cut or repeated to so many columns: column c takes number (first + c) mod d of a
/// vector.
Matrix identity_columns(Index d, Index columns, Index first = 0);

/// What a head made of its matrices does on a sentence.
struct HeadOutcome {
    Matrix scores, weights;  // [queries, keys]; masked scores are NaN
    Matrix z;                // [queries, d_head]
};

/// softmax(q kᵀ / √d_head + mask) v; allowed: [queries][keys].
HeadOutcome head_outcome(ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v,
                         const std::vector<std::vector<bool>>& allowed);

/// How much of their weight two patterns [queries, keys] give to different keys: ½ Σ |a − b|, mean over the
/// queries, 0 … 1.
float moved_weight(const Matrix& a, const Matrix& b);

}  // namespace headlight::learn
