// The arithmetic of the focused number, written out.
#include <algorithm>
#include <numeric>

#include "base/cast.h"
#include "views/numbers.h"
#include "views/panels.h"
#include "views/parts.h"
#include "views/side_panel.h"
#include "views/steps_chain.h"
#include "views/steps_strips.h"

namespace headlight {

namespace {

constexpr size_t kProducts = 6;
constexpr float kDimension = 26, kEntry = 50;

void draw_arithmetic(Scene& s, Column& c, const Steps& steps, const KeyStep& k) {
    const AttentionRule& rule = s.sentence()->trace->rule(s.block());
    const ModelConfig& config = s.model()->config;
    const StepColumn on = s.of<StepsState>().column;
    const bool root = config.scale == 0 && !config.scale_by_layer;
    c.pair("q·k", number(k.dot, 2), on == StepColumn::dot);
    if (rule.scale != 1)
        c.pair(root ? "÷ √" + std::to_string(config.d_head(s.block())) + " = " + decimals(1 / rule.scale, 2)
                    : "× " + decimals(rule.scale, 3),
               number(k.scaled, 2), on == StepColumn::scaled);
    if (rule.cap > 0)
        c.pair("soft cap " + decimals(rule.cap, 0), number(k.capped, 2), on == StepColumn::capped);
    if (rule.has_bias())
        c.pair("+ position bias " + number(k.bias, 2), number(k.score, 2), on == StepColumn::bias);
    if (!k.allowed) {
        c.pair("mask", "−∞", true);
        return;
    }
    const std::string exponent = steps.shift == 0
                                     ? number(k.score, 2)
                                     : "(" + number(k.score, 2) + " − " + number(steps.shift, 2) + ")";
    c.pair("e^" + exponent, compact_number(k.exp, k.exp < 1000 ? 4 : 1), on == StepColumn::exp);
    const auto allowed =
        std::count_if(steps.keys.begin(), steps.keys.end(), [](const KeyStep& key) { return key.allowed; });
    c.pair("÷ Σ over " + std::to_string(allowed) + " keys",
           compact_number(steps.sum, steps.sum < 1000 ? 4 : 1));
    c.pair("weight", number(k.weight, 3), on == StepColumn::weight || on == StepColumn::mask);
    c.pair("× ‖v‖", number(k.value_norm, 2), on == StepColumn::value);
    c.pair("weighted value", number(k.moved, 2), on == StepColumn::moved);
}

}  // namespace

void draw_products(Column& c, const std::vector<Strip>& strips) {
    Ui& ui = c.ui;
    const Vector& values = strips.back().values;
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(values[a]) > std::abs(values[b]); });
    const bool products = strips.size() == 3 && strips.back().sign == "Σ";
    c.heading(products ? "Largest products" : "Largest entries of " + strips.back().name);
    const float largest = std::max(std::abs(values[order[0]]), 1e-12f), bar = c.at.w < 280 ? 40 : 80;
    for (size_t i = 0; i < std::min(kProducts, order.size()); ++i, c.skip(24)) {
        const int d = order[i];
        Rect line = c.line();
        write(ui, take_left(line, kDimension, gap::tight), kCaptionMono, ui.colors->t3, std::to_string(d),
              Flush::right);
        write(ui, take_right(line, kEntry, gap::tight), kCaptionMono, ui.colors->t1, number(values[d], 2),
              Flush::right);
        ui.signed_bar(band(take_right(line, bar, gap::tight), 10), values[d] / largest);
        if (products)
            write(ui, line, kCaptionMono, ui.colors->t2,
                  number(strips[0].values[d], 2) + " × " + number(strips[1].values[d], 2), Flush::right);
    }
}

namespace {

void inspect_chain(Scene& s, Rect area) {
    const auto* found = s.found<BlockChainWanted>();
    if (!found) return;
    draw_cell_title(s, area, {found->asked.query, found->asked.key});
    SidePanel panel(s, area);
    draw_chain_arithmetic(s, panel, *found);
    panel.rule();
    draw_products(panel, chain_panel(*found).strips);
    panel.finish();
}

}  // namespace

void draw_steps_inspector(Scene& s, Rect area) {
    if (s.of<StepsState>().show == StepsShow::block) return inspect_chain(s, area);
    if (s.of<StepsState>().show == StepsShow::heads) return draw_inspector(s, area);
    const auto* found = s.found<StepsWanted>();
    const auto cell = s.shown_cell();
    if (!found || !cell) return;
    const int key = std::min(cell->second, isize(found->answer.keys) - 1);
    draw_cell_title(s, area, {found->asked.query, key});
    SidePanel panel(s, area);
    panel.heading("Arithmetic");
    draw_arithmetic(s, panel, found->answer, found->answer.keys[key]);
    panel.rule();
    draw_products(panel, step_strips(s, *found, key).strips);
    panel.finish();
}

std::vector<NumberTable> steps_numbers(const Scene& s) {
    const auto* chain = s.found<BlockChainWanted>();
    const auto* heads = s.found<HeadsChainWanted>();
    const StepsShow show = s.of<StepsState>().show;
    if (show == StepsShow::block) return chain ? chain_numbers(*chain) : std::vector<NumberTable>();
    if (show == StepsShow::heads) return heads ? heads_chain_numbers(*heads) : std::vector<NumberTable>();
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
    add("exp", true, [](const KeyStep& k) { return k.allowed ? float(k.exp) : kNothing; });
    add("weight", true, [](const KeyStep& k) { return k.weight; });
    add("value norm", true, [](const KeyStep& k) { return k.value_norm; });
    add("moved", true, [](const KeyStep& k) { return k.moved; });
    return {{"steps of query " + std::to_string(found->asked.query), "key", "step",
             s.sentence()->key_labels(found->asked.block), names, matrix_of_columns(columns)}};
}

}  // namespace headlight
