#include "figure/color_bar.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "figure/cairo_owned.h"
#include "figure/figure.h"

namespace headlight {

namespace {

/// With as many digits as tell the ticks of a bar apart.
std::string tick_text(double value, double largest) {
    if (value == 0) return "0";
    const int digits = std::abs(value) < 0.01 ? 4 : largest < 0.2 ? 3 : largest < 100 ? 2 : 0;
    return fine_decimals(value, digits);
}

// Shares of the type's size.
constexpr double kTickLong = 0.4, kNumberAt = 0.75, kLegendAt = 1.1, kEndsAt = 0.95, kMarkAway = 0.1,
                 kMarkLong = 0.46, kMarkHalf = 0.31;

/// An upright bar: ticks and numbers right of it, the legend above, the mark at its left.
void shape_upright(ColorBarShape& out, const ColorBar& bar, const ColorBarPlace& p) {
    const double u = p.type, right = p.x + u, bottom = p.y + p.length;
    out.texts.push_back({{p.x, p.y - kLegendAt * u}, bar.legend, Face::sans, Align::left});
    for (const ColorBar::Tick& tick : bar.ticks) {
        const double y = bottom - double(tick.place) * p.length;
        out.ticks.push_back({{right, y}, {right + kTickLong * u, y}});
        out.texts.push_back({{right + kNumberAt * u, y}, tick.text, Face::mono, Align::left});
    }
    if (!bar.marked) return;
    const double y = bottom - double(*bar.marked) * p.length, tip = p.x - kMarkAway * u,
                 foot = tip - kMarkLong * u, half = kMarkHalf * u;
    out.mark = {{{foot, y - half}, {tip, y}, {foot, y + half}}};
}

/// How wide a number is, in the face all digits of which are as wide.
double number_width(const std::string& text, double type) {
    constexpr double kDigit = 0.6;
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    return kDigit * type * double(std::count_if(text.begin(), text.end(), begins));
}

/// The ticks of a level bar that stand apart: all, those at its ends, or the last.
std::vector<ColorBar::Tick> fitting_ticks(const ColorBar& bar, const ColorBarPlace& p) {
    constexpr double kApart = 0.4;
    const double ends = std::max(number_width(bar.ticks.front().text, p.type),
                                 number_width(bar.ticks.back().text, p.type)),
                 zero = number_width("0", p.type), apart = kApart * p.type;
    if (2 * ends + zero + 2 * apart <= p.length) return bar.ticks;
    if (2 * ends + apart <= p.length) return {bar.ticks.front(), bar.ticks.back()};
    return {bar.ticks.back()};
}

/// A level bar: numbers under it, those of its ends flush with them, the mark above.
void shape_level(ColorBarShape& out, const ColorBar& bar, const ColorBarPlace& p) {
    const double u = p.type, y = p.y + u + kEndsAt * u;
    for (const ColorBar::Tick& tick : fitting_ticks(bar, p)) {
        const Align align = tick.place <= 0 ? Align::left : tick.place >= 1 ? Align::right : Align::center;
        out.texts.push_back({{p.x + double(tick.place) * p.length, y}, tick.text, Face::mono, align});
    }
    if (!bar.marked) return;
    const double x = p.x + double(*bar.marked) * p.length, tip = p.y - kMarkAway * u,
                 foot = tip - kMarkLong * u, half = kMarkHalf * u;
    out.mark = {{{x - half, foot}, {x + half, foot}, {x, tip}}};
}

}  // namespace

ColorBar weight_bar(const Colormap& colors, const Shades& shades) {
    ColorBar out{&colors, {}, shades.is_signed ? "mixing" : shades.row().legend};
    for (const float place : {0.0f, 0.25f, 0.5f, 0.75f, 1.0f}) {
        const char* plus = shades.is_signed && place > 0.5f ? "+" : "";
        out.ticks.push_back(
            {place, plus + tick_text(double(shades.weight_at(place)), double(shades.brightest(1)))});
    }
    return out;
}

ColorBar range_bar(const Colormap& colors, double largest, bool is_signed) {
    const std::string end = tick_text(largest, largest);
    if (!is_signed) return {&colors, {{0, "0"}, {1, end}}};
    return {&colors, {{0, tick_text(-largest, largest)}, {0.5f, "0"}, {1, "+" + end}}};
}

ColorBarShape shape_of(const ColorBar& bar, const ColorBarPlace& place) {
    ColorBarShape out{.corner = {place.x, place.y}, .size = {place.length, place.type}};
    if (place.upright) std::swap(out.size.x, out.size.y);
    ColorBar within = bar;
    if (within.marked) within.marked = std::clamp(*within.marked, 0.0f, 1.0f);
    (place.upright ? shape_upright : shape_level)(out, within, place);
    return out;
}

void fill_gradient(cairo_t* cairo, ColorBarShape::Point corner, ColorBarShape::Point size,
                   const Colormap& colors) {
    constexpr int kStops = 64;
    const auto [x, y] = corner;
    const auto [w, h] = size;
    const bool tall = h > w;
    const Owned<cairo_pattern_t> pattern(
        cairo_pattern_create_linear(x, tall ? y + h : y, tall ? x : x + w, y));
    for (int i = 0; i <= kStops; ++i) {
        const Rgb c = colors[i * 255 / kStops];
        cairo_pattern_add_color_stop_rgb(pattern.get(), i / double(kStops), c.r / 255.0, c.g / 255.0,
                                         c.b / 255.0);
    }
    cairo_set_source(cairo, pattern.get());
    cairo_rectangle(cairo, x, y, w, h);
    cairo_fill(cairo);
}

void draw_color_bar(Canvas& canvas, const ColorBar& bar, const ColorBarPlace& place) {
    const PageColors colors;
    const ColorBarShape shape = shape_of(bar, place);
    const auto [x, y] = shape.corner;
    const auto [w, h] = shape.size;
    fill_gradient(canvas.cairo(), shape.corner, shape.size, *bar.colors);
    canvas.stroke_rect(x, y, w, h, colors.line, 0.75);
    for (const auto& [from, to] : shape.ticks) canvas.line(from.x, from.y, to.x, to.y, colors.line, 0.75);
    for (const auto& [at, text, face, align] : shape.texts)
        canvas.text(at.x, at.y, text, place.type, face,
                    face == Face::mono ? colors.secondary : colors.caption, align);
}

}  // namespace headlight
