// Where the cells of the large heat map stand.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/heat_map.h"
#include "views/map_parts.h"

namespace headlight {

namespace {

constexpr float kLargestCell = 64;

}  // namespace

const std::vector<std::string>& map_labels(const Scene& s, bool down) {
    return down == (s.session.preferences.queries == Axis::rows) ? s.query_labels() : s.key_labels();
}

MapLayout arrange_map(Scene& s, Rect area) {
    Ui& ui = s.ui;
    MapLayout l;
    l.down = isize(map_labels(s, true));
    l.across = isize(map_labels(s, false));
    float widest = 0, above = 146 - size::view_header;
    for (const auto& label : map_labels(s, false))
        widest = std::max(widest, ui.text.width(kCaptionMono, shorten_middle(label, 14)));
    const auto room = [&](float top) { return ImVec2{area.w - 264, area.h - top - 42}; };
    const auto cell_for = [&](float top) {
        const ImVec2 r = room(top);
        const float fits = std::min({r.x / float(l.across), r.y / float(l.down), kLargestCell});
        const float cell = std::min(fits * s.of<HeatMapState>().zoom, std::max(fits, kLargestCell));
        const float pixels = cell * ui.scale;
        if (pixels < 1) return 1 / std::ceil(1 / pixels) / ui.scale;  // a pixel covers whole cells
        return pixels >= 4 ? ui.whole(cell) : cell;  // small cells would lose too much to rounding
    };
    l.cell = cell_for(above);
    l.turned = widest + 6 > l.cell;
    if (l.turned) above = std::max(84 + slanted_height(widest), 98.0f);
    l.cell = cell_for(above);
    l.step_down = label_step(l.cell, 16);
    l.step_across = label_step(l.cell, l.turned ? 24 : 16);  // turned lines stand closer than their feet
    const float w = l.cell * float(l.across), h = l.cell * float(l.down);
    l.map = {area.x + 128, area.y + above, std::min(w, room(above).x), std::min(h, room(above).y)};
    if (const auto cell = s.session.selection.locked;
        cell && s.holds(*cell) &&
        s.of<HeatMapState>().followed != *cell) {  // moved by key: brought into view
        s.of<HeatMapState>().followed = *cell;
        const bool rows = s.session.preferences.queries == Axis::rows;
        const float column = l.cell * float(rows ? cell->second : cell->first),
                    row = l.cell * float(rows ? cell->first : cell->second);
        s.of<HeatMapState>().x = scrolled_to(s.of<HeatMapState>().x, column, column + l.cell, l.map.w);
        s.of<HeatMapState>().y = scrolled_to(s.of<HeatMapState>().y, row, row + l.cell, l.map.h);
    }
    l.x0 = s.of<HeatMapState>().x = std::clamp(s.of<HeatMapState>().x, 0.0f, std::max(0.0f, w - l.map.w));
    l.y0 = s.of<HeatMapState>().y = std::clamp(s.of<HeatMapState>().y, 0.0f, std::max(0.0f, h - l.map.h));
    return l;
}

}  // namespace headlight
