#include "parts/token_axis.h"

#include "figure/figure.h"
#include "parts/map_parts.h"

namespace headlight {

namespace {

constexpr float kLeastHigh = 20, kApartTokens = 19, kSlantedApart = 26, kRowStep = 16, kSlantedStep = 22,
                kLeastName = 34, kLeanAside = 2, kLeanAway = 11;

/// Calls for each name that is drawn, the lit one last.
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

/// Columns beside rows: numbers, and names as wide as the widest that is drawn.
struct RowColumns {
    float number = 0, name = 0;
    float whole() const { return (number > 0 ? gap::tight + number + gap::close : 0) + name + gap::small; }
};

RowColumns measured(Ui& ui, const TokenAxis& axis) {
    RowColumns c;
    if (axis.number) c.number = ui.text.width(kCaptionMono, axis.number(axis.grid.rows - 1));
    const float max = axis.room - c.whole();
    c.name = std::min(kLeastName, max);
    for_names(axis.grid.rows, axis.lit, axis.grid.h, kRowStep, kApartTokens, [&](int i, bool) {
        if (axis.grid.sees_row(i))
            c.name = std::clamp(ui.text.width(axis.font, axis.name(i)), c.name, std::max(c.name, max));
    });
    return c;
}

void draw_row_name(Ui& ui, const TokenAxis& axis, const RowColumns& columns, int i, bool on) {
    const Grid& g = axis.grid;
    if (!g.sees_row(i)) return;
    Rect beside{g.view.x - gap::tight - columns.whole(), g.y(i), columns.whole(), g.h};
    if (on) fill_lit(ui, axis, band(beside, axis.snug ? kLeastHigh : std::max(g.h, kLeastHigh)));
    const ImU32 ink = ink_of(ui, axis, i, on);
    take_right(beside, 0, gap::small);
    write(ui, take_right(beside, columns.name, gap::close), axis.font, ink, axis.name(i), Flush::right);
    if (axis.number) write(ui, beside, kCaptionMono, on ? ink : ui.colors->t3, axis.number(i), Flush::right);
}

void draw_column_name(Ui& ui, const TokenAxis& axis, int i, bool on) {
    const Grid& g = axis.grid;
    if (!g.sees_column(i)) return;
    const ImU32 ink = ink_of(ui, axis, i, on);
    const std::string name = axis.name(i);
    if (axis.slanted) {
        const ImU32 back = axis.lit_back ? axis.lit_back : ui.colors->accent_fill;
        const ImVec2 from{g.middle_x(i) + (axis.below ? -kLeanAside : kLeanAside),
                          axis.below ? g.view.bottom() + kLeanAway : g.view.y - kLeanAway};
        return draw_slanted(ui, from, ink, name, on ? back : 0, axis.below);
    }
    const float high = axis.number ? 2 * kLeastHigh : kLeastHigh;
    const float needed = on ? ui.text.width(axis.font, name) + gap::small : 0,
                wide = axis.snug ? needed : std::max(g.w - ui.line(), needed);
    const float top = axis.below ? g.view.bottom() + gap::tight : g.view.y - gap::tight - high;
    Rect above{g.middle_x(i) - wide / 2, top, wide, high};
    if (on) fill_lit(ui, axis, above);
    if (axis.number)
        ui.text.draw_centered(above.middle_x(), take_top(above, kLeastHigh).middle_y(), kCaptionMono,
                              on ? ink : ui.colors->t3, axis.number(i));
    ui.text.draw_centered(above.middle_x(), above.middle_y(), axis.font, ink, name);
}

}  // namespace

void TokenAxis::draw_rows(Ui& ui) const {
    if (grid.rows == 0) return;
    const RowColumns columns = measured(ui, *this);
    for_names(grid.rows, lit, grid.h, kRowStep, kApartTokens,
              [&](int i, bool on) { draw_row_name(ui, *this, columns, i, on); });
}

void TokenAxis::draw_columns(Ui& ui) const {
    if (grid.columns == 0) return;
    const float needed = slanted ? kSlantedStep : ui.text.width(font, name(grid.columns - 1)) + gap::close;
    for_names(grid.columns, lit, grid.w, apart > 0 ? apart : needed, slanted ? kSlantedApart : kApartTokens,
              [&](int i, bool on) { draw_column_name(ui, *this, i, on); });
}

float slanted_names(float widest) { return slanted_height(widest) + kPlainNames; }

void name_axes(Ui& ui, const Grid& grid, float left, const std::string& rows, const std::string& columns) {
    Rect above{left, grid.view.y - kNumberedNames, grid.view.x - left, 2 * kLeastHigh};
    caption(ui, take_top(above, kLeastHigh), columns + " →");
    caption(ui, above, rows + " ↓");
}

std::function<std::string(int)> names_of(const std::vector<std::string>& labels) {
    return [&labels](int i) { return labels[i]; };
}

std::string index_name(int i) { return std::to_string(i); }

}  // namespace headlight
