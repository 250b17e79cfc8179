// All heads as small pictures on the left, and what stands under them.
#pragma once

#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

void draw_head_list(Scene& scene, Rect area);

/// Ranks heads by a statistic, a weight or an effect, under the grid; those of cross-attention alone where
/// the view shows how a target reads its source.
void draw_head_ranking(Scene& scene, Rect area);

}  // namespace headlight
