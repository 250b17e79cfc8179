// Draws one query's attention as a table that reads left to right, and highlights a number's sources.
#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "io/json.h"
#include "model/engine.h"
#include "parts/controls.h"
#include "parts/token_place.h"
#include "views/steps/steps.h"
#include "views/steps/steps_chain.h"
#include "views/steps/steps_columns.h"
#include "views/steps/steps_layout.h"
#include "views/steps/steps_strips.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPosition = 26, kLeastTable = 60, kHeadRow = 24, kSums = 42, kStripsHigh = 222,
                kLeastStrips = 110;

/// Draws a masked or unedited entry; returns false if the entry is a number.
bool draw_masked(Ui& ui, const PlacedStep& p, const KeyStep& step, Rect cell) {
    if (p.kind->what == StepColumn::mask) {
        if (step.allowed)
            write(ui, cell, kBodyMono, ui.colors->t3, "0", Flush::right);
        else
            ui.hatch(band({cell.x + gap::small, cell.y, cell.w - gap::small, cell.h}, gap::medium),
                     ui.colors->l2);
        return true;
    }
    if (p.kind->what == StepColumn::edited) return !step.edited;
    const bool of_score = p.kind->what != StepColumn::exp && !is_after_weight(p.kind->what);
    if (of_score || step.allowed || step.weight != 0) return false;
    if (p.kind->what == StepColumn::weight) caption(ui, cell, "masked", Flush::right);
    return true;
}

void draw_step_bar(Ui& ui, const StepLayout& t, const PlacedStep& p, const KeyStep& step, Rect bar,
                   bool focused) {
    if (p.kind->what == StepColumn::dot) return ui.signed_bar(bar, step.dot / t.largest_dot, step.allowed);
    const float largest = p.kind->what == StepColumn::moved ? t.largest_moved : 1;
    ui.bar(bar, float(p.kind->value(step)) / largest, focused ? ui.colors->accent : ui.colors->t3);
}

/// Returns the number of digits: few for a large e^score, more for a small one, none for an exact 0.
int digits_of(const StepColumnKind& kind, double value) {
    if (kind.what != StepColumn::exp) return kind.digits;
    return value >= 1000 ? 1 : value == 0 ? 0 : value < 0.1 ? 4 : kind.digits;
}

void draw_number(Scene& s, const StepLayout& t, const PlacedStep& p, const KeyStep& step, Rect row,
                 bool focused) {
    constexpr float kBarHigh = 10;
    Ui& ui = s.ui;
    const Rect cell{p.left(), row.y, p.column.w, row.h};
    if (draw_masked(ui, p, step, cell)) return;
    if (p.bar.w > 0) draw_step_bar(ui, t, p, step, band({p.bar.x, row.y, p.bar.w, row.h}, kBarHigh), focused);
    const double value = p.kind->value(step);
    const ImU32 ink = !step.allowed ? ui.colors->t3
                      : p.kind->what == StepColumn::weight || p.kind->what == StepColumn::moved || focused
                          ? ui.colors->t1
                          : ui.colors->t2;
    ui.text.draw_right(cell.right(), cell.middle_y(), kBodyMono, ink,
                       compact_number(value, digits_of(*p.kind, value)));
}

/// Highlights the numbers that the focused one is computed from.
void draw_sources(Scene& s, const StepLayout& t, int row) {
    Ui& ui = s.ui;
    const PlacedStep* here = find_column(t, s.of<StepsState>().column);
    if (!here) return;
    for (const StepColumn from : here->kind->from)
        if (const PlacedStep* p = find_column(t, from); p && p->seen)
            ui.fill(cell_box(t, *p, row), ui.colors->bg4, size::corner);
}

void draw_key(Ui& ui, Rect names, int key, const std::string& label, bool allowed) {
    take_left(names, 0, -gap::small);
    write(ui, take_left(names, kPosition, gap::small), kCaptionMono, ui.colors->t3, std::to_string(key),
          Flush::right);
    write(ui, names, kBodyMono, allowed ? ui.colors->t1 : ui.colors->t3, label);
}

void draw_rows(Scene& s, const StepLayout& t, const Found<StepsRequest>& found, int key) {
    Ui& ui = s.ui;
    const auto& labels = s.key_labels();
    ui.clip(t.rows.view);
    ui.text.may_cut(TextPainter::MayCut::lines);
    for (int i = 0; i < t.rows.rows; ++i) {
        if (!t.rows.touches_row(i)) continue;
        const Rect row = t.rows.row(i);
        const int k = t.keys[i];
        const bool focused = k == key;
        if (focused) ui.fill(inset(row, gap::large, 0), ui.colors->bg2);
        const KeyStep& step = found.answer.keys[k];
        draw_key(ui, {t.names.x, row.y, t.names.w, row.h}, k, labels[k], step.allowed);
        if (focused) draw_sources(s, t, i);
        for (const PlacedStep& p : t.columns)
            if (p.seen) draw_number(s, t, p, step, row, focused);
        const PlacedStep* here = focused ? find_column(t, s.of<StepsState>().column) : nullptr;
        if (here && here->seen) ui.frame(cell_box(t, *here, i), ui.colors->accent, 2, 2);
    }
    ui.text.may_cut(TextPainter::MayCut::nothing);
    ui.unclip();
}

/// Moves by columns; ΔE follows the last one.
StepColumn stepped(const StepLayout& t, StepColumn from, int step) {
    std::vector<StepColumn> order;
    for (const PlacedStep& p : t.columns) order.push_back(p.kind->what);
    order.push_back(StepColumn::delta);
    const auto here = std::find(order.begin(), order.end(), from);
    const int at = here == order.end() ? 0 : narrow<int>(here - order.begin()) + step;
    return order[std::clamp(at, 0, isize(order) - 1)];
}

/// True while the mouse moves: at rest it must not override a column chosen by a command or an arrow key.
bool mouse_moves() {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    return by.x != 0 || by.y != 0;
}

void answer_table(Scene& s, const StepLayout& t, const Found<StepsRequest>& found) {
    const Hit h = s.ui.control("steps/table", t.rows.view);
    StepColumn& column = s.of<StepsState>().column;
    if (const int step = s.ui.take_step("steps/table"); step != 0) {
        column = stepped(t, column, step);
        show_column(s, t, column);
    }
    if (!h.hovered || h.mouse.y >= t.rows.y(t.rows.rows)) return;
    s.point_at(std::pair{found.asked.query, t.keys[t.rows.row_at(h.mouse.y)]});
    for (const PlacedStep& p : t.columns)
        if (mouse_moves() && p.seen && h.mouse.x >= p.left() && h.mouse.x < p.right() + gap::small)
            column = p.kind->what;
    offer_token_menu(s, true,
                     {full_config(*s.model()).block(s.block()).key_stack, t.keys[t.rows.row_at(h.mouse.y)]});
    if (!h.clicked) return;
    s.lock(s.session.selection.hovered.cell);
    s.leave_text();
}

void draw_head_row(Scene& s, Rect line, const StepLayout& t, const Steps& steps) {
    constexpr float kLeastMoved = 84;
    Ui& ui = s.ui;
    write(ui, {t.names.x, line.y, t.names.w, line.h}, kCaption, ui.colors->t2, "key");
    for (const PlacedStep& p : t.columns) {
        if (!p.seen) continue;
        const bool tight = p.kind->what == StepColumn::moved && p.column.w < kLeastMoved;
        const std::string title = tight ? "= w‖v‖" : title_of(s, *p.kind, steps);
        ui.text.draw_right(p.right(), line.middle_y(), kCaption, ui.colors->t2, title);
        const std::string path = "steps/help/" + std::to_string(static_cast<int>(p.kind->what));
        ui.tooltip(path, ui.hit(path, {p.left(), line.y, p.column.w, line.h}), help_of(p.kind->what, steps));
    }
    if (!t.columns.front().seen)  // more lies on this side
        caption(ui, {t.names.x, line.y, t.names.w, line.h}, "…", Flush::right);
    if (!t.columns.back().seen)
        caption(ui, {t.sight.right(), line.y, size::center_pad, line.h}, "…", Flush::center);
    const Rect rule = inset(line, size::center_pad, 0);
    ui.fill({rule.x, rule.bottom() + gap::tight, rule.w, ui.line()}, ui.colors->l2);
}

/// "added, then W_O: ‖ΔE‖ 1.23" below the last column; without the words if they do not fit.
void draw_length(Scene& s, Rect line, const Steps& steps) {
    constexpr float kLeastNote = 112;
    Ui& ui = s.ui;
    const std::string value = number(steps.delta.norm(), 2);
    take_right(line, write(ui, line, kBodyMono, ui.colors->accent_text, value, Flush::right), gap::small);
    take_right(line, write(ui, line, kBody, ui.colors->accent_text, "‖ΔE‖", Flush::right), gap::small);
    if (line.w > kLeastNote) caption(ui, line, end_of(steps), Flush::right);
}

/// Draws the sink's part of the sums below: no key, and no value.
void draw_sink_row(Scene& s, Rect line, const StepLayout& t, const Steps& steps) {
    Ui& ui = s.ui;
    Rect name{t.names.x, line.y, t.names.w, line.h};
    take_left(name, kPosition);
    write(ui, name, kBodyMono, ui.colors->t1, "sink");
    const auto under = [&](StepColumn column, const std::string& text) {
        if (const PlacedStep* p = find_column(t, column); p && p->seen)
            ui.text.draw_right(p->right(), line.middle_y(), kBodyMono, ui.colors->t2, text);
    };
    under(is_tempered(steps) ? StepColumn::tempered : StepColumn::scaled,
          decimals(double(steps.sink->score), 2));
    under(StepColumn::exp, compact_number(steps.sink->exp, steps.sink->exp < 1000 ? 2 : 1));
    under(StepColumn::weight, decimals(double(steps.sink->weight), 3));
    ui.name("steps/sink", line);
}

void draw_sums(Scene& s, Rect line, const StepLayout& t, const Steps& steps) {
    Ui& ui = s.ui;
    const Rect rule = inset(line, size::center_pad, 0);
    ui.fill({rule.x, rule.y + gap::tight, rule.w, ui.line()}, ui.colors->l2);
    Rect sum{t.names.x, line.y, t.names.w, line.h};
    take_left(sum, kPosition);
    write(ui, sum, kBody, ui.colors->t2, "sum");
    const auto under = [&](const PlacedStep& p, const std::string& text) {
        if (!p.seen) return;
        ui.text.draw_right(p.right(), line.middle_y(), kBodyMono, ui.colors->t2, text);
    };
    if (const PlacedStep* p = find_column(t, StepColumn::exp))
        under(*p, compact_number(steps.sum, steps.sum < 1000 ? 2 : 1));
    const PlacedStep* weight = find_column(t, StepColumn::weight);
    double weights = 0;
    for (const KeyStep& k : steps.keys) weights += double(k.weight);
    if (steps.sink) weights += double(steps.sink->weight);
    if (weight) under(*weight, decimals(weights, 3));
    const float left = weight ? weight->right() : line.x, right = t.columns.back().right();
    if (t.columns.back().seen) draw_length(s, {left, line.y, right - left, line.h}, steps);
    const Hit h = ui.hit("steps/delta", band({right - 200, line.y, 208, line.h}, size::row));
    ui.tooltip("steps/delta", h, help_of_end(steps));
    if (h.hovered && mouse_moves()) s.of<StepsState>().column = StepColumn::delta;
}

void follow(Scene& s, StepLayout& t, std::pair<int, int> focused) {
    auto& state = s.of<StepsState>();
    if (std::exchange(state.followed, focused) == focused || s.session.selection.hovered.cell) return;
    const auto row = float(std::find(t.keys.begin(), t.keys.end(), focused.second) - t.keys.begin());
    state.seen.y = scrolled_to(state.seen.y, t.rows.h * row, t.rows.h * (row + 1), t.rows.view.h);
    t.rows.y0 = state.seen.y;
}

}  // namespace

void draw_step_table(Scene& s, Rect rest, const Found<StepsRequest>& found) {
    const int query = found.asked.query, key = std::min(s.shown_cell()->second, isize(found.answer.keys) - 1);
    const float strips_high = std::min(kStripsHigh, rest.h * 0.38f);
    const bool stripped = strips_high >= kLeastStrips;
    const Rect strips = take_bottom(rest, stripped ? strips_high : 0);
    const Rect head = take_top(rest, kHeadRow, gap::close);
    const float sink = found.answer.sink ? size::row : 0, room = rest.h - kSums - sink,
                rows = float(found.answer.keys.size()) * size::row;
    StepLayout t =
        arrange_steps(s, take_top(rest, std::min(room, std::max(rows, kLeastTable))), found.answer);
    follow(s, t, {query, key});
    answer_table(s, t, found);
    draw_head_row(s, head, t, found.answer);
    draw_rows(s, t, found, key);
    if (found.answer.sink) draw_sink_row(s, take_top(rest, sink), t, found.answer);
    draw_sums(s, take_top(rest, kSums), t, found.answer);
    if (stripped) draw_vector_strips(s, strips, step_strips(s, found, key));
}

}  // namespace headlight
