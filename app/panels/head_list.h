// The list on the left: all heads as thumbnails, and the ranking below.
#pragma once

#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

void draw_head_list(Scene& scene, Rect area);

/// Draws heads ranked by a statistic, a weight or an effect below the grid; only cross-attention heads when
/// the view shows how a target reads its source.
void draw_head_ranking(Scene& scene, Rect area);
/// Requests what the ranking needs beyond the pass.
std::vector<Question> ask_about_ranking(const Scene& scene);

}  // namespace headlight
