// Shows how a model encodes positions: its table, the similarity of two positions, one column as a curve.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"

namespace headlight {

struct View;

inline constexpr std::array<int, 4> kPositionCountValues{16, 32, 64, 128};
inline constexpr std::span<const int> kPositionCounts = kPositionCountValues;

struct PositionsState {
    int stack = 0, count = 64;
    void visit(FieldVisitor& v) {
        v.choose("position_stack", stack,
                 {"positions of", "Positions: stack", "encoder or decoder", {"encoder", "decoder"}});
        v.integer("position_count", count, 1, 128);
        v.choose_among(count, kPositionCounts,
                       {"positions count",
                        "Positions: number",
                        "number of positions to show",
                        {"16", "32", "64", "128"}});
    }
};

void draw_positions(Scene& scene, Rect area);
std::vector<Question> ask_positions(const Scene& scene);
std::vector<NumberTable> position_numbers(const Scene& scene);

View positions_view();

}  // namespace headlight
