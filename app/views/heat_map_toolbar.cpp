// The controls above the large heat map.
#include <algorithm>

#include "base/cast.h"
#include "views/heat_map.h"
#include "views/map_parts.h"

namespace headlight {

namespace {

void choose_first_key(Scene& s, Toolbar& bar) {
    const bool left_out = s.session.preferences.drop_sink;
    const Hit h = bar.press("sink", "First key", !left_out);
    s.ui.tooltip(
        "sink", h,
        "Whether the first key is shown, on which heads rest that have nothing to look at; without it "
        "each row's rest is made to sum to 1.");
    if (h.clicked) s.send("drop sink", left_out ? "off" : "on");
}

}  // namespace

float draw_heat_map_toolbar(Scene& s, Rect area) {
    constexpr float kRoomy = 820, kTight = 720;
    const Preferences& now = s.session.preferences;
    const Rect line = inset(take_top(area, size::view_header), size::center_pad, 0);
    Toolbar bar(s.ui, line, Toolbar::Lines::many);
    const bool tight = line.w < kTight;
    if (tight) bar.apart = gap::small;
    choose_combination(s, bar);
    const bool roomy = bar.labels = bar.rest().w > kRoomy;  // else the choices speak for themselves
    choose_contrast(s, bar);
    const std::vector<std::string> maps(colormap_names().begin(), colormap_names().end());
    const int current = narrow<int>(std::find(maps.begin(), maps.end(), now.colormap) - maps.begin());
    if (const int c = bar.choice("Colors", "colors", maps, current); c >= 0) s.send("colormap", maps[c]);
    const std::string before = roomy ? "" : tight ? "query " : "queries in ";
    if (const int c = bar.choice("Queries", "queries", {before + "rows", before + "columns"},
                                 static_cast<int>(now.queries));
        c >= 0)
        s.send("queries", c == 0 ? "rows" : "columns");
    if (const int c = bar.choice("", "marks", {"squares", "dots"}, static_cast<int>(now.marks)); c >= 0)
        s.send("marks", c == 0 ? "squares" : "dots");
    choose_first_key(s, bar);
    if (s.of<HeatMapState>().seen.zoom > 1 && bar.link("map/fit", "Show all")) s.send("zoom fit");
    return bar.bottom() - line.bottom();
}

}  // namespace headlight
