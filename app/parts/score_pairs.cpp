#include "parts/score_pairs.h"

#include <cmath>
#include <cstdio>

#include "base/quoted.h"
#include "paint/ui.h"

namespace headlight {

namespace {

std::string scale_of(const ScoreShown& shown, bool root_value) {
    const AttentionSpec& of = shown.config.attention(shown.block);
    if (of.scale != 0) return "× " + decimals(shown.rule.scale, 3);
    return "÷ √" + std::to_string(of.d_head) + (root_value ? " = " + decimals(1 / shown.rule.scale, 2) : "");
}

}  // namespace

std::string divided_by(float temperature) {
    if (std::isinf(temperature)) return "÷ ∞";
    char text[32];
    std::snprintf(text, sizeof text, "÷ %.4g", double(temperature));
    return text;
}

namespace {

struct StepLine {
    ScoreStep step;
    std::string label;
    float value;
};

std::vector<StepLine> step_lines(const ScoreShown& shown, bool root_value) {
    const AttentionRule& rule = shown.rule;
    const ScoreSteps& s = shown.steps;
    std::vector<StepLine> out{{ScoreStep::dot, "q·k", s.dot}};
    if (rule.scale != 1) out.push_back({ScoreStep::scaled, scale_of(shown, root_value), s.scaled});
    if (rule.cap > 0) out.push_back({ScoreStep::capped, "soft cap " + decimals(rule.cap, 0), s.capped});
    if (rule.disentangled.keys.rows() > 0)
        out.push_back(
            {ScoreStep::to_position, "+ q·Kr " + number(s.to_position, 2), s.capped + s.to_position});
    if (rule.disentangled.queries.rows() > 0)
        out.push_back({ScoreStep::from_position, "+ k·Qr " + number(s.from_position, 2), s.capped + s.bias});
    if (rule.has_bias() && !rule.disentangled)
        out.push_back({ScoreStep::bias, "+ position bias " + number(s.bias, 2), s.capped + s.bias});
    if (s.edited) out.push_back({ScoreStep::edited, "edited to", s.before});
    if (shown.weights_by == WeightsBy::softmax && shown.temperature != 1)
        out.push_back({ScoreStep::tempered, divided_by(shown.temperature), s.score});
    return out;
}

}  // namespace

void draw_score_steps(Column& c, const ScoreShown& shown, ScoreStep on, bool root_value) {
    for (const StepLine& line : step_lines(shown, root_value))
        c.pair(line.label, number(line.value, 2), on == line.step);
}

std::string score_steps_text(const ScoreShown& shown) {
    std::string out;
    for (const StepLine& line : step_lines(shown, true))
        out += (out.empty() ? "" : ", ") + line.label + ": " + number(line.value, 2);
    return out + ".";
}

}  // namespace headlight
