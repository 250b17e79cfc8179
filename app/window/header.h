// The row above the center.
#pragma once

#include "views/views.h"

namespace headlight {

/// Title and tabs of the view that is shown, in a row; tabs that have no room stand in a list.
void draw_header(Scene& s, Rect row, const View& shown);

}  // namespace headlight
