// A station's page as a figure.
#pragma once

#include <memory>

#include "figure/canvas.h"
#include "figure/style.h"
#include "learn/station.h"

namespace headlight::learn {

/// The page of a station in the light colors: title and note, the station's words, the blocks, the symbols.
/// As wide as the style asks for, and as high as its blocks are.
Drawing draw_learn_page(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style);

}  // namespace headlight::learn
