// Masks and changes: how views show and make them.
#pragma once

#include "views/parts.h"

namespace headlight {

/// Puts a change in force, or takes it away again.
void toggle_change(ViewState& state, const Change& change);

/// What the brush does to a cell while it is dragged over the heat map; Shift turns it round.
void paint_cell(Scene& scene, std::pair<int, int> cell);

/// Buttons for the shown cell and head, above `bottom`; returns where they begin.
float draw_change_buttons(Scene& scene, Rect column, float bottom, std::pair<int, int> cell);

/// The prediction before and after; returns the next y.
float draw_effects(Scene& scene, Rect column, float y, float bottom);

}  // namespace headlight
