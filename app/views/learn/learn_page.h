// Draws a station's page as a figure.
#pragma once

#include <memory>

#include "figure/canvas.h"
#include "figure/style.h"
#include "learn/station.h"

namespace headlight::learn {

/// Draws title and note, the station's text, the blocks and the symbols in the light colors. The style sets
/// the width, the blocks the height.
Drawing draw_learn_page(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style);

}  // namespace headlight::learn
