// The tokens under the sentence.
#pragma once

#include <utility>

#include "views/parts.h"

namespace headlight {

struct ChipsState {
    struct Row {
        int first = 0;                 // the first token that is seen
        std::pair<int, float> kept{};  // the token that was brought into sight, and in how much room
    };
    Row source, target;
};

/// Whether what the model wrote stands there in place of what its decoder read: where a view lists the
/// choices.
bool shows_written(const Scene& scene);

/// Source and target side by side, or the one sequence alone, along a line; returns where they end.
float draw_tokens(Scene& scene, Rect line);

}  // namespace headlight
