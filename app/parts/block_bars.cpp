// Draws rows of bars: the same keys under different scores.
#include <algorithm>
#include <cmath>

#include "paint/layout.h"
#include "paint/matrix.h"
#include "parts/blocks.h"

namespace headlight::learn {

namespace {

constexpr float kRowHigh = 116, kBarHigh = 60, kThumb = 84, kLeastBars = 60;

/// Positions of a row's parts, left to right.
struct BarColumns {
    float left = 0, name = 0, step = 0, side = 0,
          right = 0;      // side: thumbnail and note; 0 if they do not fit
    Font title = kTitle;  // smaller in all rows if one title is long
    float bars() const { return left + name; }
    float name_room() const { return name - 16; }
};

BarColumns bar_columns(Ui& ui, ImVec2 at, float width, const BarRows& bars) {
    const auto any = [&](const auto& has) { return std::any_of(bars.rows.begin(), bars.rows.end(), has); };
    const bool thumbs = any([](const auto& row) { return row.all.has_value(); });
    BarColumns c{at.x, std::clamp(width * 0.26f, 160.0f, 300.0f), 0, 0, at.x + width};
    if (any([&](const auto& row) { return ui.text.width(kTitle, row.title) > c.name_room(); }))
        c.title = kBody;
    float side = thumbs ? std::clamp(width * 0.27f, 200.0f, 300.0f) : 130;
    if (width - c.name - side < kLeastBars) side = 0;
    if (width - c.name < kLeastBars) c.name = std::max(0.0f, width - kLeastBars);
    c.side = c.right - side + 24;
    c.step = std::max(kLeastBars, width - c.name - side) / float(std::max(1, isize(bars.columns)));
    return c;
}

/// The index of the largest value; −1 if all are NaN or zero.
int largest_of(const std::vector<float>& values) {
    int out = -1;
    bool any = false;
    for (int i = 0; i < isize(values); ++i)
        if (!std::isnan(values[i])) {
            any = any || values[i] != 0;
            if (out < 0 || values[i] > values[out]) out = i;
        }
    return any ? out : -1;
}

/// A full-height bar is 1 for weights, else the largest magnitude.
struct BarScale {
    float full = 1;
    bool is_signed = false;
};
BarScale bar_scale(const std::vector<float>& values) {
    BarScale out;
    for (const float v : values)
        if (!std::isnan(v)) {
            out.full = std::max(out.full, std::abs(v));
            out.is_signed = out.is_signed || v < 0;
        }
    return out;
}

void draw_one_bar(Ui& ui, Rect well, float value, const BarScale& scale, bool largest) {
    ui.fill(well, ui.colors->dark ? ui.colors->bg2 : ui.colors->well);
    if (std::isnan(value)) return;
    const float zero = scale.is_signed ? well.middle_y() : well.bottom(), reach = zero - well.y,
                high = std::abs(value) / scale.full * reach;
    ui.fill({well.x, value < 0 ? zero : zero - high, well.w, high},
            largest ? ui.colors->accent : ui.colors->t3);
}

/// Writes a bar's number shorter and shorter: "−0.45", "−.45", "−0.5".
std::string number_of_bar(double value, int cut) {
    if (cut == 2) return number(value, 1);
    std::string text = short_number(value);
    const size_t zero = text.find("0.");
    if (cut == 1 && zero != std::string::npos && (zero == 0 || value < 0) && std::abs(value) < 1)
        text.erase(zero, 1);
    return text;
}

/// The first cut with which all of a row's numbers fit side by side; none if they do not.
std::optional<int> cut_of(Ui& ui, const std::vector<float>& values, float step) {
    for (const int cut : {0, 1, 2}) {
        std::vector<std::string> texts;
        for (const float v : values)
            if (!std::isnan(v)) texts.push_back(number_of_bar(double(v), cut));
        if (widest_of(ui, kCaptionMono, texts) + 4 <= step) return cut;
    }
    return std::nullopt;
}

void draw_bars_of(Ui& ui, const BarColumns& c, float y, const BarRows::Row& row, bool lights) {
    const int largest = lights ? largest_of(row.values) : -1;
    const BarScale scale = bar_scale(row.values);
    const float gap = c.step > 12 ? 3 : c.step > 4 ? 1 : 0;
    const std::optional<int> cut = cut_of(ui, row.values, c.step);
    const auto well_of = [&](int i) {
        return Rect{c.bars() + c.step * float(i), y + 14, c.step - gap, kBarHigh};
    };
    for (int i = 0; i < isize(row.values); ++i)
        draw_one_bar(ui, well_of(i), row.values[i], scale, i == largest);
    for (int i = 0; i < isize(row.values); ++i)  // last: hatching between fills would split the draw call
        if (std::isnan(row.values[i])) ui.hatch(well_of(i), ui.colors->hatch);
    for (int i = 0; i < isize(row.values); ++i) {
        const Rect well = well_of(i);
        if (!cut || std::isnan(row.values[i])) continue;
        const ImU32 ink = i == largest ? ui.colors->accent_text : ui.colors->t2;
        ui.text.draw_centered(well.middle_x(), well.bottom() + 14, kCaptionMono, ink,
                              number_of_bar(double(row.values[i]), *cut));
    }
}

/// The cell of a bar; none if its column is not a token.
std::optional<std::pair<int, int>> cell_of(const BarRows& bars, int column) {
    const auto& keys = bars.cells.keys;
    if (column >= isize(keys) || keys[column] < 0) return std::nullopt;
    return std::pair{bars.cells.query, keys[column]};
}

/// Frames the focused bar, shows a tooltip and handles clicks.
void answer_bars(BlockPen& pen, const BarColumns& c, float y, const BarRows& bars, int index) {
    Ui& ui = pen.ui;
    const BarRows::Row& row = bars.rows[index];
    const int count = std::min(isize(row.values), isize(bars.columns));
    if (ui.on_page() || count == 0) return;
    const auto well = [&](int column) {
        return Rect{c.bars() + c.step * float(column), y + 14, c.step, kBarHigh};
    };
    for (int i = 0; pen.focused && i < count; ++i)
        if (cell_of(bars, i) == pen.focused) ui.frame(well(i), ui.colors->accent, 2);
    const std::string path = pen.path + "/" + std::to_string(index);
    const Hit hit = ui.hit(path, {c.bars(), y + 14, c.step * float(count), kBarHigh + 22});
    if (!hit.hovered) return;
    const int column = std::clamp(int((hit.mouse.x - c.bars()) / c.step), 0, count - 1);
    const float value = row.values[column];
    ui.frame(well(column), ui.colors->hover, 2);
    ui.tooltip(path, hit,
               bars.columns[column] + ": " + (std::isnan(value) ? "masked" : number(double(value), 4)));
    pen.pointed = cell_of(bars, column);
    if (hit.clicked) pen.pressed = pen.pointed;
}

/// Draws the thumbnail of all queries' weights, the strongest key, and the note.
void draw_bar_side(BlockPen& pen, const BarColumns& c, float y, const BarRows& bars,
                   const BarRows::Row& row) {
    Ui& ui = pen.ui;
    float x = c.side;
    if (x >= c.right) return;
    if (row.all && row.all->size() > 0) {
        const float per = kThumb / float(std::max(row.all->rows(), row.all->cols()));
        draw_matrix(ui, {x, y + 12, per * float(row.all->cols()), per * float(row.all->rows())},
                    {places_of(*row.all, std::max(1e-6f, row.all->maxCoeff())), pen.weights});
        x += kThumb + 20;
    }
    const float room = c.right - x;
    if (const int i = bars.no_largest ? -1 : largest_of(row.values); i >= 0 && i < isize(bars.columns)) {
        ui.text.draw(x, y + 24, kBodyMono, ui.colors->accent_text,
                     ui.text.fitted(kBodyMono, bars.columns[i], room));
        ui.text.draw(x, y + 44, kBodyMono, ui.colors->t1, number(double(row.values[i]), 3));
    }
    ui.text.draw_wrapped(x, y + 58, room, kCaption, ui.colors->t3, row.note);
}

/// Draws title, formula and source; a long formula is smaller and wraps.
void draw_bar_name(BlockPen& pen, const BarColumns& c, float y, const BarRows::Row& row) {
    Ui& ui = pen.ui;
    const float room = c.name_room();
    const Font formula = ui.text.width(kBodyMono, row.formula) <= room ? kBodyMono : kCaptionMono;
    ui.text.draw(c.left, y + 24, c.title, row.emphasized ? ui.colors->accent_text : ui.colors->t1,
                 ui.text.fitted(c.title, row.title, room));
    const float high = ui.text.draw_wrapped(c.left, y + 38, room, formula, ui.colors->t1, row.formula);
    explain(pen, {c.left, y + 10, room, 28 + high}, row.title + ": " + row.formula);
    ui.text.draw_wrapped(c.left, y + 40 + high, room, kCaption, ui.colors->t3, row.source);
}

}  // namespace

float draw_bar_rows(BlockPen& pen, ImVec2 at, float width, const BarRows& bars) {
    Ui& ui = pen.ui;
    const BarColumns c = bar_columns(ui, at, width, bars);
    float y = at.y + column_labels_height(ui, bars.columns, c.step);
    draw_column_labels(ui, c.bars(), y, c.step, bars.columns);
    for (int i = 0; i < isize(bars.rows); ++i, y += kRowHigh) {
        if (ui.in_sight({at.x, y, width, kRowHigh})) {
            ui.hairline(at.x, y, c.right, y);
            draw_bar_name(pen, c, y, bars.rows[i]);
            draw_bars_of(ui, c, y, bars.rows[i], !bars.no_largest);
            draw_bar_side(pen, c, y, bars, bars.rows[i]);
        }
        answer_bars(pen, c, y, bars, i);
    }
    return y - at.y;
}

}  // namespace headlight::learn
