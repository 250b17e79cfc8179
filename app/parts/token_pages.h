// Shows the tokens of the stack that predicts side by side, as many as fit, and pages through the others.
#pragma once

#include <string>

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

struct TokenPages {
    Viewport seen{.across = 2};  // x in positions: the first shown, and their number
    int columns = 8, followed = -1;
    int first() const { return int(seen.x); }
};

/// Bounds cells, and leaves room for names at their left.
struct TokenCells {
    float least_wide, widest, least_high, highest, names;
};

/// A grid whose columns are positions from `first` on.
struct TokenGrid : Grid {
    int first = 0;
    int position(int column) const { return first + column; }
};

/// Of the stack that predicts.
int output_size(const Scene& scene);
const std::vector<std::string>& output_labels(const Scene& scene);

/// Fits the number of positions to the width, and scrolls to a newly explained one; whole rows only.
TokenGrid arrange_tokens(Scene& scene, Rect area, int rows, TokenPages& pages, const TokenCells& cells);
/// Draws positions and tokens above; the explained one is lit.
void draw_token_names(Scene& scene, const TokenGrid& grid, int explained);
/// Draws the links to earlier and later tokens at the end of a line, where some do not fit; view: the prefix
/// of their paths.
void draw_token_pages(Scene& scene, Rect line, const TokenGrid& grid, const std::string& view);
inline constexpr float kTokenPagesRoom = 152;
/// Points at the position under the mouse, locks it on a click, and offers its menu. Returns it.
int answer_position(Scene& scene, const TokenGrid& grid, const Hit& hit);

}  // namespace headlight
