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

/// "Rotary positions (RoPE)", and what its table and its square of pairs show.
const char* kind_title(PositionScheme kind);
std::string explained_table(const ModelConfig& config, const Positions& positions);
std::string explained_square(const Positions& positions, int head);

void draw_positions(Scene& scene, Rect area);
std::vector<Question> ask_positions(const Scene& scene);
std::vector<NumberTable> position_numbers(const Scene& scene);

}  // namespace headlight
