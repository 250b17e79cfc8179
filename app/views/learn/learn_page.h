// Draws a station's page as a figure.
#pragma once

#include <memory>

#include "figure/canvas.h"
#include "figure/page/page_figure.h"
#include "figure/style.h"
#include "learn/station.h"

namespace headlight::learn {

/// Draws title, note, text, blocks and symbols in the light or the dark colors; as wide as the style says.
Drawing draw_learn_page(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style,
                        bool dark = false);

/// Draws it as a figure of an interactive page, which has its title.
Result<PageFigure> learn_page_figure(const std::shared_ptr<const Page>& page, const StationText& text,
                                     FigureStyle style);

}  // namespace headlight::learn
