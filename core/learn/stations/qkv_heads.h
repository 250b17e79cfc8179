// Computes heads of the station "Query, key, value" from words and matrices.
#pragma once

#include "learn/stations/qkv.h"
#include "learn/stations/query_key.h"

namespace headlight::learn {

/// Holds the input of the matrices: X of the queries and of the keys, and which columns of M a head has.
struct HeadInputs {
    QueryKey words;  // q and k of the first head
    Matrix x_q, x_k;
    std::vector<int> heads;          // the heads side by side
    int width = 0, value_width = 0;  // of a head's q and k, and of its v
    bool small = false;
};

/// q, k and v of one head.
struct HeadVectors {
    Matrix q, k, v;
};

/// Holds the sources of M_q, M_k and M_v: a row of the table of comparisons.
struct MatrixSources {
    MatrixSource query, key, value;
};

HeadInputs small_inputs(const StationInput& in, const QkvState& state);
HeadInputs model_inputs(const StationInput& in, const QkvState& state, ThreadPool& pool);

/// Returns columns of M [d, d_head] for one head: its part of the whole matrix. `which`: 0 M_q, 1 M_k, 2 M_v.
/// Small vectors have matrices of our own instead of a head's.
Matrix matrix_of(MatrixSource source, const HeadInputs& x, int head, int which, const QkvState& state);
/// Names a source, also if the station cannot use it and takes the identity instead. A head's matrices are
/// not square: there the identity keeps the head's own numbers of X and drops the rest.
std::string source_name(MatrixSource source, const HeadInputs& x);
/// "32 of 256 numbers": what the identity keeps in one head.
std::string kept_numbers(const HeadInputs& x);

HeadVectors head_vectors(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& sources,
                         const QkvState& state);
/// Runs a head with these matrices; with its own M_q and M_k: its own pattern, under all rules.
HeadOutcome outcome_of(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& sources,
                       const QkvState& state);

/// [queries, d_model]: projects the concatenated heads by W_O; for small vectors W_O is the identity.
Matrix project_heads(const StationInput& in, const HeadInputs& x, const std::vector<int>& heads,
                     const std::vector<HeadOutcome>& outcomes, ThreadPool& pool);

}  // namespace headlight::learn
