// A, B and their signed difference side by side, and what stands out in them.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

struct Panel {
    std::string letter, name;
    const Matrix* cells;  // as they are drawn
    float value = 0;      // of the shown cell
    bool is_signed = false;
    float largest = 1;
};

constexpr float kRowNames = 84, kBetween = 36, kWidestName = 72, kLargestComparedCell = 64,
                kWiderThanHigh = 1.6f, kMapTitle = 36, kUnderMap = 50, kStepNote = 24;

/// Where the three maps stand; one cell covers some rows and columns of the pair.
struct PairLayout {
    std::array<Rect, 3> titles;
    std::array<Grid, 3> grids;
    int step = 1;

    std::pair<int, int> at(const Grid& g, ImVec2 mouse, const PairedMap& m) const {
        const auto [row, column] = g.at(mouse);
        return {std::min(row * step, isize(m.rows) - 1), std::min(column * step, isize(m.columns) - 1)};
    }
};

PairLayout arrange(Ui& ui, Rect area, const PairedMap& m, bool square) {
    PairLayout l;
    l.step = m.step;
    const float names =
        names_height(Lean::slanted, widest_of(ui, kCaptionMono, m.column_labels, kWidestName));
    Rect inside = inset(area, size::center_pad, 0);
    take_left(inside, kRowNames, gap::tight);
    const Rect titles = take_top(inside, kMapTitle);
    take_top(inside, names);
    const auto columns = narrow<int>(m.small_a.cols()), rows = narrow<int>(m.small_a.rows());
    const float room = nth_column(inside, 0, 3, kBetween).w,
                across = std::min(room / float(columns), kLargestComparedCell),
                down = std::min((inside.h - kUnderMap) / float(rows), kLargestComparedCell);
    const auto whole = [&](float cell) { return std::max(ui.line(), ui.whole(cell)); };
    const float w = whole(square ? std::min(across, kWiderThanHigh * down) : across),
                h = square ? std::min(w, whole(down)) : whole(down);
    for (int i = 0; i < 3; ++i) {
        l.titles[i] = nth_column(titles, i, 3, kBetween);
        l.grids[i] = grid_at({l.titles[i].x, inside.y}, rows, columns, w, h);
    }
    return l;
}

void draw_cells(Scene& s, const Panel& p, const PairedMap& m, const Grid& g) {
    Ui& ui = s.ui;
    Matrix places = p.is_signed ? signed_places_of(*p.cells, p.largest) : places_of(*p.cells, p.largest);
    for (Index i = 0; i < places.size(); ++i) {
        const float a = m.small_a.data()[i], b = m.small_b.data()[i], v = p.cells->data()[i];
        if (p.is_signed ? std::min(a, b) == kAbsent : v == kAbsent)
            places.data()[i] = kNoCell;
        else if (p.is_signed ? std::max(a, b) < 0 : v == kMasked)
            places.data()[i] = kMaskedCell;
    }
    draw_matrix(ui, g.view,
                {places,
                 p.is_signed ? signed_colormap(ui.colors->dark)
                             : colormap(s.session.preferences.colormap, ui.colors->dark),
                 p.is_signed});
    if (cell_gap(ui, g.w, g.h) == 0) return;
    const float dot = 2 * ui.line();
    for (Index r = 0; r < places.rows(); ++r)
        for (Index c = 0; c < places.cols(); ++c)
            if (places(r, c) == kNoCell)
                ui.fill(square_at(g.cell(int(r), int(c)).middle(), dot), ui.colors->l2);
}

/// A row or column of the pair that a cell stands for: the lit one where it is among them.
int pair_index(int cell, int step, int lit) { return lit >= 0 && lit / step == cell ? lit : cell * step; }

void draw_column_names(Scene& s, const PairedMap& m, const Grid& g, int lit) {
    Ui& ui = s.ui;
    TokenAxis names{[&](int i) {
        return ui.text.fitted(kCaptionMono, m.column_labels[pair_index(i, m.step, lit)], kWidestName);
    }};
    names.ink = [&](int i) { return m.columns[i * m.step].both() ? ui.colors->t3 : ui.colors->l2; };
    names.lean = Lean::slanted;
    names.lit = lit < 0 ? -1 : lit / m.step;
    names.lit_ink = ui.colors->t1;
    names.lit_back = ui.colors->bg3;
    names.draw_columns(ui, g);
}

void draw_row_names(Scene& s, const PairedMap& m, const Grid& g, int lit, bool numbered) {
    TokenAxis names{[&](int i) { return m.row_labels[pair_index(i, m.step, lit)]; }};
    if (numbered)
        names.number = [&](int i) {
            const int a = m.rows[pair_index(i, m.step, lit)].a;
            return a < 0 ? std::string() : std::to_string(a);
        };
    names.room = kRowNames;
    names.lit = lit < 0 ? -1 : lit / m.step;
    names.draw_rows(s.ui, g);
}

void draw_cross(Scene& s, const Grid& g, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const bool hovered = s.of<CompareState>().cell.has_value();
    const ImU32 rows = hovered ? ui.colors->hover : ui.colors->accent,
                columns = hovered ? ui.colors->hover : ui.colors->t2;
    draw_crosshair(ui, {g.view, g.cell(cell.first, cell.second), rows, columns, rows});
}

void draw_bar(Scene& s, const Panel& p, const Grid& g, float room) {
    Ui& ui = s.ui;
    const Colormap& colors = p.is_signed ? signed_colormap(ui.colors->dark)
                                         : colormap(s.session.preferences.colormap, ui.colors->dark);
    ColorBar bar = range_bar(colors, double(p.largest), p.is_signed);
    bar.marked = p.is_signed ? 0.5f + 0.5f * p.value / p.largest : p.value / p.largest;
    draw_color_bar(ui, bar, level_bar(g, g.view.x + room));
}

/// The place under the mouse, in any of the three maps.
void answer_maps(Scene& s, const PairedMap& m, const PairLayout& l, bool of_cells) {
    auto& cell = s.of<CompareState>().cell;
    cell.reset();
    for (size_t i = 0; i < l.grids.size(); ++i) {
        const Hit h = s.ui.hit("compare/map/" + std::to_string(i), l.grids[i].view);
        if (!h.hovered) continue;
        cell = l.at(l.grids[i], h.mouse, m);
        const TokenPair &row = m.rows[cell->first], &column = m.columns[cell->second];
        if (!of_cells || row.a < 0 || column.a < 0) continue;
        s.point_at(std::pair{row.a, column.a});
        if (!h.clicked) continue;
        s.lock(s.session.selection.hovered.cell);
        s.leave_text();
    }
}

/// Row and column that are lit: under the mouse, else those of the shown cell.
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
                       float most_high) {
    Ui& ui = s.ui;
    const bool square = s.of<CompareState>().show == ComparedShow::pattern;  // else rows are layers
    const PairLayout l = arrange(ui, {area.x, area.y, area.w, most_high}, m, square);
    answer_maps(s, m, l, square);
    const auto lit = lit_cell(s, m, square);
    const auto value = [&](const Matrix& of) { return lit ? of(lit->first, lit->second) : 0.0f; };
    const float shared = std::max({m.small_a.maxCoeff(), m.small_b.maxCoeff(), 1e-6f}),
                max = m.small_difference.cwiseAbs().maxCoeff();
    const bool alike = max < kNoise;
    const Panel panels[] = {{"A", names[0], &m.small_a, std::max(0.0f, value(m.a)), false, shared},
                            {"B", names[1], &m.small_b, std::max(0.0f, value(m.b)), false, shared},
                            {"A − B", alike ? "no difference" : "difference", &m.small_difference,
                             value(m.difference), true, alike ? 1 : max}};
    for (size_t i = 0; i < l.grids.size(); ++i) {
        const Grid& g = l.grids[i];
        draw_panel_title(ui, l.titles[i], panels[i], lit.has_value());
        draw_cells(s, panels[i], m, g);
        draw_column_names(s, m, g, lit ? lit->second : -1);
        if (i == 0) draw_row_names(s, m, g, lit ? lit->first : -1, square);
        if (lit) draw_cross(s, g, {lit->first / m.step, lit->second / m.step});
        if (!panels[i].is_signed || !alike) draw_bar(s, panels[i], g, l.titles[i].w);
    }
    Rect below{area.x, l.grids[0].view.bottom() + kUnderMap, area.w - size::center_pad, kStepNote};
    if (m.step == 1) return below.y + gap::small;
    const std::string step = std::to_string(m.step);
    caption(ui, below, "each cell is the largest of " + step + " × " + step, Flush::right);
    return below.bottom();
}

}  // namespace headlight
