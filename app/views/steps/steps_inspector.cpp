// Writes out the arithmetic of the focused number.
#include <algorithm>
#include <numeric>

#include "base/cast.h"
#include "model/engine.h"
#include "parts/controls.h"
#include "parts/score_pairs.h"
#include "parts/side_panel.h"
#include "views/steps/steps_chain.h"
#include "views/steps/steps_strips.h"

namespace headlight {

namespace {

constexpr size_t kProducts = 6;
constexpr float kDimension = 26, kEntry = 50;

/// weight = e^score / Σ e^score, unless the pattern is frozen or the temperature 0.
void draw_softmax(Column& c, const Steps& steps, const KeyStep& k, StepColumn on) {
    if (steps.weights_by == WeightsBy::given) return c.pair("pattern", "frozen", true);
    if (steps.weights_by == WeightsBy::mixing) return c.pair("pattern", "a mixing matrix", true);
    const bool heaviest = steps.weights_by == WeightsBy::heaviest;
    const auto allowed =
        std::count_if(steps.keys.begin(), steps.keys.end(), [](const KeyStep& key) { return key.allowed; });
    const bool fully_masked = allowed == 0;
    const auto summed = heaviest ? 1 : fully_masked ? std::ssize(steps.keys) : allowed;
    if (fully_masked) c.pair("mask", "−∞ for every key: uniform", true);
    const auto power = [&](const std::string& score) {
        return "e^" + (steps.shift == 0 ? score : "(" + score + " − " + number(steps.shift, 2) + ")");
    };
    c.pair(heaviest ? "largest score only" : power(fully_masked ? "0" : number(k.score, 2)),
           compact_number(k.exp, k.exp < 1000 ? 4 : 1), on == StepColumn::exp);
    const bool beside = steps.sink && !heaviest;
    if (beside) c.pair("sink: " + power(number(steps.sink->score, 2)), compact_number(steps.sink->exp, 4));
    c.pair("÷ Σ over " + std::to_string(summed) + (summed == 1 ? " key" : " keys") +
               (beside ? " and the sink" : ""),
           compact_number(steps.sum, steps.sum < 1000 ? 4 : 1));
}

ScoreStep score_step(StepColumn c) {
    switch (c) {
        case StepColumn::dot:
            return ScoreStep::dot;
        case StepColumn::scaled:
            return ScoreStep::scaled;
        case StepColumn::capped:
            return ScoreStep::capped;
        case StepColumn::bias:
            return ScoreStep::bias;
        case StepColumn::edited:
            return ScoreStep::edited;
        case StepColumn::tempered:
            return ScoreStep::tempered;
        case StepColumn::to_position:
            return ScoreStep::to_position;
        case StepColumn::from_position:
            return ScoreStep::from_position;
        default:
            return ScoreStep::none;
    }
}

void draw_arithmetic(Scene& s, Column& c, const Steps& steps, const KeyStep& k) {
    const StepColumn on = s.of<StepsState>().column;
    draw_score_steps(c,
                     {full_config(*s.model()), s.sentence()->trace->rule(s.block()), s.block(), k,
                      steps.weights_by, steps.temperature},
                     score_step(on), true);
    if (!k.allowed && k.weight == 0) return c.pair("mask", "−∞", true);
    draw_softmax(c, steps, k, on);
    c.pair("weight", number(k.weight, 3), on == StepColumn::weight || on == StepColumn::mask);
    c.pair("× ‖v‖", number(k.value_norm, 2), on == StepColumn::value);
    c.pair("weighted value", number(k.moved, 2), on == StepColumn::moved);
    if (steps.gate.size()) c.pair("through g: weight · ‖v ∘ g‖", number(k.gated, 2), on == StepColumn::gated);
}

}  // namespace

void draw_products(SidePanel& c, const std::vector<Strip>& strips) {
    Ui& ui = c.ui;
    const Vector& values = strips.back().values;
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(values[a]) > std::abs(values[b]); });
    const bool products = product_of(strips) == &strips.back();
    if (!c.fold("largest", products ? "Largest products" : "Largest entries of " + strips.back().name))
        return;
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
    const auto* found = s.found<BlockChainRequest>();
    if (!found) return;
    draw_cell_title(s, area, {found->asked.query, found->asked.key});
    SidePanel panel(s, area);
    draw_chain_arithmetic(s, panel, *found);
    draw_products(panel, chain_panel(*found).strips);
    panel.finish();
}

void inspect_steps(Scene& s, Rect area) {
    const auto* found = s.found<StepsRequest>();
    const auto cell = s.shown_cell();
    if (!found || !cell) return;
    const int key = std::min(cell->second, isize(found->answer.keys) - 1);
    draw_cell_title(s, area, {found->asked.query, key});
    SidePanel panel(s, area);
    if (panel.fold("Arithmetic")) draw_arithmetic(s, panel, found->answer, found->answer.keys[key]);
    draw_products(panel, step_strips(s, *found, key).strips);
    panel.finish();
}

}  // namespace

bool draw_steps_inspector(Scene& s, Rect area) {
    const StepsShow show = s.of<StepsState>().show;
    if (show == StepsShow::heads) return false;
    show == StepsShow::block ? inspect_chain(s, area) : inspect_steps(s, area);
    return true;
}

}  // namespace headlight
