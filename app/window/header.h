// The row above the center.
#pragma once

#include "views/views.h"

namespace headlight {

/// Draws title and tabs of the view in a row; tabs that do not fit go into a list.
void draw_header(Scene& s, Rect row, const View& shown);

}  // namespace headlight
