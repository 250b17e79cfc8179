// Draws the built-in lessons as rows, with how far each is done.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Draws them from y down; returns their bottom.
float draw_lesson_shelf(Scene& scene, float x, float y, float width);

}  // namespace headlight
