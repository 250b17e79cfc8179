// Station "Hard and soft, global and local, and what they cost": mixtures, choices, all keys and some.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct HardSoftState {
    int draws = 1024;    // hard attention: number of random keys
    int half_width = 2;  // D of local attention: keys from p − D to p + D
    int stride = 4;      // of strided attention, in the bars
    int window = 256;    // keys of windowed attention, in the costs
    int rank = 256;      // of low-rank attention, in the costs
    int seed = 1;

    void visit(ControlVisitor& v);
};

Result<Page> hard_soft_page(const StationInput& input, const HardSoftState& state, ThreadPool& pool);

}  // namespace headlight::learn
