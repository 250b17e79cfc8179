// Lists the numbers from q·k to the input of the softmax.
#pragma once

#include <string>

#include "analysis/attention/score_steps.h"
#include "paint/layout.h"

namespace headlight {

/// In the order of ScoreSteps.
enum class ScoreStep { dot, scaled, capped, bias, to_position, from_position, edited, tempered, none };

/// The score of one head, query and key, and how the row becomes weights.
struct ScoreShown {
    const ModelConfig& config;
    const AttentionRule& rule;
    int block = 0;
    const ScoreSteps& steps;
    WeightsBy weights_by = WeightsBy::softmax;
    float temperature = 1;
};

/// "÷ 0.5", "÷ ∞".
std::string divided_by(float temperature);

/// "q·k 35.53, ÷ √32 6.28": the same steps in one line.
std::string score_steps_text(const ScoreShown& shown);

/// Omits steps that this run does not take; emphasizes `on`. root_value: "÷ √32 = 5.66".
void draw_score_steps(Column& column, const ScoreShown& shown, ScoreStep on, bool root_value);

}  // namespace headlight
