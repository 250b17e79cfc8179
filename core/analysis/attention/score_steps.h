// Follows one score from q·k to softmax's input, and says how a query's scores become weights.
#pragma once

#include "trace/trace.h"

namespace headlight {

struct ScoreSteps {
    float dot = 0;     // q·k
    float scaled = 0;  // scale · q·k
    float capped = 0;  // after the soft cap; the same if there is none
    float bias = 0;    // position bias; of disentangled attention the sum of its two parts below
    float to_position = 0, from_position = 0;  // scale · q·Kr and scale · k·Qr (model/mixers/disentangled.h)
    bool edited = false;                       // the user replaced capped + bias
    float before = 0;  // capped + bias, or the user's score: before mask and temperature
    float score = 0;   // softmax's input: `before` divided by the temperature
};

/// Says how one query's scores become weights: by softmax; by temperature 0, all on the heaviest key; or not
/// at all, because the pattern is given, or a recurrence's mixing matrix.
enum class WeightsBy { softmax, heaviest, given, mixing };

inline bool by_scores(WeightsBy by) { return by == WeightsBy::softmax || by == WeightsBy::heaviest; }

WeightsBy weights_by(const AttentionRule& rule, int head, int query);

/// Returns the steps of one query, for keys from `first` on. Edited scores keep dot, scale, cap and bias. All
/// are 0 where a recurrence mixes tokens.
std::vector<ScoreSteps> score_steps(const Trace& trace, AttentionHead head, int query, int first, int count);

}  // namespace headlight
