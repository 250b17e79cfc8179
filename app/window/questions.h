// Draws the row of the five questions, and the doors to everything else at its right.
#pragma once

#include "parts/scene.h"

namespace headlight {

void draw_questions(Scene& scene, Rect row);

}  // namespace headlight
