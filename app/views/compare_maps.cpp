// A, B and their signed difference side by side, and what stands out in them.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "views/compare.h"
#include "views/map_parts.h"

namespace headlight {

namespace {

struct Panel {
    std::string letter, name;
    const Matrix* cells;  // as they are drawn
    float value = 0;      // of the shown cell
    bool is_signed = false;
    float largest = 1;
};

/// Where one of the three maps stands, and how large its cells are.
struct MapGrid {
    Rect map;
    float w = 0, h = 0;
    int step = 1;  // rows and columns of the pair that one cell covers

    std::pair<int, int> at(ImVec2 mouse, const PairedMap& m) const {
        const auto row = int((mouse.y - map.y) / h) * step, column = int((mouse.x - map.x) / w) * step;
        return {std::clamp(row, 0, isize(m.rows) - 1), std::clamp(column, 0, isize(m.columns) - 1)};
    }
};

void draw_cells(Scene& s, const Panel& p, const PairedMap& m, const MapGrid& g) {
    Ui& ui = s.ui;
    Matrix places = p.is_signed ? signed_places_of(*p.cells, p.largest) : places_of(*p.cells, p.largest);
    for (Index i = 0; i < places.size(); ++i) {
        const float a = m.small_a.data()[i], b = m.small_b.data()[i], v = p.cells->data()[i];
        if (p.is_signed ? std::min(a, b) == kAbsent : v == kAbsent)
            places.data()[i] = kNoCell;
        else if (p.is_signed ? std::max(a, b) < 0 : v == kMasked)
            places.data()[i] = kMaskedCell;
    }
    draw_matrix(ui, g.map,
                {places,
                 p.is_signed ? signed_colormap(ui.colors->dark)
                             : colormap(s.session.preferences.colormap, ui.colors->dark),
                 p.is_signed});
    if (cell_gap(ui, g.w, g.h) == 0) return;
    const float dot = 2 * ui.line();
    for (Index r = 0; r < places.rows(); ++r)
        for (Index c = 0; c < places.cols(); ++c)
            if (places(r, c) == kNoCell)
                ui.fill({g.map.x + g.w * (float(c) + 0.5f) - dot / 2,
                         g.map.y + g.h * (float(r) + 0.5f) - dot / 2, dot, dot},
                        ui.colors->l2);
}

void draw_column_labels(Scene& s, const PairedMap& m, const MapGrid& g, int highlighted) {
    Ui& ui = s.ui;
    const int every = label_step(g.w, 22);
    for (int i = 0; i < isize(m.columns); i += every * g.step) {
        const float x = g.map.x + g.w * (float(i) / float(g.step) + 0.5f);
        const TokenPair& pair = m.columns[i];
        const ImU32 ink = i == highlighted ? ui.colors->t1 : pair.both() ? ui.colors->t3 : ui.colors->l2;
        draw_slanted(ui, {x + 2, g.map.y - 10}, ink, ui.text.fitted(kCaptionMono, m.column_labels[i], 72));
    }
}

void draw_row_labels(Scene& s, const PairedMap& m, const MapGrid& g, int highlighted, bool numbered) {
    Ui& ui = s.ui;
    const int every = label_step(g.h, 16);
    for (int i = 0; i < isize(m.rows); ++i) {
        const float from_highlighted =
            highlighted < 0 ? 1e9f : std::abs(float(i - highlighted)) * g.h / float(g.step);
        if (i != highlighted && (i % (every * g.step) || from_highlighted < 16)) continue;
        const float y = g.map.y + g.h * (float(i) / float(g.step) + 0.5f);
        if (i == highlighted) ui.fill({g.map.x - 88, y - 9, 84, 18}, ui.colors->accent_fill);
        const ImU32 ink = i == highlighted ? ui.colors->accent_text : ui.colors->t1;
        const int number_a = m.rows[i].a;
        ui.text.draw_right(g.map.x - 10, y, kCaptionMono, ink,
                           ui.text.fitted(kCaptionMono, m.row_labels[i], 52));
        ui.text.draw_right(g.map.x - 70, y, kCaptionMono, i == highlighted ? ink : ui.colors->t3,
                           numbered && number_a >= 0 ? std::to_string(number_a) : "");
    }
}

void draw_cross(Scene& s, const MapGrid& g, std::pair<int, int> at) {
    Ui& ui = s.ui;
    const int row = at.first / g.step, column = at.second / g.step;
    const Rect cell{g.map.x + g.w * float(column), g.map.y + g.h * float(row), g.w, g.h};
    const bool hovered = s.of<CompareState>().cell.has_value();
    const ImU32 rows = hovered ? ui.colors->hover : ui.colors->accent,
                columns = hovered ? ui.colors->hover : ui.colors->t2;
    draw_crosshair(ui, {g.map, cell, rows, columns, rows});
}

void draw_bar(Scene& s, const Panel& p, const MapGrid& g) {
    Ui& ui = s.ui;
    draw_range_bar(ui, {{g.map.x, g.map.bottom() + 16, std::max(g.map.w, 120.0f), 10},
                        p.is_signed ? signed_colormap(ui.colors->dark)
                                    : colormap(s.session.preferences.colormap, ui.colors->dark),
                        p.largest,
                        2,
                        p.is_signed,
                        p.is_signed ? 0.5f + 0.5f * p.value / p.largest : p.value / p.largest});
}

/// The place under the mouse, in any of the three maps.
void answer_maps(Scene& s, const PairedMap& m, std::span<const MapGrid> grids, bool of_cells) {
    s.of<CompareState>().cell.reset();
    for (size_t i = 0; i < grids.size(); ++i) {
        const Hit h = s.ui.hit("compare/map/" + std::to_string(i), grids[i].map);
        if (!h.hovered) continue;
        s.of<CompareState>().cell = grids[i].at(h.mouse, m);
        const TokenPair &row = m.rows[s.of<CompareState>().cell->first],
                        &column = m.columns[s.of<CompareState>().cell->second];
        if (!of_cells || row.a < 0 || column.a < 0) continue;
        s.point_at(std::pair{row.a, column.a});
        if (!h.clicked) continue;
        s.lock(s.session.selection.hovered.cell);
        s.leave_text();
    }
}

}  // namespace

float draw_paired_maps(Scene& s, Rect area, const PairedMap& m, const std::array<std::string, 2>& names,
                       float most_high) {
    Ui& ui = s.ui;
    const bool square =
        s.of<CompareState>().show == ComparedShow::pattern;  // else rows are layers, not tokens
    const float left = area.x + 108, gap = 36, width = (area.right() - 24 - left - 2 * gap) / 3;
    float widest = 0;
    for (const auto& label : m.column_labels)
        widest = std::max(widest, std::min(ui.text.width(kCaptionMono, label), 72.0f));
    const float above = 48 + slanted_height(widest), top = area.y + above;
    const auto columns = float(m.small_a.cols()), rows = float(m.small_a.rows());
    const float across = std::min(width / columns, 48.0f),
                down = std::min((most_high - above - 56) / rows, 48.0f);
    const auto whole = [&](float cell) { return std::max(ui.line(), ui.whole(cell)); };
    const float w = whole(square ? std::min(across, down) : across), h = square ? w : whole(down);
    std::array<MapGrid, 3> grids;
    for (size_t i = 0; i < 3; ++i)
        grids[i] = {{left + (width + gap) * float(i), top, w * columns, h * rows}, w, h, m.step};
    answer_maps(s, m, grids, square);
    std::optional<std::pair<int, int>> highlighted = s.of<CompareState>().cell;
    if (const auto cell = s.shown_cell(); !highlighted && square && cell)
        highlighted = std::pair{index_of(m.rows, cell->first), index_of(m.columns, cell->second)};
    if (highlighted && (highlighted->first < 0 || highlighted->second < 0 ||
                        highlighted->first >= isize(m.rows) || highlighted->second >= isize(m.columns)))
        highlighted.reset();
    const auto value = [&](const Matrix& of) {
        return highlighted ? of(highlighted->first, highlighted->second) : 0.0f;
    };
    const float shared = std::max({m.small_a.maxCoeff(), m.small_b.maxCoeff(), 1e-6f}),
                apart = std::max(m.small_difference.cwiseAbs().maxCoeff(), 1e-6f);
    const Panel panels[] = {{"A", names[0], &m.small_a, std::max(0.0f, value(m.a)), false, shared},
                            {"B", names[1], &m.small_b, std::max(0.0f, value(m.b)), false, shared},
                            {"A − B", "difference", &m.small_difference, value(m.difference), true, apart}};
    for (size_t i = 0; i < 3; ++i) {
        const Panel& p = panels[i];
        const MapGrid& g = grids[i];
        const float x = ui.text.draw(g.map.x, area.y + 20, kBody,
                                     p.letter == "A" ? ui.colors->accent_text : ui.colors->t1, p.letter) +
                        12;
        ui.text.draw(g.map.x + x, area.y + 20, kBody, ui.colors->t2,
                     ui.text.fitted(kBody, p.name, width - x - 66));
        if (highlighted)
            ui.text.draw_right(g.map.x + width, area.y + 20, kBodyMono, ui.colors->accent_text,
                               (p.is_signed && p.value > 0 ? "+" : "") + number(p.value, 3));
        draw_cells(s, p, m, g);
        draw_column_labels(s, m, g, highlighted ? highlighted->second : -1);
        if (i == 0) draw_row_labels(s, m, g, highlighted ? highlighted->first : -1, square);
        if (highlighted) draw_cross(s, g, *highlighted);
        draw_bar(s, p, g);
    }
    const float bottom = top + h * rows + 50;
    if (m.step > 1)
        ui.text.draw_right(
            area.right() - 24, bottom + 8, kCaption, ui.colors->t3,
            "each cell is the largest of " + std::to_string(m.step) + " × " + std::to_string(m.step));
    return bottom + (m.step > 1 ? 24 : 8);
}

void draw_largest(Scene& s, Rect area, const PairedMap& m) {
    Ui& ui = s.ui;
    ui.text.draw(area.x, area.y + 10, kBody, ui.colors->t1,
                 m.largest.empty() ? "No difference" : "Largest differences");
    const int count = std::min(isize(m.largest), int(std::max(0.0f, (area.h - 30) / 26.0f)));
    const float largest = count ? std::max(std::abs(m.largest[0].value), 1e-9f) : 1;
    for (int i = 0; i < count; ++i) {
        const float y = area.y + 40 + 26 * float(i), v = m.largest[i].value;
        const int row = m.largest[i].row, column = m.largest[i].column;
        const Rect line{area.x - 6, y - 13, area.w + 12, 26};
        const Hit h = ui.hit("compare/largest/" + std::to_string(i), line);
        if (h.hovered) ui.fill(line, ui.colors->bg3, size::corner);
        if (h.hovered) s.of<CompareState>().cell = std::pair{row, column};
        const TokenPair &query = m.rows[row], &key = m.columns[column];
        const bool cell = s.of<CompareState>().show == ComparedShow::pattern && query.a >= 0 && key.a >= 0;
        if (h.hovered && cell) s.point_at(std::pair{query.a, key.a});
        if (h.clicked && cell) s.lock(std::pair{query.a, key.a});
        const std::string number_a = key.a >= 0 ? " " + std::to_string(key.a) : "",
                          between = s.of<CompareState>().show == ComparedShow::pattern ? " → " : " at ";
        const std::string from =
            m.row_labels[row] + (s.of<CompareState>().show == ComparedShow::pattern && query.a >= 0
                                     ? " " + std::to_string(query.a)
                                     : "");
        ui.text.draw(
            area.x, y, kBodyMono, ui.colors->t1,
            ui.text.fitted(kBodyMono, from + between + m.column_labels[column] + number_a, area.w * 0.5f));
        ui.signed_bar({area.x + area.w * 0.52f, y - 5, area.w * 0.48f - 72, 10}, v / largest);
        ui.text.draw_right(area.right(), y, kBodyMono, ui.colors->t1, (v > 0 ? "+" : "") + number(v, 3));
    }
}

void draw_by_token(Scene& s, Rect area, const char* title, const char* unit, const std::vector<float>& values,
                   const std::vector<std::string>& labels, int highlighted) {
    Ui& ui = s.ui;
    float largest = 1e-3f;
    for (const float v : values) largest = std::isnan(v) ? largest : std::max(largest, v);
    const float room = area.w - ui.text.width(kBody, title) - 16;
    ui.text.draw(area.x, area.y + 10, kBody, ui.colors->t1, title);
    if (room > 60)
        ui.text.draw_right(
            area.right(), area.y + 10, kCaption, ui.colors->t3,
            ui.text.fitted(kCaption, std::string(unit) + ", 0 to " + decimals(largest, 3), room));
    if (values.empty() || area.h < 100) return;
    const Rect bars{area.x, area.y + 30, area.w, area.h - 80};
    const float w = bars.w / float(values.size()), gap = w >= 6 ? 2 : 0;
    const int every = label_step(w, values.size() > 100 ? 40 : 22);
    double sum = 0;
    int count = 0, highest = -1;
    for (int i = 0; i < isize(values); ++i) {
        const float x = bars.x + w * float(i);
        const bool on = i == highlighted, known = !std::isnan(values[i]);
        const std::string path = std::string("compare/token/") + std::to_string(i);
        const Hit h = ui.hit(path, {x, bars.y, w, bars.h});
        if (known) ui.fill({x, bars.y, w - gap, bars.h}, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
        const float high = known ? bars.h * std::clamp(values[i] / largest, 0.0f, 1.0f) : 0;
        if (known)
            ui.fill({x, bars.bottom() - high, w - gap, high},
                    on || h.hovered ? ui.colors->accent : ui.colors->t3);
        ui.tooltip(path, h,
                   i < isize(labels) ? "“" + labels[i] + "”: " + number(values[i], 4) : number(values[i], 4));
        if (i % every == 0)
            ui.text.draw_centered(x + w / 2, bars.bottom() + 12, kCaptionMono,
                                  on ? ui.colors->accent_text : ui.colors->t3, std::to_string(i));
        if (!known) continue;
        sum += double(values[i]);
        ++count;
        if (highest < 0 || values[i] > values[highest]) highest = i;
    }
    if (highest < 0) return;
    const std::string at =
        highest < isize(labels) ? " at " + labels[highest] + " " + std::to_string(highest) : "";
    ui.text.draw(
        bars.x, bars.bottom() + 36, kCaptionMono, ui.colors->t2,
        ui.text.fitted(kCaptionMono,
                       "mean " + number(sum / count, 3) + "   largest " + number(values[highest], 3) + at,
                       area.w));
}

}  // namespace headlight
