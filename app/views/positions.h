// How the open model knows where a token stands.
#pragma once

#include "io/numbers.h"
#include "views/scene.h"

namespace headlight {

/// How many positions a table of them shows.
inline constexpr int kPositionCounts[] = {16, 32, 64, 128};

struct PositionsState {
    int stack = 0, count = 64;
    void visit(FieldVisitor& v) {
        v.integer("position_stack", stack, 0, 1);
        v.integer("position_count", count, 1, 128);
    }
};

void draw_positions(Scene& scene, Rect area);
std::vector<Question> ask_positions(const Scene& scene);
std::vector<NumberTable> position_numbers(const Scene& scene);

}  // namespace headlight
