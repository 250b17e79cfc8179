// Attention of a whole layer as lines.
#pragma once

#include <set>

#include "io/numbers.h"
#include "views/scene.h"

namespace headlight {

struct LinesState {
    float share = 0.7f;          // of each row's mass that is drawn
    std::set<int> hidden_heads;  // not drawn
    float scroll = 0;
    void visit(FieldVisitor& visitor);
};

void draw_lines(Scene& scene, Rect area);
void draw_lines_list(Scene& scene, Rect area);
void draw_lines_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lines(const Scene& scene);
std::vector<NumberTable> layer_numbers(const Scene& scene);

}  // namespace headlight
