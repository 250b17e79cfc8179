// What a vision model reads, with its patches.
#pragma once

#include "parts/scene.h"

namespace headlight {

struct View;

void draw_picture(Scene& scene, Rect area);

View picture_view();

}  // namespace headlight
