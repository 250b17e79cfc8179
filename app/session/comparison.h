// What is compared with the run and head that are shown.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analysis/comparison/align.h"

namespace headlight {

/// What is compared: two heads, one head before and after the changes, the same head for two sentences or in
/// two models.
enum class Compared { heads, changes, sentences, models };

/// B, which is put beside the run and head that are shown.
struct Comparison {
    Compared what = Compared::heads;
    std::pair<int, int> head{0, 1};  // block, head
    std::string text, model;
    uint64_t attempt = 0;  // as ModelChoice::attempt, of B's model
    Alignment alignment;   // of two sentences
    bool operator==(const Comparison&) const = default;
};

}  // namespace headlight
