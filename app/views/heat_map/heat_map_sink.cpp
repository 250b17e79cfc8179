// Draws the weight that a learned sink takes of each query, beside the keys (gpt-oss).
#include <algorithm>

#include "base/cast.h"
#include "parts/map_parts.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

/// Fills one cell for each query, or one line of pixels where cells are smaller.
void draw_sink_cells(Scene& s, const MapLayout& l, bool rows) {
    constexpr float kLeastValue = 44, kLeastApart = 12;
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    const Shades shades = shown_shades(s);
    const Colormap& map = shown_colormap(s);
    const Rect whole = l.sink;
    const float side = rows ? l.h : l.w, step = std::max(side, ui.line()), end = rows ? whole.h : whole.w,
                apart = side >= kLeastApart ? ui.line() : 0;
    ui.clip(whole);
    for (float at = 0; at < end + step; at += step) {
        const int query = rows ? l.row_at(whole.y + at) : l.column_at(whole.x + at);
        if (query < 0 || query >= p.sinks.size()) continue;
        const float from =
            side >= ui.line() ? (rows ? l.y(query) : l.x(query)) : at + (rows ? whole.y : whole.x);
        const Rect cell = rows ? Rect{whole.x, from, whole.w, step} : Rect{from, whole.y, step, whole.h};
        const ImU32 ink =
            color_at(map, std::min(1.0f, shades.place(p.sinks[query], p.largest_of_row(query))));
        ui.fill({cell.x, cell.y, cell.w - apart, cell.h - apart}, ink);
        if (side >= kLeastValue && p.sinks[query] >= 0.1f)
            ui.text.draw_centered(cell.x + cell.w / 2, cell.y + cell.h / 2, kCaptionMono, ink_on(ink),
                                  decimals(double(p.sinks[query]), 2));
    }
    ui.unclip();
}

/// Names it, and draws a line between it and the first key.
void draw_sink_name(Scene& s, const MapLayout& l, bool rows) {
    constexpr float kHigh = 20;
    Ui& ui = s.ui;
    const float apart = kSinkApart / 2, wide = std::max(l.sink.w, ui.text.width(kCaptionMono, "sink"));
    ui.fill(rows ? Rect{l.view.x - apart, l.view.y, ui.line(), l.view.h}
                 : Rect{l.view.x, l.view.y - apart, l.view.w, ui.line()},
            ui.colors->l2);
    const Rect above{l.sink.right() - wide, l.sink.y - kHigh, wide, kHigh},
        beside{l.sink.x - ui.text.width(kCaptionMono, "sink") - gap::small, l.sink.y,
               ui.text.width(kCaptionMono, "sink"), l.sink.h};
    write(ui, rows ? above : beside, kCaptionMono, ui.colors->t1, "sink",
          rows ? Flush::center : Flush::right);
}

}  // namespace

bool has_sink(const Scene& s) { return s.answer->picture->sinks.size() > 0; }

void draw_sink(Scene& s, const MapLayout& l) {
    if (!has_sink(s)) return;
    const bool rows = s.session.preferences.queries == Axis::rows;
    draw_sink_cells(s, l, rows);
    draw_sink_name(s, l, rows);
    const Vector& sinks = s.answer->picture->sinks;
    s.ui.name("map/sink", l.sink);
    const Hit h = s.ui.over(l.sink);
    const int query = rows ? l.row_at(h.mouse.y) : l.column_at(h.mouse.x);
    if (h.hovered && query >= 0 && query < sinks.size())
        s.ui.tooltip("map/sink", h,
                     "sink: " + decimals(double(sinks[query]), 3) + " of query " + std::to_string(query) +
                         " " + s.query_labels()[size_t(query)] + " goes to no token.");
}

}  // namespace headlight
