// Draws the weight that a learned sink takes of each query, beside the keys (gpt-oss).
#include <algorithm>

#include "base/cast.h"
#include "parts/map_parts.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

bool has_sink(const Scene& s) { return s.answer->picture->sinks.size() > 0; }

void draw_sink(Scene& s, const MapLayout& l) {
    if (!has_sink(s)) return;
    constexpr float kLeastValue = 44, kNameHigh = 20;
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    const bool rows = s.session.preferences.queries == Axis::rows;
    const Rect whole = l.sink;
    const Shades shades = shown_shades(s);
    const Colormap& map = shown_colormap(s);
    const float step = std::max(rows ? l.h : l.w, ui.line()), end = rows ? whole.h : whole.w;
    ui.clip(whole);
    for (float at = 0; at < end; at += step) {
        const int query = rows ? l.row_at(whole.y + at) : l.column_at(whole.x + at);
        if (query < 0 || query >= p.sinks.size()) continue;
        const float weight = p.sinks[query],
                    place = std::min(1.0f, shades.place(weight, p.largest_of_row(query)));
        const Rect cell = rows ? Rect{whole.x, step > ui.line() ? l.y(query) : whole.y + at, whole.w, step}
                               : Rect{step > ui.line() ? l.x(query) : whole.x + at, whole.y, step, whole.h};
        const float gap = step >= 12 ? ui.line() : 0;
        ui.fill({cell.x, cell.y, cell.w - gap, cell.h - gap}, color_at(map, place));
        if (step >= kLeastValue && weight >= 0.1f)
            ui.text.draw_centered(cell.x + cell.w / 2, cell.y + cell.h / 2, kCaptionMono,
                                  ink_on(color_at(map, place)), decimals(double(weight), 2));
    }
    ui.unclip();
    const float apart = kSinkApart / 2;
    ui.fill(rows ? Rect{l.view.x - apart, l.view.y, ui.line(), l.view.h}
                 : Rect{l.view.x, l.view.y - apart, l.view.w, ui.line()},
            ui.colors->l2);
    const float wide = std::max(whole.w, ui.text.width(kCaptionMono, "sink"));
    if (rows)
        write(ui, {whole.x + whole.w - wide, whole.y - kNameHigh, wide, kNameHigh}, kCaptionMono,
              ui.colors->t1, "sink", Flush::center);
    else
        write(ui, {whole.x - wide - gap::small, whole.y, wide, whole.h}, kCaptionMono, ui.colors->t1, "sink",
              Flush::right);
    ui.name("map/sink", whole);
    const Hit h = ui.over(whole);
    const int query = rows ? l.row_at(h.mouse.y) : l.column_at(h.mouse.x);
    if (h.hovered && query >= 0 && query < p.sinks.size())
        ui.tooltip("map/sink", h,
                   "sink: " + decimals(double(p.sinks[query]), 3) + " of query " + std::to_string(query) +
                       " " + s.query_labels()[size_t(query)] + " goes to no token.");
}

}  // namespace headlight
