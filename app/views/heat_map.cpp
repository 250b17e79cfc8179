// One head, large: weights, labels on both axes, colour bar with the true range, crosshair.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "views/views.h"

namespace headlight {

namespace {

struct MapLayout {
    Rect map;
    float cell = 0;
    bool turned = false;
    int down = 0, across = 0, step_across = 1, step_down = 1;
};

bool in_rows(const Scene& s) { return s.state.queries == Axis::rows; }
const std::vector<std::string>& labels_of(const Scene& s, bool down) { return down == in_rows(s) ? s.query_labels() : s.key_labels(); }

void draw_toolbar(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    if (const int c = ui.choice(x, y, "Scale", "scale", {"linear", "log", "row"}, static_cast<int>(s.state.scale)); c >= 0) s.state.scale = static_cast<Scale>(c);
    const std::vector<std::string> maps(colormap_names().begin(), colormap_names().end());
    const int current = static_cast<int>(std::find(maps.begin(), maps.end(), s.state.colormap) - maps.begin());
    if (const int c = ui.choice(x, y, "Colours", "colors", maps, current); c >= 0) s.state.colormap = maps[static_cast<size_t>(c)];
    if (const int c = ui.choice(x, y, "Queries", "queries", {"rows", "columns"}, static_cast<int>(s.state.queries)); c >= 0) s.state.queries = static_cast<Axis>(c);
}

MapLayout arrange(Scene& s, Rect area) {
    Ui& ui = s.ui;
    MapLayout l;
    l.down = static_cast<int>(labels_of(s, true).size());
    l.across = static_cast<int>(labels_of(s, false).size());
    float widest = 0, above = ui.px(146 - size::view_header);
    for (const auto& label : labels_of(s, false)) widest = std::max(widest, ui.text.width(kCaptionMono, shorten_middle(label, 14)));
    const auto cell_for = [&](float top) {
        const float room = std::min((area.w - ui.px(264)) / static_cast<float>(l.across), (area.h - top - ui.px(42)) / static_cast<float>(l.down));
        const float cell = std::min(room, ui.px(64));
        return cell >= 4 ? std::floor(cell) : std::max(cell, 0.001f);  // small cells would lose too much to rounding
    };
    l.cell = cell_for(above);
    l.turned = widest + ui.px(6) > l.cell;
    if (l.turned) {
        above = ui.px(84) + widest * 0.7071f;
        l.cell = cell_for(std::max(above, ui.px(98)));
    }
    l.step_down = label_step(l.cell, ui.px(16));
    l.step_across = label_step(l.cell, ui.px(l.turned ? 24 : 16));  // turned lines stand closer than their feet
    l.map = {area.x + ui.px(128), area.y + std::max(above, ui.px(98)), l.cell * static_cast<float>(l.across), l.cell * static_cast<float>(l.down)};
    return l;
}

void draw_axis_label(Scene& s, const MapLayout& l, int i, bool down, bool on) {
    Ui& ui = s.ui;
    const bool query_axis = down == (s.state.queries == Axis::rows);
    const ImU32 ink = on && query_axis ? ui.colors->accent_text : ui.colors->t1, faint = on && query_axis ? ui.colors->accent_text : ui.colors->t3;
    const ImU32 back = query_axis ? ui.colors->accent_fill : ui.colors->bg3;
    const float at = l.cell * (static_cast<float>(i) + 0.5f);
    const std::string label = shorten_middle(labels_of(s, down)[static_cast<size_t>(i)], 14), index = std::to_string(i);
    if (down) {
        const float right = l.map.x - ui.px(12), room = ui.px(128 - 24 - 12 - 34), y = l.map.y + at;
        const std::string text = ui.text.fitted(kCaptionMono, label, room);
        if (on) {
            const float high = std::max(l.cell, ui.px(20));
            ui.fill({l.map.x - ui.px(88), y - high / 2, ui.px(84), high}, ui.colors->bg1);
            ui.fill({l.map.x - ui.px(88), y - high / 2, ui.px(84), high}, back);
        }
        ui.text.draw_right(right, y, kCaptionMono, ink, text);
        ui.text.draw_right(right - std::max(room - ui.px(24), ui.text.width(kCaptionMono, text)) - ui.px(6), y, kCaptionMono, faint, index);
        return;
    }
    const float x = l.map.x + at;
    if (l.turned) {
        if (on) {
            const float w = ui.text.width(kCaptionMono, label) + ui.px(10), h = ui.px(18), c = 0.7071f;
            const ImVec2 o{x, l.map.y - ui.px(10)}, u{w * c, -w * c}, v{h / 2 * c, h / 2 * c};
            const std::array<ImVec2, 4> box{{{o.x - v.x, o.y - v.y}, {o.x + u.x - v.x, o.y + u.y - v.y}, {o.x + u.x + v.x, o.y + u.y + v.y}, {o.x + v.x, o.y + v.y}}};
            ui.polygon(box, ui.colors->bg1);
            ui.polygon(box, back);
        }
        ui.text.draw(x + ui.px(2), l.map.y - ui.px(11), kCaptionMono, ink, label, -0.7854f);
        return;
    }
    if (on) {
        const float w = std::max(l.cell, ui.text.width(kCaptionMono, label) + ui.px(8));
        ui.fill({x - w / 2, l.map.y - ui.px(44), w, ui.px(40)}, back);
    }
    ui.text.draw_centred(x, l.map.y - ui.px(33), kCaptionMono, faint, index);
    ui.text.draw_centred(x, l.map.y - ui.px(14), kCaptionMono, ink, label);
}

/// Every step-th label, but none under the one that is lit.
void draw_axis(Scene& s, const MapLayout& l, bool down, int lit) {
    const float apart = s.ui.px(down || !l.turned ? 19 : 26);
    for (int i = 0; i < (down ? l.down : l.across); i += down ? l.step_down : l.step_across)
        if (lit < 0 || (i != lit && std::abs(static_cast<float>(i - lit)) * l.cell >= apart) || (l.step_down == 1 && i != lit)) draw_axis_label(s, l, i, down, false);
    if (lit >= 0) draw_axis_label(s, l, lit, down, true);
}

void draw_labels(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    const bool rows = s.state.queries == Axis::rows;
    draw_axis(s, l, true, !cell ? -1 : rows ? cell->first : cell->second);
    draw_axis(s, l, false, !cell ? -1 : rows ? cell->second : cell->first);
}

void draw_cross(Scene& s, const MapLayout& l, std::pair<int, int> cell, bool locked) {
    Ui& ui = s.ui;
    const bool rows = s.state.queries == Axis::rows;
    const int across = rows ? cell.second : cell.first, down = rows ? cell.first : cell.second;
    const ImU32 query_line = locked ? ui.colors->accent : ui.colors->hover, key_line = locked ? ui.colors->t2 : ui.colors->hover;
    const float size = std::max(l.cell, 1.0f), x = l.map.x + l.cell * static_cast<float>(across), y = l.map.y + l.cell * static_cast<float>(down), t = ui.line();
    const auto horizontal = [&](float at, ImU32 c) { ui.fill({l.map.x, at, l.map.w, t}, c); };
    const auto vertical = [&](float at, ImU32 c) { ui.fill({at, l.map.y, t, l.map.h}, c); };
    horizontal(y - t, rows ? query_line : key_line);
    horizontal(y + size - t, rows ? query_line : key_line);
    vertical(x - t, rows ? key_line : query_line);
    vertical(x + size - t, rows ? key_line : query_line);
    if (l.cell < ui.px(5)) return;
    ui.frame({x - t, y - t, size + t, size + t}, locked ? ui.colors->accent : ui.colors->hover, locked ? 3 : 2);
    if (locked && l.cell >= ui.px(12)) ui.frame({x + ui.px(2), y + ui.px(2), size - ui.px(5), size - ui.px(5)}, ui.colors->well, 1);
}

void draw_values(Scene& s, const MapLayout& l) {
    Ui& ui = s.ui;
    const Matrix& w = s.answer->picture->levels[0];
    const Colormap& map = colormap(s.state.colormap, ui.colors->dark);
    const bool rows = s.state.queries == Axis::rows;
    for (Index q = 0; q < w.rows(); ++q)
        for (Index k = 0; k < w.cols(); ++k) {
            if (w(q, k) < 0.10f) continue;
            const float place = scale_position(s.state.scale, w(q, k), s.answer->picture->largest, s.answer->picture->row_largest(0, q));
            const Rgb c = map[static_cast<size_t>(std::lround(place * 255))];
            const float light = 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b;
            const float x = l.map.x + l.cell * (static_cast<float>(rows ? k : q) + 0.5f), y = l.map.y + l.cell * (static_cast<float>(rows ? q : k) + 0.5f);
            ui.text.draw_centred(x, y, kCaptionMono, light > 110 ? IM_COL32(12, 14, 17, 255) : IM_COL32_WHITE, decimals(w(q, k), 2));
        }
}

float bar_height(const Ui& ui, const MapLayout& l) { return std::max(l.map.h, ui.px(120)); }

void draw_color_scale(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    const Rect bar{l.map.right() + ui.px(32), l.map.y, ui.px(14), bar_height(ui, l)};
    ui.gradient(bar, colormap(s.state.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    const char* label = s.state.scale == Scale::row ? "of row’s largest" : s.state.scale == Scale::log ? "weight, log" : "weight";
    ui.text.draw(bar.x, bar.y - ui.px(14), kCaption, ui.colors->t3, label);
    for (int i = 0; i <= 4; ++i) {
        const float share = static_cast<float>(i) / 4, y = bar.bottom() - share * bar.h;
        const double value = s.state.scale == Scale::row ? share : s.state.scale == Scale::log ? kLogFloor * std::pow(p.largest / kLogFloor, share) : p.largest * share;
        ui.fill({bar.right(), std::floor(y), ui.px(5), ui.line()}, ui.colors->l2);
        ui.text.draw(bar.right() + ui.px(10), y, kCaptionMono, ui.colors->t2, decimals(value, value > 0 && value < 0.01 ? 4 : p.largest < 0.2f ? 3 : 2));
    }
    if (!cell) return;
    const float y = bar.bottom() - bar.h * scale_position(s.state.scale, s.weight(cell->first, cell->second), p.largest, p.row_largest(0, cell->first));
    ui.polygon(std::array<ImVec2, 3>{{{bar.x - ui.px(8), y - ui.px(4)}, {bar.x - ui.px(2), y}, {bar.x - ui.px(8), y + ui.px(4)}}}, ui.colors->accent);
}

void draw_caption(Scene& s, const MapLayout& l, Rect area) {
    Ui& ui = s.ui;
    const float y = l.map.y + std::max(l.map.h, bar_height(ui, l)) + ui.px(20);
    const bool masked = s.sentence()->trace->rule(s.site()).mask.hides_any();
    const std::string left = std::string("Each ") + (s.state.queries == Axis::rows ? "row" : "column") + " sums to 1." +
                             (!masked ? "" : l.cell >= 12 ? " Hatched: masked." : " Plain: masked.");
    const std::string size = std::to_string(l.down) + " × " + std::to_string(l.across);
    const int covered = static_cast<int>(std::ceil(1 / l.cell));
    const std::string right = l.cell >= 1 ? size + ", every cell shown" : size + ", each pixel is the largest of " + std::to_string(covered) + " × " + std::to_string(covered);
    const float end = std::max(l.map.right(), std::min(area.right() - ui.px(24), l.map.x + ui.text.width(kCaption, left + right) + ui.px(40)));
    ui.text.draw(l.map.x, y, kCaption, ui.colors->t3, left);
    ui.text.draw_right(end, y, kCaption, ui.colors->t3, right);
}

void answer_map(Scene& s, const MapLayout& l) {
    const Hit h = s.ui.hit("map", l.map);
    if (!h.hovered) return;
    const int across = std::clamp(static_cast<int>((h.mouse.x - l.map.x) / l.cell), 0, l.across - 1), down = std::clamp(static_cast<int>((h.mouse.y - l.map.y) / l.cell), 0, l.down - 1);
    s.state.hovered = s.state.queries == Axis::rows ? std::pair{down, across} : std::pair{across, down};
    if (h.clicked) {
        s.state.locked = s.state.hovered;
        s.field.focused = false;
    }
}

}  // namespace

void draw_heat_map(Scene& s, Rect area) {
    Ui& ui = s.ui;
    draw_toolbar(s, area.x + ui.px(24), area.y + ui.px(24));
    if (!s.answer->picture) return;
    const MapLayout l = arrange(s, area);
    answer_map(s, l);
    if (!l.turned) {
        ui.text.draw(area.x + ui.px(24), l.map.y - ui.px(33), kCaption, ui.colors->t3, s.state.queries == Axis::rows ? "key →" : "query →");
        ui.text.draw(area.x + ui.px(24), l.map.y - ui.px(14), kCaption, ui.colors->t3, s.state.queries == Axis::rows ? "query ↓" : "key ↓");
    }
    HeatmapDraw d;
    const HeadPicture& p = *s.answer->picture;
    d.style = {s.colors, p.largest, s.state.queries, s.dim, as_vec4(ui.colors->bg1), as_vec4(ui.colors->hatch), ui.px(6)};
    d.values = s.pictures.values.id();
    d.row_largest = s.pictures.row_largest.id();
    d.across = l.across;
    d.down = l.down;
    d.scale = s.state.scale;
    d.rect = {l.map.x, l.map.y, l.map.w, l.map.h};
    ui.heat->draw(*ui.list, d);
    const auto cell = s.shown_cell();
    if (l.cell >= ui.px(44)) draw_values(s, l);
    draw_labels(s, l, cell);
    if (s.state.locked && s.holds(*s.state.locked) && s.state.locked != s.state.hovered) draw_cross(s, l, *s.state.locked, true);
    if (s.state.hovered && s.holds(*s.state.hovered)) draw_cross(s, l, *s.state.hovered, s.state.locked == s.state.hovered);
    draw_color_scale(s, l, cell);
    draw_caption(s, l, area);
}

}  // namespace headlight
