#include "parts/score_pairs.h"

#include <cmath>
#include <cstdio>

#include "base/quoted.h"
#include "paint/ui.h"

namespace headlight {

namespace {

std::string scale_of(const ScoreShown& shown, bool root_value) {
    const ModelConfig& c = shown.config;
    if (c.scale != 0 || c.scale_by_layer) return "× " + decimals(shown.rule.scale, 3);
    return "÷ √" + std::to_string(c.d_head(shown.block)) +
           (root_value ? " = " + decimals(1 / shown.rule.scale, 2) : "");
}

}  // namespace

std::string divided_by(float temperature) {
    if (std::isinf(temperature)) return "÷ ∞";
    char text[32];
    std::snprintf(text, sizeof text, "÷ %.4g", double(temperature));
    return text;
}

void draw_score_steps(Column& c, const ScoreShown& shown, ScoreStep on, bool root_value) {
    const AttentionRule& rule = shown.rule;
    const ScoreSteps& s = shown.steps;
    c.pair("q·k", number(s.dot, 2), on == ScoreStep::dot);
    if (rule.scale != 1) c.pair(scale_of(shown, root_value), number(s.scaled, 2), on == ScoreStep::scaled);
    if (rule.cap > 0)
        c.pair("soft cap " + decimals(rule.cap, 0), number(s.capped, 2), on == ScoreStep::capped);
    if (rule.has_bias())
        c.pair("+ position bias " + number(s.bias, 2), number(s.capped + s.bias, 2), on == ScoreStep::bias);
    if (s.edited) c.pair("edited to", number(s.before, 2), on == ScoreStep::edited);
    if (shown.weights_by == WeightsBy::softmax && shown.temperature != 1)
        c.pair(divided_by(shown.temperature), number(s.score, 2), on == ScoreStep::tempered);
}

}  // namespace headlight
