// Result of interventions: the metric before and after, the tokens and the heads that moved. One panel shows
// it in every view.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// Requests what the result needs beyond the pass: answers for every view while interventions are active.
std::vector<Question> ask_about_changes(const Scene& scene);

/// Whether interventions are active.
bool has_result(const Scene& scene);
/// Whether the inspector shows the result instead of a cell.
bool shows_result(const Scene& scene);
/// `offers`: with the button that compares before and after.
void draw_result_inspector(Scene& scene, Rect area, bool offers = true);
/// Draws a fold above an inspector's own numbers: one line, or all of the result.
void draw_result_fold(Scene& scene, Column& column);
/// Draws the metric and the tokens that moved most in a narrow column, down to `bottom`.
void draw_short_result(Scene& scene, Column& column, float bottom);
/// "ball 98.9 % → 10.6 %  −88.3 points  Δ log p −2.23  Δ logit −7.92": in a line, as much of it as fits.
void draw_result_line(Scene& scene, Rect line);

/// A metric with and without something.
struct MetricChange {
    Metric metric;
    MetricValues before, now;
};
/// "ball" of a probability, else the metric: "ball − car".
std::string result_name(const Scene& scene, const Metric& metric);
/// Draws "ball if ablated  98.9 % → 99.1 %": a name, what is done, the metric before and after.
void draw_change_pair(Scene& scene, Column& column, const std::string& name, const std::string& what,
                      const MetricChange& change);

/// The heads that moved, or null until they are known.
const Moved* moved_heads(const Scene& scene);
/// "Change at red 16 (JS, bits)".
std::string moved_title(const Scene& scene);
/// "Jensen–Shannon divergence, in bits, …".
std::string moved_help(const Scene& scene);

}  // namespace headlight
