// Packs a block's patterns for a page.
#pragma once

#include "io/json.h"
#include "trace/trace.h"

namespace headlight {

struct PackedBlock {
    Json json;        // as assets/page/10-data.js reads it
    float error = 0;  // the largest of its weights
};

inline constexpr int kExact = 0;

/// Packs every head's rows. `steps`: into how many a head's largest weight is divided, at most 32767; kExact:
/// into none, they stay floats.
PackedBlock packed_block(const Trace& trace, int block, int steps);

}  // namespace headlight
