// Draws a vision model's image with its patches, next to the attention of one of them.
#pragma once

#include "parts/scene.h"

namespace headlight {

struct View;

void draw_picture(Scene& scene, Rect area);

View picture_view();

}  // namespace headlight
