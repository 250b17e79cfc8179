#include "views/steps/steps_columns.h"

#include <algorithm>
#include <numeric>

#include "io/json.h"
#include "model/engine.h"
#include "parts/controls.h"
#include "parts/score_pairs.h"

namespace headlight {

void StepsState::visit(FieldVisitor& v) {
    v.choose("steps_show", show,
             {"steps show",
              "Steps: show",
              "one query's attention, the whole block around it, or the block in all heads",
              {"attention", "block", "heads"}},
             {"steps"});
    v.choose(nullptr, stage,
             {"steps stage",
              "Steps: stage",
              "the vector of the whole block to explain",
              {"query-in", "query-norm", "q",         "q-norm",      "q-rotated", "key-in",   "key-norm",
               "k",        "k-norm",     "k-rotated", "v-made",      "v",         "z",        "heads",
               "gate",     "gated",      "output",    "output-norm", "sum",       "next-norm"}});
    v.report("chain_step", static_cast<int>(stage));
    v.report("chain_entry", entry);
    v.choose(nullptr, column,
             {"steps column",
              "Steps: column",
              "the number of the focused key to explain",
              {"dot", "scaled", "cap", "position", "mask", "exp", "weight", "value", "weighted", "delta",
               "edited", "temperature", "to-position", "from-position", "gated"}});
    v.choose(
        "steps_order", order,
        {"steps order", "Steps: order of keys", "text order, or largest weight first", {"text", "weight"}});
    v.report("step_column", static_cast<int>(column));
    v.report("strips_open", strips.open);
    v.choose(nullptr, strips.open,
             {"steps strips", "Steps: strips", "show a step's vectors as numbers", {"off", "on"}});
}

namespace {

std::string scale_title(const Scene& s) {
    const AttentionSpec& of = full_config(*s.model()).attention(s.block());
    return of.scale == 0 ? "÷ √" + std::to_string(of.d_head)
                         : "× " + decimals(s.sentence()->trace->rule(s.block()).scale, 3);
}

constexpr const char* kHelp[] = {
    "The dot product of the query's q and the key's k.",
    "Scaled, so that its variance does not grow with d_head (Vaswani et al. 2017).",
    "cap · tanh(score / cap): keeps scores within ± cap (Gemma 2).",
    "Position bias: ALiBi's slope times distance, or T5's bucket.",
    "0: allowed. Hatched: −∞ is added, so the weight is 0.",
    "e to the score. The sum is below the column.",
    "e^score over the sum: the weight.",
    "The length of the key's value vector.",
    "Weight times ‖v‖: how far this key can move the query. Vectors are added, not their lengths.",
    "",  // see help_of_end
    "Your score, used instead of the computed one.",
    "Divided by your attention temperature; the input of softmax.",
    "Content to position: scaled q times Kr, the key of the distance between query and key (DeBERTa).",
    "Position to content: scaled k times Qr, the query of that distance (DeBERTa).",
    "Weight times ‖v ∘ g‖: what the query's gate g leaves of this key's part, before W_O."};

}  // namespace

const char* help_of(StepColumn c, const Steps& steps) {
    if (c == StepColumn::exp && steps.weights_by == WeightsBy::heaviest)
        return "Temperature 0: 1 for the largest score (the first of ties), 0 for all others.";
    if (c == StepColumn::weight && steps.weights_by == WeightsBy::given)
        return "Frozen to another text's pattern; no score makes these weights.";
    if (c == StepColumn::weight && steps.weights_by == WeightsBy::mixing)
        return "The entry of the mixing matrix: what of the key's value reaches this query, by sign.";
    return row_of(kHelp, c);
}

const char* end_of(const Steps& s) {
    if (s.out_by == OutBy::skipped) return "the block is skipped:";
    if (s.out_by == OutBy::given) return "not used: output replaced";
    return s.z_by == ZBy::zero    ? "z is 0, ablated:"
           : s.z_by == ZBy::mean  ? "z is its mean:"
           : s.z_by == ZBy::given ? "z is replaced:"
           : s.gate.size()        ? "added, × g, then W_O:"
                                  : "added, then W_O:";
}

const char* help_of_end(const Steps& s) {
    if (s.out_by == OutBy::skipped)
        return "This block is skipped: it adds nothing, whatever its heads attend to.";
    if (s.out_by == OutBy::given)
        return "The block's output at this token is replaced; the head's ΔE is not used.";
    if (s.z_by != ZBy::weights)
        return "The replaced z goes through the head's slice of W_O; the weighted values are not used.";
    if (s.gate.size())
        return "The weighted values are added (z), multiplied by the gate g, and go through the head's slice "
               "of W_O. ‖ΔE‖ is not the sum of the lengths above.";
    return "The weighted values are added (z) and go through the head's slice of W_O. ‖ΔE‖ is not the sum of "
           "the lengths above.";
}

namespace {

std::vector<StepColumnKind> score_columns() {
    return {
        {StepColumn::dot, "q·k", 72, 2, [](const KeyStep& k) -> double { return k.dot; }, {}},
        {StepColumn::scaled,
         "",
         72,
         2,
         [](const KeyStep& k) -> double { return k.scaled; },
         {StepColumn::dot}},
        {StepColumn::capped,
         "soft cap",
         76,
         2,
         [](const KeyStep& k) -> double { return k.capped; },
         {StepColumn::scaled}},
        {StepColumn::bias, "+ position", 80, 2, [](const KeyStep& k) -> double { return k.bias; }, {}},
        {StepColumn::to_position,
         "+ q·Kr",
         72,
         2,
         [](const KeyStep& k) -> double { return k.to_position; },
         {}},
        {StepColumn::from_position,
         "+ k·Qr",
         72,
         2,
         [](const KeyStep& k) -> double { return k.from_position; },
         {}},
        {StepColumn::edited, "edited", 72, 2, [](const KeyStep& k) -> double { return k.before; }, {}},
        {StepColumn::tempered,
         "",
         72,
         2,
         [](const KeyStep& k) -> double { return k.score; },
         {StepColumn::scaled, StepColumn::capped, StepColumn::bias, StepColumn::to_position,
          StepColumn::from_position, StepColumn::edited}},
        {StepColumn::mask, "mask", 60, 0, [](const KeyStep&) -> double { return 0; }, {}},
    };
}

std::vector<StepColumnKind> weight_columns() {
    return {
        {StepColumn::exp,
         "e^score",
         88,
         2,
         [](const KeyStep& k) -> double { return k.exp; },
         {StepColumn::scaled, StepColumn::capped, StepColumn::bias, StepColumn::to_position,
          StepColumn::from_position, StepColumn::edited, StepColumn::tempered}},
        {StepColumn::weight,
         "softmax",
         70,
         3,
         [](const KeyStep& k) -> double { return k.weight; },
         {StepColumn::exp}},
        {StepColumn::value, "× ‖v‖", 64, 2, [](const KeyStep& k) -> double { return k.value_norm; }, {}},
        {StepColumn::moved,
         "= weighted",
         76,
         2,
         [](const KeyStep& k) -> double { return k.moved; },
         {StepColumn::weight, StepColumn::value}},
        {StepColumn::gated,
         "through g",
         76,
         2,
         [](const KeyStep& k) -> double { return k.gated; },
         {StepColumn::moved}},
    };
}

}  // namespace

const std::vector<StepColumnKind>& step_columns() {
    static const std::vector<StepColumnKind> table = [] {
        std::vector<StepColumnKind> out = score_columns();
        for (const StepColumnKind& column : weight_columns()) out.push_back(column);
        return out;
    }();
    return table;
}

bool has_bar(StepColumn c) {
    return c == StepColumn::dot || c == StepColumn::weight || c == StepColumn::moved;
}

bool takes_step(const Scene& s, StepColumn c, const Steps& steps) {
    if (c == StepColumn::gated) return steps.gate.size() > 0;
    const AttentionRule& rule = s.sentence()->trace->rule(s.block());
    if (!rule.is_softmax())
        return c == StepColumn::weight || c == StepColumn::value || c == StepColumn::moved;
    if (c == StepColumn::scaled) return rule.scale != 1;
    if (c == StepColumn::capped) return rule.cap > 0;
    if (c == StepColumn::bias) return rule.has_bias() && !rule.disentangled;
    if (c == StepColumn::to_position) return rule.disentangled.keys.rows() > 0;
    if (c == StepColumn::from_position) return rule.disentangled.queries.rows() > 0;
    if (c == StepColumn::edited) return has_edited(steps);
    if (c == StepColumn::tempered) return is_tempered(steps);
    if (c == StepColumn::exp) return by_scores(steps.weights_by);
    return true;
}

std::string title_of(const Scene& s, const StepColumnKind& k, const Steps& steps) {
    if (k.what == StepColumn::scaled) return scale_title(s);
    if (k.what == StepColumn::tempered) return divided_by(steps.temperature);
    if (k.what == StepColumn::exp && steps.weights_by == WeightsBy::heaviest) return "largest";
    if (k.what == StepColumn::exp && steps.shift != 0) return "e^(s − max)";
    if (k.what == StepColumn::weight && steps.weights_by == WeightsBy::given) return "frozen";
    if (k.what == StepColumn::weight && steps.weights_by == WeightsBy::mixing) return "mixing";
    if (k.what == StepColumn::weight && steps.weights_by == WeightsBy::heaviest) return "weight";
    return k.title;
}

std::vector<int> ordered_keys(const Steps& steps, StepOrder order) {
    std::vector<int> keys(steps.keys.size());
    std::iota(keys.begin(), keys.end(), 0);
    if (order == StepOrder::weight)
        std::stable_sort(keys.begin(), keys.end(),
                         [&](int a, int b) { return steps.keys[a].weight > steps.keys[b].weight; });
    return keys;
}

void choose_rows(Scene& s, Rect& line) {
    StepsState& state = s.of<StepsState>();
    if (s.ui.on_page()) return;
    Toolbar bar(s.ui, line);
    bar.choose("Show", "steps/show", {"attention", "whole block", "all heads"}, state.show);
    if (state.show == StepsShow::attention)
        bar.choose("Keys", "steps/order", {"text order", "by weight"}, state.order);
    line = bar.rest();
}

}  // namespace headlight
