// One query's attention number by number: what each key's score becomes until it is a share of ΔE.
#pragma once

#include <vector>

#include "analysis/shown.h"

namespace headlight {

/// What one key goes through, left to right.
struct KeyStep {
    float dot = 0;     // q·k
    float scaled = 0;  // times the scale
    float capped = 0;  // after the soft cap; the same where there is none
    float bias = 0;    // position bias
    float score = 0;   // what enters mask and softmax
    bool allowed = true;
    double exp = 0;        // e^(score − Steps::shift); 0 where masked; 1 in a fully masked row
    float weight = 0;      // pattern
    float value_norm = 0;  // ‖v‖
    float moved = 0;       // weight · ‖v‖
};

struct Steps {
    std::vector<KeyStep> keys;
    double shift =
        0;           // subtracted from every score before exp: 0 while e^score is a number a person can read
    double sum = 0;  // of exp over the keys
    Vector z;        // [d_head], the weighted values added up
    Vector delta;    // [d_model], the head's ΔE: z through its slice of the output matrix
};

struct StepsWanted {
    using Answer = Steps;
    int block = 0, head = 0, query = 0;
    void fit(const Trace& trace);
    bool fits(const Shown& shown) const;
    bool operator==(const StepsWanted&) const = default;
};

Result<Steps> answer(const Trace& trace, const StepsWanted& wanted, ThreadPool& pool,
                     const CancelFlag* cancel);

}  // namespace headlight
