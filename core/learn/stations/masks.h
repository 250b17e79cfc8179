// Station "Masks": causal, padding or none on the user's sentence, before or after softmax.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct MasksState {
    enum class Hides { nothing, later, padding } hides = Hides::later;
    int padding = 2;       // trailing tokens treated as padding
    float dropout = 0.3f;  // share of weights that training drops
    int seed = 8;          // of the dropped ones

    void visit(ControlVisitor& v);
};

Result<Page> masks_page(const StationInput& input, const MasksState& state, ThreadPool& pool);

}  // namespace headlight::learn
