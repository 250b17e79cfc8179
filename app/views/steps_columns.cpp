// The columns of the table of steps.
#include "views/steps_columns.h"

namespace headlight {

namespace {

using Column = StepColumn;

std::string scale_title(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    const bool root = c.scale == 0 && !c.scale_by_layer;
    return root ? "÷ √" + std::to_string(c.d_head(s.block()))
                : "× " + decimals(s.sentence()->trace->rule(s.block()).scale, 3);
}

}  // namespace

const std::vector<StepColumnKind>& step_columns() {
    static const std::vector<StepColumnKind> table{
        {Column::dot, "q·k", 72, 2, [](const KeyStep& k) -> double { return k.dot; }, {}},
        {Column::scaled, "", 72, 2, [](const KeyStep& k) -> double { return k.scaled; }, {Column::dot}},
        {Column::capped,
         "soft cap",
         76,
         2,
         [](const KeyStep& k) -> double { return k.capped; },
         {Column::scaled}},
        {Column::bias, "+ position", 80, 2, [](const KeyStep& k) -> double { return k.bias; }, {}},
        {Column::mask, "mask", 60, 0, [](const KeyStep&) -> double { return 0; }, {}},
        {Column::exp,
         "e^score",
         88,
         2,
         [](const KeyStep& k) -> double { return k.exp; },
         {Column::scaled, Column::capped, Column::bias}},
        {Column::weight,
         "softmax",
         70,
         3,
         [](const KeyStep& k) -> double { return k.weight; },
         {Column::exp}},
        {Column::value, "× ‖v‖", 64, 2, [](const KeyStep& k) -> double { return k.value_norm; }, {}},
        {Column::moved,
         "= weighted",
         76,
         2,
         [](const KeyStep& k) -> double { return k.moved; },
         {Column::weight, Column::value}},
    };
    return table;
}

bool has_bar(Column c) { return c == Column::dot || c == Column::weight || c == Column::moved; }

bool takes_step(const Scene& s, Column c) {
    const AttentionRule& rule = s.sentence()->trace->rule(s.block());
    if (c == Column::scaled) return rule.scale != 1;
    if (c == Column::capped) return rule.cap > 0;
    if (c == Column::bias) return rule.has_bias();
    return true;
}

std::string title_of(const Scene& s, const StepColumnKind& k, const Steps& steps) {
    if (k.what == Column::scaled) return scale_title(s);
    if (k.what == Column::exp && steps.shift != 0) return "e^(s − max)";
    return k.title;
}

}  // namespace headlight
