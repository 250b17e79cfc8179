// The tokens under the sentence.
#pragma once

#include "views/parts.h"

namespace headlight {

struct ChipsState {
    int first = 0, first_target = 0;
};

/// Whether what the model wrote stands there in place of what its decoder read: where a view lists the
/// choices.
bool shows_written(const Scene& scene);

/// Source and target side by side, or the one sequence alone, along a line; returns where they end.
float draw_tokens(Scene& scene, Rect line);

}  // namespace headlight
