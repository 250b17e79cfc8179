// Station "A database that answers softly": exact lookup, the nearest key, and a mixture of all values.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct DatabaseState {
    enum class Similarity { distance, dot } similarity = Similarity::distance;
    float temperature = 4;
    std::vector<float> keys, values, query;  // edited numbers; empty: the station's own

    void visit(ControlVisitor& v);
};

Result<Page> database_page(const StationInput& input, const DatabaseState& state, ThreadPool& pool);

/// [rows]: similarity of each key [rows, d] to the query [1, d]: −‖q − k‖² or q · k.
Vector database_scores(const Matrix& keys, const Matrix& query, DatabaseState::Similarity similarity);
/// Shares 1 among the rows whose key equals the query; all 0 if there is none.
Vector exact_weights(const Matrix& keys, const Matrix& query);
/// softmax(scores / temperature); 0: 1 at the first of the largest.
Vector soft_weights(const Vector& scores, float temperature);

}  // namespace headlight::learn
