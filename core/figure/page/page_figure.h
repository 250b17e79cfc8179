// A view as a figure of an interactive page: its picture, what it says under the pointer, its numbers.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"
#include "io/numbers.h"

namespace headlight {

/// A rectangle of a picture, in its pixels, and the text that the window shows over it.
struct PageSpot {
    float x = 0, y = 0, width = 0, height = 0;
    std::string said;
    bool framed = true;  // false: a point among many, which is not outlined
};

struct PageFigure {
    std::string key, name;   // of the view, as in the table of views
    std::string title = "";  // what of the model it shows: "All layers"
    // Images, which run nothing and load nothing, for light and dark grounds.
    std::string svg = "", dark_svg = "";
    double width = 0, height = 0;  // of the picture
    std::vector<PageSpot> spots = {};
    std::vector<NumberTable> tables = {};
};

/// Packs a figure as assets/page/62-spots.js reads it; of its tables at most the first 20,000 numbers.
Json packed_figure(const PageFigure& figure);

}  // namespace headlight
