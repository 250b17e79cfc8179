#include "views/heat_map/heat_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "base/utf8.h"
#include "io/json.h"
#include "parts/intervention_rules.h"
#include "parts/interventions.h"
#include "parts/map_parts.h"
#include "parts/unseen.h"
#include "views/interactive_page.h"
#include "views/tables.h"
#include "views/views.h"

namespace headlight {

void HeatMapState::visit(FieldVisitor& v) { v.report("map_zoom", seen.zoom); }

namespace {

void draw_cross(Scene& s, const MapLayout& l, std::pair<int, int> cell, bool locked) {
    Ui& ui = s.ui;
    const bool rows = s.session.preferences.queries == Axis::rows;
    const int across = rows ? cell.second : cell.first, down = rows ? cell.first : cell.second;
    const ImU32 query_line = locked ? ui.colors->accent : ui.colors->hover,
                key_line = locked ? ui.colors->t2 : ui.colors->hover;
    const float side = std::max(l.w, ui.line());
    const Rect at{l.x(across), l.y(down), side, side};
    ui.clip(inset(l.view, -3, -3));
    draw_crosshair(ui, {l.view, at, rows ? query_line : key_line, rows ? key_line : query_line, query_line,
                        locked ? 3.0f : 2.0f});
    if (locked && side >= 12) ui.frame({at.x + 2, at.y + 2, side - 5, side - 5}, ui.colors->well, 1);
    ui.unclip();
}

/// Returns the half-open range of rows or columns in sight.
std::pair<int, int> range_in_sight(float hidden, float room, float cell, int count) {
    const auto at = [&](float place) { return between(int_of(double(place / cell)), 0, count); };
    return {at(hidden), std::min(at(hidden + room) + 1, count)};
}

void draw_values(Scene& s, const MapLayout& l) {
    Ui& ui = s.ui;
    const Matrix& w = s.answer->picture->levels[0];
    const Colormap& map = shown_colormap(s);
    const float least = s.is_mixing() ? 0.2f * s.answer->picture->largest : 0.10f;
    const Shades shades = shown_shades(s);
    const bool rows = s.session.preferences.queries == Axis::rows;
    const auto [top, bottom] = range_in_sight(l.y0, l.view.h, l.h, l.rows);
    const auto [left, right] = range_in_sight(l.x0, l.view.w, l.w, l.columns);
    ui.clip(l.view);
    for (int r = top; r < bottom; ++r)
        for (int c = left; c < right; ++c) {
            const int q = rows ? r : c, k = rows ? c : r;
            if (is_masked(w(q, k)) || std::abs(w(q, k)) < least) continue;
            const float place = shades.place(w(q, k), s.answer->picture->row_largest(0, q));
            const bool dot = s.session.preferences.marks == Marks::dots;
            ui.text.draw_centered(l.middle_x(c), l.middle_y(r), kCaptionMono,
                                  dot && place < 0.5f ? ui.colors->t2 : ink_on(color_at(map, place)),
                                  s.is_mixing() ? signed_number(w(q, k), 2) : decimals(w(q, k), 2));
        }
    ui.unclip();
}

std::pair<int, int> cell_at(const Scene& s, const MapLayout& l, ImVec2 place) {
    const auto [down, across] = l.at(place);
    return s.session.preferences.queries == Axis::rows ? std::pair{down, across} : std::pair{across, down};
}

/// Paints cell by cell, or the rectangle from press to release.
void answer_brush(Scene& s, const MapLayout& l, const Hit& h) {
    const bool inside = l.view.contains(h.mouse);
    const auto cell = cell_at(s, l, h.mouse);
    if (h.hovered) s.point_at(cell);
    if (h.hovered && !h.pressed) cell_tooltip(s, "map", h, cell);
    if (!paints_rectangles(s.session)) {
        Painting& painting = s.of<Painting>();
        if (inside && (h.pressed || painting.last.first >= 0)) paint_stroke(s, cell);
        if (!inside || !h.pressed) painting.last = {-1, -1};
        if (!h.pressed) end_stroke(s);
        return;
    }
    auto& from = s.of<Painting>().rectangle_from;
    if (h.pressed && from.first < 0 && inside) from = cell;
    if (from.first < 0) return;
    if (!h.pressed) {
        paint_rectangle(s, from, cell);
        from = {-1, -1};
        return;
    }
}

/// True if a change concerns the shown head or one of the combined heads.
bool concerns_shown(const Scene& s, const Change& c) {
    const ModelConfig& config = s.model()->config;
    const auto& group = s.answer->picture->group;
    if (!group) return c.concerns(config, s.block(), s.head());
    return std::any_of(group->heads.begin(), group->heads.end(),
                       [&](AttentionHead h) { return c.concerns(config, h.block, h.head); });
}

/// Frames fully masked rows, because their uniform weights come from the mask (MaskPlan), not from the head.
void draw_fully_masked(Scene& s, const MapLayout& l) {
    if (s.answer->picture->group) return;
    const bool rows = s.session.preferences.queries == Axis::rows;
    s.ui.clip(l.view);
    for (const int q : fully_masked_rows(*s.sentence()->trace, s.block(), s.head()))
        s.ui.frame(rows ? l.row(q) : Rect{l.x(q), l.view.y, l.w, l.view.h}, s.ui.colors->warning, 1);
    s.ui.unclip();
}

void draw_rectangle(Scene& s, const MapLayout& l) {
    const auto from = s.of<Painting>().rectangle_from;
    if (from.first < 0 || !s.session.selection.hovered.cell) return;
    const auto to = *s.session.selection.hovered.cell;
    const bool rows = s.session.preferences.queries == Axis::rows;
    const auto [top, bottom] = std::minmax({rows ? from.first : from.second, rows ? to.first : to.second});
    const auto [left, right] = std::minmax({rows ? from.second : from.first, rows ? to.second : to.first});
    const Rect r{l.x(left), l.y(top), l.x(right + 1) - l.x(left), l.y(bottom + 1) - l.y(top)};
    s.ui.fill(r, faded(s.ui.colors->accent, 0.25f));
    s.ui.frame(r, s.ui.colors->accent, 2);
}

/// Zooms with the wheel, moves a zoomed map by dragging, locks a cell by a click.
void answer_map(Scene& s, const MapLayout& l) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("map", l.view);
    auto& state = s.of<HeatMapState>();
    enlarged(ui, l.view, state.seen);
    if (s.of<Painting>().brush != Brush::off) return answer_brush(s, l, h);
    const ImVec2 moved = h.pressed ? ui.points(ImGui::GetMouseDragDelta(0, 4 * ui.scale)) : ImVec2{0, 0};
    if (!l.all_seen() && (moved.x != 0 || moved.y != 0)) {
        state.seen.x -= moved.x;
        state.seen.y -= moved.y;
        ImGui::ResetMouseDragDelta();
        state.dragged = true;
        return;
    }
    if (!h.hovered) return;
    s.point_at(cell_at(s, l, h.mouse));
    cell_tooltip(s, "map", h, *s.pointed.cell);
    if (ImGui::IsMouseDoubleClicked(0)) s.send("zoom fit");
    if (!h.clicked) return;
    if (!std::exchange(state.dragged, false)) s.lock(s.pointed.cell);
    s.leave_text();
}

void draw_cells(Scene& s, const MapLayout& l) {
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    ui.clip(l.view);
    const int across = (l.columns + p.step - 1) / p.step,
              down = (l.rows + p.step - 1) / p.step;  // entries of the picture
    const float entry = l.w * float(p.step);
    const Shades shades = shown_shades(s);
    const Rect whole{l.x(0), l.y(0), entry * float(across), entry * float(down)};
    HeatmapDraw d;
    d.style = {s.is_mixing() ? ui.heat->texture_of(shown_colormap(s)) : s.colors,
               s.is_mixing() ? 1 : shades.brightest(1),  // the texture holds places
               s.session.preferences.queries,
               as_vec4(ui.colors->bg1),
               as_vec4(ui.colors->hatch),
               6 * ui.scale};
    d.values = s.pictures.values.id();
    d.row_largest = s.pictures.row_largest.id();
    d.across = across;
    d.down = down;
    d.curve = s.is_mixing() ? Curve::straight : shades.row().curve;
    d.diverges = s.is_mixing();
    d.by_row = shades.row().brightest == Brightest::row;
    d.dots = s.session.preferences.marks == Marks::dots && l.w >= 4 && !s.is_mixing();
    d.gap = entry * ui.scale >= 12 ? 1 : 0;
    const Rect r = ui.pixels(whole);
    d.rect = {r.x, r.y, r.w, r.h};
    ui.heat->draw(*ui.list, d);
    ui.unclip();
}

/// Returns the cells that a change covers, clipped to the tokens.
Rect covered_by(const Scene& s, const MapLayout& l, const Change& c) {
    const bool rows = s.session.preferences.queries == Axis::rows;
    const auto queries = float(std::min(c.queries, s.queries() - c.query)),
               keys = float(std::min(c.keys, s.keys() - c.key));
    return {l.x(rows ? c.key : c.query), l.y(rows ? c.query : c.key),
            l.w * (rows ? keys : queries) - s.ui.line(), l.h * (rows ? queries : keys) - s.ui.line()};
}

void draw_painted(Scene& s, const MapLayout& l) {
    Ui& ui = s.ui;
    ui.clip(l.view);
    for (const Change& c : s.session.document.intervention.changes) {  // before they are computed
        if (!c.paints() || !concerns_shown(s, c) || !s.holds({c.query, c.key}) || l.w < 4) continue;
        const Rect cell = covered_by(s, l, c);
        if (c.kind == ChangeKind::mask) {
            ui.fill(cell, ui.colors->accent_fill);
            if (l.w >= 8) ui.hatch(cell, ui.colors->accent);
        }
        ui.frame(cell, ui.colors->accent);
    }
    ui.unclip();
}

/// Frames the cells of the hovered rule and those under the current stroke.
void draw_covered(Scene& s, const MapLayout& l) {
    const bool rows = s.session.preferences.queries == Axis::rows;
    s.ui.clip(l.view);
    const auto& rule = s.of<RulePanel>().previewed;
    if (rule && rule->paints() && concerns_shown(s, *rule) && s.holds({rule->query, rule->key}))
        s.ui.frame(covered_by(s, l, *rule), s.ui.colors->hover, 2);
    for (const auto& [query, key] : s.of<Painting>().covered)
        s.ui.frame(inset(l.cell(rows ? query : key, rows ? key : query), 1, 1), s.ui.colors->hover);
    s.ui.unclip();
}

/// Labels the map of an ablated head with how it is ablated.
void draw_ablated(Scene& s, const MapLayout& l) {
    for (const Change& c : s.sentence()->intervention.changes) {
        if (!change_row(c.kind).ablates || !concerns_shown(s, c)) continue;
        const std::string among = s.answer->picture->group ? "with ablated heads: " : "ablated: ";
        const Chip chip = token_chip(s.ui, among + change_text(s, c), ChipRole::query);
        Rect line = inset(l.view, gap::small, gap::small);
        const Rect r = take_right(line, chip_width(s.ui, chip));
        const Rect at{r.x, r.y, r.w, size::chip};
        s.ui.fill(at, s.ui.colors->bg1, size::corner);
        s.ui.name("map/ablated", at);
        return draw_chip(s.ui, at, chip);
    }
}

/// Names the strongest keys of the shown query that an enlarged map hides; a click scrolls to one.
void mark_unseen_cells(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    if (l.all_seen() || !cell) return;
    constexpr float kWide = 150;
    const bool rows = s.session.preferences.queries == Axis::rows;
    auto& seen = s.of<HeatMapState>().seen;
    const int first = rows ? l.column_at(l.view.x) : l.row_at(l.view.y),
              last = rows ? l.column_at(l.view.right()) : l.row_at(l.view.bottom());
    const auto weight = [&](int key) { return s.weight(cell->first, key); };
    const float y = rows ? between(l.middle_y(cell->first), l.view.y + kUnseenLine / 2,
                                   l.view.bottom() - kUnseenLine / 2)
                         : 0,
                x = rows ? 0 : between(l.middle_x(cell->first) - kWide / 2, l.view.x, l.view.right() - kWide);
    for (const bool before : {true, false}) {
        auto keys = strongest_keys(weight, before ? 0 : last + 1, before ? first : s.keys());
        keys.resize(std::min<size_t>(keys.size(), 1));
        const Rect at = rows ? Rect{before ? l.view.x + gap::tight : l.view.right() - kWide - gap::tight,
                                    y - kUnseenLine / 2, kWide, kUnseenLine}
                             : Rect{x, before ? l.view.y : l.view.bottom() - kUnseenLine, kWide, kUnseenLine};
        const int chosen = draw_unseen(s, at, rows ? before ? "←" : "→" : before ? "↑" : "↓", keys);
        if (chosen < 0) continue;
        (rows ? seen.x : seen.y) = l.w * (float(chosen) + 0.5f) - (rows ? l.view.w : l.view.h) / 2;
    }
}

}  // namespace

void draw_heat_map(Scene& s, Rect area) {
    if (!s.answer->picture || s.ui.on_page()) return;  // its page is head_page_figure
    MapLayout l = arrange_map(s, area);
    if (s.session.alone()) {  // in the middle of the window
        area = inset(area, room_beside_map(area, l) / 2, 0);
        l = arrange_map(s, area);
    }
    answer_map(s, l);
    draw_cells(s, l);
    draw_sink(s, l);
    draw_painted(s, l);
    draw_fully_masked(s, l);
    draw_rectangle(s, l);
    draw_covered(s, l);
    draw_ablated(s, l);
    const auto cell = s.shown_cell();
    if (l.w >= 44 && s.answer->picture->step == 1) draw_values(s, l);
    draw_map_labels(s, l, cell);
    if (s.session.selection.locked && s.holds(*s.session.selection.locked) &&
        s.session.selection.locked != s.session.selection.hovered.cell)
        draw_cross(s, l, *s.session.selection.locked, true);
    if (s.session.selection.hovered.cell && s.holds(*s.session.selection.hovered.cell))
        draw_cross(s, l, *s.session.selection.hovered.cell,
                   s.session.selection.locked == s.session.selection.hovered.cell);
    mark_unseen_cells(s, l, cell);
    draw_color_scale(s, l, cell);
    draw_map_caption(s, l, area);
    draw_map_column(s, l, cell);
}

namespace {
void visit_heat_map(StateBag& bag, FieldVisitor& v) {
    bag.of<HeatMapState>().visit(v);
    bag.of<CombinedHeads>().visit(v);
}
}  // namespace

View heat_map_view() {
    return {.key = "head",
            .name = "Heat map",
            .answers = ViewGroup::look,
            .synonyms = "pattern, heatmap, attention matrix, attention map",
            .draw = draw_heat_map,
            .tools = draw_heat_map_tools,
            .paints = true,
            .group = combined_heads,
            .figure = head_page_figure,
            .page = "head",
            .numbers = pattern_numbers,
            .visit = visit_heat_map,
            .seen = seen_of<HeatMapState>,
            .commands = combined_heads_commands};
}

}  // namespace headlight
