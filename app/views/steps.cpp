// One query's attention as a table that reads left to right; every number lights the ones it came from.
#include "views/steps.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "io/json.h"
#include "views/parts.h"
#include "views/steps_columns.h"
#include "views/steps_strips.h"
#include "views/views.h"

namespace headlight {

void StepsState::visit(FieldVisitor& v) {
    v.choose(nullptr, column,
             {"steps column",
              "Steps: column",
              "the number of the focused key that is explained",
              {"dot", "scaled", "cap", "position", "mask", "exp", "weight", "value", "weighted", "delta"}});
    v.report("step_column", static_cast<int>(column));
    v.report("strips_open", strips.open);
    v.choose(nullptr, strips.open,
             {"steps strips", "Steps: strips", "the vectors whose product a step is", {"off", "on"}});
}

namespace {

struct Placed {
    const StepColumnKind* kind;
    float left, right, bar_left, bar_right;  // bar_left == bar_right: no bar
};

struct Table {
    Rect area;  // of the rows
    std::vector<Placed> columns;
    float pitch, scroll;
    float largest_dot = 1e-6f, largest_moved = 1e-6f;  // what the longest bars stand for
    float y(int key) const { return area.y + pitch * (float(key) + 0.5f) - scroll; }
};

Table arrange(Scene& s, Rect area, const Steps& steps) {
    Ui& ui = s.ui;
    Table t;
    t.area = area;
    const auto keys = float(steps.keys.size());
    for (const KeyStep& k : steps.keys) {
        t.largest_dot = std::max(t.largest_dot, std::abs(k.dot));
        t.largest_moved = std::max(t.largest_moved, k.moved);
    }
    float fixed = 24 + 112 + 24;
    for (const StepColumnKind& k : step_columns()) fixed += takes_step(s, k.what) ? k.wide : 0;
    const float names = 24 + 112 + 24, narrow = std::min(1.0f, (area.w - names) / (fixed - names));
    const float bar = std::clamp((area.w - fixed) / 3, 0.0f, 96.0f);
    const float spare = std::max(0.0f, area.w - fixed - 3 * bar) / 9;
    float x = area.x + 24 + 112;
    for (const StepColumnKind& k : step_columns()) {
        if (!takes_step(s, k.what)) continue;
        const float bar_w = has_bar(k.what) && bar > 20 ? bar : 0;
        const float left = x + spare / 2;
        x += bar_w + k.wide * narrow + spare;
        t.columns.push_back({&k, left, x, left + 8, left + std::max(8.0f, bar_w)});
    }
    t.pitch = std::clamp(area.h / keys, 22.0f, 28.0f);
    s.of<StepsState>().scroll = scrolled(ui, area, t.pitch * keys, s.of<StepsState>().scroll);
    t.scroll = s.of<StepsState>().scroll;
    return t;
}

const Placed* find_column(const Table& t, StepColumn c) {
    const auto it =
        std::find_if(t.columns.begin(), t.columns.end(), [&](const Placed& p) { return p.kind->what == c; });
    return it == t.columns.end() ? nullptr : &*it;
}

Rect cell_box(const Table& t, const Placed& p, int key) {
    return {p.left, t.y(key) - t.pitch / 2 + 1, p.right - p.left + 8, t.pitch - 2};
}

void draw_number(Scene& s, const Table& t, const Placed& p, const Steps& steps, int key, bool focused) {
    Ui& ui = s.ui;
    const KeyStep& step = steps.keys[key];
    const double value = p.kind->value(step);
    const float y = t.y(key), bar_h = 10;
    const Rect bar{p.bar_left, y - bar_h / 2, p.bar_right - p.bar_left, bar_h};
    const bool after_mask = p.kind->what >= StepColumn::exp;
    if (p.kind->what == StepColumn::mask) {
        if (step.allowed)
            ui.text.draw_right(p.right, y, kBodyMono, ui.colors->t3, "0");
        else
            ui.hatch({p.left + 8, y - 6, p.right - p.left - 8, 12}, ui.colors->l2);
        return;
    }
    if (after_mask && !step.allowed && step.weight == 0) {
        if (p.kind->what == StepColumn::weight)
            ui.text.draw_right(p.right, y, kCaption, ui.colors->t3, "masked");
        return;
    }
    if (bar.w > 0 && p.kind->what == StepColumn::dot) {
        ui.signed_bar(bar, step.dot / t.largest_dot, step.allowed);
    } else if (bar.w > 0) {
        const float largest = p.kind->what == StepColumn::moved ? t.largest_moved : 1;
        ui.bar(bar, float(value) / largest, focused ? ui.colors->accent : ui.colors->t3);
    }
    const ImU32 ink = !step.allowed ? ui.colors->t3
                      : p.kind->what == StepColumn::weight || p.kind->what == StepColumn::moved || focused
                          ? ui.colors->t1
                          : ui.colors->t2;
    const int digits = p.kind->what == StepColumn::exp && value >= 1000 ? 1
                       : p.kind->what == StepColumn::exp && value < 0.1 ? 4
                                                                        : p.kind->digits;
    ui.text.draw_right(p.right, y, kBodyMono, ink, number(value, digits));
}

/// The numbers that the focused one came from, on bg3; itself in an amber frame.
void draw_sources(Scene& s, const Table& t, int key) {
    Ui& ui = s.ui;
    const Placed* here = find_column(t, s.of<StepsState>().column);
    if (!here) return;
    for (const StepColumn from : here->kind->from)
        if (const Placed* p = find_column(t, from))
            ui.fill(cell_box(t, *p, key), ui.colors->bg4, size::corner);
}

void draw_rows(Scene& s, const Table& t, const Found<StepsWanted>& found, int key) {
    Ui& ui = s.ui;
    const auto& labels = s.key_labels();
    ui.clip({t.area.x, t.area.y, t.area.w, t.area.h});
    for (int k = 0; k < isize(found.answer.keys); ++k) {
        const float y = t.y(k);
        if (y + t.pitch < t.area.y || y - t.pitch > t.area.bottom()) continue;
        const Rect row{t.area.x + 16, y - t.pitch / 2, t.area.w - 32, t.pitch};
        const bool focused = k == key;
        if (focused) ui.fill(row, ui.colors->bg2);
        if (focused) draw_sources(s, t, k);
        const bool allowed = found.answer.keys[k].allowed;
        ui.text.draw_right(t.area.x + 42, y, kCaptionMono, ui.colors->t3, std::to_string(k));
        ui.text.draw(t.area.x + 50, y, kBodyMono, allowed ? ui.colors->t1 : ui.colors->t3,
                     ui.text.fitted(kBodyMono, labels[k], 92));
        for (const Placed& p : t.columns) draw_number(s, t, p, found.answer, k, focused);
        const Placed* here = focused ? find_column(t, s.of<StepsState>().column) : nullptr;
        if (here) ui.frame(cell_box(t, *here, k), ui.colors->accent, 2, 2);
    }
    ui.unclip();
}

/// The mouse chooses a column while it moves; at rest it leaves what a command or an arrow chose.
bool mouse_moves() {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    return by.x != 0 || by.y != 0;
}

void answer_table(Scene& s, const Table& t, const Found<StepsWanted>& found) {
    const Hit h = s.ui.control("steps/table", t.area);
    if (const int step = s.ui.take_step("steps/table"); step != 0)
        s.of<StepsState>().column = static_cast<StepColumn>(std::clamp(
            static_cast<int>(s.of<StepsState>().column) + step, 0, static_cast<int>(StepColumn::delta)));
    if (!h.hovered) return;
    const int key = int((h.mouse.y - t.area.y + t.scroll) / t.pitch);
    if (key < 0 || key >= isize(found.answer.keys)) return;
    s.point_at(std::pair{found.asked.query, key});
    for (const Placed& p : t.columns)
        if (mouse_moves() && h.mouse.x >= p.left && h.mouse.x < p.right + 8)
            s.of<StepsState>().column = p.kind->what;
    if (!h.clicked) return;
    s.lock(s.session.selection.hovered.cell);
    s.leave_text();
}

void draw_head_row(Scene& s, Rect area, const Table& t, const Steps& steps, float y) {
    Ui& ui = s.ui;
    ui.text.draw(area.x + 24, y, kCaption, ui.colors->t2, "key");
    for (const Placed& p : t.columns) {
        const std::string title = p.kind->what == StepColumn::moved && p.right - p.left < 84
                                      ? "= w‖v‖"
                                      : title_of(s, *p.kind, steps);
        ui.text.draw_right(p.right, y, kCaption, ui.colors->t2, title);
        constexpr const char* kHelp[] = {
            "The dot product of the query's q and the key's k.",
            "Scaled, so that its variance does not grow with the width of a head (Vaswani et al. 2017).",
            "cap · tanh(score / cap): no score leaves ± cap (Gemma 2).",
            "Added for where query and key stand: ALiBi's slope or T5's bucket.",
            "0: allowed. Hatched: −∞ is added, so that nothing is left of the weight.",
            "e to the score. Their sum is under the column.",
            "e^score over the sum: the weight.",
            "The length of the key's value vector.",
            ("Weight times ‖v‖: how far this key can move the query. The vectors are added, not their "
             "lengths.")};
        const std::string path = "steps/help/" + std::to_string(static_cast<int>(p.kind->what));
        ui.tooltip(path, ui.hit(path, {p.left, y - 12, p.right - p.left, 24}), row_of(kHelp, p.kind->what));
    }
    ui.fill({area.x + 24, y + 16, area.w - 48, ui.line()}, ui.colors->l2);
}

void draw_sums(Scene& s, Rect area, const Table& t, const Steps& steps, float y) {
    Ui& ui = s.ui;
    ui.fill({area.x + 24, y - 18, area.w - 48, ui.line()}, ui.colors->l2);
    ui.text.draw(area.x + 50, y, kBody, ui.colors->t2, "sum");
    if (const Placed* p = find_column(t, StepColumn::exp))
        ui.text.draw_right(p->right, y, kBodyMono, ui.colors->t2,
                           number(steps.sum, steps.sum < 1000 ? 2 : 1));
    if (const Placed* p = find_column(t, StepColumn::weight))
        ui.text.draw_right(p->right, y, kBodyMono, ui.colors->t2, "1.000");
    const Placed& last = t.columns.back();
    const std::string value = number(steps.delta.norm(), 2);
    const float w = ui.text.width(kBodyMono, value);
    ui.text.draw_right(last.right, y, kBodyMono, ui.colors->accent_text, value);
    const float norm = ui.text.width(kBody, "‖ΔE‖") + 8;
    ui.text.draw_right(last.right - w - 8, y, kBody, ui.colors->accent_text, "‖ΔE‖");
    const Placed* weight = find_column(t, StepColumn::weight);
    if (weight && last.right - w - norm - 120 > weight->right)
        ui.text.draw_right(last.right - w - norm - 8, y, kCaption, ui.colors->t3, "added, then W_O:");
    const Hit h = ui.hit("steps/delta", {last.right - 200, y - 14, 208, 28});
    ui.tooltip("steps/delta", h,
               "The weighted value vectors are added (z) and go through the head's slice of the output "
               "matrix. The length of what comes out is not the sum of the lengths above.");
    if (h.hovered && mouse_moves()) s.of<StepsState>().column = StepColumn::delta;
}

}  // namespace

std::vector<Question> ask_steps(const Scene& s) {
    const auto cell = s.shown_cell();
    return {StepsWanted{s.session.selection.block, s.session.selection.head, cell ? cell->first : 0}};
}

void draw_steps(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<StepsWanted>();
    const auto cell = s.shown_cell();
    if (!found || !cell) return;
    const int query = found->asked.query, key = std::min(cell->second, isize(found->answer.keys) - 1);
    float x = area.x + 24;
    const float y = area.y + 26;
    x += ui.text.draw(x, y, kCaption, ui.colors->t3, "query") + 10;
    x += draw_token_box(s, x, y, token_at(s.query_labels(), query), true) + 16;
    const bool causal = s.sentence()->trace->rule(s.block()).mask.hides_any();
    const std::string says =
        std::string(causal ? "asks itself and every key that its mask allows." : "asks every key.") +
        " Each row is one key; read from left to right.";
    ui.text.draw(x, y, kCaption, ui.colors->t2, ui.text.fitted(kCaption, says, area.right() - x - 24));

    const float strips_h = std::min(222.0f, area.h * 0.36f), top = area.y + 76;
    const Rect strips{area.x, area.bottom() - strips_h, area.w, strips_h};
    const float rows_room = strips.y - top - 42, rows = float(found->answer.keys.size()) * 28;
    const Table t =
        arrange(s, {area.x, top, area.w, std::min(rows_room, std::max(rows, 60.0f))}, found->answer);
    if (s.of<StepsState>().followed != std::pair{query, key}) {
        s.of<StepsState>().followed = {query, key};
        if (!s.session.selection.hovered.cell)
            s.of<StepsState>().scroll = scrolled_to(s.of<StepsState>().scroll, t.pitch * float(key),
                                                    t.pitch * float(key + 1), t.area.h);
    }
    answer_table(s, t, *found);
    draw_head_row(s, area, t, found->answer, area.y + 58);
    draw_rows(s, t, *found, key);
    draw_sums(s, area, t, found->answer, t.area.bottom() + 22);
    draw_vector_strips(s, strips, *found, key);
}

View steps_view() {
    return {.key = "steps",
            .name = "Steps",
            .digit = '3',
            .draw = draw_steps,
            .missing = no_weights,
            .ask = ask_steps,
            .beside = {.inspect = draw_steps_inspector},
            .numbers = steps_numbers,
            .visit = visit_state<StepsState>};
}

}  // namespace headlight
