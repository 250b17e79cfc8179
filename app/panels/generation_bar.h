// The generation bar: how the model chooses tokens, step by step, and the alternatives.
#pragma once

#include "parts/generation.h"

namespace headlight {

/// Draws the bar below the center while generating; lists the choices unless the view does.
float generation_bar_height(const Scene& scene, bool shows_others);
void draw_generation_bar(Scene& scene, Rect area, bool shows_others);

/// In a low window, at the right end of a line, of which it takes that part: the method, and the step.
void draw_generation_controls(Scene& scene, Rect& line);

}  // namespace headlight
