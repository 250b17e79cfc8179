// The row above the center.
#pragma once

#include "views/views.h"

namespace headlight {

/// Draws the view's title, its pills and its controls; pills that do not fit go into a list. `left`: of the
/// center, whether or not its panels are open.
void draw_header(Scene& s, Rect row, const View& shown, float left);

}  // namespace headlight
