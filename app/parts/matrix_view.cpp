#include "parts/matrix_view.h"

#include <algorithm>

#include "parts/controls.h"

namespace headlight {

namespace {

constexpr float kNumberedHigh = 15, kNoteHigh = 20, kLeastOfCell = 1e-3f;

/// Heights of the parts below the cells.
struct Foot {
    float bar = 0, note = 0;
    float whole() const { return bar + note; }
};

Foot foot_of(Ui& ui, const MatrixView& m, Rect room) {
    constexpr float kMaxNote = 0.34f;  // share of the height: a longer note is omitted
    Foot out;
    if (m.bar.colors && !m.upright) out.bar = kLevelBarRoom;
    if (m.note.size() == 1) out.note = gap::tight + ui.text.wrapped_height(room.w, kCaption, m.note[0]);
    if (m.note.size() > 1) out.note = gap::tight + kNoteHigh;
    if (out.note > kMaxNote * room.h) out.note = 0;
    return out;
}

/// Fits the cells into the space that labels of this orientation leave.
MatrixLayout arranged(Ui& ui, Rect room, const MatrixView& m, Lean lean, float widest) {
    const auto rows = narrow<int>(m.cells.places.rows()), columns = narrow<int>(m.cells.places.cols());
    MatrixLayout out;
    out.lean = lean;
    out.names = names_height(lean, widest, m.columns.number != nullptr);
    take_top(room, room_above(ui, m.rows, m.columns, out.names));
    if (lean == Lean::slanted) take_right(room, std::max(0.0f, out.names - kPlainNames - m.right - m.free));
    const auto whole = [&](float cell) {
        return cell >= 4 ? ui.whole(cell) : cell;  // rounding smaller ones would waste space
    };
    const auto side = [](float all, int count, float max) {
        return std::clamp(all / float(std::max(1, count)), kLeastOfCell, max);
    };
    float w = side(room.w, columns, m.max_w), h = side(room.h, rows, m.max_h);
    if (m.ratio > 0) {
        w = std::min(w, m.ratio * h);
        h = std::min(w, h);
    }
    w = whole(w);
    h = whole(h);
    out.grid = grid_at(room.min(), rows, columns, w, h);
    return out;
}

void write_numbers(Ui& ui, const Grid& g, const MatrixView& m) {
    if (!m.number || g.w < m.numbered || g.h < kNumberedHigh) return;
    for (int r = 0; r < g.rows; ++r)
        for (int c = 0; c < g.columns && g.touches_row(r); ++c)
            if (const float place = m.cells.places(r, c); place >= 0)
                write(ui, g.cell(r, c), kCaptionMono, ink_on(color_at(m.cells.colors, place)), m.number(r, c),
                      Flush::center);
}

void draw_mark(Ui& ui, const Grid& g, const MatrixView& m) {
    if (!m.marked || m.marked->first >= g.rows || m.marked->second >= g.columns) return;
    const ImU32 row = m.hovered ? ui.colors->hover : ui.colors->accent,
                column = m.hovered ? ui.colors->hover : ui.colors->t2;
    draw_crosshair(ui, {g.view, g.cell(m.marked->first, m.marked->second), row, column, row});
}

void draw_names(Ui& ui, const MatrixLayout& l, const MatrixView& m) {
    TokenAxis rows = m.rows, columns = m.columns;
    if (m.marked) std::tie(rows.lit, columns.lit) = *m.marked;
    columns.lean = l.lean;
    if (!columns.lit_ink) columns.lit_ink = ui.colors->t1;
    if (!columns.lit_back) columns.lit_back = ui.colors->bg3;
    if (rows.name) rows.draw_rows(ui, l.grid);
    if (columns.name) columns.draw_columns(ui, l.grid);
    name_axes(ui, l.grid, rows, columns, l.names);
}

void draw_foot(Ui& ui, const MatrixLayout& l, const MatrixView& m) {
    if (m.bar.colors) {
        ColorBar bar = m.bar;
        if (m.marked)
            if (const float place = m.cells.places(m.marked->first, m.marked->second); place >= 0)
                bar.marked = place;
        draw_color_bar(ui, bar, l.bar);
    }
    if (l.note.h <= 0) return;
    if (m.note.size() == 1) caption_lines(ui, l.note, m.note[0]);
    if (m.note.size() > 1) caption(ui, l.note, first_that_fits(ui, kCaption, m.note, l.note.w));
}

}  // namespace

MatrixLayout arrange_matrix(Ui& ui, Rect area, const MatrixView& m) {
    Rect room = area;
    if (m.rows.room > 0) take_left(room, m.rows.room, gap::tight);
    const float wide = room.w, right = room.right();
    const Foot foot = foot_of(ui, m, room);
    take_right(room, m.right + (m.bar.colors && m.upright ? gap::section + kUprightBarRoom : 0));
    take_bottom(room, m.below + foot.whole());
    const bool level = m.level || !m.columns.name;
    const float widest = level ? 0 : m.columns.widest(ui, narrow<int>(m.cells.places.cols()));
    MatrixLayout out;
    for (const Lean lean : {Lean::level, Lean::slanted, Lean::upright}) {
        out = arranged(ui, room, m, lean, widest);
        if (level || lean >= lean_of(widest, out.grid.w)) break;
    }
    Grid under = out.grid;
    under.view.h += m.below;
    out.bar = m.upright ? upright_bar(out.grid, m.right) : level_bar(under, right);
    const float over = m.upright ? std::max(under.view.bottom(), out.bar.bottom()) + gap::tight
                                 : under.view.bottom() + foot.bar;
    out.note = {out.grid.view.x, over + gap::tight, wide, std::max(0.0f, foot.note - gap::tight)};
    return out;
}

MatrixLayout beside(MatrixLayout l, float away) {
    for (Rect* r : {&l.grid.view, &l.bar, &l.note}) r->x += away;
    return l;
}

MatrixAnswer answer_matrix(Scene& s, const MatrixLayout& l, MatrixView& m) {
    const Hit hit = s.ui.hit(m.path, l.grid.view);
    if (!hit.hovered || m.cells.places.size() == 0) return {};
    const std::pair cell = l.grid.at(hit.mouse);
    const std::string tip = m.tip ? m.tip(cell.first, cell.second) : "";
    if (m.tip && tip.empty()) return {};
    if (m.inspected)
        tooltip_without_inspector(s, m.path, hit, tip);
    else if (m.tip)
        s.ui.tooltip(m.path, hit, tip);
    m.marked = cell;
    m.hovered = true;
    return {cell, hit.clicked};
}

void draw_matrix_view(Scene& s, const MatrixLayout& l, const MatrixView& m) {
    Ui& ui = s.ui;
    const Grid& g = l.grid;
    const bool scrolls = g.h * float(g.rows) > g.view.h + 1 || g.w * float(g.columns) > g.view.w + 1;
    if (scrolls) ui.clip(g.view);
    draw_matrix(ui, g.whole(), m.cells);
    write_numbers(ui, g, m);
    if (scrolls) ui.unclip();
    if (scrolls) ui.clip(inset(g.view, -3, -3));
    draw_mark(ui, g, m);
    if (scrolls) ui.unclip();
    draw_names(ui, l, m);
    draw_foot(ui, l, m);
}

}  // namespace headlight
