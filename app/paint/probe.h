// Asks a view, while it is drawn on a page, what it would say under the mouse.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace headlight {

struct Rect;

struct Probe {
    ImVec2 mouse{-1, -1};
    std::vector<Rect> areas;  // that respond to the mouse, in the order of drawing
    std::string said;         // the text under the mouse, or ""
};

}  // namespace headlight
