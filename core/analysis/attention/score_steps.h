// One score on its way into softmax, and what makes weights of a query's scores.
#pragma once

#include "trace/trace.h"

namespace headlight {

struct ScoreSteps {
    float dot = 0;        // q·k
    float scaled = 0;     // times the scale
    float capped = 0;     // after the soft cap; the same where there is none
    float bias = 0;       // position bias
    bool edited = false;  // a person put another score in place of capped + bias
    float before = 0;     // capped + bias, or that other score: before the mask and a temperature
    float score = 0;      // what softmax takes: `before` divided by the temperature
};

/// What makes weights of one query's scores: softmax; temperature 0, which leaves the heaviest key alone; or
/// no score at all, where a pattern was put in place.
enum class WeightsBy { softmax, heaviest, given };

WeightsBy weights_by(const AttentionRule& rule, int head, int query);

/// Of one query, for the keys from `first` on. An edited score has its own dot, scale, cap and bias beside
/// it.
std::vector<ScoreSteps> score_steps(const Trace& trace, AttentionHead head, int query, int first, int count);

}  // namespace headlight
