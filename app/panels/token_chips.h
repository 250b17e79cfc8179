// The tokens under the sentence.
#pragma once

#include <utility>

#include "parts/controls.h"

namespace headlight {

struct ChipsState {
    struct Row {
        int first = 0;    // first visible token
        int count = 0;    // tokens when one was last scrolled into view
        int locked = -1;  // token that was locked then
    };
    Row source, target;
    int counted_stack = 0;
    std::vector<int> counted;  // tokens that are framed, because they are the same
    void visit(FieldVisitor& v);
};

/// Whether generated tokens replace the decoder's input in the row: in views that list choices.
bool shows_written(const Scene& scene);

/// Draws source and target side by side, or the one sequence, along a line; returns where they end.
float draw_tokens(Scene& scene, Rect line);

}  // namespace headlight
