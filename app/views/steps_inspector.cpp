// The arithmetic of the focused number, written out.
#include <algorithm>
#include <numeric>

#include "views/numbers.h"
#include "views/parts.h"
#include "views/save_menu.h"
#include "views/steps.h"
#include "views/steps_strips.h"

namespace headlight {

namespace {

constexpr size_t kProducts = 6;

void draw_arithmetic(Scene& s, Rect column, float& y, const Steps& steps, const KeyStep& k) {
    Ui& ui = s.ui;
    const AttentionRule& rule = s.sentence()->trace->rule(s.block());
    const ModelConfig& c = s.model()->config;
    const StepColumn on = s.of<StepsState>().column;
    const bool root = c.scale == 0 && !c.scale_by_layer;
    y = draw_pair(ui, column, y, "q·k", number(k.dot, 2), on == StepColumn::dot);
    if (rule.scale != 1)
        y = draw_pair(ui, column, y,
                      root ? "÷ √" + std::to_string(c.d_head(s.block())) + " = " + decimals(1 / rule.scale, 2)
                           : "× " + decimals(rule.scale, 3),
                      number(k.scaled, 2), on == StepColumn::scaled);
    if (rule.cap > 0)
        y = draw_pair(ui, column, y, "soft cap " + decimals(rule.cap, 0), number(k.capped, 2),
                      on == StepColumn::capped);
    if (rule.has_bias())
        y = draw_pair(ui, column, y, "+ position bias " + number(k.bias, 2), number(k.score, 2),
                      on == StepColumn::bias);
    if (!k.allowed) {
        y = draw_pair(ui, column, y, "mask", "−∞", true);
        return;
    }
    const std::string exponent = steps.shift == 0
                                     ? number(k.score, 2)
                                     : "(" + number(k.score, 2) + " − " + number(steps.shift, 2) + ")";
    y = draw_pair(ui, column, y, "e^" + exponent, number(k.exp, k.exp < 1000 ? 4 : 1), on == StepColumn::exp);
    const auto allowed =
        std::count_if(steps.keys.begin(), steps.keys.end(), [](const KeyStep& key) { return key.allowed; });
    y = draw_pair(ui, column, y, "÷ Σ over " + std::to_string(allowed) + " keys",
                  number(steps.sum, steps.sum < 1000 ? 4 : 1));
    y = draw_pair(ui, column, y, "weight", number(k.weight, 3),
                  on == StepColumn::weight || on == StepColumn::mask);
    y = draw_pair(ui, column, y, "× ‖v‖", number(k.value_norm, 2), on == StepColumn::value);
    y = draw_pair(ui, column, y, "weighted value", number(k.moved, 2), on == StepColumn::moved);
}

/// The dimensions that make up most of the last strip.
void draw_products(Scene& s, Rect column, float& y, const std::vector<Strip>& strips) {
    Ui& ui = s.ui;
    const Vector& values = strips.back().values;
    std::vector<int> order(static_cast<size_t>(values.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(values[a]) > std::abs(values[b]); });
    const bool products = strips[0].name[0] == 'q';
    ui.text.draw(column.x, y, kCaption, ui.colors->t3,
                 products ? "Largest products" : "Largest entries of " + strips.back().name);
    const float largest = std::max(std::abs(values[order[0]]), 1e-12f), bar = column.w < 280 ? 40 : 80;
    for (size_t i = 0; i < std::min(kProducts, order.size()); ++i) {
        y += 24;
        const int d = order[i];
        ui.text.draw_right(column.x + 26, y, kCaptionMono, ui.colors->t3, std::to_string(d));
        if (products)
            ui.text.draw_right(column.right() - 58 - bar, y, kCaptionMono, ui.colors->t2,
                               number(strips[0].values[d], 2) + " × " + number(strips[1].values[d], 2));
        ui.signed_bar({column.right() - 54 - bar, y - 5, bar, 10}, values[d] / largest);
        ui.text.draw_right(column.right(), y, kCaptionMono, ui.colors->t1, number(values[d], 2));
    }
    y += 26;
}

}  // namespace

void draw_steps_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<StepsWanted>();
    const auto cell = s.shown_cell();
    if (!found || !cell) return;
    const int key = std::min(cell->second, static_cast<int>(found->answer.keys.size()) - 1);
    float y = draw_inspector_title(s, area, token_at(s.query_labels(), found->asked.query),
                                   "→ " + token_at(s.key_labels(), key));
    const float pad = size::inspector_pad;
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h};
    const Rect save{column.x, area.bottom() - 48, column.w, size::button};
    ui.clip({area.x, area.y, area.w, save.y - 8 - area.y});
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Arithmetic");
    y += 26;
    draw_arithmetic(s, column, y, found->answer, found->answer.keys[static_cast<size_t>(key)]);
    ui.hairline(column.x, y, column.right(), y);
    y += 22;
    draw_products(s, column, y, strips_of(s, *found, key));
    ui.unclip();
    if (ui.button("save", save, "Save figure…")) s.send("save figure");
}

std::vector<NumberTable> steps_numbers(const Scene& s) {
    const auto* found = s.found<StepsWanted>();
    if (!found) return {};
    constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
    const AttentionRule& rule = s.sentence()->trace->rule(found->asked.block);
    std::vector<std::string> names;
    std::vector<std::vector<float>> columns;
    const auto add = [&](const char* name, bool there,
                         float (*value)(const KeyStep&)) {  // only the steps that the model takes
        if (!there) return;
        names.emplace_back(name);
        columns.emplace_back();
        for (const KeyStep& k : found->answer.keys) columns.back().push_back(value(k));
    };
    add("q·k", true, [](const KeyStep& k) { return k.dot; });
    add("scaled", rule.scale != 1, [](const KeyStep& k) { return k.scaled; });
    add("capped", rule.cap > 0, [](const KeyStep& k) { return k.capped; });
    add("position bias", rule.has_bias(), [](const KeyStep& k) { return k.bias; });
    add("score", true, [](const KeyStep& k) { return k.score; });
    add("exp", true, [](const KeyStep& k) { return k.allowed ? static_cast<float>(k.exp) : kNothing; });
    add("weight", true, [](const KeyStep& k) { return k.weight; });
    add("value norm", true, [](const KeyStep& k) { return k.value_norm; });
    add("moved", true, [](const KeyStep& k) { return k.moved; });
    return {{"steps of query " + std::to_string(found->asked.query), "key", "step",
             s.sentence()->key_labels(found->asked.block), names, matrix_of_columns(columns)}};
}

}  // namespace headlight
