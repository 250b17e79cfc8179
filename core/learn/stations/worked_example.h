// Station "A worked example": three words, 3 × 2 matrices and one query (the article's shapes), every number
// editable and every step written out.
#pragma once

#include "learn/station.h"
#include "learn/worked_attention.h"

namespace headlight::learn {

struct WorkedExampleState {
    std::vector<float> words, m_q, m_k, m_v;  // row by row; empty: the station's own
    int query = 2;                            // the word that asks
    bool divide = true;

    void visit(ControlVisitor& v);
};

/// Returns the numbers of a state: our small integers unless edited; the article's are images.
WorkedInput worked_input(const WorkedExampleState& state);

Result<Page> worked_example_page(const StationInput& input, const WorkedExampleState& state,
                                 ThreadPool& pool);

}  // namespace headlight::learn
