// The intervention bar of every view: masks, brush, temperature, ablations.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// Draws the bar if open; returns its height.
float draw_change_bar(Scene& scene, Rect area);

}  // namespace headlight
