// Next tokens: what the model would say after each layer, and which heads and MLPs make it say so.
#include "views/lens.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kColumn = 76, kRow = 28, kLayerNames = 88;

/// The position whose prediction is explained: the focused query where it belongs to the stack that predicts.
int lens_position(const Scene& s) {
    const auto cell = s.shown_cell();
    const bool of_output = s.model()->config.block(s.block()).stack + 1 == isize(s.model()->config.stacks);
    return cell && of_output ? std::min(cell->first, output_size(s) - 1) : output_size(s) - 1;
}

struct LensGrid {
    Rect cells;  // what is seen of them
    float w, h;
    int first, columns, rows;
};

LensGrid arrange(Scene& s, Rect area, int rows) {
    Ui& ui = s.ui;
    LensGrid g{};
    g.w = kColumn;
    g.h = kRow;
    g.rows = rows;
    const float room = area.w - (kLayerNames + 48);
    const int n = output_size(s);
    s.of<LensState>().columns = std::clamp(int(room / g.w), 1, n);
    if (const int position = lens_position(s);
        s.of<LensState>().followed != position && !s.session.selection.hovered.cell) {
        s.of<LensState>().followed = position;
        s.of<LensState>().first =
            std::clamp(s.of<LensState>().first, position - s.of<LensState>().columns + 1, position);
    }
    g.w = std::min(room / float(s.of<LensState>().columns), 120.0f);
    const float high = std::min(area.h, g.h * float(rows));
    g.cells = {area.x + kLayerNames, area.y, g.w * float(s.of<LensState>().columns), high};
    if (ui.shift || ui.wheel_x != 0)
        s.of<LensState>().first -= round_int(ui.shift ? ui.take_wheel(g.cells) : ui.wheel_x) * 2;
    s.of<LensState>().first = std::clamp(s.of<LensState>().first, 0, n - s.of<LensState>().columns);
    s.of<LensState>().scroll = scrolled(ui, {g.cells.x, g.cells.y, g.cells.w + 10, g.cells.h},
                                        g.h * float(rows), s.of<LensState>().scroll);
    g.first = s.of<LensState>().first;
    g.columns = s.of<LensState>().columns;
    return g;
}

void draw_grid_labels(Scene& s, const LensGrid& g, int position) {
    Ui& ui = s.ui;
    const auto& labels = output_labels(s);
    for (int i = 0; i < g.columns; ++i) {
        const int at = g.first + i;
        const bool on = at == position;
        const Rect r{g.cells.x + g.w * float(i), g.cells.y - 44, g.w, 40};
        if (on) ui.fill({r.x, r.y, r.w - ui.line(), r.h}, ui.colors->accent_fill);
        ui.text.draw_centered(r.middle_x(), r.y + 11, kCaptionMono,
                              on ? ui.colors->accent_text : ui.colors->t3, std::to_string(at));
        ui.text.draw_centered(r.middle_x(), r.y + 29, kCaptionMono,
                              on ? ui.colors->accent_text : ui.colors->t1,
                              ui.text.fitted(kCaptionMono, labels[at], g.w - 6));
    }
    ui.clip({g.cells.x - kLayerNames, g.cells.y, kLayerNames, g.cells.h});
    for (int r = 0; r < g.rows; ++r) {
        const std::string name = r == 0 ? "embeddings" : "layer " + std::to_string(r - 1);
        ui.text.draw_right(g.cells.x - 10, g.cells.y + g.h * (float(r) + 0.5f) - s.of<LensState>().scroll,
                           kCaption, ui.colors->t3, name);
    }
    ui.unclip();
}

void draw_grid(Scene& s, const LensGrid& g, const Lens& lens, int position) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    ui.clip(g.cells);
    for (int r = 0; r < g.rows; ++r) {
        const auto& row = lens.top[r];
        const float y = g.cells.y + g.h * float(r) - s.of<LensState>().scroll;
        if (y + g.h < g.cells.y || y > g.cells.bottom()) continue;
        for (int i = 0; i < g.columns; ++i) {
            const int at = g.first + i - lens.first;
            if (at < 0 || at >= isize(row)) continue;
            const Prediction& p = row[at];
            const Rect cell{g.cells.x + g.w * float(i), y, g.w - ui.line(), g.h - ui.line()};
            const ImU32 color = color_at(map, p.probability);
            ui.fill(cell, color);
            ui.text.draw_centered(cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color),
                                  ui.text.fitted(kCaptionMono, prediction_label(*s.model(), p.id), g.w - 8));
        }
    }
    if (position >= g.first && position < g.first + g.columns)
        ui.frame({g.cells.x + g.w * float(position - g.first) - 1, g.cells.y - s.of<LensState>().scroll,
                  g.w + 1, g.h * float(g.rows)},
                 s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent, 2);
    ui.unclip();
}

void answer_grid(Scene& s, const LensGrid& g, const Lens& lens) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("lens/grid", {g.cells.x, g.cells.y - 44, g.cells.w, g.cells.h + 44});
    if (!h.hovered) return;
    const int at = g.first + int((h.mouse.x - g.cells.x) / g.w);
    if (at >= g.first + g.columns) return;
    const bool queries = s.model()->config.block(s.block()).stack + 1 == isize(s.model()->config.stacks);
    if (queries && at < s.queries()) s.point_at(std::pair{at, s.heaviest_key(at)});
    if (queries && h.clicked) lock_token(s, at);
    const int row = int((h.mouse.y - g.cells.y + s.of<LensState>().scroll) / g.h), column = at - lens.first;
    if (h.mouse.y < g.cells.y || row >= g.rows || column < 0 || column >= isize(lens.top[0])) return;
    const Prediction& p = lens.top[row][column];
    ui.tooltip("lens/" + std::to_string(row) + "," + std::to_string(at), h,
               (row ? "After layer " + std::to_string(row - 1) : std::string("From the embeddings")) +
                   " at " + token_at(output_labels(s), at) + ": " + prediction_label(*s.model(), p.id) +
                   ", " + percent(p.probability));
}

}  // namespace

std::vector<Question> ask_lens(const Scene& s) {
    constexpr int kListed = 16;
    const int position = lens_position(s), token = s.session.selection.hovered.token.value_or(-1);
    return {LensWanted{s.of<LensState>().first, s.of<LensState>().columns},
            AttributionWanted{position, token, kListed}};
}

void draw_lens(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<LensWanted>();
    if (!found || !s.answer->picture) return;
    const Lens& lens = found->answer;
    const int rows = isize(lens.top), position = lens_position(s);
    ui.text.draw(
        area.x + 24, area.y + 24, kCaption, ui.colors->t2,
        ui.text.fitted(kCaption,
                       "Logit lens: what the model would predict if it stopped after each layer. The "
                       "stronger the color, the more probable.",
                       area.w - 200));
    const float top = area.y + 96, max = std::max(kRow * 3, area.h * 0.56f - 96);
    const LensGrid g = arrange(s, {area.x + 24, top, area.w - 24, std::min(max, kRow * float(rows))}, rows);
    answer_grid(s, g, lens);
    draw_grid_labels(s, g, position);
    draw_grid(s, g, lens, position);
    const int n = output_size(s);
    if (g.columns < n) {
        float x = area.right() - 24;
        const float y = area.y + 24;
        if (ui.link("lens/later", x, y, "later ›"))
            s.of<LensState>().first = std::min(n - g.columns, g.first + g.columns);
        x -= 60;
        if (ui.link("lens/earlier", x, y, "‹ earlier"))
            s.of<LensState>().first = std::max(0, g.first - g.columns);
    }
    const float below = g.cells.bottom() + 24;
    draw_attribution(s, {area.x, below, area.w, area.bottom() - below});
}

namespace {

const char* no_logits(const Model& m) {
    return m.has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

}  // namespace

View lens_view() {
    return {.key = "lens",
            .name = "Prediction",
            .former = "next",
            .digit = '5',
            .draw = draw_lens,
            .missing = no_logits,
            .shows = View::Shows::model,
            .ask = ask_lens,
            .beside = {.inspect = draw_lens_inspector},
            .numbers = lens_numbers};
}

}  // namespace headlight
