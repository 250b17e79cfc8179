// Draws lines and curves as strips of few triangles: the cost of a CPU renderer grows with their number.
#pragma once

#include <imgui.h>

#include <span>

namespace headlight {

/// A straight line between two points in pixels, with straight ends.
void draw_line(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width);

/// A line through points in pixels, as wide where it turns back as elsewhere.
void draw_polyline(ImDrawList& list, std::span<const ImVec2> along, ImU32 color, float width);

/// A cubic curve with horizontal ends, its controls at 0.45 and 0.55 of the way across.
void draw_curve(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width);

/// That curve from (0, 0) to (1, 1) at t = 0 … 1, and its derivative by t.
struct CurvePoint {
    float across = 0, rise = 0, across_by_t = 0, rise_by_t = 0;
};
CurvePoint curve_at(float t);

}  // namespace headlight
