// Station "Score functions": seven ways to compare the same q and k, four ways to turn scores into weights.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ScoreFunctionsState {
    int normalizer = 0;   // index in normalizers(): applied after the score functions
    float sharpness = 5;  // β of the cosine
    float width = 0;      // σ of the kernel; 0: √d
    int seed = 1;         // of random parameters

    void visit(ControlVisitor& v);
};

Result<Page> score_functions_page(const StationInput& input, const ScoreFunctionsState& state,
                                  ThreadPool& pool);

}  // namespace headlight::learn
