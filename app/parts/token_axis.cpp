#include "parts/token_axis.h"

#include <array>
#include <cmath>

#include "figure/figure.h"

namespace headlight {

namespace {

constexpr float kApartTokens = 19, kRowStep = 15, kSlantedStep = 22, kLeastName = 34, kSlant = 0.7854f,
                kUpright = 1.5708f;

float angle_of(Lean lean) { return lean == Lean::slanted ? kSlant : kUpright; }

/// Calls `draw` for each name that fits, the highlighted one last.
template <class Draw>
void for_names(int count, int lit, float cell, float step, float apart, const Draw& draw) {
    const int every = label_step(cell, step);
    for (int i = 0; i < count; i += every)
        if (lit < 0 || (i != lit && (every == 1 || std::abs(float(i - lit)) * cell >= apart))) draw(i, false);
    if (lit >= 0 && lit < count) draw(lit, true);
}

ImU32 ink_of(const Ui& ui, const TokenAxis& axis, int i, bool on) {
    if (on) return axis.lit_ink ? axis.lit_ink : ui.colors->accent_text;
    return axis.ink ? axis.ink(i) : ui.colors->t1;
}

void fill_lit(Ui& ui, const TokenAxis& axis, Rect r) {
    ui.fill(r, ui.colors->bg1);
    ui.fill(r, axis.lit_back ? axis.lit_back : ui.colors->accent_fill);
}

/// Widths of the columns beside rows: numbers, and the widest drawn name.
struct RowColumns {
    float number = 0, name = 0;
    float whole() const { return (number > 0 ? gap::tight + number + gap::close : 0) + name + gap::small; }
};

RowColumns measured(Ui& ui, const Grid& g, const TokenAxis& axis) {
    RowColumns c;
    if (axis.number) c.number = ui.text.width(kCaptionMono, axis.number(g.rows - 1));
    const float max = axis.room - c.whole();
    c.name = std::min(kLeastName, max);
    for_names(g.rows, axis.lit, g.h, kRowStep, kApartTokens, [&](int i, bool) {
        if (g.sees_row(i))
            c.name = std::clamp(ui.text.width(axis.font, axis.name(i)), c.name, std::max(c.name, max));
    });
    return c;
}

void draw_row_name(Ui& ui, const Grid& g, const TokenAxis& axis, const RowColumns& columns, int i, bool on) {
    if (!g.sees_row(i)) return;
    Rect beside{g.view.x - gap::tight - columns.whole(), g.y(i), columns.whole(), g.h};
    if (on) fill_lit(ui, axis, band(beside, axis.snug ? kNameLine : std::max(g.h, kNameLine)));
    const ImU32 ink = ink_of(ui, axis, i, on);
    take_right(beside, 0, gap::small);
    write(ui, take_right(beside, columns.name, gap::close), axis.font, ink, axis.name(i), Flush::right);
    if (axis.number) write(ui, beside, kCaptionMono, on ? ink : ui.colors->t3, axis.number(i), Flush::right);
}

/// A slanted name begins above the middle of its column.
void draw_leaning_name(Ui& ui, const Grid& g, const TokenAxis& axis, int i, bool on) {
    constexpr float kAside = 2, kAway = 11, kUprightAway = 7;
    const bool slanted = axis.lean == Lean::slanted;
    const float away = slanted ? kAway : kUprightAway, aside = !slanted ? 0 : axis.below ? -kAside : kAside;
    const ImVec2 from{g.middle_x(i) + aside, axis.below ? g.view.bottom() + away : g.view.y - away};
    const ImU32 back = axis.lit_back ? axis.lit_back : ui.colors->accent_fill;
    draw_leaning(ui, {from, axis.lean, axis.below}, ink_of(ui, axis, i, on),
                 ui.text.fitted(axis.font, axis.name(i), axis.room), on ? back : 0);
}

void draw_level_name(Ui& ui, const Grid& g, const TokenAxis& axis, int i, bool on) {
    const ImU32 ink = ink_of(ui, axis, i, on);
    const std::string name = axis.name(i);
    const float high = axis.number ? 2 * kNameLine : kNameLine;
    const float needed = on ? ui.text.width(axis.font, name) + gap::small : 0,
                wide = axis.snug ? needed : std::max(g.w - ui.line(), needed);
    const float top = axis.below ? g.view.bottom() + gap::tight : g.view.y - gap::tight - high;
    Rect above{g.middle_x(i) - wide / 2, top, wide, high};
    if (on) fill_lit(ui, axis, above);
    if (axis.number)
        ui.text.draw_centered(above.middle_x(), take_top(above, kNameLine).middle_y(), kCaptionMono,
                              on ? ink : ui.colors->t3, axis.number(i));
    ui.text.draw_centered(above.middle_x(), above.middle_y(), axis.font, ink, name);
}

/// True if the columns' title fits in the corner left of their names.
bool title_fits_corner(Ui& ui, const TokenAxis& rows, const TokenAxis& columns) {
    return ui.text.width(kCaption, columns.title + " →") <= rows.room - gap::tight;
}

}  // namespace

Lean lean_of(float widest, float cell) {
    if (widest + gap::close <= cell) return Lean::level;
    return cell >= kSlantedStep ? Lean::slanted : Lean::upright;
}

float names_height(Lean lean, float widest, bool numbered) {
    if (lean == Lean::level) return numbered ? kNumberedNames : kPlainNames;
    return widest * std::sin(angle_of(lean)) + kPlainNames;
}

float TokenAxis::widest(Ui& ui, int count) const {
    float out = 0;
    for (int i = 0; i < count; ++i) out = std::max(out, ui.text.width(font, name(i)));
    return std::min(out, room);
}

void TokenAxis::draw_rows(Ui& ui, const Grid& grid) const {
    if (grid.rows == 0) return;
    const RowColumns columns = measured(ui, grid, *this);
    for_names(grid.rows, lit, grid.h, kRowStep, kApartTokens,
              [&](int i, bool on) { draw_row_name(ui, grid, *this, columns, i, on); });
}

void TokenAxis::draw_columns(Ui& ui, const Grid& grid) const {
    if (grid.columns == 0) return;
    const bool level = lean == Lean::level;
    const float step = level                   ? ui.text.width(font, name(grid.columns - 1)) + gap::close
                       : lean == Lean::slanted ? kSlantedStep
                                               : kRowStep;
    for_names(grid.columns, lit, grid.w, step, level ? kApartTokens : step, [&](int i, bool on) {
        if (grid.sees_column(i)) (level ? draw_level_name : draw_leaning_name)(ui, grid, *this, i, on);
    });
}

void name_axes(Ui& ui, const Grid& grid, const TokenAxis& rows, const TokenAxis& columns, float high) {
    const float left = grid.view.x - gap::tight - rows.room;
    Rect corner{left, grid.view.y - gap::tight - 2 * kNameLine, rows.room, 2 * kNameLine};
    const Rect over{grid.view.x, grid.view.y - high - kNameLine, 2 * rows.room, kNameLine};
    const Rect upper = take_top(corner, kNameLine);
    if (!columns.title.empty())
        caption(ui, title_fits_corner(ui, rows, columns) ? upper : over, columns.title + " →");
    if (!rows.title.empty()) caption(ui, corner, rows.title + " ↓");
}

float room_above(Ui& ui, const TokenAxis& rows, const TokenAxis& columns, float high) {
    if (columns.title.empty()) return high;
    return title_fits_corner(ui, rows, columns) ? std::max(high, kNumberedNames) : high + kNameLine;
}

void draw_leaning(Ui& ui, const Leaning& at, ImU32 ink, const std::string& label, ImU32 back) {
    constexpr float kBefore = 3, kLonger = 7, kHalfHigh = 9;
    const float angle = (at.down ? 1 : -1) * angle_of(at.lean);
    if (back) {
        const ImVec2 along{std::cos(angle), std::sin(angle)}, half{-along.y * kHalfHigh, along.x * kHalfHigh};
        const float end = ui.text.width(kCaptionMono, label) + kLonger;
        const ImVec2 a{at.from.x - kBefore * along.x, at.from.y - kBefore * along.y},
            b{at.from.x + end * along.x, at.from.y + end * along.y};
        const std::array<ImVec2, 4> box{{{a.x - half.x, a.y - half.y},
                                         {b.x - half.x, b.y - half.y},
                                         {b.x + half.x, b.y + half.y},
                                         {a.x + half.x, a.y + half.y}}};
        ui.polygon(box, ui.colors->bg1);
        ui.polygon(box, back);
    }
    ui.text.draw(at.from.x, at.from.y, kCaptionMono, ink, label, angle);
}

std::function<std::string(int)> names_of(const std::vector<std::string>& labels) {
    return [&labels](int i) { return labels[i]; };
}

std::string index_name(int i) { return std::to_string(i); }

}  // namespace headlight
