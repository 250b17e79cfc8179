// Effects of interventions: the prediction before and after, and change by change.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// Requests what the effects need beyond the pass: answers for every view while interventions are active.
std::vector<Question> ask_about_changes(const Scene& scene);

/// Whether the inspector shows effects instead of a cell.
bool shows_effects(const Scene& scene);
/// Draws the prediction before and after, and change by change.
void draw_effects_inspector(Scene& scene, Rect area);
/// Draws its first rows in a column; returns the next y.
float draw_effects(Scene& scene, Rect column, float y, float bottom);

}  // namespace headlight
