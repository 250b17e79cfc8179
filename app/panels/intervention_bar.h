// The row of masks, brush, temperature and ablations: everything that can be changed, in every view.
#pragma once

#include "parts/interventions.h"

namespace headlight {

/// The row of everything that can be changed, where it is open; returns how much room it takes.
float draw_change_bar(Scene& scene, Rect area);

}  // namespace headlight
