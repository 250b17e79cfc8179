// Finds what is said under the mouse, everywhere on a page.
#pragma once

#include <functional>
#include <vector>

#include "figure/page/page_figure.h"
#include "paint/ui.h"

namespace headlight {

/// Returns the rectangles of an area of a page where `draw` says one thing, times `zoom`. Asks it by drawing
/// without ink, some thousand times.
std::vector<PageSpot> spots_of(Ui& ui, Rect area, float zoom, const std::function<void()>& draw);

}  // namespace headlight
