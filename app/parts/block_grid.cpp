// Draws a matrix with labels, and numbers in its cells if they fit.
#include <algorithm>
#include <cmath>
#include <utility>

#include "figure/figure.h"
#include "learn/controls.h"
#include "paint/layout.h"
#include "paint/matrix.h"
#include "parts/blocks.h"
#include "parts/controls.h"
#include "parts/map_parts.h"

namespace headlight::learn {

namespace {

constexpr float kLargestGridCell = 48, kWidestName = 96, kRangeHigh = 42;

struct GridSizes {
    float labels = 0, cell_w = 0, cell_h = 0, reach = 0;
    bool numbers = false, whole = false;  // drawn in the cells; all integers

    std::string text(double value) const { return whole ? number(value, 0) : short_number(value); }
};

float grid_reach(const Grid& grid) {
    float out = 0;
    for (Index i = 0; i < grid.values.size(); ++i)
        if (const float v = std::abs(grid.values.data()[i]); v > out) out = v;
    return std::max(out, 1e-6f);
}

GridSizes grid_sizes(Ui& ui, float width, const Grid& grid) {
    GridSizes out;
    out.labels = widest_of(ui, kCaptionMono, grid.rows) + 12;
    out.reach = grid.reach > 0 ? grid.reach : grid_reach(grid);
    const auto rows = float(grid.values.rows()), columns = float(grid.values.cols());
    const float room = (width - out.labels) / std::max(columns, 1.0f),
                named = widest_of(ui, kCaptionMono, grid.columns) + 8;
    const bool level = named <= std::min(room, kWidestName);  // wider cells keep the names level
    out.cell_w = std::clamp(room, 1.0f, level ? std::max(kLargestGridCell, named) : kLargestGridCell);
    out.cell_h = std::clamp(out.cell_w, rows > 40 ? 7.0f : 14.0f, kLargestGridCell * 0.75f);
    const auto is_whole = [](float v) { return std::isnan(v) || v == std::round(v); };
    out.whole = std::all_of(grid.values.data(), grid.values.data() + grid.values.size(), is_whole);
    out.numbers =
        out.cell_h >= 14 && out.cell_w >= ui.text.width(kCaptionMono, out.text(-double(out.reach))) + 3;
    return out;
}

/// "position ↓, component →".
std::string axes_of(const Grid& grid) {
    std::string out = grid.rows_are.empty() ? "" : grid.rows_are + " ↓";
    if (!grid.columns_are.empty()) out += (out.empty() ? "" : ", ") + grid.columns_are + " →";
    return out;
}

/// The axes, and once per page a hint that cells are editable.
std::string grid_caption(BlockPen& pen, float width, const Grid& grid, bool edits) {
    Ui& ui = pen.ui;
    std::string axes = axes_of(grid);
    if (!edits || std::exchange(pen.hinted_edit, true)) return axes;
    const std::string both = axes + (axes.empty() ? "" : "; ") + "click a number to change it";
    return ui.text.width(kCaption, both) <= width ? both : axes.empty() ? "click to change" : axes;
}

void draw_cell_numbers(Ui& ui, Rect r, const GridSizes& z, const Grid& grid, const Matrix& places,
                       const Colormap& colors) {
    for (Index i = 0; i < grid.values.rows(); ++i)
        for (Index j = 0; j < grid.values.cols(); ++j) {
            const float v = grid.values(i, j);
            if (std::isnan(v)) continue;
            const Rgb back = color_of(colors, places(i, j));
            const ImU32 ink =
                places(i, j) < 0 ? ui.colors->t1 : ink_on(IM_COL32(back.r, back.g, back.b, 255));
            ui.text.draw_centered(r.x + z.cell_w * (float(j) + 0.5f), r.y + z.cell_h * (float(i) + 0.5f),
                                  kCaptionMono, ink, z.text(double(v)));
        }
}

void answer_mouse(BlockPen& pen, Rect r, const GridSizes& z, const Grid& grid) {
    Ui& ui = pen.ui;
    const Hit hit = ui.hit(pen.path, r);
    if (!hit.hovered || grid.values.size() == 0) return;
    const auto at = [](float from, float cell, Index count) {
        return std::clamp(int(from / cell), 0, narrow<int>(count) - 1);
    };
    const int i = at(hit.mouse.y - r.y, z.cell_h, grid.values.rows()),
              j = at(hit.mouse.x - r.x, z.cell_w, grid.values.cols());
    ui.frame({r.x + z.cell_w * float(j) - 1, r.y + z.cell_h * float(i) - 1, z.cell_w + 2, z.cell_h + 2},
             ui.colors->hover, 2);
    ui.tooltip(pen.path, hit,
               grid.rows[i] + ", " + grid.columns[j] + ": " + number(double(grid.values(i, j)), 4));
}

/// Accepts typographic minus and decimal comma: "−1,5" is −1.5.
std::string plain_number(std::string text) {
    for (size_t at; (at = text.find("−")) != std::string::npos;) text.replace(at, 3, "-");
    std::replace(text.begin(), text.end(), ',', '.');
    std::erase(text, ' ');
    return text;
}

/// Each cell is a control: click to type a number, arrow keys step it by one.
void edit_cells(BlockPen& pen, Rect r, const GridSizes& z, const Grid& grid) {
    Ui& ui = pen.ui;
    for (int i = 0; i < grid.values.rows(); ++i)
        for (int j = 0; j < grid.values.cols(); ++j) {
            const std::string path = pen.path + "/" + std::to_string(i) + "/" + std::to_string(j);
            const Rect cell{r.x + z.cell_w * float(j), r.y + z.cell_h * float(i), z.cell_w, z.cell_h};
            const Ui::Entry entry = ui.entry(path, cell, spelled(double(grid.values(i, j))));
            if (!entry.open) ui.frame(cell, entry.hit.hovered ? ui.colors->hover : ui.colors->l2, 1);
            if (entry.typed) pen.typed = TypedCell{grid.editable, i, j, plain_number(*entry.typed)};
            if (const int step = ui.take_step(path); step != 0)
                pen.typed = TypedCell{grid.editable, i, j, spelled(double(grid.values(i, j) - float(step)))};
        }
}

}  // namespace

float draw_grid(BlockPen& pen, ImVec2 at, float width, const Grid& grid) {
    Ui& ui = pen.ui;
    const GridSizes z = grid_sizes(ui, width, grid);
    float y = at.y + draw_block_title(pen, at, width, grid.title);
    const bool edits = !grid.editable.empty() && !ui.on_page();
    if (const std::string axes = grid_caption(pen, width, grid, edits); !axes.empty()) {
        ui.text.draw(at.x, y + 6, kCaption, ui.colors->t3, ui.text.fitted(kCaption, axes, width));
        y += 20;
    }
    y += column_labels_height(ui, grid.columns, z.cell_w);
    const Rect r{at.x + z.labels, y, z.cell_w * float(grid.values.cols()),
                 z.cell_h * float(grid.values.rows())};
    draw_column_labels(ui, r.x, r.y, z.cell_w, grid.columns);
    for (int i = 0, step = label_step(double(z.cell_h), 14); i < isize(grid.rows); i += step)
        ui.text.draw_right(r.x - 8, r.y + z.cell_h * (float(i) + 0.5f), kCaptionMono, ui.colors->t2,
                           grid.rows[i]);
    const Colormap& colors = grid.diverging ? signed_colormap(ui.colors->dark) : pen.weights;
    const Matrix places =
        grid.diverging ? signed_places_of(grid.values, z.reach) : places_of(grid.values, z.reach);
    draw_matrix(ui, r, {places, colors, grid.diverging});
    if (z.numbers) draw_cell_numbers(ui, r, z, grid, places, colors);
    if (const int marked = grid.marked_row.value_or(-1); marked >= 0 && marked < isize(grid.rows))
        ui.frame({r.x - 1, r.y + z.cell_h * float(marked) - 1, r.w + 2, z.cell_h + 2}, ui.colors->accent, 2);
    edits ? edit_cells(pen, r, z, grid) : answer_mouse(pen, r, z, grid);
    if (z.numbers) return r.bottom() - at.y;
    draw_color_bar(ui, range_bar(colors, double(z.reach), grid.diverging),
                   {r.x, r.bottom() + gap::medium, std::min(r.w, 240.0f), 13});
    return r.bottom() + kRangeHigh - at.y;
}

}  // namespace headlight::learn
