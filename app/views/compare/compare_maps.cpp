// Draws A, B and their signed difference side by side.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/matrix_view.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

struct Panel {
    int place;
    Side side;
    std::string letter, name;
    const PairedMap* map;
    const Matrix* cells;  // as drawn
    bool is_signed = false, alone = false;
    float largest = 1, value = 0;  // value: of the lit cell

    float value_at(std::pair<int, int> cell) const {
        if (is_signed) return map->difference(cell.first, cell.second);
        const float v = (side == Side::a ? map->a : map->b)(cell.first, cell.second);
        return is_masked(v) ? 0 : v;
    }
    bool diverges() const { return is_signed || map->is_mixing; }
    int token_of(const TokenPair& pair) const { return alone && side == Side::b ? pair.b : pair.a; }
};

constexpr float kRowNames = 84, kBetween = 36, kWidestName = 72, kOfTwo = 32, kLargestComparedCell = 64,
                kWiderThanHigh = 1.6f, kMapTitle = 36, kStepNote = 24;

constexpr std::string_view kOr = " | ";  // between the two tokens of a place

/// Returns the extra width of names where a place has two tokens, "ball | hat".
float wider_names(const PairedMap& m) {
    for (const auto* labels : {&m.row_labels, &m.column_labels})
        for (const std::string& label : *labels)
            if (label.find(kOr) != std::string::npos) return kOfTwo;
    return 0;
}

/// The token of A or B alone, where its own map names it.
std::string own_label(const std::string& label, const TokenPair& place, Side side) {
    const size_t at = place.both() ? label.find(kOr) : std::string::npos;
    if (at == std::string::npos) return label;
    return side == Side::a ? label.substr(0, at) : label.substr(at + kOr.size());
}

/// Maps a panel to colors; tokens that only one of both has get no cell.
Matrix places_of_panel(const Panel& p) {
    Matrix places = p.diverges() ? signed_places_of(*p.cells, p.largest) : places_of(*p.cells, p.largest);
    for (Index i = 0; i < places.size(); ++i) {
        const float a = p.map->small_a.data()[i], b = p.map->small_b.data()[i], v = p.cells->data()[i];
        if (p.is_signed ? std::min(a, b) == kAbsent : v == kAbsent)
            places.data()[i] = kNoCell;
        else if (p.is_signed ? is_masked(std::max(a, b)) : v == kMasked)
            places.data()[i] = kMaskedCell;
    }
    return places;
}

/// Draws a dot for each place that only one of both has.
void mark_absent(Ui& ui, const Grid& g, const Matrix& places) {
    if (cell_gap(ui, g.w, g.h) == 0) return;
    const float dot = 2 * ui.line();
    for (Index r = 0; r < places.rows(); ++r)
        for (Index c = 0; c < places.cols(); ++c)
            if (places(r, c) == kNoCell)
                ui.fill(square_at(g.cell(int(r), int(c)).middle(), dot), ui.colors->l2);
}

/// The row or column shown by a pooled cell: the highlighted one if it contains it.
int pair_index(int cell, int step, int highlighted) {
    return highlighted >= 0 && highlighted / step == cell ? highlighted : cell * step;
}

using Lit = std::optional<std::pair<int, int>>;  // row and column of the pair

MatrixView panel_matrix(const Scene& s, const Panel& p, const Lit& lit, bool pattern) {
    const Colormap& colors = p.diverges() ? signed_colormap(s.ui.colors->dark)
                                          : colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const PairedMap& m = *p.map;
    const int row = lit ? lit->first : -1, column = lit ? lit->second : -1;
    const bool named = p.place == 0 || p.alone;
    MatrixView out{.path = "compare/map/" + std::to_string(p.place),
                   .cells = {places_of_panel(p), colors, p.diverges()},
                   .rows = {[&m, row](int i) { return m.row_labels[pair_index(i, m.step, row)]; },
                            pattern ? "query" : "layer"},
                   .columns = {[p, column](int i) {
                                   const int at = pair_index(i, p.map->step, column);
                                   const std::string& label = p.map->column_labels[at];
                                   return p.is_signed ? label : own_label(label, p.map->columns[at], p.side);
                               },
                               pattern ? "key" : "token"},
                   .bar = range_bar(colors, double(p.largest), p.diverges()),
                   .max_w = kLargestComparedCell,
                   .max_h = kLargestComparedCell,
                   .ratio = pattern ? kWiderThanHigh : 0,  // else rows are layers
                   .free = size::center_pad,
                   .hovered = s.of<CompareState>().cell.has_value()};
    out.rows.room = kRowNames + wider_names(m);
    out.columns.room = kWidestName + wider_names(m);
    out.columns.ink = [&s, &m, alone = p.alone](int i) {
        return alone || m.columns[i * m.step].both() ? s.ui.colors->t3 : s.ui.colors->l2;
    };
    if (pattern)
        out.rows.number = [p, row](int i) {
            const int at = p.token_of(p.map->rows[pair_index(i, p.map->step, row)]);
            return at < 0 ? std::string() : std::to_string(at);
        };
    if (!named) out.rows = {.name = nullptr, .room = 0};
    if (!named) out.columns.title = "";
    if (lit) out.marked = {row / m.step, column / m.step};
    return out;
}

/// Stores the cell hovered in one of the maps; in one of A it is locked by a click.
Lit point_at_pair(Scene& s, const Panel& p, const MatrixAnswer& answer, bool of_cells) {
    if (!answer.hovered) return std::nullopt;
    const PairedMap& m = *p.map;
    const std::pair cell{std::min(answer.hovered->first * m.step, isize(m.rows) - 1),
                         std::min(answer.hovered->second * m.step, isize(m.columns) - 1)};
    if (!p.alone || p.side == Side::a) s.of<CompareState>().cell = cell;
    const TokenPair &row = m.rows[cell.first], &column = m.columns[cell.second];
    if (!of_cells || row.a < 0 || column.a < 0) return cell;
    s.point_at(std::pair{row.a, column.a});
    if (!answer.pressed) return cell;
    s.lock(s.session.selection.hovered.cell);
    s.leave_text();
    return cell;
}

/// "A  Head 3.0      0.213"
void draw_panel_title(Ui& ui, Rect line, const Panel& p, bool valued) {
    if (valued) {
        const std::string value = p.is_signed ? signed_number(p.value, 3) : number(p.value, 3);
        write(ui, line, kBodyMono, ui.colors->accent_text, value, Flush::right);
        take_right(line, ui.text.width(kBodyMono, value), gap::medium);
    }
    const ImU32 ink = p.side == Side::a && !p.is_signed ? ui.colors->accent_text : ui.colors->t1;
    take_left(line, write(ui, line, kBody, ink, p.letter), gap::medium);
    constexpr std::string_view kHead = "Head ";
    const std::string shorter = p.is_signed                 ? ""
                                : p.name.starts_with(kHead) ? p.name.substr(kHead.size())
                                                            : p.name;
    write(ui, line, kBody, ui.colors->t2,
          first_that_fits(ui, kBody, {p.name, shorter, shorter.substr(0, shorter.find(" in "))}, line.w));
}

/// A map of one side, on a scale of its own.
Panel panel_of(const PairedMap& m, int place, Side side, const char* letter, const std::string& name) {
    return {.place = place,
            .side = side,
            .letter = letter,
            .name = name,
            .map = &m,
            .cells = side == Side::a ? &m.small_a : &m.small_b};
}

/// Titles the maps; what was there first stands first.
struct PanelNames {
    const char *a, *b, *difference;
    bool b_first;
};
PanelNames names_of_panels(const Scene& s) {
    switch (s.session.document.comparison.what) {
        case Compared::changes:
            return {"After", "Before", "After − before", true};
        case Compared::base:
            return {"Adapted", "Base", "Adapted − base", true};
        case Compared::heads:
        case Compared::sentences:
        case Compared::models:
            break;
    }
    return {"A", "B", "A − B", false};
}

/// A and B on one scale, and A − B; of changes before, after and their difference. Of heads over different
/// tokens, A and B alone.
std::vector<Panel> panels_of(const Scene& s, const MapPair& maps) {
    const PairedMap& m = *maps.map;
    const PanelNames names = names_of_panels(s);
    Panel a = panel_of(m, names.b_first, Side::a, names.a, maps.names[0]),
          b = panel_of(maps.alone ? *maps.alone : m, !names.b_first, Side::b, names.b, maps.names[1]);
    a.alone = b.alone = maps.alone;
    if (maps.alone) return {a, b};
    a.largest = b.largest = std::max({m.small_a.maxCoeff(), m.small_b.maxCoeff(), 1e-6f});
    const float max = m.small_difference.cwiseAbs().maxCoeff();
    const bool alike = max < kNoise;
    Panel difference = panel_of(m, 2, Side::a, names.difference,
                                alike           ? "no difference"
                                : names.b_first ? ""
                                                : "difference");
    difference.cells = &m.small_difference;
    difference.is_signed = true;
    if (!alike) difference.largest = max;
    return names.b_first ? std::vector{b, a, difference} : std::vector{a, b, difference};
}

/// The area of a panel, without the names of rows unless each has its own.
Rect room_of_panel(Rect area, const Panel& p) {
    if (p.alone) return nth_column(area, p.place, 2, kBetween);
    take_left(area, kRowNames + wider_names(*p.map) + gap::tight);
    return nth_column(area, p.place, 3, kBetween);
}

Panel with_place(Panel p, int place) {
    p.place = place;
    return p;
}

/// Aligns the cells of panels that share tokens.
std::vector<MatrixLayout> arrange_panels(Scene& s, Rect inside, const std::vector<Panel>& panels,
                                         bool pattern) {
    std::vector<MatrixLayout> out;
    const Rect first = room_of_panel(inside, panels[0]);
    for (const Panel& p : panels) {
        Rect room = room_of_panel(inside, p);
        if (!p.alone) room = {inside.x, inside.y, first.right() - inside.x, inside.h};
        take_top(room, kMapTitle);
        const Panel& widest = p.alone ? p : panels.back();  // which names both tokens of a place
        if (p.alone || out.empty())
            out.push_back(arrange_matrix(
                s.ui, room, panel_matrix(s, with_place(widest, p.place), std::nullopt, pattern)));
        else
            out.push_back(beside(out[0], room_of_panel(inside, p).x - first.x));
    }
    return out;
}

}  // namespace

/// Hovered, else of the focused or shown cell; of changes, the one that changed most.
std::optional<std::pair<int, int>> lit_cell(const Scene& s, const PairedMap& m, bool of_cells) {
    if (const auto& cell = s.of<CompareState>().cell) return cell;
    const auto cell = s.shown_cell();
    if (!of_cells || !cell) return std::nullopt;
    if (s.session.document.comparison.what == Compared::changes && !s.session.selection.focused())
        return changed_cell(s, m);
    const std::pair lit{index_of(m.rows, cell->first), index_of(m.columns, cell->second)};
    const bool there =
        lit.first >= 0 && lit.second >= 0 && lit.first < isize(m.rows) && lit.second < isize(m.columns);
    return there ? std::optional(lit) : std::nullopt;
}

float draw_paired_maps(Scene& s, Rect area, const MapPair& maps, float max_high) {
    Ui& ui = s.ui;
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern;
    area.h = max_high;
    std::vector<Panel> panels = panels_of(s, maps);
    const Rect inside = inset(area, size::center_pad, 0);
    const auto layouts = arrange_panels(s, inside, panels, pattern);
    s.of<CompareState>().cell.reset();
    Lit hovered_alone;
    for (int i = 0; i < isize(panels); ++i) {
        MatrixView view = panel_matrix(s, panels[i], std::nullopt, pattern);
        const Lit at = point_at_pair(s, panels[i], answer_matrix(s, layouts[i], view), pattern);
        if (panels[i].alone && panels[i].side == Side::b) hovered_alone = at;
    }
    const Lit shared = lit_cell(s, *maps.map, pattern);
    float bottom = area.y;
    for (int i = 0; i < isize(panels); ++i) {
        Panel& p = panels[i];
        const Lit lit = p.alone && p.side == Side::b ? hovered_alone : shared;
        if (lit) p.value = p.value_at(*lit);
        Rect title = room_of_panel(inside, p);
        draw_panel_title(ui, take_top(title, kMapTitle), p, lit.has_value());
        MatrixView view = panel_matrix(s, p, lit, pattern);
        if (p.is_signed && p.map->small_difference.cwiseAbs().maxCoeff() < kNoise) view.bar = {};
        draw_matrix_view(s, layouts[i], view);
        mark_absent(ui, layouts[i].grid, view.cells.places);
        bottom = std::max(bottom, layouts[i].grid.view.bottom());
    }
    Rect below{area.x, bottom + kLevelBarRoom, area.w - size::center_pad, kStepNote};
    if (maps.map->step == 1) return below.y + gap::small;
    const std::string step = std::to_string(maps.map->step);
    caption(ui, below, "each cell is the largest of " + step + " × " + step, Flush::right);
    return below.bottom();
}

}  // namespace headlight
