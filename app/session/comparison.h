// The comparison with the current run and head.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analysis/comparison/align.h"

namespace headlight {

/// Kinds of comparison: two heads, or one before and after interventions, on two sentences, in two models,
/// or in a model with its adapter and without.
enum class Compared { heads, changes, sentences, models, base };

/// B, shown beside the current run and head.
struct Comparison {
    Compared what = Compared::heads;
    std::pair<int, int> head{-1, -1};  // block, head; −1: the one most similar to the current head
    std::string text, model;
    uint64_t attempt = 0;  // as ModelChoice::attempt, for B's model
    Alignment alignment;   // of two sentences
    bool operator==(const Comparison&) const = default;
};

}  // namespace headlight
