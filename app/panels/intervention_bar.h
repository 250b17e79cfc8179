// The intervention bar of every view: masks, brush, temperature, ablations.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// Draws the bar if open; returns its height.
float draw_change_bar(Scene& scene, Rect area);

/// In a low window, at the left end of a line, of which it takes that part: brush, scope, and a button for
/// the rest.
void draw_change_controls(Scene& scene, Rect& line);

}  // namespace headlight
