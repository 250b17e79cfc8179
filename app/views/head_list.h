// All heads as small pictures on the left, and what stands under them.
#pragma once

#include "session/viewport.h"
#include "views/scene.h"

namespace headlight {

struct HeadListState {
    Viewport seen;
    std::pair<int, int> followed{-1, -1};  // the head that was last scrolled into view
};

void draw_head_list(Scene& scene, Rect area);

/// Heads in the order of a statistic, a weight or an effect, under the grid.
void draw_head_ranking(Scene& scene, Rect area);
/// … those alone by which one text is read from another.
void draw_cross_ranking(Scene& scene, Rect area);

}  // namespace headlight
