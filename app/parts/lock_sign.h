// Draws the sign of what a lesson locks.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// A padlock, 10 × 12, about a point.
void draw_padlock(Ui& ui, ImVec2 center, ImU32 ink);

/// The box of a locked control, with its padlock at the right; returns the room that is left.
Rect draw_locked_box(Ui& ui, const std::string& path, Rect r);

}  // namespace headlight
