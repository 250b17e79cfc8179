// Station "Masks": causal, padding or none on the person's sentence, and what it matters where the mask is
// laid.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct MasksState {
    enum class Hides { nothing, later, padding } hides = Hides::later;
    int padding = 2;  // the last tokens that only fill a batch

    void visit(ControlVisitor& v);
};

Result<Page> masks_page(const StationInput& input, const MasksState& state, ThreadPool& pool);

}  // namespace headlight::learn
