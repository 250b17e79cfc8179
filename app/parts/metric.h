// What is explained, as views show it: its name, how it changed, and the chip that chooses it.
#pragma once

#include "analysis/prediction/metric.h"
#include "parts/controls.h"

namespace headlight {

/// The metric with the tokens and the position that it has in the run that is shown, as far as is known.
Metric shown_metric(const Scene& scene);
/// Token A and what is subtracted from its logit, where the logits themselves are taken apart: −1, the most
/// probable one, and nothing. A divergence is no sum of logits: the most probable one stands for it.
std::pair<int, int> explained_tokens(const Scene& scene);
/// "ball", or "ball − car": what they are called.
std::string explained_text(const Model& model, int token, int against);
/// What is said of it, where that was asked: null until then.
const MetricReport* metric_report(const Scene& scene);
/// What views ask of the worker for it.
std::vector<Question> ask_about_metric(const Scene& scene);
/// "log p ball", "ball − car", "KL", with a position that was chosen.
std::string metric_text(const Scene& scene);

/// Whether people read it as a probability in percent.
bool shows_percents(MetricKind kind);
/// "80.4 %", "3.21".
std::string metric_value(MetricKind kind, const MetricValues& values);
/// A change of a metric: "−4.1" points of a probability, else "−0.31".
std::string effect_text(MetricKind kind, float change);
/// "Δ log p −0.31   Δ logit −0.40   −4.1 points": all that is said of a token beside the metric.
std::string effect_details(const MetricValues& change);
/// That of each head that the sweep has ablated; null where it has not ended.
std::function<std::string(int)> sweep_details(const Scene& scene);

/// The metric as a chip, from the left of a line: a click opens its menu; where it was chosen, its cross
/// brings the default back. `where`: the part of the window, which names its widgets; `text`: what it says
/// where another run than the shown one decides which token is meant. Returns its width.
float draw_metric_chip(Scene& scene, const std::string& where, Rect line, const std::string& text = {});
float metric_chip_width(const Scene& scene, const std::string& text = {});
/// The same in a row of controls: "Effect on [log p ball v]".
void put_metric_chip(Scene& scene, const std::string& where, Toolbar& bar, const char* label,
                     const std::string& text = {});

/// What is being chosen in the menu of the metric.
struct MetricMenu {
    Rect beside;                // the chip that was pressed
    std::string typed;          // the beginning of a token
    bool second = false;        // token B is being chosen
    std::string accepted = {};  // what was typed when Enter came before the tokens that go with it
};

}  // namespace headlight
