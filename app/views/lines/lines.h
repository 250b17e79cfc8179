// Draws the attention of a whole layer as lines between two columns of tokens, one color per head.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct View;

struct LinesState {
    Viewport seen;
    int followed = -1;  // the query last scrolled to
};

void draw_lines(Scene& scene, Rect area);
void draw_lines_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lines(const Scene& scene);
std::vector<NumberTable> layer_numbers(const Scene& scene);

View lines_view();

}  // namespace headlight
