// The generation bar: how the model chooses its tokens, one step after another, and the alternatives.
#pragma once

#include "parts/generation.h"

namespace headlight {

/// The bar under the center, where something is written; it lists the choices unless the view does.
float generation_bar_height(const Scene& scene, bool shows_others);
void draw_generation_bar(Scene& scene, Rect area, bool shows_others);

}  // namespace headlight
