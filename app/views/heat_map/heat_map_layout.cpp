// Arranges the cells of the large heat map.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/cast.h"
#include "base/utf8.h"
#include "parts/token_axis.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

constexpr float kLargestCell = 64, kLargestEnlarged = 256, kColorBarRoom = 136;

/// Returns the room above the names and below the map: less in a low area.
struct MapMargins {
    float level, leaning, least, foot;
};
MapMargins margins_in(Rect area) {
    constexpr float kLow = 560;
    return area.h < kLow ? MapMargins{6, -4, 44, 22} : MapMargins{16, 6, 60, 42};
}

/// Returns the part of the area that the map may fill, below `above`.
Rect room_for_map(Rect area, float above) {
    Rect r = area;
    take_top(r, above);
    take_bottom(r, margins_in(area).foot + (area.h < kRoomForTag ? 0 : kTagLine));
    take_left(r, size::center_pad + kMapNames, gap::tight);
    take_right(r, kColorBarRoom);
    return r;
}

/// Rounds a cell's side so that pixels cover whole cells, or cells whole pixels.
float cell_side(const Ui& ui, Rect room, int rows, int columns, Viewport& seen) {
    constexpr float kLeastFitting = 1e-3f;  // stays positive in an area of any size
    const float fits =
        std::max(kLeastFitting, std::min({room.w / float(columns), room.h / float(rows), kLargestCell}));
    seen.max = kLargestEnlarged / fits;
    seen.zoom = std::clamp(seen.zoom, 1.0f, seen.max);
    const float cell = fits * seen.zoom, pixels = cell * ui.scale;
    if (pixels < 1) return 1 / std::ceil(1 / pixels) / ui.scale;
    return pixels >= 4 ? ui.whole(cell) : cell;  // small cells would lose too much to rounding
}

/// Returns the cell to scroll to, once: a newly locked cell, or the last one after typing.
std::optional<std::pair<int, int>> cell_to_follow(Scene& s) {
    auto& state = s.of<HeatMapState>();
    const bool typed = std::exchange(state.tokens, s.queries()) != s.queries();
    const auto locked = s.session.selection.locked;
    if (!locked || !s.holds(*locked))
        return typed ? std::optional(std::pair{s.queries() - 1, s.keys() - 1}) : std::nullopt;
    return std::exchange(state.followed, *locked) == *locked ? std::nullopt : locked;
}

void follow(Scene& s, const MapLayout& l) {
    auto& state = s.of<HeatMapState>();
    const auto cell = cell_to_follow(s);
    if (!cell) return;
    const bool rows = s.session.preferences.queries == Axis::rows;
    const float column = l.w * float(rows ? cell->second : cell->first),
                row = l.h * float(rows ? cell->first : cell->second);
    state.seen.x = scrolled_to(state.seen.x, column, column + l.w, l.view.w);
    state.seen.y = scrolled_to(state.seen.y, row, row + l.h, l.view.h);
}

TokenAxis axis_of(const Scene& s, bool down) {
    constexpr size_t kMaxOfLabel = 14;
    const Theme& c = *s.ui.colors;
    const bool queries = down == (s.session.preferences.queries == Axis::rows);
    const auto& labels = map_labels(s, down);
    TokenAxis axis{[&labels](int i) { return shorten_middle(labels[i], kMaxOfLabel); },
                   queries ? "query" : "key", index_name};
    axis.lit_ink = queries ? c.accent_text : c.t1;
    axis.lit_back = queries ? c.accent_fill : c.bg3;
    axis.room = down ? kMapNames : kLongestName;
    return axis;
}

}  // namespace

const std::vector<std::string>& map_labels(const Scene& s, bool down) {
    return down == (s.session.preferences.queries == Axis::rows) ? s.query_labels() : s.key_labels();
}

float room_beside_map(Rect area, const MapLayout& l) {
    return std::max(0.0f, std::floor(room_for_map(area, 0).w - l.view.w));
}

MapLayout arrange_map(Scene& s, Rect area) {
    auto& state = s.of<HeatMapState>();
    MapLayout l;
    l.rows = isize(map_labels(s, true));
    l.columns = isize(map_labels(s, false));
    l.down = axis_of(s, true);
    l.across = axis_of(s, false);
    const float widest = l.across.widest(s.ui, l.columns);
    Rect room;
    for (const Lean lean : {Lean::level, Lean::slanted, Lean::upright}) {
        l.across.lean = lean;
        const MapMargins margins = margins_in(area);
        const float names = names_height(lean, widest, true),
                    above = std::max(margins.least,
                                     names + (lean == Lean::level ? margins.level : margins.leaning));
        room = room_for_map(area, above);
        l.w = l.h = cell_side(s.ui, room, l.rows, l.columns, state.seen);
        if (lean >= lean_of(widest, l.w)) break;
    }
    const Rect whole = l.whole();
    l.view = {room.x, room.y, std::min(whole.w, room.w), std::min(whole.h, room.h)};
    follow(s, l);
    state.seen.wide = l.view.w;
    state.seen.high = l.view.h;
    state.seen.keep_within(whole.w, whole.h);
    l.x0 = state.seen.x;
    l.y0 = state.seen.y;
    return l;
}

}  // namespace headlight
