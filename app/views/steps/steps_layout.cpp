#include "views/steps/steps_layout.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/controls.h"
#include "views/steps/steps.h"

namespace headlight {

namespace {

constexpr float kStepNames = 112, kLeastRow = 22, kMaxBar = 96, kLeastBar = 20,
                kNarrowest = 0.8f;  // of a column's usual width

/// Returns the width of the columns without bars.
float width_of_numbers(const Scene& s, const Steps& steps) {
    float numbers = 0;
    for (const StepColumnKind& k : step_columns())
        if (takes_step(s, k.what, steps)) numbers += k.wide;
    return numbers;
}

/// Gives each step a column: its number, a bar if it fits, and a share of the spare width.
void place_columns(const Scene& s, StepLayout& t, const Steps& steps, Rect room) {
    constexpr float kUsual = 9;  // columns that share the spare width
    const float numbers = width_of_numbers(s, steps), narrow = std::min(1.0f, room.w / numbers);
    const float bar = std::clamp((room.w - numbers) / 3, 0.0f, kMaxBar);
    const float spare = std::max(0.0f, room.w - numbers - 3 * bar) / kUsual;
    for (const StepColumnKind& k : step_columns()) {
        if (!takes_step(s, k.what, steps)) continue;
        const float bar_w = has_bar(k.what) && bar > kLeastBar ? bar : 0;
        Rect column = take_left(room, bar_w + k.wide * narrow + spare);
        take_left(column, spare / 2);
        const float left = column.x + gap::small;
        t.columns.push_back({&k, column, {left, column.y, std::max(0.0f, bar_w - gap::small), column.h}});
    }
}

}  // namespace

StepLayout arrange_steps(Scene& s, Rect area, const Steps& steps) {
    auto& state = s.of<StepsState>();
    StepLayout t;
    t.keys = ordered_keys(steps, state.order);
    for (const KeyStep& k : steps.keys) {
        t.largest_dot = std::max(t.largest_dot, std::abs(k.dot));
        t.largest_moved = std::max(t.largest_moved, k.moved);
    }
    Rect room = inset(area, size::center_pad, 0);
    t.names = take_left(room, std::min(kStepNames, room.w / 3));
    t.sight = room;
    if (const float min = kNarrowest * width_of_numbers(s, steps); min > room.w) {
        scrolled_across(s.ui, {room.x, area.y, room.w, area.h}, min, state.seen);
        t.hidden = state.seen.x;
        room = {room.x - t.hidden, room.y, min, room.h};
    }
    place_columns(s, t, steps, room);
    for (PlacedStep& p : t.columns)
        p.seen = p.left() >= t.sight.x - 1 && p.right() <= t.sight.right() + gap::small;
    t.rows = {area, isize(steps.keys), 0, area.w};
    t.rows.h = std::clamp(area.h / float(t.rows.rows), kLeastRow, size::row);
    scrolled(s.ui, area, t.rows.h * float(t.rows.rows), state.seen);
    t.rows.y0 = state.seen.y;
    return t;
}

const PlacedStep* find_column(const StepLayout& t, StepColumn c) {
    const auto it = std::find_if(t.columns.begin(), t.columns.end(),
                                 [&](const PlacedStep& p) { return p.kind->what == c; });
    return it == t.columns.end() ? nullptr : &*it;
}

Rect cell_box(const StepLayout& t, const PlacedStep& p, int row_index) {
    const Rect row = inset(t.rows.row(row_index), 0, 1);
    return {p.left(), row.y, p.column.w + gap::small, row.h};
}

void show_column(Scene& s, const StepLayout& t, StepColumn column) {
    const PlacedStep* p = find_column(t, column);
    if (!p || t.hidden < 0) return;
    const float left = p->left() - t.sight.x + t.hidden;
    float& hidden = s.of<StepsState>().seen.x;
    hidden = scrolled_to(hidden, left, left + p->column.w, t.sight.w);
}

}  // namespace headlight
