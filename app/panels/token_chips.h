// The tokens under the sentence.
#pragma once

#include <utility>

#include "parts/controls.h"

namespace headlight {

struct ChipsState {
    struct Row {
        int first = 0;    // the first token that is seen
        int count = 0;    // tokens when one was brought into sight last
        int locked = -1;  // the one that was locked then
    };
    Row source, target;
    int counted_stack = 0;
    std::vector<int> counted;  // tokens that are framed, because they are the same
    void visit(FieldVisitor& v);
};

/// Whether what the model wrote stands there in place of what its decoder read: where a view lists the
/// choices.
bool shows_written(const Scene& scene);

/// Source and target side by side, or the one sequence alone, along a line; returns where they end.
float draw_tokens(Scene& scene, Rect line);

}  // namespace headlight
