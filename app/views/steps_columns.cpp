// The columns of the table of steps.
#include "views/steps_columns.h"

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

std::string scale_title(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    const bool root = c.scale == 0 && !c.scale_by_layer;
    return root ? "÷ √" + std::to_string(c.d_head(s.block()))
                : "× " + decimals(s.sentence()->trace->rule(s.block()).scale, 3);
}

}  // namespace

const std::vector<StepColumnKind>& step_columns() {
    static const std::vector<StepColumnKind> table{
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
        {StepColumn::mask, "mask", 60, 0, [](const KeyStep&) -> double { return 0; }, {}},
        {StepColumn::exp,
         "e^score",
         88,
         2,
         [](const KeyStep& k) -> double { return k.exp; },
         {StepColumn::scaled, StepColumn::capped, StepColumn::bias}},
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
    };
    return table;
}

bool has_bar(StepColumn c) {
    return c == StepColumn::dot || c == StepColumn::weight || c == StepColumn::moved;
}

bool takes_step(const Scene& s, StepColumn c) {
    const AttentionRule& rule = s.sentence()->trace->rule(s.block());
    if (c == StepColumn::scaled) return rule.scale != 1;
    if (c == StepColumn::capped) return rule.cap > 0;
    if (c == StepColumn::bias) return rule.has_bias();
    return true;
}

std::string title_of(const Scene& s, const StepColumnKind& k, const Steps& steps) {
    if (k.what == StepColumn::scaled) return scale_title(s);
    if (k.what == StepColumn::exp && steps.shift != 0) return "e^(s − max)";
    return k.title;
}

}  // namespace headlight
