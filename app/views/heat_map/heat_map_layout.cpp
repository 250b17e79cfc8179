// Arranges the cells of the large heat map.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/cast.h"
#include "base/utf8.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

constexpr float kLargestCell = 64, kLargestEnlarged = 256, kColorBarRoom = 136, kColorBarBeside = 88;
constexpr float kLow = 560;

/// Returns the room above the names and below the map: less in a low area.
struct MapMargins {
    float level, slanted, upright, least, foot;
    float above(Lean lean) const {
        return lean == Lean::level ? level : lean == Lean::slanted ? slanted : upright;
    }
};
MapMargins margins_in(Rect area) {
    return area.h < kLow ? MapMargins{6, -4, -10, 44, 22} : MapMargins{16, 6, 6, 60, 42};
}

/// The widths beside the cells: of the row names, of the color bar, and of a column of numbers.
struct MapSides {
    float names = kMapNames, bar = kColorBarRoom, column = 0;
    float sink_left = 0, sink_above = 0;  // room for the weights of a sink
};

/// Returns the part of the area that the map may fill, below `above`.
Rect room_for_map(Rect area, float above, const MapSides& sides) {
    Rect r = area;
    take_top(r, above + sides.sink_above);
    if (sides.column > 0 && area.h < kLow)
        take_bottom(r, gap::close);  // the column has the caption
    else
        take_bottom(r, margins_in(area).foot + (area.h < kRoomForTag ? 0 : kTagLine));
    take_left(r, size::center_pad + sides.names, gap::tight);
    take_left(r, sides.sink_left);
    take_right(r, sides.bar + sides.column);
    return r;
}

/// How large the cells are, and the room that they may fill.
struct MapFit {
    Rect room;
    Lean lean = Lean::level;
    float fits = 1, cell = 1;  // where all are seen, and enlarged
};

/// Rounds a cell's side so that pixels cover whole cells, or cells whole pixels.
float rounded_side(const Ui& ui, float cell) {
    const float pixels = cell * ui.scale;
    if (pixels < 1) return 1 / std::ceil(1 / pixels) / ui.scale;
    return pixels >= 4 ? ui.whole(cell) : cell;  // small cells would lose too much to rounding
}

/// Turns the names above before any is left out.
MapFit fit_map(Ui& ui, Rect area, const MapLayout& l, const MapSides& sides, float zoom) {
    constexpr float kLeastFitting = 1e-3f;  // stays positive in an area of any size
    const float widest = l.across.widest(ui, l.columns);
    const MapMargins margins = margins_in(area);
    MapFit out;
    for (const Lean lean : {Lean::level, Lean::slanted, Lean::upright}) {
        const float above = std::max(margins.least, names_height(lean, widest, true) + margins.above(lean));
        out.lean = lean;
        out.room = room_for_map(area, above, sides);
        out.fits =
            std::max(kLeastFitting,
                     std::min({out.room.w / float(l.columns), out.room.h / float(l.rows), kLargestCell}));
        out.cell = rounded_side(ui, out.fits * std::clamp(zoom, 1.0f, kLargestEnlarged / out.fits));
        if (lean >= lean_of(widest, out.cell)) break;
    }
    return out;
}

/// Returns the sides with a column of numbers where the inspector is shut and the map leaves it room: it
/// costs the cells nothing, or leaves a map of `kLeastMap`.
MapSides sides_of(const Scene& s, Rect area, const MapLayout& l) {
    constexpr float kLeastColumn = 124, kLeastMap = 420, kLeastHigh = 300, kSides = 22;
    if (!s.of<InspectorState>().handle || s.session.presenting || area.h < kLeastHigh) return {};
    const float names = std::min(kMapNames, l.down.widest(s.ui, l.rows) + kSides +
                                                s.ui.text.width(kCaptionMono, std::to_string(l.rows - 1)));
    const float title = s.ui.text.width(kCaption, shown_shades(s).row().legend);
    const MapSides with{names, std::max(kColorBarBeside, gap::wide + title + gap::medium), kLeastColumn};
    const float usual = fit_map(s.ui, area, l, {}, 1).cell, cell = fit_map(s.ui, area, l, with, 1).cell;
    return cell >= usual || cell * float(l.columns) >= kLeastMap ? with : MapSides{};
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
    return std::max(0.0f, std::floor(room_for_map(area, 0, {}).w - l.view.w));
}

MapLayout arrange_map(Scene& s, Rect area) {
    auto& state = s.of<HeatMapState>();
    MapLayout l;
    l.rows = isize(map_labels(s, true));
    l.columns = isize(map_labels(s, false));
    l.down = axis_of(s, true);
    l.across = axis_of(s, false);
    MapSides sides = sides_of(s, area, l);
    l.down.room = sides.names;
    state.seen.zoom_to_wanted();
    MapFit fit = fit_map(s.ui, area, l, sides, state.seen.zoom);
    const bool rows = s.session.preferences.queries == Axis::rows;
    if (has_sink(s)) {
        (rows ? sides.sink_left : sides.sink_above) = fit.cell + kSinkApart;
        fit = fit_map(s.ui, area, l, sides, state.seen.zoom);
    }
    l.across.lean = fit.lean;
    l.w = l.h = fit.cell;
    state.seen.max = kLargestEnlarged / fit.fits;
    state.seen.zoom = std::clamp(state.seen.zoom, 1.0f, state.seen.max);
    const Rect whole = l.whole(), room = fit.room;
    l.view = {room.x, room.y, std::min(whole.w, room.w), std::min(whole.h, room.h)};
    if (has_sink(s))
        l.sink = rows ? Rect{l.view.x - kSinkApart - l.w, l.view.y, l.w, l.view.h}
                      : Rect{l.view.x, l.view.y - kSinkApart - l.h, l.view.w, l.h};
    if (sides.column > 0) {
        l.column = area;
        take_left(l.column, l.view.right() + sides.bar - area.x);
    }
    follow(s, l);
    state.seen.scroll_to_wanted(whole.w, whole.h);
    state.seen.wide = l.view.w;
    state.seen.high = l.view.h;
    state.seen.keep_within(whole.w, whole.h);
    l.x0 = state.seen.x;
    l.y0 = state.seen.y;
    return l;
}

}  // namespace headlight
