// Station "Why divide by √d_k": q · k varies more in wide heads; softmax with and without dividing.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ScaleState {
    int draws = 300;  // pairs of vectors per width
    int keys = 16;    // of the softmax
    int seed = 1;

    void visit(ControlVisitor& v);
};

Result<Page> scale_page(const StationInput& input, const ScaleState& state, ThreadPool& pool);

}  // namespace headlight::learn
