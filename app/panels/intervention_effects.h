// What the interventions do: the prediction before and after, and change by change.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// What the changes do needs more than the pass itself: questions of every view while changes are in force.
std::vector<Question> ask_about_changes(const Scene& scene);

/// Whether the inspector speaks of what the changes do rather than of a cell.
bool shows_effects(const Scene& scene);
/// The prediction before and after, and change by change.
void draw_effects_inspector(Scene& scene, Rect area);
/// The first rows of that, in a column; returns the next y.
float draw_effects(Scene& scene, Rect column, float y, float bottom);

}  // namespace headlight
