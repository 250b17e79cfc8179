// The parts of the view of ΔE.
#pragma once

#include "views/parts.h"

namespace headlight {

/// The token whose ΔE is taken apart: the focused query. The layer: the one pointed at, else the chosen one.
int delta_query(const Scene& scene);
int delta_block(const Scene& scene);

/// Tokens down, attention blocks across; returns where it ends on the right.
float draw_delta_map(Scene& scene, Rect area);
void draw_delta_parts(Scene& scene, Rect area);
void draw_tokens_moved(Scene& scene, Rect area);
/// Arrows from before to after in the plane of greatest variance.
void draw_projection(Scene& scene, Rect area);

}  // namespace headlight
