// Formats the metric and its changes for views, and draws the chip that chooses it.
#pragma once

#include "analysis/prediction/metric.h"
#include "parts/controls.h"

namespace headlight {

/// The metric with default token and position filled in from the shown run, if known.
Metric shown_metric(const Scene& scene);
/// For views that decompose logits: token A (−1: the most probable) and the token subtracted from it (−1:
/// none). A divergence is not a sum of logits, so it falls back to the most probable token.
std::pair<int, int> explained_tokens(const Scene& scene);
/// Returns the position, in the stack that predicts, whose prediction is explained: the metric's if chosen,
/// else the focused query if it is of that stack, else the last.
int explained_position(const Scene& scene);
/// "ball", or "ball − car".
std::string explained_text(const Model& model, int token, int against);
/// The computed metric, or null until it is known.
const MetricReport* metric_report(const Scene& scene);
std::vector<Question> ask_about_metric(const Scene& scene);
/// "log p ball", "ball − car", "KL", with the position if it is not where the model predicts.
std::string metric_text(const Scene& scene);
/// The chosen metric to vary: the position of the default is then its own.
Metric metric_to_vary(const Scene& scene);
/// Says why the default is not taken where the model predicts; "" if it is, or a place or token was chosen.
std::string why_explained_there(const Scene& scene);

/// True if it is shown as a probability in percent.
bool shows_percents(MetricKind kind);
/// "80.4 %", "3.21".
std::string metric_value(MetricKind kind, const MetricValues& values);
/// A change of a metric: "−4.1" percentage points, else "−0.31".
std::string effect_text(MetricKind kind, float change);
/// "Δ log p −0.31   Δ logit −0.40   −4.1 points".
std::string effect_details(const MetricValues& change);
/// The details of each head ablated so far; null before the first.
std::function<std::string(int)> sweep_details(const Scene& scene);

/// Draws the metric as a chip: a click opens its menu; the cross of a chosen metric restores the default.
/// `where`: prefix of its widgets; `text`: the label, if another run than the shown one defines the token.
/// Returns its width.
float draw_metric_chip(Scene& scene, const std::string& where, Rect line, const std::string& text = {});
float metric_chip_width(const Scene& scene, const std::string& text = {});
/// The same in a toolbar: "Metric [log p ball v]".
void add_metric_chip(Scene& scene, const std::string& where, Toolbar& bar, const char* label,
                     const std::string& text = {});

struct MetricMenu {
    Rect beside;                // the clicked chip
    std::string typed;          // prefix of a token
    bool second = false;        // token B is being chosen
    std::string accepted = {};  // text at Enter, if its tokens were not yet listed
};

}  // namespace headlight
