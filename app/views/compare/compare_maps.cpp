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
    std::string letter, name;
    const Matrix* cells;  // as drawn
    float value;          // of the shown cell
    bool is_signed;
    float largest;

    float value_at(const PairedMap& m, std::pair<int, int> cell) const {
        if (is_signed) return m.difference(cell.first, cell.second);
        return std::max(0.0f, (place == 0 ? m.a : m.b)(cell.first, cell.second));
    }
};

constexpr float kRowNames = 84, kBetween = 36, kWidestName = 72, kLargestComparedCell = 64,
                kWiderThanHigh = 1.6f, kMapTitle = 36, kStepNote = 24;

/// Maps a panel to colors; tokens that only one of both has get no cell.
Matrix places_of_panel(const Panel& p, const PairedMap& m) {
    Matrix places = p.is_signed ? signed_places_of(*p.cells, p.largest) : places_of(*p.cells, p.largest);
    for (Index i = 0; i < places.size(); ++i) {
        const float a = m.small_a.data()[i], b = m.small_b.data()[i], v = p.cells->data()[i];
        if (p.is_signed ? std::min(a, b) == kAbsent : v == kAbsent)
            places.data()[i] = kNoCell;
        else if (p.is_signed ? std::max(a, b) < 0 : v == kMasked)
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

MatrixView panel_matrix(const Scene& s, const Panel& p, const PairedMap& m, const Lit& lit, bool pattern) {
    const Colormap& colors = p.is_signed ? signed_colormap(s.ui.colors->dark)
                                         : colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const int row = lit ? lit->first : -1, column = lit ? lit->second : -1;
    MatrixView out{.path = "compare/map/" + std::to_string(p.place),
                   .cells = {places_of_panel(p, m), colors, p.is_signed},
                   .rows = {[&m, row](int i) { return m.row_labels[pair_index(i, m.step, row)]; },
                            pattern ? "query" : "layer"},
                   .columns = {[&m, column](int i) { return m.column_labels[pair_index(i, m.step, column)]; },
                               pattern ? "key" : "token"},
                   .bar = range_bar(colors, double(p.largest), p.is_signed),
                   .max_w = kLargestComparedCell,
                   .max_h = kLargestComparedCell,
                   .ratio = pattern ? kWiderThanHigh : 0,  // else rows are layers
                   .free = size::center_pad,
                   .hovered = s.of<CompareState>().cell.has_value()};
    out.rows.room = kRowNames;
    out.columns.room = kWidestName;
    out.columns.ink = [&s, &m](int i) {
        return m.columns[i * m.step].both() ? s.ui.colors->t3 : s.ui.colors->l2;
    };
    if (pattern)
        out.rows.number = [&m, row](int i) {
            const int a = m.rows[pair_index(i, m.step, row)].a;
            return a < 0 ? std::string() : std::to_string(a);
        };
    if (p.place > 0) out.rows = {.name = nullptr, .room = 0};
    if (p.place > 0) out.columns.title = "";
    if (lit) out.marked = {row / m.step, column / m.step};
    return out;
}

/// The area of a panel.
Rect room_of_panel(Rect area, int place) {
    take_left(area, kRowNames + gap::tight);
    return nth_column(area, place, 3, kBetween);
}

/// Stores the cell hovered in any of the three maps.
void point_at_pair(Scene& s, const PairedMap& m, const MatrixAnswer& answer, bool of_cells) {
    if (!answer.hovered) return;
    auto& cell = s.of<CompareState>().cell;
    cell = {std::min(answer.hovered->first * m.step, isize(m.rows) - 1),
            std::min(answer.hovered->second * m.step, isize(m.columns) - 1)};
    const TokenPair &row = m.rows[cell->first], &column = m.columns[cell->second];
    if (!of_cells || row.a < 0 || column.a < 0) return;
    s.point_at(std::pair{row.a, column.a});
    if (!answer.pressed) return;
    s.lock(s.session.selection.hovered.cell);
    s.leave_text();
}

/// The highlighted row and column: hovered, else of the shown cell.
std::optional<std::pair<int, int>> lit_cell(const Scene& s, const PairedMap& m, bool of_cells) {
    if (const auto& cell = s.of<CompareState>().cell) return cell;
    const auto cell = s.shown_cell();
    if (!of_cells || !cell) return std::nullopt;
    const std::pair lit{index_of(m.rows, cell->first), index_of(m.columns, cell->second)};
    const bool there =
        lit.first >= 0 && lit.second >= 0 && lit.first < isize(m.rows) && lit.second < isize(m.columns);
    return there ? std::optional(lit) : std::nullopt;
}

/// "A  Head 3.0      0.213"
void draw_panel_title(Ui& ui, Rect line, const Panel& p, bool valued) {
    if (valued) {
        const std::string value = p.is_signed ? signed_number(p.value, 3) : number(p.value, 3);
        write(ui, line, kBodyMono, ui.colors->accent_text, value, Flush::right);
        take_right(line, ui.text.width(kBodyMono, value), gap::medium);
    }
    const ImU32 ink = p.letter == "A" ? ui.colors->accent_text : ui.colors->t1;
    take_left(line, write(ui, line, kBody, ink, p.letter), gap::medium);
    constexpr std::string_view kHead = "Head ";
    const std::string shorter = p.is_signed                 ? ""
                                : p.name.starts_with(kHead) ? p.name.substr(kHead.size())
                                                            : p.name;
    write(ui, line, kBody, ui.colors->t2, first_that_fits(ui, kBody, {p.name, shorter}, line.w));
}

}  // namespace

float draw_paired_maps(Scene& s, Rect area, const PairedMap& m, const std::array<std::string, 2>& names,
                       float max_high) {
    Ui& ui = s.ui;
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern;
    area.h = max_high;
    const float shared = std::max({m.small_a.maxCoeff(), m.small_b.maxCoeff(), 1e-6f}),
                max = m.small_difference.cwiseAbs().maxCoeff();
    const bool alike = max < kNoise;
    Panel panels[] = {
        {0, "A", names[0], &m.small_a, 0, false, shared},
        {1, "B", names[1], &m.small_b, 0, false, shared},
        {2, "A − B", alike ? "no difference" : "difference", &m.small_difference, 0, true, alike ? 1 : max}};
    const Rect inside = inset(area, size::center_pad, 0);
    Rect first{inside.x, inside.y, room_of_panel(inside, 0).right() - inside.x, inside.h};
    take_top(first, kMapTitle);
    const MatrixLayout at = arrange_matrix(ui, first, panel_matrix(s, panels[0], m, std::nullopt, pattern));
    const auto layout = [&](const Panel& p) {
        return beside(at, room_of_panel(inside, p.place).x - room_of_panel(inside, 0).x);
    };
    s.of<CompareState>().cell.reset();
    for (const Panel& p : panels) {
        MatrixView view = panel_matrix(s, p, m, std::nullopt, pattern);
        point_at_pair(s, m, answer_matrix(s, layout(p), view), pattern);
    }
    const Lit lit = lit_cell(s, m, pattern);
    for (Panel& p : panels) {
        if (lit) p.value = p.value_at(m, *lit);
        Rect title = room_of_panel(inside, p.place);
        draw_panel_title(ui, take_top(title, kMapTitle), p, lit.has_value());
        MatrixView view = panel_matrix(s, p, m, lit, pattern);
        if (p.is_signed && alike) view.bar = {};
        draw_matrix_view(s, layout(p), view);
        mark_absent(ui, layout(p).grid, view.cells.places);
    }
    Rect below{area.x, at.grid.view.bottom() + kLevelBarRoom, area.w - size::center_pad, kStepNote};
    if (m.step == 1) return below.y + gap::small;
    const std::string step = std::to_string(m.step);
    caption(ui, below, "each cell is the largest of " + step + " × " + step, Flush::right);
    return below.bottom();
}

}  // namespace headlight
