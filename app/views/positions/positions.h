// How the open model knows where a token stands.
#pragma once

#include "io/numbers.h"
#include "parts/scene.h"

namespace headlight {

struct View;

/// How many positions a table of them shows.
inline constexpr std::array<int, 4> kPositionCountValues{16, 32, 64, 128};
inline constexpr std::span<const int> kPositionCounts = kPositionCountValues;

struct PositionsState {
    int stack = 0, count = 64;
    void visit(FieldVisitor& v) {
        v.choose("position_stack", stack,
                 {"positions of", "Positions of", "the encoder's, or the decoder's", {"encoder", "decoder"}});
        v.integer("position_count", count, 1, 128);
        v.choose_among(count, kPositionCounts,
                       {"positions count",
                        "Positions: how many",
                        "how many positions are shown",
                        {"16", "32", "64", "128"}});
    }
};

void draw_positions(Scene& scene, Rect area);
std::vector<Question> ask_positions(const Scene& scene);
std::vector<NumberTable> position_numbers(const Scene& scene);

View positions_view();

}  // namespace headlight
