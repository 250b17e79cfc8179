// Draws a station's page as a figure.
#pragma once

#include <memory>

#include "figure/canvas.h"
#include "figure/style.h"
#include "learn/station.h"

namespace headlight::learn {

/// Draws title, note, text, blocks and symbols in the light colors; as wide as the style says.
Drawing draw_learn_page(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style);

}  // namespace headlight::learn
