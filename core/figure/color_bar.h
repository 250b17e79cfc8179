// Lays out a color bar and its numbers: the same beside every map, in the window and on pages.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "figure/canvas.h"
#include "figure/colormap.h"
#include "figure/contrast.h"

namespace headlight {

struct ColorBar {
    struct Tick {
        float place;  // 0 … 1
        std::string text;
    };
    const Colormap* colors = nullptr;  // null: there is no bar
    std::vector<Tick> ticks = {};
    std::string legend = {};                     // over an upright bar
    std::optional<float> marked = std::nullopt;  // the place of the value that is shown
};

/// Of weights: five ticks with their weights. Of other values: 0 … largest, or −largest … largest.
ColorBar weight_bar(const Colormap& colors, const Shades& shades);
ColorBar range_bar(const Colormap& colors, double largest, bool is_signed = false);

/// Where it stands: its left or upper end at (x, y). All other lengths are shares of the size of its type.
struct ColorBarPlace {
    double x = 0, y = 0, length = 0;
    bool upright = false;
    double type = 13;
};

/// Its parts, for whoever draws them.
struct ColorBarShape {
    struct Point {
        double x, y;
    };
    struct Line {
        Point from, to;
    };
    struct Text {
        Point at;  // the middle of its height
        std::string text;
        Face face;
        Align align;
    };
    Point corner, size;
    std::vector<Line> ticks;
    std::vector<Text> texts;
    std::optional<std::array<Point, 3>> mark;
};
ColorBarShape shape_of(const ColorBar& bar, const ColorBarPlace& place);

/// How long a level bar may be, and how high it is with them; how wide
/// an upright one is; all as shares of the type's size.
constexpr double kMaxBar = 18.5, kLevelBarHeight = 2.6, kUprightBarWidth = 5.5;

/// Fills a rectangle with a color map, beginning at the bottom of a tall one, at the left of a wide one.
void fill_gradient(cairo_t* cairo, ColorBarShape::Point corner, ColorBarShape::Point size,
                   const Colormap& colors);

void draw_color_bar(Canvas& canvas, const ColorBar& bar, const ColorBarPlace& place);

}  // namespace headlight
