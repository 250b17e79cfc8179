// What stands between the words and the heads of the station "Query, key, value": the matrices, and what
// heads make of them.
#pragma once

#include "learn/stations/qkv.h"
#include "learn/stations/query_key.h"

namespace headlight::learn {

/// What goes through the matrices: X of the queries and of the keys, and which columns of M a head has.
struct HeadInputs {
    QueryKey words;  // its q and k are those of the first head
    Matrix x_q, x_k;
    std::vector<int> heads;  // numbers of the heads that stand side by side
    int width = 0;           // d_head
    bool small = false;
};

/// q, k and v of one head.
struct HeadVectors {
    Matrix q, k, v;
};

/// M_q, M_k and M_v: a row of the table of what is compared.
struct MatrixSources {
    MatrixSource query, key, value;
};

HeadInputs small_inputs(const StationInput& in, const QkvState& state);
HeadInputs model_inputs(const StationInput& in, const QkvState& state, ThreadPool& pool);

/// Columns of M [d, d_head] for one head: its part of the whole matrix. `which`: 0 M_q, 1 M_k, 2 M_v. In the
/// place of the head's, small vectors have matrices that were chosen for them.
Matrix matrix_of(MatrixSource source, const HeadInputs& x, int head, int which, const QkvState& state);
/// What the source is called where the station cannot take it, too: then the identity stands in.
std::string source_name(MatrixSource source, const HeadInputs& x);

HeadVectors head_vectors(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& sources,
                         const QkvState& state);
/// What a head does with these matrices; with its own M_q and M_k, its own pattern, under all the model's
/// rules.
HeadOutcome outcome_of(const StationInput& in, const HeadInputs& x, int head, const MatrixSources& sources,
                       const QkvState& state);

/// Heads side by side through W_O, [queries, d_model]; W_O is the identity of small vectors.
Matrix through_output(const StationInput& in, const HeadInputs& x, const std::vector<int>& heads,
                  const std::vector<HeadOutcome>& outcomes, ThreadPool& pool);

}  // namespace headlight::learn
