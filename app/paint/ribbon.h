// Lines and curves on the screen as strips of few triangles: what a software renderer does for a line grows
// with them.
#pragma once

#include <imgui.h>

namespace headlight {

/// A straight line between two points in pixels, its ends cut straight.
void draw_line(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width);

/// A cubic curve that leaves and arrives level, its controls at 0.45 and 0.55 of the way across.
void draw_curve(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width);

}  // namespace headlight
